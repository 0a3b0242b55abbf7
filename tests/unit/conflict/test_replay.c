/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From executed code to pairs of conflicting accesses: small streams, whose blocks are letters, and
 * all that comes of them as text.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "tests/unit/common/streams.h"
#include "tests/unit/conflict/replayed.h"

#define USER  2
#define EVENT 5

static struct vt_error err;

static struct vt_replay_options usual(void)
{
	return (struct vt_replay_options){.length = 10};
}

/* ---- what slots tell of instructions ---- */

/* add %eax,(%rdi); push (%rdi); lea (%rdi),%rbx */
#define ADD_TO 0x01, 0x07
#define PUSH   0xff, 0x37
#define LEA    0x48, 0x8d, 0x1f

static const struct {
	struct replayed_code code;
	const char
		*want; /* instruction, load or store, size, @ its address's slot, ? its guard's */
	unsigned most;
} slot_rows[] = {
	{{0, 0, 1, {2}, {MOV_TO}, 0, {0}}, "0s4", 1},
	{{0, 0, 1, {2}, {MOV_TO}, 0, {SADDR(0), STORE(0, 4)}}, "0s4@0", 1},
	{{0, 0, 1, {2}, {MOV_TO}, 0, {SADDR(0), STORE(0, 2)}}, "0s2@0", 1},
	{{0, 0, 1, {2}, {MOV_TO}, 0, {SADDR(0)}}, "0s4@0", 1},
	{{0, 0, 1, {2}, {MOV_TO}, 0, {STORE(0, 4)}}, "0s4", 1},
	{{0, 0, 1, {2}, {MOV_TO}, 0, {SLOT(0, VT_WHAT_STORE_ADDRESS, 4), STORE(0, 4)}}, "0s4", 1},
	{{0, 0, 1, {2}, {MOV_TO}, 0, {GUARD(0), SADDR(0), STORE(0, 4)}}, "0s4@1?0", 1},
	/* A guard is for one access; those that no slot tells are behind the others. */
	{{0, 0, 1, {2}, {MOV_TO}, 0, {GUARD(0), SADDR(0), STORE(0, 4), SADDR(0), STORE(0, 4)}},
	 "0s4@1?0 0s4@3",
	 2},
	{{0, 0, 1, {2}, {ADD_TO}, 0, {LADDR(0), LOAD(0, 4), SADDR(0), STORE(0, 4)}},
	 "0l4@0 0s4@2",
	 2},
	{{0, 0, 1, {2}, {ADD_TO}, 0, {LADDR(0), LOAD(0, 4)}}, "0l4@0 0s4", 2},
	{{0, 0, 1, {2}, {ADD_TO}, 0, {SADDR(0), STORE(0, 4)}}, "0s4@0 0l4", 2},
	{{0, 0, 1, {2}, {ADD_TO}, 0, {LADDR(0)}}, "0l4@0 0s4", 2},
	{{0, 0, 1, {2}, {ADD_TO}, 0, {0}}, "0l4 0s4", 2},
	{{0, 0, 1, {2}, {PUSH}, 0, {0}}, "0l8 0s8", 2},
	{{0, 0, 1, {3}, {LEA}, 0, {0}}, "", 0},
	/* A result between an address and nothing. */
	{{0, 0, 1, {3}, {MOV_FROM}, 0, {LADDR(0), RESULT(0)}}, "0l8@0", 1},
	{{0, 0, 1, {3}, {MOV_FROM}, 0, {RESULT(0)}}, "0l8", 1},
	/* Two instructions: the slots of each are its own. */
	{{0, 0, 2, {3, 2}, {MOV_FROM, MOV_TO}, 0, {SADDR(1), STORE(1, 4)}}, "0l8 1s4@0", 1},
	{{0, 0, 2, {3, 2}, {MOV_FROM, MOV_TO}, 0, {LADDR(0), STORE(1, 4)}}, "0l8@0 1s4", 1},
	{{0, 0, 2, {2, 3}, {ADD_TO, MOV_FROM}, 0, {SADDR(0), LADDR(1), LOAD(1, 8)}},
	 "0s4@0 0l4 1l8@1",
	 2},
	/* Code that is not there, or of another mode: nothing but slots is known. */
	{{0, 0, 1, {3}, {0}, 0, {LADDR(0), LOAD(0, 8)}}, "0l8@0", 1},
	{{0, 0, 1, {3}, {0}, 0, {LADDR(0)}}, "0l0@0", 1},
	{{0, 0, 1, {3}, {0}, 0, {RESULT(0)}}, "", 0},
	{{0, 0, 1, {2}, {MOV_TO}, 32, {SADDR(0)}}, "0s0@0", 1},
	{{0, 0, 1, {2}, {MOV_TO}, 32, {0}}, "", 0},
};

