/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/perfdata/write.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "formats/perfdata/perfdata.h"
#include "tests/unit/common/streams.h"
#include "tests/unit/formats/perfdata/pdfile.h"

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
	put_all(w); /* less than a pipe holds */
	assert_int_equal(vt_perfdata_writer_close(w, true, &err), 0);
	assert_int_equal(vt_output_close(&out, &err), 0);
	close(fds[1]);
	read_back(fds[0], false);
	close(fds[0]);
}

/* ---- each record byte by byte ---- */

#define ALL_STAMPS                                                                                 \
	(PD_SAMPLE_IP | PD_SAMPLE_TID | PD_SAMPLE_TIME | PD_SAMPLE_ID | PD_SAMPLE_STREAM_ID |      \
	 PD_SAMPLE_CPU)

static const struct vt_perfdata_event events[2] = {
	{.type = 1, .config = 9, .period = 7, .sample_type = PD_SAMPLE_IP},
	{.name = "raw", .type = 4, .config = 8, .period = 6, .sample_type = ALL_STAMPS, .flags = 1},
};

/* The sample id that ends a record of the kernel's: linux/perf_event.h. */
static void put_stamp(struct pdfile *f, const struct vt_perfdata_stamp *s)
{
	if (s->event == 1) {
		pdfile_u32(f, &f->data, (uint32_t)s->pid);
		pdfile_u32(f, &f->data, (uint32_t)s->tid);
		pdfile_u64(f, &f->data, s->time);
		pdfile_u64(f, &f->data, 2);
		pdfile_u64(f, &f->data, 2);
		pdfile_u64(f, &f->data, s->cpu);
	}
	pdfile_u64(f, &f->data, s->event + 1);
	pdfile_end(f);
}

static const struct vt_perfdata_stamp stamps[2] = {{0, 10, 11, 1000, 3}, {1, -1, -2, 2000, 4}};

/* A record that begins with these 32-bit numbers, to which a text may be added. */
static void begin_record(struct pdfile *f, uint32_t type, uint16_t misc, const uint32_t *numbers,
			 size_t n)
{
	size_t i;

	pdfile_begin(f, type, misc);
	for (i = 0; i < n; i++)
		pdfile_u32(f, &f->data, numbers[i]);
}

static void write_maps(struct vt_perfdata_writer *w, struct pdfile *f)
{
	static const struct {
		uint32_t prot;
		uint16_t misc;
	} prots[] = {{0, 2}, {1, 2 | 1 << 13}, {3, 2 | 1 << 13}, {4, 2}, {5, 2}, {7, 2}};
	static const char *const paths[] = {"", "/7bytes", "/8 bytes", "/bytes: 9"};
	struct vt_error err = VT_ERROR_INIT;
	size_t i, k;

	for (i = 0; i < 24; i++) {
		const struct vt_perfdata_stamp *s = &stamps[i & 1];
		const char *path = paths[i % 4];
		struct vt_perfdata_map m = {.start = 0x100000002,
					    .length = 0x300000004,
					    .offset = 0x500000006,
					    .prot = prots[i / 4].prot,
					    .flags = 7,
					    .maj = 8,
					    .min = 9,
					    .ino = 0xa0000000b,
					    .ino_generation = 0xc0000000d,
					    .buildid = buildid,
					    .buildid_size = i % 3 ? 0 : 1 + i / 3 % 20,
					    .path = path,
					    .path_size = strlen(path)};
		const uint32_t numbers[] = {(uint32_t)s->pid, (uint32_t)s->tid, 2, 1, 4, 3, 6, 5};

		assert_int_equal(vt_perfdata_put_map(w, s, &m, &err), 0);
		begin_record(f, PD_MMAP2,
			     prots[i / 4].misc | (m.buildid_size ? PD_MISC_MMAP_BUILD_ID : 0),
			     numbers, 8);
		if (m.buildid_size) {
			pdfile_u32(f, &f->data, (uint32_t)m.buildid_size);
			for (k = 0; k < 20; k++)
				vt_buf_put_u8(&f->data, k < m.buildid_size ? buildid[k] : 0);
		} else {
			pdfile_u32(f, &f->data, 8);
			pdfile_u32(f, &f->data, 9);
			pdfile_u64(f, &f->data, 0xa0000000b);
			pdfile_u64(f, &f->data, 0xc0000000d);
		}
		pdfile_u32(f, &f->data, m.prot);
		pdfile_u32(f, &f->data, 7);
		pdfile_text(&f->data, path);
		put_stamp(f, s);
	}
}

