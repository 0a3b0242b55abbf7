/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pdsession.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

void pdsession_event(struct pdsession *p, const struct pd_attr *a)
{
	vti_pd_event_add(&p->s, a);
	vti_pd_layout(&p->s);
}

void pdsession_init(struct pdsession *p, uint64_t sample_type)
{
	struct pd_attr a = {.sample_type = sample_type, .flags = PD_ATTR_SAMPLE_ID_ALL};

	memset(p, 0, sizeof(*p));
	p->in.name = "test";
	p->s.in = &p->in;
	p->s.sum = &p->sum;
	p->s.err = &p->err;
	p->s.ordered = true;
	vt_hash_init(&p->s.ids, sizeof(struct pd_id), sizeof(uint64_t));
	pdsession_event(p, &a);
}

void pdsession_fini(struct pdsession *p)
{
	vti_pd_events_fini(&p->s);
	vt_hash_fini(&p->s.ids);
	free(p->s.recover);
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
