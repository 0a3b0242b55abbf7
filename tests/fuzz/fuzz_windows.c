/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What reads the times of executed code: windows of vpair.  An input is a byte for the cycles on
 * each side, and a sequence of records, made straight into a block as a reader would give it.  A
 * BLOCK has a byte below 128 for its instructions; an EXEC a larger one for its blocks, whose ids
 * are bytes, then the thread, skipped and missing instructions, and the first cycle; and how many
 * times it has, each with the blocks and the cycles since the one before.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "pairs/pairs.h"
#include "stream/schema.h"
#include "tests/fuzz/number.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOST   128 /* blocks and times of a run, instructions of a block */
#define BLOCKS 24  /* more of an input are passed over */

static void check(bool good, const char *what)
{
	if (!good) {
		fprintf(stderr, "fuzz_windows: %s\n", what);
		abort();
	}
}

/* ---- records ---- */

static const uint64_t none[MOST];

/* A record, with what its block points to; texts and arrays are empty unless they are put there. */
struct made {
	struct vt_block block;
	struct vt_column columns[VT_MAX_FIELDS];
	uint64_t numbers[VT_MAX_FIELDS];
	uint32_t off[VT_MAX_FIELDS][2];
	uint8_t bytes[2 * MOST];
	uint64_t at[MOST], cycles[MOST];
};

static void init_record(struct made *m, unsigned kind, const struct vt_schema *schema)
{
	uint32_t f;

	m->block = (struct vt_block){.kind = kind,
				     .nrecords = 1,
				     .ncolumns = schema->kinds[kind].nfields,
				     .desc = &schema->kinds[kind],
				     .columns = m->columns};
	for (f = 0; f < m->block.ncolumns; f++) {
		m->numbers[f] = 0;
		m->off[f][0] = m->off[f][1] = 0;
		m->columns[f] = (struct vt_column){
			.v = &m->numbers[f], .off = m->off[f], .words = none, .bytes = m->bytes};
	}
}

static void make_block(struct made *m, uint8_t insns, uint64_t id)
{
	m->numbers[VT_BLOCK_ID] = id;
	m->numbers[VT_BLOCK_PID] = 5;
	m->numbers[VT_BLOCK_ADDR] = 0x1000 + MOST * id;
	m->numbers[VT_BLOCK_SIZE] = m->numbers[VT_BLOCK_INSNS] = insns;
	memset(m->bytes, 1, insns);
	m->off[VT_BLOCK_LENGTHS][1] = insns;
}

static void put_words(struct made *m, unsigned field, const uint64_t *words, uint32_t n)
{
	m->columns[field].words = words;
	m->off[field][1] = n;
}

static void make_exec(struct made *m, struct vt_cursor *c, uint8_t blocks, const uint8_t *insns)
{
	uint64_t at = 0, cycles;
	uint32_t i, n;

	for (i = 0; i < blocks; i++) {
		uint8_t id = vt_cursor_u8(c);

		vt_put_le16(m->bytes + 2 * i, id);
		m->numbers[VT_EXEC_INSNS] += insns[id];
	}
	m->off[VT_EXEC_IDS][1] = 2u * blocks;
	m->numbers[VT_EXEC_WIDTH] = 2;
	m->numbers[VT_EXEC_BLOCKS] = blocks;
	m->numbers[VT_EXEC_PID] = 5;
	m->numbers[VT_EXEC_TID] = vt_cursor_u8(c);
	m->numbers[VT_EXEC_SKIP] = fuzz_number(c);
	m->numbers[VT_EXEC_INSNS] -= m->numbers[VT_EXEC_SKIP] + fuzz_number(c);
	m->numbers[VT_EXEC_CYCLES] = cycles = fuzz_number(c);
	n = vt_cursor_u8(c) % MOST;
	for (i = 0; i < n; i++) {
		m->at[i] = at += fuzz_number(c);
		m->cycles[i] = cycles += fuzz_number(c);
	}
	put_words(m, VT_EXEC_TIME_AT, m->at, n);
	put_words(m, VT_EXEC_TIME_TSC, none, n);
	put_words(m, VT_EXEC_TIME_CYCLES, m->cycles, n);
}

