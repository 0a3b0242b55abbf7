/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/perfdata/write.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "formats/perfdata/perfdata.h"
#include "streams.h"

#define NSAMPLES 100

static const struct vt_perfdata_event one_event = {
	.name = "dummy:u",
	.type = PD_TYPE_SOFTWARE,
	.config = 9,
	.period = 7,
	.sample_type = PD_SAMPLE_IP | PD_SAMPLE_TID | PD_SAMPLE_TIME | PD_SAMPLE_CPU,
	.flags = PD_ATTR_MMAP2 | PD_ATTR_COMM | PD_ATTR_TASK,
};

static const struct vt_perfdata_stamp stamp = {0, 10, 11, 1000, 3};
static const uint8_t buildid[20] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};

static const struct vt_perfdata_map map = {.start = 0x400000,
					   .length = 0x2000,
					   .offset = 0x1000,
					   .prot = 5,
					   .buildid = buildid,
					   .buildid_size = sizeof(buildid),
					   .path = "/bin/program",
					   .path_size = 12};

static struct vt_perfdata_writer *begin(struct vt_output *out, int fd)
{
	struct vt_perfdata_about about = {"x86_64", "1", "program -x", 4};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_perfdata_writer *w;

	assert_int_equal(vt_output_open_fd(out, fd, "test", &err), 0);
	w = vt_perfdata_writer_new(out, &one_event, 1, &about, &err);
	assert_non_null(w);
	return w;
}

static void put_samples(struct vt_perfdata_writer *w)
{
	struct vt_error err = VT_ERROR_INIT;
	uint8_t sample[40];
	unsigned i;

	for (i = 0; i < NSAMPLES; i++) {
		vt_put_le64(sample, 1); /* PD_SAMPLE_IDENTIFIER */
		vt_put_le64(sample + 8, 0x400000 + i);
		vt_put_le32(sample + 16, 10);
		vt_put_le32(sample + 20, 11);
		vt_put_le64(sample + 24, 2000 + i);
		vt_put_le64(sample + 32, 3);
		assert_int_equal(vt_perfdata_put_record(w, PD_SAMPLE, PD_MISC_USER, NULL, sample,
							sizeof(sample), &err),
				 0);
	}
}

static void put_all(struct vt_perfdata_writer *w)
{
	struct vt_perfdata_switch sw = {.out = true, .wide = true, .other_pid = 1, .other_tid = 2};
	struct vt_perfdata_auxtrace a = {.index = 1, .tid = -1, .cpu = 2};
	struct vt_perfdata_stamp late = stamp, early = stamp;
	struct vt_error err = VT_ERROR_INIT;
	uint64_t priv[2] = {5, 6};

	late.time = 1007;
	early.time = 993;
	assert_int_equal(vt_perfdata_put_auxtrace_info(w, 1, priv, 2, &err), 0);
	assert_int_equal(vt_perfdata_put_task(w, &stamp, PD_FORK, 10, 10, &err), 0);
	assert_int_equal(vt_perfdata_put_comm(w, &stamp, "a name that is too long", 23, true, &err),
			 0);
	assert_int_equal(vt_perfdata_put_map(w, &stamp, &map, &err), 0);
	assert_int_equal(vt_perfdata_put_buildid(w, buildid, 20, map.path, 12, &err), 0);
	assert_int_equal(vt_perfdata_put_switch(w, &stamp, &sw, &err), 0);
	assert_int_equal(vt_perfdata_put_itrace_start(w, &early, &err), 0);
	put_samples(w);
	assert_int_equal(vt_perfdata_put_aux(w, &late, 0, 11, 0, &err), 0);
	assert_int_equal(vt_perfdata_put_auxtrace(w, &a, "elevenbytes", 11, &err), 0);
	assert_int_equal(vt_perfdata_put_task(w, &stamp, PD_EXIT, 10, 10, &err), 0);
}

/* What our reader, which knows nothing of the writer, makes of it. */
struct seen {
	unsigned samples, maps, threads, switches, auxtraces, about;
};

