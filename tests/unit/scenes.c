/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/scenes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "stream/reader.h"
#include "tests/unit/toolbox.h"

#define USER 2

static struct vt_error err;

void scene_event(struct vt_writer *w, uint64_t id, const char *name, enum vt_policy policy)
{
	uint64_t *row = vt_writer_row(w, VT_EVENT);

	row[VT_EVENT_ID] = id;
	row[VT_EVENT_POLICY] = policy;
	vt_writer_text(w, VT_EVENT_NAME, name);
}

void scene_image(struct vt_writer *w, uint64_t id, const char *path)
{
	uint64_t *row = vt_writer_row(w, VT_IMAGE);

	row[VT_IMAGE_ID] = id;
	row[VT_IMAGE_TYPE] = VT_IMAGE_FILE;
	vt_writer_text(w, VT_IMAGE_PATH, path);
}

void scene_map(struct vt_writer *w, uint64_t start, uint64_t image)
{
	uint64_t *row = vt_writer_row(w, VT_MAP);

	row[VT_MAP_PID] = row[VT_MAP_TID] = 10;
	row[VT_MAP_START] = start;
	row[VT_MAP_LENGTH] = 0x10000;
	row[VT_MAP_IMAGE] = image;
	row[VT_MAP_PROT] = 5;
	row[VT_MAP_MISC] = USER;
}

void scene_samples(struct vt_writer *w, uint64_t event, uint64_t ip, uint64_t misc, uint64_t period,
		   unsigned n)
{
	for (; n; n--) {
		uint64_t *row = vt_writer_row(w, VT_SAMPLE);

		row[VT_SAMPLE_EVENT] = event;
		row[VT_SAMPLE_PID] = row[VT_SAMPLE_TID] = 10;
		row[VT_SAMPLE_IP] = ip;
		row[VT_SAMPLE_MISC] = USER | misc;
		row[VT_SAMPLE_PERIOD] = period;
		row[VT_SAMPLE_HAS] = 0x101;
	}
}

uint64_t *scene_freq(struct vt_writer *w, uint64_t image, uint64_t offset, double executions,
		     double cycles, double issue)
{
	uint64_t *row = vt_writer_row(w, VT_FREQ);

	row[VT_FREQ_IMAGE] = image;
	row[VT_FREQ_OFFSET] = offset;
	memcpy(&row[VT_FREQ_EXECUTIONS], &executions, sizeof(executions));
	memcpy(&row[VT_FREQ_CYCLES], &cycles, sizeof(cycles));
	memcpy(&row[VT_FREQ_ISSUE], &issue, sizeof(issue));
	return row;
}

static void feed(struct scene *s, const struct vt_block *block, uint32_t first, uint32_t count)
{
	struct vt_record rec = {.kind = block->kind, .block = block};

	assert_int_equal(vt_profile_feed(s->profile, block, first, count, &err), 0);
	assert_int_equal(vt_hotprofile_feed(s->lists, block, first, count, &err), 0);
	for (rec.row = first; rec.row < first + count; rec.row++) {
		assert_int_equal(vt_freqprofile_feed(s->freqs, &rec, &err), 0);
		assert_int_equal(vt_blockcode_feed(s->code, &rec, &err), 0);
	}
}

void scene_read(struct scene *s, int fd, struct vt_writer *w, bool estimates)
{
	static const struct vt_images_options o = {.warn = NULL};
	const struct vt_block *block;
	struct vt_reader *r;
	uint32_t first, count;

	s->images = vt_images_new(&o, &err);
	s->profile = vt_profile_new(s->images);
	s->freqs = vt_freqprofile_new();
	s->lists = vt_hotprofile_new(1);
	s->code = vt_blockcode_new();
	assert_true(s->profile && s->freqs && s->lists && s->code);
	if (estimates)
		vt_profile_estimates(s->profile);
	assert_int_equal(vt_writer_close(w, VT_STATUS_COMPLETE, &err), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	r = vt_reader_open_fd(fd, "test", &err);
	assert_non_null(r);
	while (vt_reader_next_run(r, &block, &first, &count, &err) == 1)
		feed(s, block, first, count);
	vt_reader_close(r);
	close(fd);
	assert_int_equal(vt_profile_finish(s->profile, &err), 0);
	assert_int_equal(vt_freqprofile_finish(s->freqs, &err), 0);
	assert_int_equal(vt_hotprofile_end(s->lists, &err), 0);
	assert_int_equal(vt_blockcode_finish(s->code, s->profile, &err), 0);
}

void scene_drop(struct scene *s)
{
	vt_blockcode_free(s->code);
	vt_hotprofile_free(s->lists);
	vt_freqprofile_free(s->freqs);
	vt_profile_free(s->profile);
	vt_images_free(s->images);
}

void scene_program(const char *dir, const char *text)
{
	toolbox_write(dir, "prog.s", text);
	free(toolbox_run(dir, "as -o prog.o prog.s && ld -Ttext=0x401000 -o prog prog.o"));
}
