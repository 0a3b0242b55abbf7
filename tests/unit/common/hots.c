/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/common/hots.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "stream/reader.h"
#include "tests/unit/common/streams.h"

void hot_image(struct vt_writer *w, uint64_t id, const char *path, const char *buildid)
{
	uint64_t *row = vt_writer_row(w, VT_IMAGE);

	row[VT_IMAGE_ID] = id;
	vt_writer_text(w, VT_IMAGE_PATH, path);
	vt_writer_text(w, VT_IMAGE_BUILDID, buildid);
}

void hot_put(struct vt_writer *w, const struct hot_spec *s)
{
	uint64_t *row = vt_writer_row(w, VT_HOT);

	row[VT_HOT_IMAGE] = s->image;
	row[VT_HOT_OFFSET] = s->offset;
	row[VT_HOT_WHAT] = s->what;
	row[VT_HOT_CALLER_IMAGE] = s->caller_image;
	row[VT_HOT_CALLER] = s->caller;
	row[VT_HOT_REG] = s->reg;
	row[VT_HOT_LANE] = s->lane;
	row[VT_HOT_SIZE] = s->size ? s->size : 8;
	row[VT_HOT_ALGO] = s->algo;
	row[VT_HOT_CAPACITY] = s->capacity;
	row[VT_HOT_STEADY] = s->steady;
	row[VT_HOT_LEVEL] = s->level;
	memcpy(&row[VT_HOT_FACTOR], &s->factor, sizeof(s->factor));
	row[VT_HOT_TOTAL] = s->total;
	row[VT_HOT_PROFILED] = s->profiled ? s->profiled : s->total;
	row[VT_HOT_ZERO] = s->zero;
	row[VT_HOT_SAME] = s->same;
	row[VT_HOT_STRIDE] = s->stride;
	row[VT_HOT_FIRST] = s->first;
	row[VT_HOT_LAST] = s->last;
	vt_writer_words(w, VT_HOT_VALUES, s->values, s->nvalues);
	vt_writer_words(w, VT_HOT_COUNTS, s->counts, s->nvalues);
	vt_writer_words(w, VT_HOT_ERRORS, s->errors, s->nerrors);
}

int hot_read_code(struct vt_writer *w, int fd, struct vt_hotprofile *p, struct vt_error *err)
{
	const struct vt_block *block;
	struct vt_reader *r;
	uint32_t first, count;
	int code;

	assert_int_equal(vt_writer_close(w, VT_STATUS_COMPLETE, err), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	r = vt_reader_open_fd(fd, "test", err);
	assert_non_null(r);
	while ((code = vt_reader_next_run(r, &block, &first, &count, err)) > 0)
		assert_int_equal(vt_hotprofile_feed(p, block, first, count, err), 0);
	assert_int_equal(code, 0);
	vt_reader_close(r);
	close(fd);
	return vt_hotprofile_end(p, err);
}

void hot_read(struct vt_writer *w, int fd, struct vt_hotprofile *p)
{
	struct vt_error err;

	assert_int_equal(hot_read_code(w, fd, p, &err), 0);
}

struct vt_hotprofile *hot_profile(const struct hot_spec *specs, size_t n)
{
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_hotprofile *p = vt_hotprofile_new(1);
	size_t i;

	assert_non_null(p);
	hot_image(w, 1, "/bin/a", "");
	for (i = 0; i < n; i++) {
		struct hot_spec s = specs[i];

		s.image = 1;
		hot_put(w, &s);
	}
	hot_read(w, fd, p);
	return p;
}