/* What was said of the machine and the command. */
static void see_about(struct seen *s, const struct vt_record *rec)
{
	static const struct {
		const char *key, *value;
	} about[] = {{"arch", "x86_64"},	   {"perf_version", "1"},
		     {"nrcpus.available", "4"},	   {"nrcpus.online", "4"},
		     {"sample_time.first", "993"}, {"sample_time.last", "1007"}};
	struct vt_bytes key = vt_record_bytes(rec, VT_META_KEY);
	struct vt_bytes value = vt_record_bytes(rec, VT_META_VALUE);
	size_t i;

	for (i = 0; i < sizeof(about) / sizeof(about[0]); i++) {
		if (key.size != strlen(about[i].key) ||
		    memcmp(key.data, about[i].key, key.size) != 0)
			continue;
		assert_int_equal(value.size, strlen(about[i].value));
		assert_memory_equal(value.data, about[i].value, value.size);
		s->about++;
	}
}

static void see(struct seen *s, const struct vt_record *rec)
{
	struct vt_bytes b;

	switch (rec->kind) {
	case VT_SAMPLE:
		assert_int_equal(vt_record_u64(rec, VT_SAMPLE_IP), 0x400000 + s->samples);
		assert_int_equal(vt_record_u64(rec, VT_SAMPLE_TIME), 2000 + s->samples);
		assert_int_equal(vt_record_u64(rec, VT_SAMPLE_PERIOD), 7);
		s->samples++;
		break;
	case VT_IMAGE:
		b = vt_record_bytes(rec, VT_IMAGE_BUILDID);
		assert_int_equal(b.size, 20);
		assert_memory_equal(b.data, buildid, 20);
		break;
	case VT_MAP:
		assert_int_equal(vt_record_u64(rec, VT_MAP_LENGTH), 0x2000);
		assert_int_equal(vt_record_u64(rec, VT_MAP_OFFSET), 0x1000);
		s->maps++;
		break;
	case VT_THREAD:
		b = vt_record_bytes(rec, VT_THREAD_COMM);
		if (vt_record_u64(rec, VT_THREAD_OP) == VT_OP_EXEC)
			assert_memory_equal(b.data, "a name that is ", b.size);
		s->threads++;
		break;
	case VT_SWITCH:
		assert_int_equal(vt_record_u64(rec, VT_SWITCH_OUT), 1);
		assert_int_equal(vt_record_i64(rec, VT_SWITCH_OTHER_TID), 2);
		assert_int_equal(vt_record_u64(rec, VT_SWITCH_CPU), 3);
		s->switches++;
		break;
	case VT_META:
		see_about(s, rec);
		break;
	case VT_AUXTRACE:
		b = vt_record_bytes(rec, VT_AUXTRACE_DATA);
		assert_int_equal(b.size, 16);
		assert_memory_equal(b.data, "elevenbytes\0\0\0\0\0", 16);
		s->auxtraces++;
		break;
	}
}

/* Decodes what begins at the start of a descriptor; only a file says when it begins and ends. */
static void read_back(int fd, bool file)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_writer_options wo = {.compression = VT_COMPRESS_NONE};
	struct vt_format_options fo = {.warn = NULL};
	struct vt_format_summary sum = {0};
	int to = scratch_file();
	struct vt_writer *w = vt_writer_open_fd(to, "stream", &wo, &err);
	struct seen s = {0};
	struct vt_record rec;
	struct vt_reader *r;
	struct vt_input in;

	assert_non_null(w);
	assert_int_equal(vt_input_open_fd(&in, fd, "perf.data", &err), 0);
	assert_int_equal(vt_perfdata_decode(&in, w, &fo, &sum, &err), 0);
	assert_int_equal(sum.damaged, 0);
	vt_input_close(&in);
	assert_int_equal(vt_writer_close(w, VT_STATUS_COMPLETE, &err), 0);
	assert_int_equal(lseek(to, 0, SEEK_SET), 0);
	r = vt_reader_open_fd(to, "stream", &err);
	assert_non_null(r);
	while (vt_reader_next(r, &rec, &err) == 1)
		see(&s, &rec);
	vt_reader_close(r);
	close(to);
	assert_int_equal(s.samples, NSAMPLES);
	assert_int_equal(s.maps, 1);
	assert_int_equal(s.threads, 3);
	assert_int_equal(s.switches, 1);
	assert_int_equal(s.auxtraces, 1);
	assert_int_equal(s.about, file ? 6 : 4);
}

