/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What reads executed code: each input is a little program of records (BLOCK, EXEC and what stands
 * between them), which are written as a stream, counted, sampled in one of the ways there are, and
 * counted again.  A sample must not contradict itself, nor hold more than the whole.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "profile/executions.h"
#include "profile/profile.h"
#include "sample/sampler.h"
#include "stream/reader.h"
#include "stream/writer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good, const char *what)
{
	if (!good) {
		fprintf(stderr, "fuzz_exec: %s\n", what);
		abort();
	}
}

/* Numbers are mostly small, now and then anything. */
static uint64_t number(struct vt_cursor *c)
{
	uint8_t n = vt_cursor_u8(c);

	return n < 0xf8 ? n : vt_cursor_u64(c);
}

static struct vt_bytes bytes(struct vt_cursor *c)
{
	size_t n = vt_cursor_u8(c);
	struct vt_bytes b = {NULL, 0};

	n = n < vt_cursor_left(c) ? n : vt_cursor_left(c);
	b.data = vt_cursor_take(c, n);
	b.size = n;
	return b;
}

static void put_block(struct vt_writer *w, struct vt_cursor *c)
{
	uint64_t *row = vt_writer_row(w, VT_BLOCK);
	uint64_t slots[16];
	struct vt_bytes lengths;
	size_t i, n;

	row[VT_BLOCK_ID] = number(c);
	row[VT_BLOCK_PID] = number(c) & 3;
	row[VT_BLOCK_ADDR] = number(c);
	row[VT_BLOCK_END] = number(c);
	row[VT_BLOCK_TARGET] = number(c);
	lengths = bytes(c);
	for (i = 0; i < lengths.size; i++)
		row[VT_BLOCK_SIZE] += lengths.data[i];
	row[VT_BLOCK_INSNS] = lengths.size;
	if (vt_cursor_u8(c) == 0xff)
		row[VT_BLOCK_INSNS] = number(c);
	n = vt_cursor_u8(c) & 15;
	for (i = 0; i < n; i++) {
		struct vt_slot s = {.insn = (uint16_t)number(c),
				    .what = (uint8_t)number(c),
				    .size = (uint16_t)number(c)};

		slots[i] = vt_slot_pack(&s);
	}
	vt_writer_bytes(w, VT_BLOCK_LENGTHS, lengths.data, lengths.size);
	vt_writer_words(w, VT_BLOCK_SLOTS, slots, n);
}

static void put_exec(struct vt_writer *w, struct vt_cursor *c)
{
	uint64_t *row = vt_writer_row(w, VT_EXEC);
	struct vt_bytes ids, data;

	row[VT_EXEC_TIME] = number(c);
	row[VT_EXEC_PID] = number(c) & 3;
	row[VT_EXEC_TID] = number(c) & 3;
	row[VT_EXEC_FIRST] = number(c);
	row[VT_EXEC_INSNS] = number(c);
	row[VT_EXEC_SKIP] = number(c);
	row[VT_EXEC_CALLER] = number(c);
	row[VT_EXEC_BASE] = number(c);
	row[VT_EXEC_WIDTH] = number(c);
	ids = bytes(c);
	row[VT_EXEC_BLOCKS] = row[VT_EXEC_WIDTH] ? ids.size / row[VT_EXEC_WIDTH] : number(c);
	data = bytes(c);
	vt_writer_bytes(w, VT_EXEC_IDS, ids.data, ids.size);
	vt_writer_bytes(w, VT_EXEC_DATA, data.data, data.size);
}

static void put_other(struct vt_writer *w, struct vt_cursor *c)
{
	static const uint32_t kinds[] = {VT_GAP,    VT_STATE, VT_SIGNAL,  VT_THREAD,
					 VT_MEMORY, VT_MAP,   VT_TIMECONV};
	uint32_t kind = kinds[number(c) % (sizeof(kinds) / sizeof(kinds[0]))];
	uint64_t *row = vt_writer_row(w, kind);
	int fields = kind == VT_MAP ? 7 : kind == VT_TIMECONV ? 2 : 4;
	int i;

	/* The first fields of these are numbers. */
	for (i = 0; i < fields; i++)
		row[i] = number(c);
}

static struct vt_reader *reopen(FILE *f)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_reader *r;

	check(lseek(fileno(f), 0, SEEK_SET) == 0, "no seeking");
	r = vt_reader_open_fd(fileno(f), "input", &err);
	check(r != NULL, "a stream that was written cannot be read");
	return r;
}

