/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/formats/recording/recordings.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "stream/reader.h"
#include "tests/unit/common/streams.h"
#include "tests/unit/common/toolbox.h"

static void keep_warning(void *arg, const char *text)
{
	vt_buf_printf(arg, "%s\n", text);
}

void recordings_open(struct recordings *s, const struct vt_recording_options *opt)
{
	struct vt_writer_options how = {.compression = VT_COMPRESS_NONE};
	struct vt_recording_options o = *opt;
	struct vt_error err = VT_ERROR_INIT;

	*s = (struct recordings){.warnings = VT_BUF_INIT};
	s->dir = toolbox_dir();
	s->fd = scratch_file();
	s->w = vt_writer_open_fd(s->fd, "test", &how, &err);
	assert_non_null(s->w);
	o.warn = keep_warning;
	o.warn_arg = &s->warnings;
	s->rec = vt_recording_open(s->dir, s->w, &o, &err);
	assert_non_null(s->rec);
	rings_begin(&s->ring, s->rec, s->dir, RECORDINGS_PID, 40, 0);
}

void recordings_put_bytes(struct vt_buf *b, const char *name, struct vt_bytes v)
{
	size_t i;

	vt_buf_printf(b, " %s", name);
	for (i = 0; i < v.size && i < 16; i++)
		vt_buf_printf(b, "%s%02x", i ? "" : "=", v.data[i]);
	if (v.size > i)
		vt_buf_printf(b, "..%zu", v.size);
}

static void put_words(struct vt_buf *b, const char *name, struct vt_words v)
{
	size_t i;

	vt_buf_printf(b, " %s", name);
	for (i = 0; i < v.count; i++)
		vt_buf_printf(b, "%s%" PRIx64, i ? "," : "=", v.data[i]);
}