#define NROWS (sizeof(slot_rows) / sizeof(slot_rows[0]))

static void put_slot_rows(struct replayed_maker *m)
{
	static const uint8_t zeros[256];
	uint8_t ids[2 * NROWS];
	size_t i, k, size = 0;
	uint64_t insns = 0;
	uint64_t *row;

	for (i = 0; i < NROWS; i++) {
		struct replayed_code c = slot_rows[i].code;

		c.addr = 0x1000 * (i + 1);
		replayed_put_block(m->w, 3 * i, &c);
		vt_put_le16(ids + 2 * i, (uint16_t)(3 * i));
		for (k = 0; k < REPLAYED_SLOTS; k++)
			size += c.slots[k] >> 32;
		insns += c.ninsns;
	}
	row = vt_writer_row(m->w, VT_EXEC);
	row[VT_EXEC_PID] = REPLAYED_PID;
	row[VT_EXEC_TID] = REPLAYED_TID;
	row[VT_EXEC_BLOCKS] = NROWS;
	row[VT_EXEC_INSNS] = insns;
	row[VT_EXEC_WIDTH] = 2;
	vt_writer_bytes(m->w, VT_EXEC_IDS, ids, sizeof(ids));
	assert_true(size <= sizeof(zeros));
	vt_writer_bytes(m->w, VT_EXEC_DATA, zeros, size);
}

static void test_slots(void **state)
{
	struct vt_replay_options o = usual();
	struct replayed s;
	size_t i, n;

	(void)state;
	replayed_take(&s, &o, put_slot_rows);
	assert_int_equal(s.warnings.size, 0);
	for (i = 0; i < NROWS; i++) {
		const struct vti_block *k = &s.rp->blocks[3 * i];
		struct vt_buf text = VT_BUF_INIT;

		for (n = 0; n < k->naccesses; n++) {
			const struct vt_access_slots *a = &k->accesses[n];

			vt_buf_printf(&text, "%s%u%c%u", n ? " " : "", a->insn,
				      a->store ? 's' : 'l', a->size);
			if (a->address != UINT32_MAX)
				vt_buf_printf(&text, "@%u", a->address);
			if (a->guard != UINT32_MAX)
				vt_buf_printf(&text, "?%u", a->guard);
		}
		if (strcmp(vt_buf_str(&text), slot_rows[i].want) != 0 ||
		    k->most != slot_rows[i].most)
			fail_msg("row %zu: %s, %zu at most", i, vt_buf_str(&text), k->most);
		vt_buf_free(&text);
	}
	replayed_drop(&s);
}

/* ---- recorded addresses ---- */

/*
 * W stores 4 bytes, at 1000; R loads 8, at 2000. X does both, with a nop in between: 3000, 3003. G
 * loads 8 bytes twice if it may, each for itself; N is a nop. E and F are as W.
 */