static void write_threads(struct vt_perfdata_writer *w, struct pdfile *f)
{
	static const char *const names[] = {"", "a name", "sixteen letters!"};
	struct vt_error err = VT_ERROR_INIT;
	size_t i;

	for (i = 0; i < 6; i++) {
		const struct vt_perfdata_stamp *s = &stamps[i & 1];
		const uint32_t pid = (uint32_t)s->pid, tid = (uint32_t)s->tid;
		const uint32_t comm[] = {pid, tid},
			       task[] = {pid, 20, tid, 21, (uint32_t)s->time, 0};
		const char *name = names[i % 3];

		assert_int_equal(vt_perfdata_put_comm(w, s, name, strlen(name), i > 2, &err), 0);
		begin_record(f, PD_COMM, i > 2 ? PD_MISC_COMM_EXEC : 0, comm, 2);
		pdfile_text(&f->data, i % 3 == 2 ? "sixteen letters" : name);
		put_stamp(f, s);
		assert_int_equal(
			vt_perfdata_put_task(w, s, i & 2 ? PD_FORK : PD_EXIT, 20, 21, &err), 0);
		begin_record(f, i & 2 ? PD_FORK : PD_EXIT, 0, task, 6);
		put_stamp(f, s);
		assert_int_equal(vt_perfdata_put_itrace_start(w, s, &err), 0);
		begin_record(f, PD_ITRACE_START, 0, comm, 2);
		put_stamp(f, s);
	}
}

static void write_switches(struct vt_perfdata_writer *w, struct pdfile *f)
{
	static const uint16_t misc[] = {2, 2 | 1 << 13, 2, 2 | 3 << 13};
	static const uint32_t others[] = {30, (uint32_t)-1};
	struct vt_error err = VT_ERROR_INIT;
	unsigned i;

	for (i = 0; i < 16; i++) {
		const struct vt_perfdata_switch sw = {.out = i & 1,
						      .preempt = i & 2,
						      .wide = i & 4,
						      .other_pid = 30,
						      .other_tid = -1};

		assert_int_equal(vt_perfdata_put_switch(w, &stamps[i / 8], &sw, &err), 0);
		begin_record(f, i & 4 ? PD_SWITCH_CPU_WIDE : PD_SWITCH, misc[i % 4], others,
			     i & 4 ? 2 : 0);
		put_stamp(f, &stamps[i / 8]);
	}
}

/* Where records begin: behind the header, two attributes with the places of their ids, and the ids.
 */
#define RECORDS (104 + 2 * (128 + 16) + 2 * 8)

/* Areas of 0 to 9 bytes, which fill up to a multiple of 8. */
static void write_areas(struct vt_perfdata_writer *w, struct pdfile *f, struct vt_buf *index)
{
	static const uint64_t priv[] = {40, UINT64_MAX, 41};
	static const uint32_t info[] = {5, 0, 40, 0, UINT32_MAX, UINT32_MAX, 41, 0};
	static const uint32_t aux[] = {50, 0, 51, 0, 52, 0};
	struct vt_error err = VT_ERROR_INIT;
	unsigned i;

	for (i = 0; i < 4; i++) {
		assert_int_equal(vt_perfdata_put_auxtrace_info(w, 5, priv, i, &err), 0);
		begin_record(f, PD_AUXTRACE_INFO, 0, info, 2 + 2 * (size_t)i);
		pdfile_end(f);
	}
	assert_int_equal(vt_perfdata_put_aux(w, &stamps[1], 50, 51, 52, &err), 0);
	begin_record(f, PD_AUX, 0, aux, 6);
	put_stamp(f, &stamps[1]);
	for (i = 0; i < 10; i++) {
		const struct vt_perfdata_auxtrace a = {60, 61, 62, -1, (int32_t)i};
		const uint32_t padded = (i + 7) / 8 * 8;
		const uint32_t area[] = {padded, 0, 60, 0, 61, 0, 62, (uint32_t)-1, i, 0};

		assert_int_equal(vt_perfdata_put_auxtrace(w, &a, "123456789", i, &err), 0);
		vt_buf_put_le64(index, RECORDS + f->data.size);
		vt_buf_put_le64(index, PD_AUXTRACE_SIZE);
		begin_record(f, PD_AUXTRACE, 0, area, 10);
		pdfile_end(f);
		vt_buf_put(&f->data, "123456789", i);
		vt_buf_put(&f->data, "\0\0\0\0\0\0\0", padded - i);
	}
	for (i = 0; i < 3; i++) {
		assert_int_equal(vt_perfdata_put_record(w, 33, 7, i ? &stamps[i - 1] : NULL,
							"payload.", 8, &err),
				 0);
		pdfile_begin(f, 33, 7);
		vt_buf_put(&f->data, "payload.", 8);
		if (i)
			put_stamp(f, &stamps[i - 1]);
		else
			pdfile_end(f);
	}
}