static struct vt_writer *create(FILE *f, const struct vt_reader *in)
{
	const struct vt_reader *inputs[1] = {in};
	struct vt_writer_options o = {.compression = VT_COMPRESS_NONE};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_writer *w;

	o.inputs = inputs;
	o.ninputs = in ? 1 : 0;
	w = vt_writer_open_fd(fileno(f), "output", &o, &err);
	check(w != NULL, "no writer");
	return w;
}

/* Counts in both ways; the instructions executed, and how many records were bad. */
static uint64_t count(FILE *f, uint64_t *bad)
{
	struct vt_context *context = vt_context_new(NULL);
	struct vt_execcount *c = vt_execcount_new(vt_context_blocks(context));
	struct vt_profile *p = vt_profile_new(context);
	struct vt_reader *r = reopen(f);
	struct vt_error err = VT_ERROR_INIT;
	struct vt_record rec;
	uint64_t insns;
	int code;

	check(c && p, "no memory");
	*bad = 0;
	vt_context_add(context, &(struct vt_consumer){.take = vt_profile_feed, .arg = p});
	while (vt_reader_next(r, &rec, &err) > 0) {
		code = vt_context_feed(context, rec.block, rec.row, 1, &err);
		check(code == 0, "a profile fails");
		code = rec.kind == VT_BLOCK  ? vt_context_refused(context, &err)
		       : rec.kind == VT_EXEC ? vt_execcount_exec(c, &rec, &err)
					     : 0;
		*bad += code < 0;
	}
	insns = vt_execcount_totals(c)->insns;
	check(vt_profile_finish(p, &err) == 0, "a profile does not finish");
	check(!*bad || !vt_profile_nevents(p) || vt_profile_bad(p) == *bad || !vt_profile_bad(p),
	      "two counts of what is bad");
	vt_profile_free(p);
	vt_execcount_free(c);
	vt_context_free(context);
	vt_reader_close(r);
	return insns;
}

static bool sample(FILE *from, FILE *to, uint8_t how)
{
	struct vt_sampler_options o = {
		.unit = (enum vt_sampler_unit)((how & 7) % VT_NSAMPLERUNITS),
		.interval = vt_interval_make((enum vt_interval_kind)(how >> 3 & 1), 1 + (how & 3)),
		.burst = how >> 4 & 3,
		.fraction = 1 + (how >> 6 & 1),
		.seed = how,
		.per_instruction = how >> 7,
		.backoff = 2,
		.follow = how >> 2 & 1,
		.keep = how >> 5 & 1,
	};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_reader *r = reopen(from);
	struct vt_writer *w = create(to, r);
	struct vt_sampler *s;
	struct vt_record rec;
	int code = 0;

	if (o.per_instruction && !o.burst)
		o.burst = 1;
	o.context = vt_context_new(NULL);
	s = o.context ? vt_sampler_new(&o, w, &err) : NULL;
	check(s != NULL, "no sampler");
	while (code == 0 && vt_reader_next(r, &rec, &err) > 0)
		code = vt_context_feed(o.context, rec.block, rec.row, 1, &err);
	if (code == 0)
		code = vt_sampler_finish(s, &err);
	check(code == 0 || code == -VT_E_ABSENT || code == -VT_E_FORMAT, "a sampler fails");
	vt_sampler_free(s);
	vt_context_free(o.context);
	check(vt_writer_close(w, VT_STATUS_COMPLETE, &err) == 0, "a sample cannot be written");
	vt_reader_close(r);
	return code == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct vt_cursor c = vt_cursor_make(data, size, false);
	FILE *whole = tmpfile(), *part = tmpfile();
	struct vt_writer *w;
	struct vt_error err = VT_ERROR_INIT;
	uint64_t all, some, bad, bad_part;
	uint8_t how = vt_cursor_u8(&c);

	check(whole && part, "no files");
	w = create(whole, NULL);
	while (vt_cursor_left(&c)) {
		uint8_t kind = vt_cursor_u8(&c);

		if (kind < 0x60)
			put_block(w, &c);
		else if (kind < 0xe0)
			put_exec(w, &c);
		else
			put_other(w, &c);
	}
	check(vt_writer_close(w, VT_STATUS_COMPLETE, &err) == 0, "records cannot be written");
	all = count(whole, &bad);
	if (sample(whole, part, how)) {
		some = count(part, &bad_part);
		check(!bad_part, "a sample that contradicts itself");
		check(some <= all, "a sample of more than there is");
	}
	fclose(whole);
	fclose(part);
	return 0;
}