static const struct replayed_code codes[] = {
	{'W', 0x1000, 1, {2}, {MOV_TO}, 0, {SADDR(0), STORE(0, 4)}},
	{'R', 0x2000, 1, {3}, {MOV_FROM}, 0, {LADDR(0), LOAD(0, 8)}},
	{'X',
	 0x3000,
	 3,
	 {2, 1, 3},
	 {MOV_TO, 0x90, MOV_FROM},
	 0,
	 {SADDR(0), STORE(0, 4), LADDR(2), LOAD(2, 8)}},
	{'G',
	 0x4000,
	 1,
	 {3},
	 {MOV_FROM},
	 0,
	 {GUARD(0), LADDR(0), LOAD(0, 8), GUARD(0), LADDR(0), LOAD(0, 8)}},
	{'N', 0x5000, 1, {1}, {0x90}, 0, {0}},
	{'E', 0x6000, 1, {2}, {MOV_TO}, 0, {SADDR(0), STORE(0, 4)}},
	{'F', 0x5f00, 1, {2}, {MOV_TO}, 0, {SADDR(0), STORE(0, 4)}},
};

static void put_blocks(struct replayed_maker *m)
{
	replayed_put_blocks(m, codes, sizeof(codes) / sizeof(codes[0]));
}

static uint64_t *run(struct replayed_maker *m, const char *text)
{
	return replayed_run(m, text, NULL);
}

static void put_addresses(struct replayed_maker *m)
{
	put_blocks(m);
	replayed_run(m, "WR", (const uint64_t[]){0x9004, 0x9000});
	replayed_run(m, "WNR", (const uint64_t[]){0x9008, 0x9000});
	replayed_run(m, "WNNR", (const uint64_t[]){0x9008, 0x9010});
	replayed_run(m, "X", (const uint64_t[]){0x9103, 0x9100});
}

static void test_addresses(void **state)
{
	struct vt_replay_options o = usual();
	const struct vt_replay_totals *t;
	struct replayed s;

	(void)state;
	replayed_take(&s, &o, put_addresses);
	replayed_check(&s, "1:-1:2000<-1:1000 2/3 5,1 *0 1:-1:3003<-1:3000 1/1 2,2 *0 ");
	t = vt_replay_totals(s.rp);
	assert_int_equal(vt_replay_source(s.rp), VT_REPLAY_RECORDED);
	assert_int_equal(t->of.runs, 1);
	assert_int_equal(t->of.insns, 2 + 3 + 4 + 3);
	assert_int_equal(t->of.accesses, 8);
	assert_int_equal(t->of.known, 8);
	assert_int_equal(t->of.relative, 0);
	assert_int_equal(t->bad, 0);
	assert_int_equal(t->ignored, 0);
	assert_int_equal(t->pairs[VT_CONFLICT_FORWARD], 2);
	assert_int_equal(t->met[VT_CONFLICT_FORWARD], 3);
	assert_int_equal(t->samples, 0);
	replayed_drop(&s);
}

static void put_guards(struct replayed_maker *m)
{
	put_blocks(m);
	replayed_run(m, "WG", (const uint64_t[]){0x9000, 1, 0x8000, 0, 0x9000});
	replayed_run(m, "WG", (const uint64_t[]){0x9000, 0, 0x9000, 1, 0x8000});
	replayed_run(m, "WG", (const uint64_t[]){0x9000, 0, 0x8000, 1, 0x9000});
	replayed_run(m, "WG", (const uint64_t[]){0x9000, 1, 0x9000, 1, 0x9000});
}

/* What a shut guard says did not happen. */
static void test_guards(void **state)
{
	struct vt_replay_options o = usual();
	struct replayed s;

	(void)state;
	replayed_take(&s, &o, put_guards);
	replayed_check(&s, "1:-1:4000<-1:1000 2/4 2,1 *0 ");
	assert_int_equal(vt_replay_totals(s.rp)->of.accesses, 4 + 5);
	replayed_drop(&s);
}