static void a_file_is_read_back(void **state)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_perfdata_writer *w;
	struct vt_output out;
	int fd = scratch_file();

	(void)state;
	w = begin(&out, fd);
	assert_true(vt_perfdata_writer_is_file(w));
	put_all(w);
	assert_int_equal(vt_perfdata_writer_close(w, true, &err), 0);
	assert_int_equal(vt_output_close(&out, &err), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	read_back(fd, true);
	close(fd);
}

static void a_pipe_is_read_back(void **state)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_perfdata_writer *w;
	struct vt_output out;
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	w = begin(&out, fds[1]);
	assert_false(vt_perfdata_writer_is_file(w));
	put_all(w); /* less than a pipe holds */
	assert_int_equal(vt_perfdata_writer_close(w, true, &err), 0);
	assert_int_equal(vt_output_close(&out, &err), 0);
	close(fds[1]);
	read_back(fds[0], false);
	close(fds[0]);
}

static void what_cannot_be_written_is_refused(void **state)
{
	static char path[VT_PERFDATA_WRITE_PATH + 1], large[0xfff0];
	struct vt_error err = VT_ERROR_INIT;
	struct vt_perfdata_about about = {0};
	struct vt_perfdata_map m = map;
	struct vt_perfdata_writer *w;
	struct vt_output out;
	int fd = scratch_file();

	(void)state;
	w = begin(&out, fd);
	memset(path, 'x', sizeof(path));
	m.path = path;
	m.path_size = sizeof(path);
	assert_int_equal(vt_perfdata_put_map(w, &stamp, &m, &err), -VT_E_LIMIT);
	m.path_size--;
	assert_int_equal(vt_perfdata_put_map(w, &stamp, &m, &err), 0);
	path[5] = 0;
	assert_int_equal(vt_perfdata_put_map(w, &stamp, &m, &err), -VT_E_FORMAT);
	m = map;
	m.length = 0;
	assert_int_equal(vt_perfdata_put_map(w, &stamp, &m, &err), -VT_E_FORMAT);
	m.start = UINT64_MAX - 0xfff;
	m.length = 0x1001;
	assert_int_equal(vt_perfdata_put_map(w, &stamp, &m, &err), -VT_E_FORMAT);
	m.length = 0x1000;
	assert_int_equal(vt_perfdata_put_map(w, &stamp, &m, &err), 0);
	m.buildid_size = 21;
	assert_int_equal(vt_perfdata_put_map(w, &stamp, &m, &err), -VT_E_LIMIT);
	assert_int_equal(vt_perfdata_put_buildid(w, buildid, 21, "x", 1, &err), -VT_E_LIMIT);
	assert_int_equal(vt_perfdata_put_comm(w, &stamp, "a\0b", 3, false, &err), -VT_E_FORMAT);
	assert_int_equal(vt_perfdata_put_record(w, PD_LOST, 0, &stamp, large, sizeof(large), &err),
			 -VT_E_LIMIT);
	assert_int_equal(vt_perfdata_writer_close(w, false, &err), 0);
	assert_null(vt_perfdata_writer_new(&out, &one_event, 0, &about, &err));
	assert_int_equal(err.code, VT_E_LIMIT);
	vt_output_close(&out, &err);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_is_read_back),
		cmocka_unit_test(a_pipe_is_read_back),
		cmocka_unit_test(what_cannot_be_written_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