#define FIELD(kind, field)                                                                         \
	vt_buf_printf(b, " %s=%" PRId64, #field, vt_record_i64(rec, VT_##kind##_##field))
#define FIRST(kind) FIELD(kind, PID), FIELD(kind, TID), FIELD(kind, FIRST)

static void put_record(struct vt_buf *b, const struct vt_record *rec)
{
	struct vt_bytes reason;

	switch (rec->kind) {
	case VT_THREAD:
		vt_buf_printf(b, "THREAD");
		FIELD(THREAD, TIME), FIELD(THREAD, PID), FIELD(THREAD, TID), FIELD(THREAD, OP);
		FIELD(THREAD, PPID), FIELD(THREAD, PTID);
		recordings_put_bytes(b, "COMM", vt_record_bytes(rec, VT_THREAD_COMM));
		break;
	case VT_IMAGE:
		vt_buf_printf(b, "IMAGE");
		FIELD(IMAGE, ID), FIELD(IMAGE, TYPE), FIELD(IMAGE, MACHINE);
		recordings_put_bytes(b, "PATH", vt_record_bytes(rec, VT_IMAGE_PATH));
		if (vt_record_bytes(rec, VT_IMAGE_BUILDID).size)
			recordings_put_bytes(b, "BUILDID", vt_record_bytes(rec, VT_IMAGE_BUILDID));
		break;
	case VT_MAP:
		vt_buf_printf(b, "MAP");
		FIELD(MAP, TIME), FIELD(MAP, PID), FIELD(MAP, TID), FIELD(MAP, START);
		FIELD(MAP, LENGTH), FIELD(MAP, OFFSET), FIELD(MAP, IMAGE), FIELD(MAP, PROT);
		FIELD(MAP, FLAGS), FIELD(MAP, INO);
		break;
	case VT_BLOCK:
		vt_buf_printf(b, "BLOCK");
		FIELD(BLOCK, ID), FIELD(BLOCK, PID), FIELD(BLOCK, ADDR), FIELD(BLOCK, SIZE);
		FIELD(BLOCK, INSNS), FIELD(BLOCK, END), FIELD(BLOCK, TARGET);
		recordings_put_bytes(b, "LENGTHS", vt_record_bytes(rec, VT_BLOCK_LENGTHS));
		recordings_put_bytes(b, "CODE", vt_record_bytes(rec, VT_BLOCK_CODE));
		put_words(b, "SLOTS", vt_record_words(rec, VT_BLOCK_SLOTS));
		break;
	case VT_EXEC:
		vt_buf_printf(b, "EXEC");
		FIELD(EXEC, TIME), FIRST(EXEC), FIELD(EXEC, BLOCKS), FIELD(EXEC, INSNS);
		FIELD(EXEC, SKIP), FIELD(EXEC, BASE), FIELD(EXEC, WIDTH);
		recordings_put_bytes(b, "IDS", vt_record_bytes(rec, VT_EXEC_IDS));
		recordings_put_bytes(b, "DATA", vt_record_bytes(rec, VT_EXEC_DATA));
		break;
	case VT_STATE:
		vt_buf_printf(b, "STATE");
		FIRST(STATE), FIELD(STATE, REASON), FIELD(STATE, MXCSR);
		vt_buf_printf(b, " REGS*%zu", vt_record_words(rec, VT_STATE_REGS).count);
		recordings_put_bytes(b, "VECTOR", vt_record_bytes(rec, VT_STATE_VECTOR));
		break;
	case VT_SYSCALL:
		vt_buf_printf(b, "SYSCALL");
		FIRST(SYSCALL), FIELD(SYSCALL, NUMBER), FIELD(SYSCALL, RESULT);
		put_words(b, "ARGS", vt_record_words(rec, VT_SYSCALL_ARGS));
		break;
	case VT_SIGNAL:
		vt_buf_printf(b, "SIGNAL");
		FIRST(SIGNAL), FIELD(SIGNAL, NUMBER), FIELD(SIGNAL, IP), FIELD(SIGNAL, HANDLER);
		break;
	case VT_MEMORY:
		vt_buf_printf(b, "MEMORY");
		FIRST(MEMORY), FIELD(MEMORY, ADDR);
		recordings_put_bytes(b, "DATA", vt_record_bytes(rec, VT_MEMORY_DATA));
		break;
	case VT_HEAP:
		vt_buf_printf(b, "HEAP");
		FIELD(HEAP, TIME), FIRST(HEAP), FIELD(HEAP, OP), FIELD(HEAP, ADDR);
		FIELD(HEAP, SIZE), FIELD(HEAP, OLD), FIELD(HEAP, CALLER);
		break;
	case VT_LOST:
		vt_buf_printf(b, "LOST");
		FIELD(LOST, TIME), FIELD(LOST, PID), FIELD(LOST, TID), FIELD(LOST, COUNT);
		recordings_put_bytes(b, "SOURCE", vt_record_bytes(rec, VT_LOST_SOURCE));
		break;
	case VT_GAP:
		vt_buf_printf(b, "GAP");
		FIELD(GAP, TIME), FIELD(GAP, PID), FIELD(GAP, TID), FIELD(GAP, BYTES);
		reason = vt_record_bytes(rec, VT_GAP_REASON);
		vt_buf_printf(b, " REASON=%.*s", (int)reason.size, (const char *)reason.data);
		break;
	default:
		return;
	}
	vt_buf_printf(b, "\n");
}

bool recordings_mapped(const struct recordings *s, const char *name)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[4096], path[400];
	bool found = false;

	assert_non_null(f);
	snprintf(path, sizeof(path), "%s/%s", s->dir, name);
	while (!found && fgets(line, sizeof(line), f))
		found = strstr(line, path) != NULL;
	fclose(f);
	return found;
}

struct vt_recording_summary recordings_close(struct recordings *s, const char *want)
{
	struct vt_recording_summary sum = *vt_recording_summary(s->rec);
	struct vt_error err = VT_ERROR_INIT;
	struct vt_buf text = VT_BUF_INIT;
	struct vt_record rec = {0};
	struct vt_reader *r;

	vt_recording_close(s->rec);
	assert_false(recordings_mapped(s, ""));
	assert_int_equal(vt_writer_close(s->w, VT_STATUS_COMPLETE, &err), 0);
	toolbox_remove(s->dir);
	lseek(s->fd, 0, SEEK_SET);
	r = vt_reader_open_fd(s->fd, "test", &err);
	assert_non_null(r);
	while (vt_reader_next(r, &rec, &err) > 0)
		put_record(&text, &rec);
	vt_reader_close(r);
	close(s->fd);
	assert_string_equal(vt_buf_str(&text), want);
	vt_buf_free(&text);
	vt_buf_free(&s->warnings);
	return sum;
}