static void each_record_has_its_bytes(void **state)
{
	static const struct vt_perfdata_about about = {"x86_64", "1", "program -x", 4};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_perfdata_writer *w;
	struct vt_buf index = VT_BUF_INIT, line = VT_BUF_INIT;
	struct pdfile f = {.big = false};
	struct vt_output out;
	int fd = scratch_file();
	uint8_t *bytes;
	size_t size, i;
	char *text;

	(void)state;
	assert_int_equal(vt_output_open_fd(&out, fd, "test", &err), 0);
	w = vt_perfdata_writer_new(&out, events, 2, &about, &err);
	assert_non_null(w);
	write_maps(w, &f);
	write_threads(w, &f);
	write_switches(w, &f);
	vt_buf_put_le64(&index, 10);
	write_areas(w, &f, &index);
	assert_int_equal(vt_perfdata_writer_close(w, true, &err), 0);
	assert_int_equal(vt_output_close(&out, &err), 0);
	bytes = slurp(fd, &size);
	assert_int_equal(vt_le64(bytes + 40), RECORDS);
	assert_int_equal(vt_le64(bytes + 48), f.data.size);
	assert_memory_equal(bytes + RECORDS, f.data.data, f.data.size);
	/* The index of AUX areas is among the features. */
	vt_buf_printf(&line, "META key=auxtrace data=");
	for (i = 0; i < index.size; i++)
		vt_buf_printf(&line, "%02x", index.data[i]);
	vt_buf_put_u8(&line, '\n');
	assert_int_equal(pdfile_try(bytes, size, &text, &err), 0);
	assert_non_null(strstr(text, vt_buf_str(&line)));
	free(text);
	vt_buf_free(&index);
	vt_buf_free(&line);
	free(bytes);
	pdfile_free(&f);
	close(fd);
}

/* ---- what is around the records ---- */

#define ORDER "META key=byte_order value=little\n"
#define ABOUT                                                                                      \
	"META key=perf_version value=1\n"                                                          \
	"META key=arch value=x86_64\n"                                                             \
	"META key=nrcpus.available value=4\n"                                                      \
	"META key=nrcpus.online value=4\n"                                                         \
	"META key=cmdline value=program\\ -x\n"
#define TIMES                                                                                      \
	"META key=sample_time.first value=77\n"                                                    \
	"META key=sample_time.last value=77\n"
/* The flags are the event's own and sample_id_all, the fields of samples with the identifier. */
#define EVENT                                                                                      \
	"EVENT name=dummy:HG policy=5 unit=events type=1 config=9 period=7 sample_type=65537 "     \
	"attr_flags=262144\n"
#define EVENT2                                                                                     \
	"EVENT id=1 name=raw policy=1 unit=events type=4 config=8 period=6 sample_type=66247 "     \
	"attr_flags=262145\n"
#define IMAGE "IMAGE path=/bin/program buildid=010203"
#define MAP   "pid=1 tid=1 start=4194304 length=8192 offset=4096 prot=5 misc=2\n"