/* Parts of blocks: the load of X alone, its store alone, and all of it in two runs. */
static void put_parts(struct replayed_maker *m)
{
	static const uint8_t values[32] = {0, 0x90};
	const struct {
		uint8_t skip, insns, from, size;
	} parts[] = {{2, 1, 0, 16}, {0, 1, 0, 12}, {2, 1, 0, 16}, {0, 2, 0, 12},
		     {2, 1, 0, 16}, {1, 1, 0, 0},  {0, 1, 0, 12}, {1, 2, 0, 16}};
	const uint8_t id[2] = {2, 0};
	unsigned i;

	put_blocks(m);
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		uint64_t *row = vt_writer_row(m->w, VT_EXEC);

		row[VT_EXEC_PID] = REPLAYED_PID;
		row[VT_EXEC_TID] = REPLAYED_TID;
		row[VT_EXEC_FIRST] = m->first;
		row[VT_EXEC_BLOCKS] = 1;
		row[VT_EXEC_SKIP] = parts[i].skip;
		row[VT_EXEC_INSNS] = parts[i].insns;
		row[VT_EXEC_WIDTH] = 2;
		vt_writer_bytes(m->w, VT_EXEC_IDS, id, 2);
		vt_writer_bytes(m->w, VT_EXEC_DATA, values, parts[i].size);
		m->first += parts[i].insns;
	}
}

static void test_parts(void **state)
{
	struct vt_replay_options o = usual();
	struct replayed s;

	(void)state;
	replayed_take(&s, &o, put_parts);
	/* Instructions are L, S, L, S-, L, -, S, -L: the loads are 1, 2 and 2 behind a store. */
	replayed_check(&s, "1:-1:3003<-1:3000 3/4 5,1 *0 ");
	assert_int_equal(vt_replay_totals(s.rp)->of.insns, 10);
	assert_int_equal(vt_replay_totals(s.rp)->of.accesses, 7);
	assert_int_equal(vt_replay_totals(s.rp)->of.runs, 1);
	replayed_drop(&s);
}

/* ---- what ends a run ---- */

#define BETWEEN(name, between)                                                                     \
	static void put_##name(struct replayed_maker *m)                                           \
	{                                                                                          \
		put_blocks(m);                                                                     \
		run(m, "W");                                                                       \
		between;                                                                           \
		run(m, "R");                                                                       \
	}

BETWEEN(nothing, (void)0)
BETWEEN(gap, vt_writer_row(m->w, VT_GAP))
BETWEEN(lost, vt_writer_row(m->w, VT_LOST))
BETWEEN(signal, vt_writer_row(m->w, VT_SIGNAL))
BETWEEN(thread, vt_writer_row(m->w, VT_THREAD))
BETWEEN(meta, vt_writer_row(m->w, VT_META))
BETWEEN(other, m->tid++)
BETWEEN(hole, m->first++)
BETWEEN(bad_exec, run(m, "W")[VT_EXEC_INSNS]++)
BETWEEN(bad_block, replayed_put_block(m->w, 0, &codes[0]))
BETWEEN(bad_fields, run(m, "N")[VT_EXEC_WIDTH] = 3)

static void put_other_process(struct replayed_maker *m)
{
	put_blocks(m);
	run(m, "W");
	run(m, "R")[VT_EXEC_PID] = REPLAYED_PID + 1;
}

static void test_ends(void **state)
{
	static const struct {
		replayed_put_fn *put;
		unsigned runs;
		bool apart;
		const char *warning;
	} rows[] = {
		{put_nothing, 1, false, ""},
		{put_gap, 2, true, ""},
		{put_lost, 2, true, ""},
		{put_signal, 2, true, ""},
		{put_thread, 1, false, ""},
		{put_meta, 1, false, ""},
		{put_other, 2, true, ""},
		{put_hole, 2, true, ""},
		{put_other_process, 2, true, ""},
		{put_bad_exec, 2, true, "executed blocks: fewer instructions than were said\n"},
		{put_bad_block, 1, false, "block 0 is declared twice\n"},
		{put_bad_fields, 2, true,
		 "executed blocks: their number is not that of their ids\n"},
	};
	struct vt_replay_options o = usual();
	struct replayed s;
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		replayed_take(&s, &o, rows[i].put);
		replayed_check(&s, rows[i].apart ? "" : "1:-1:2000<-1:1000 1/1 1,1 *0 ");
		assert_int_equal(vt_replay_totals(s.rp)->of.runs, rows[i].runs);
		assert_int_equal(vt_replay_totals(s.rp)->bad, rows[i].warning[0] != 0);
		assert_string_equal(vt_buf_str(&s.warnings), rows[i].warning);
		replayed_drop(&s);
	}
}

