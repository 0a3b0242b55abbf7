/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/formats/perfdata/pdsession.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "tests/unit/common/streams.h"
#include "tests/unit/formats/perfdata/pdfile.h"

void pdsession_event(struct pdsession *p, const struct pd_attr *a)
{
	vti_pd_event_add(&p->s, a);
	vti_pd_layout(&p->s);
}

void pdsession_init(struct pdsession *p, uint64_t sample_type)
{
	struct pd_attr a = {.sample_type = sample_type, .flags = PD_ATTR_SAMPLE_ID_ALL};
	struct pd_session *s = &p->s;

	memset(p, 0, sizeof(*p));
	p->in.name = "test";
	p->fd = scratch_file();
	s->in = &p->in;
	s->w = start_stream(p->fd);
	s->opt = &p->opt;
	s->sum = &p->sum;
	s->err = &p->err;
	s->ordered = true;
	s->strings = vt_intern_new();
	vt_hash_init(&s->ids, sizeof(struct pd_id), sizeof(uint64_t));
	vt_hash_init(&s->pmus, 2 * sizeof(uint32_t), sizeof(uint32_t));
	vt_hash_init(&s->buildids, sizeof(struct pd_buildid_row), sizeof(uint32_t));
	vt_hash_init(&s->images, sizeof(struct pd_image), offsetof(struct pd_image, has_id));
	vt_hash_init(&s->unknown, sizeof(struct pd_unknown), sizeof(uint32_t));
	pdsession_event(p, &a);
}

void pdsession_expect(struct pdsession *p, const char *lines)
{
	char *text;

	vt_reader_close(reread_stream(p->fd, p->s.w));
	text = pdfile_show(p->fd);
	assert_string_equal(text, lines);
	free(text);
	close(p->fd);
	p->fd = scratch_file();
	p->s.w = start_stream(p->fd);
}

void pdsession_fini(struct pdsession *p)
{
	vt_reader_close(reread_stream(p->fd, p->s.w));
	close(p->fd);
	vti_pd_events_fini(&p->s);
	vt_hash_fini(&p->s.ids);
	vt_hash_fini(&p->s.pmus);
	vt_hash_fini(&p->s.buildids);
	vt_hash_fini(&p->s.images);
	vt_hash_fini(&p->s.unknown);
	vt_intern_free(p->s.strings);
}

void pdsession_put(struct vt_buf *b, uint32_t type, uint16_t misc, const uint64_t *words, size_t n)
{
	size_t i;

	vt_buf_put_le32(b, type);
	vt_buf_put_le32(b, misc | (uint32_t)(PD_HEADER_SIZE + 8 * n) << 16);
	for (i = 0; i < n; i++)
		vt_buf_put_le64(b, words[i]);
}

void pdsession_junk(struct vt_buf *b, size_t n)
{
	while (n--)
		vt_buf_put_u8(b, 0xff);
}