/* What a reader makes of a file or pipe of a mapping and build-ids. */
static void expect_around(const struct vt_perfdata_event *e, size_t n,
			  const struct vt_perfdata_about *about, bool pipe, const char *lines)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_perfdata_stamp at = {.event = (unsigned)n - 1, .time = 77, .tid = 1, .pid = 1};
	struct vt_perfdata_map m = map;
	struct vt_perfdata_writer *w;
	struct vt_output out;
	int fd = scratch_file();
	uint8_t *bytes;
	size_t size;
	char *text;

	/* Where nothing can be put over what is there, it is as in a pipe. */
	if (pipe)
		assert_int_equal(fcntl(fd, F_SETFL, O_APPEND), 0);
	assert_int_equal(vt_output_open_fd(&out, fd, "test", &err), 0);
	w = vt_perfdata_writer_new(&out, e, n, about, &err);
	assert_non_null(w);
	assert_int_equal(vt_perfdata_put_buildid(w, buildid, 0, "/bin/of", 7, &err), 0);
	assert_int_equal(vt_perfdata_put_buildid(w, buildid, 3, m.path, m.path_size, &err), 0);
	m.buildid_size = 0;
	assert_int_equal(vt_perfdata_put_map(w, &at, &m, &err), 0);
	assert_int_equal(vt_perfdata_writer_close(w, true, &err), 0);
	assert_int_equal(vt_output_close(&out, &err), 0);
	bytes = slurp(fd, &size);
	assert_int_equal(vt_le64(bytes + 8), pipe ? 16 : 104); /* the header's size */
	assert_int_equal(pdfile_try(bytes, size, &text, &err), 0);
	assert_string_equal(text, lines);
	free(text);
	free(bytes);
	close(fd);
}

static void what_is_around_the_records(void **state)
{
	static const struct vt_perfdata_about none = {NULL, NULL, NULL, 0};
	static const struct vt_perfdata_about about = {"x86_64", "1", "program -x", 4};

	(void)state;
	expect_around(events, 1, &none, false, ORDER EVENT IMAGE "\nMAP " MAP);
	expect_around(events, 1, &none, true, ORDER EVENT IMAGE "\nMAP " MAP);
	expect_around(events, 2, &about, false,
		      ORDER ABOUT TIMES EVENT EVENT2 IMAGE " machine=62\nMAP time=77 " MAP);
	/* A pipe's features come before its records' times. */
	expect_around(events, 2, &about, true,
		      ORDER ABOUT EVENT EVENT2 IMAGE " machine=62\nMAP time=77 " MAP);
}

static void what_cannot_be_written_is_refused(void **state)
{
	static char path[VT_PERFDATA_WRITE_PATH + 1], large[0x10000];
	struct vt_error err = VT_ERROR_INIT;
	struct vt_perfdata_about about = {0};
	struct vt_perfdata_event many[17] = {{.name = NULL}};
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
	/* The largest record that there is, and one that is a byte larger. */
	assert_int_equal(vt_perfdata_put_record(w, 33, 0, NULL, large, 65528 - 8, &err), 0);
	assert_int_equal(vt_perfdata_put_record(w, 33, 0, NULL, large, 65528 - 7, &err),
			 -VT_E_LIMIT);
	assert_int_equal(vt_perfdata_put_buildid(w, buildid, 20, path, 4096, &err), -VT_E_LIMIT);
	assert_int_equal(vt_perfdata_writer_close(w, false, &err), 0);
	assert_int_equal(vt_perfdata_writer_close(NULL, true, &err), 0);
	assert_null(vt_perfdata_writer_new(&out, many, 17, &about, &err));
	assert_int_equal(err.code, VT_E_LIMIT);
	w = vt_perfdata_writer_new(&out, many, 16, &about, &err);
	assert_non_null(w);
	assert_int_equal(vt_perfdata_writer_close(w, false, &err), 0);
	assert_null(vt_perfdata_writer_new(&out, &one_event, 0, &about, &err));
	assert_int_equal(err.code, VT_E_LIMIT);
	vt_output_close(&out, &err);
	close(fd);
}

/* A device that takes nothing. */
static void says_that_nothing_could_be_written(void **state)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_perfdata_writer *w;
	struct vt_output out;
	int fd = open("/dev/full", O_WRONLY);

	(void)state;
	assert_true(fd >= 0);
	w = begin(&out, fd);
	assert_int_equal(vt_perfdata_writer_close(w, true, &err), -VT_E_WRITE);
	assert_int_equal(err.code, VT_E_WRITE);
	vt_output_close(&out, &err);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_is_read_back),
		cmocka_unit_test(a_pipe_is_read_back),
		cmocka_unit_test(each_record_has_its_bytes),
		cmocka_unit_test(what_is_around_the_records),
		cmocka_unit_test(what_cannot_be_written_is_refused),
		cmocka_unit_test(says_that_nothing_could_be_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