/* ---- images, and samples ---- */

static void put_image(struct replayed_maker *m, uint64_t id, const char *path, uint64_t start,
		      uint64_t offset)
{
	uint64_t *row = vt_writer_row(m->w, VT_IMAGE);

	row[VT_IMAGE_ID] = id;
	row[VT_IMAGE_TYPE] = VT_IMAGE_FILE;
	vt_writer_text(m->w, VT_IMAGE_PATH, path);
	row = vt_writer_row(m->w, VT_MAP);
	row[VT_MAP_PID] = row[VT_MAP_TID] = REPLAYED_PID;
	row[VT_MAP_START] = start;
	row[VT_MAP_LENGTH] = 0x1000;
	row[VT_MAP_OFFSET] = offset;
	row[VT_MAP_IMAGE] = id;
	row[VT_MAP_PROT] = 5;
	row[VT_MAP_MISC] = USER;
}

static void put_samples(struct replayed_maker *m, uint64_t event, uint64_t ip, unsigned n)
{
	for (; n; n--) {
		uint64_t *row = vt_writer_row(m->w, VT_SAMPLE);

		row[VT_SAMPLE_EVENT] = event;
		row[VT_SAMPLE_PID] = row[VT_SAMPLE_TID] = REPLAYED_PID;
		row[VT_SAMPLE_IP] = ip;
		row[VT_SAMPLE_MISC] = USER;
		row[VT_SAMPLE_HAS] = 1;
		row[VT_SAMPLE_PERIOD] = 10;
	}
}

static void put_event(struct replayed_maker *m, uint64_t id, const char *name)
{
	vt_writer_row(m->w, VT_EVENT)[VT_EVENT_ID] = id;
	vt_writer_text(m->w, VT_EVENT_NAME, name);
}

/* W, R and X are in image 4, 7 and 7; G is in none. Of their samples, some are of an event that
 * fits. */
static void put_scene(struct replayed_maker *m)
{
	put_event(m, EVENT, "ld_blocks.store_forward:u");
	put_event(m, EVENT + 1, "cycles");
	put_blocks(m);
	put_image(m, 4, "/bin/a", 0x1000, 0x100);
	put_image(m, 7, "/lib/b.so", 0x2000, 0x200);
	put_image(m, 7, "/lib/b.so", 0x3000, 0x1200);
	run(m, "WRXRGWGX");
	put_samples(m, EVENT, 0x2000, 3);
	put_samples(m, EVENT + 1, 0x2000, 2);
	put_samples(m, EVENT, 0x2001, 50);
	put_samples(m, EVENT, 0x1000, 70);
	put_samples(m, EVENT, 0x3003, 4);
	put_samples(m, EVENT, 0x4000, 5);
}

static void check_scene(const char *image, const char *const *events, size_t nevents,
			const char *want, unsigned pairs, unsigned met, unsigned samples)
{
	struct vt_replay_options o = usual();
	struct replayed s;

	o.image = image;
	o.events = events;
	o.nevents = nevents;
	replayed_take(&s, &o, put_scene);
	assert_int_equal(s.code, 0);
	replayed_check(&s, want);
	assert_int_equal(vt_replay_totals(s.rp)->pairs[VT_CONFLICT_FORWARD], pairs);
	assert_int_equal(vt_replay_totals(s.rp)->met[VT_CONFLICT_FORWARD], met);
	assert_int_equal(vt_replay_totals(s.rp)->samples, samples);
	replayed_drop(&s);
}

#define R_PAIRS(n) "1:7:200<4:100 1/2 1,1 *" n " 1:7:200<7:1200 1/2 3,3 *" n " "
#define G_PAIRS(n) "1:-1:4000<4:100 1/2 1,1 *" n " 1:-1:4000<7:1200 1/2 4,4 *" n " "
#define X_PAIR(n)  "1:7:1203<7:1200 2/2 4,2 *" n " "