static void make_map(struct made *m)
{
	m->numbers[VT_MAP_PID] = 5;
	m->numbers[VT_MAP_START] = 0x1000;
	m->numbers[VT_MAP_LENGTH] = 0x800; /* the others are unmapped */
	m->numbers[VT_MAP_IMAGE] = 1;
	m->numbers[VT_MAP_PROT] = 5;
}

/* ---- windows ---- */

/* One record of an input; false: it is a block too many. */
static bool make_next(struct made *m, struct vt_cursor *c, uint8_t *sizes, unsigned *known,
		      const struct vt_schema *schema)
{
	uint8_t kind = vt_cursor_u8(c);

	if (kind >= MOST) {
		init_record(m, VT_EXEC, schema);
		make_exec(m, c, kind - MOST, sizes);
		return true;
	}
	if (*known == BLOCKS)
		return false;
	init_record(m, VT_BLOCK, schema);
	make_block(m, sizes[*known] = kind, *known);
	(*known)++;
	return true;
}

static void feed_records(struct vt_context *context, struct vt_cursor *c, uint64_t *insns)
{
	static struct vt_schema schema;
	static struct made made;
	uint8_t sizes[256] = {0};
	struct vt_error err;
	unsigned known = 0;

	check(schema.nkinds || vt_schema_init(&schema, &err) == 0, "no memory");
	init_record(&made, VT_MAP, &schema);
	make_map(&made);
	check(vt_context_feed(context, &made.block, 0, 1, &err) == 0, "no mapping");
	while (vt_cursor_left(c)) {
		if (!make_next(&made, c, sizes, &known, &schema))
			continue;
		/* Others are those of a record that cannot be. */
		if (made.block.kind == VT_EXEC && made.numbers[VT_EXEC_INSNS] <= MOST * MOST)
			*insns += made.numbers[VT_EXEC_INSNS];
		check(vt_context_feed(context, &made.block, 0, 1, &err) != -VT_E_NOMEM,
		      "no memory");
	}
}

/* All that was measured is in some sum, and no more than was executed. */
static void check_sums(const struct vt_pairs *p, uint64_t insns)
{
	const struct vt_pairs_totals *t = vt_pairs_totals(p);
	uint64_t pairs = 0;
	size_t i;

	for (i = 0; i < vt_pairs_nplaces(p); i++) {
		const struct vt_pairsum *s =
			vt_pairs_sum(p, vt_pairs_place(p, i)->row, VT_SPLIT_MET);

		check(vt_pairsum_is_valid(s), "a sum that cannot be");
		check(s->x >= 0 && s->x <= (double)s->pairs * (double)insns,
		      "a count that cannot be");
		check(!s->pairs == !(s->y > 0), "windows without cycles");
		pairs += s->pairs;
	}
	check(pairs == t->windows, "windows that are in no sum");
	check(t->bad || t->windows + t->untimed == insns, "instructions are missing");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct vt_cursor c = vt_cursor_make(data, size, false);
	struct vt_pairmetric metric = {.measure = VT_PAIR_IPC, .cycles = vt_cursor_u8(&c)};
	struct vt_context *context = vt_context_new(NULL);
	struct vt_error err;
	struct vt_pairs *p;
	uint64_t insns = 0;

	check(context != NULL, "no memory");
	p = vt_pairs_new(context, &(struct vt_pairs_options){.metric = &metric}, &err);
	check(p != NULL, "no memory");
	vt_context_add(context, &(struct vt_consumer){.take = vt_pairs_feed, .arg = p});
	feed_records(context, &c, &insns);
	vt_pairs_finish(p);
	check_sums(p, insns);
	vt_pairs_free(p);
	vt_context_free(context);
	return 0;
}