/*
 * Samples are of the event that fits, or of those that are named; those that lie in no image are of
 * no instruction.
 */
static void test_samples(void **state)
{
	const char *const events[] = {"cycles", "ld_blocks.store_forward:u"};
	const char *const unknown[] = {"none"};
	struct vt_replay_options o = usual();
	struct replayed s;

	(void)state;
	check_scene(NULL, NULL, 0, R_PAIRS("3") X_PAIR("4") G_PAIRS("0"), 5, 6, 3 + 3 + 4);
	check_scene(NULL, events, 1, R_PAIRS("2") X_PAIR("0") G_PAIRS("0"), 5, 6, 4);
	check_scene(NULL, events, 2, R_PAIRS("5") X_PAIR("4") G_PAIRS("0"), 5, 6, 14);
	check_scene(NULL, events + 1, 1, R_PAIRS("3") X_PAIR("4") G_PAIRS("0"), 5, 6, 10);
	o.events = unknown;
	o.nevents = 1;
	replayed_take(&s, &o, put_scene);
	assert_int_equal(s.code, -VT_E_NOTFOUND);
	replayed_drop(&s);
}

/* Pairs whose later instruction is in an image: its path, or the file's name. */
static void test_images(void **state)
{
	(void)state;
	check_scene("/lib/b.so", NULL, 0, R_PAIRS("3") X_PAIR("4"), 3, 4, 10);
	check_scene("b.so", NULL, 0, R_PAIRS("3") X_PAIR("4"), 3, 4, 10);
	check_scene("a", NULL, 0, "", 0, 0, 0);
	check_scene("so", NULL, 0, "", 0, 0, 0);
	check_scene("/b.so", NULL, 0, "", 0, 0, 0);
}

/* In the order of images, offsets, types, nearest distances, and earlier ones. */
static void put_disorder(struct replayed_maker *m)
{
	put_blocks(m);
	put_image(m, 4, "/bin/a", 0x3000, 0x100);
	put_image(m, 7, "/lib/b.so", 0x1000, 0x200);
	put_image(m, 9, "/lib/c.so", 0x2000, 0x300);
	run(m, "XR");
	run(m, "WR");
	run(m, "WX");
	replayed_run(m, "WNNX", (const uint64_t[]){0x9080, 0x9000, 0x9080});
}

static void test_order(void **state)
{
	struct vt_replay_options o = usual();
	struct replayed s;

	(void)state;
	replayed_take(&s, &o, put_disorder);
	replayed_check(&s, "1:4:103<4:100 2/3 4,2 *0 1:4:103<7:200 1/3 5,5 *0 "
			   "1:9:300<7:200 1/2 1,1 *0 1:9:300<4:100 1/2 3,3 *0 ");
	replayed_drop(&s);
}

/* The same distance: the one of the first image and offset, though it was met last. */
static void put_ties(struct replayed_maker *m)
{
	put_blocks(m);
	put_image(m, 7, "/lib/b.so", 0x1000, 0x200);
	put_image(m, 6, "/lib/c.so", 0x6000, 0x900);
	put_image(m, 6, "/lib/c.so", 0x5000, 0x100);
	run(m, "WREFRER");
}

static void test_ties(void **state)
{
	struct vt_replay_options o = usual();
	struct replayed s;

	(void)state;
	replayed_take(&s, &o, put_ties);
	replayed_check(&s, "1:-1:2000<6:900 1/3 1,1 *0 1:-1:2000<6:1000 1/3 1,1 *0 "
			   "1:-1:2000<7:200 1/3 1,1 *0 ");
	replayed_drop(&s);
}

/* ---- events ---- */

static void test_events(void **state)
{
	static const struct {
		const char *event;
		unsigned fits; /* bits of enum vt_conflict */
	} rows[] = {
		{"ld_blocks.store_forward", 1u << VT_CONFLICT_FORWARD},
		{"cpu/LD_BLOCKS.STORE_FORWARD/pp", 1u << VT_CONFLICT_FORWARD},
		{"load_blocks.store_forward:u", 1u << VT_CONFLICT_FORWARD},
		{"ls_bad_status2.stli_other", 1u << VT_CONFLICT_FORWARD},
		{"ld_blocks_partial.address_alias", 1u << VT_CONFLICT_ALIAS_4K},
		{"ld_blocks.address_alias", 1u << VT_CONFLICT_ALIAS_4K},
		{"machine_clears.memory_ordering", 1u << VT_CONFLICT_ORDER},
		{"machine_clears.disambiguation", 1u << VT_CONFLICT_ORDER},
		{"machine_clears.count", 0},
		{"ld_blocks.store_forwar", 0},
		{"", 0},
	};
	unsigned i, type;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (type = 0; type < VT_NCONFLICTS; type++)
			assert_int_equal(
				vt_conflict_event_fits((enum vt_conflict)type, rows[i].event),
				rows[i].fits >> type & 1);
}

/* ---- what is written ---- */

static void add_bytes(struct vt_buf *b, struct vt_bytes v, char end)
{
	vt_buf_printf(b, "%.*s%c", (int)v.size, (const char *)v.data, end);
}

static void add_numbers(struct vt_buf *b, const struct vt_record *rec)
{
	uint32_t f;

	for (f = 0; f < rec->block->ncolumns; f++)
		vt_buf_printf(b, "%s%" PRIx64, f ? "," : "", vt_record_u64(rec, f));
	vt_buf_printf(b, "\n");
}

static void test_written(void **state)
{
	const char *const events[] = {"cycles", "ld_blocks.store_forward:u"};
	struct vt_replay_options o = usual();
	struct vt_buf text = VT_BUF_INIT;
	struct vt_record rec = {0};
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_reader *r;
	struct replayed s;

	(void)state;
	o.events = events;
	o.nevents = 2;
	o.image = "b.so";
	replayed_take(&s, &o, put_scene);
	vt_replay_write(s.rp, w);
	replayed_drop(&s);
	r = reread_stream(fd, w);
	while (vt_reader_next(r, &rec, &err) > 0) {
		vt_buf_printf(&text, "%s ", rec.block->desc->name);
		if (rec.kind != VT_META) {
			add_numbers(&text, &rec);
			continue;
		}
		add_bytes(&text, vt_record_bytes(&rec, VT_META_KEY), '=');
		add_bytes(&text, vt_record_bytes(&rec, VT_META_VALUE), '\n');
	}
	assert_string_equal(vt_buf_str(&text), "COUNT 7,200,5,3,1e\n"
					       "COUNT 7,200,6,2,14\n"
					       "COUNT 7,201,5,32,1f4\n"
					       "COUNT 4,100,5,46,2bc\n"
					       "COUNT 7,1203,5,4,28\n"
					       "COUNT ffffffff,0,5,5,32\n"
					       "CONFLICT 7,200,4,100,1,1,2,1,1,5\n"
					       "CONFLICT 7,200,7,1200,1,1,2,3,3,5\n"
					       "CONFLICT 7,1203,7,1200,1,2,2,4,2,4\n"
					       "META replay.model=usual\n"
					       "META replay.distance=20\n"
					       "META replay.event=cycles\n"
					       "META replay.event=ld_blocks.store_forward:u\n"
					       "META replay.runs=1\n"
					       "META replay.insns=12\n"
					       "META replay.accesses=12\n"
					       "META replay.known=12\n"
					       "META replay.relative=0\n"
					       "META replay.apart=0\n"
					       "META replay.dependent=0\n");
	vt_buf_free(&text);
	vt_reader_close(r);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slots),	cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_guards),	cmocka_unit_test(test_parts),
		cmocka_unit_test(test_ends),	cmocka_unit_test(test_samples),
		cmocka_unit_test(test_images),	cmocka_unit_test(test_order),
		cmocka_unit_test(test_ties),	cmocka_unit_test(test_events),
		cmocka_unit_test(test_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
