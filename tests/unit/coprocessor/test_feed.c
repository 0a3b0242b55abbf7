/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Executed code as operations: a program writes down each one that it is given. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "coprocessor/assemble.h"
#include "coprocessor/feed.h"
#include "tests/unit/common/streams.h"

#define PID  10
#define CODE 0x401000

/* Rows of the pc, value, address and size of loads and stores. */
static const char accesses[] = ".host log\n.slots 16\n.cam 32 pc\n.base pc 32 key\n"
			       ".base value 64\n.base addr 64\n.base size 8\n.index n slots\n"
			       ".class load -> take\n.class store -> take\n"
			       "take: write pc[n], pc.lo\nwrite value[n], value\n"
			       "write addr[n], addr\nwrite size[n], size | next n | go done\n";

/* Rows of the pc and target of branches, and whether they were taken. */
static const char branches[] = ".host log\n.slots 16\n.cam 32 pc\n.base pc 32 key\n"
			       ".base target 64\n.base taken 8\n.index n slots\n"
			       ".class branch -> take\n.class jump -> take\n.class other -> take\n"
			       "take: write pc[n], pc.lo\nwrite target[n], target\n"
			       "write taken[n], taken | next n | go done\n";

/* Rows of the pc, class, thread, next address and code of operations of all classes. */
static const char codes[] = ".host log\n.slots 16\n.cam 32 pc\n.base pc 32 key\n"
			    ".base class 8\n.base tid 32\n.base next 32\n.base code 64\n"
			    ".index n slots\n"
			    ".class integer -> take\n.class nop -> take\n.class address -> take\n"
			    ".class divide -> take\n.class multiply -> take\n"
			    ".class move -> take\n.class float -> take\n.class vector -> take\n"
			    ".class compare -> take\n.class syscall -> take\n"
			    ".class atomic -> take\n.class string -> take\n"
			    "take: write pc[n], pc.lo\nwrite class[n], class\n"
			    "write tid[n], tid\nwrite next[n], next\n"
			    "write code[n], code | next n | go done\n";

/* Rows of the address and size of accesses, and whether they missed. */
static const char misses[] = ".host log\n.slots 16\n.cam 32 pc\n.base addr 64 key\n"
			     ".base size 8\n.base missed 8\n.index n slots\n"
			     ".class load -> take\n"
			     "take: write addr[n], addr\nwrite size[n], size\n"
			     "write missed[n], missed | next n | go done\n";

static struct vt_error err;
static unsigned warnings;
static uint64_t limit; /* of check(): instructions, or 0 */

static void warn(void *arg, const char *text)
{
	(void)arg;
	assert_true(strlen(text) > 0);
	warnings++;
}

/* ---- streams ---- */

#define SLOT(insn, what, size)                                                                     \
	((insn) | (uint64_t)VT_WHAT_##what << 16 | UINT64_C(1) * (size) << 32)

struct code {
	const char *bytes;
	uint8_t size, ninsns;
	uint8_t lengths[12];
	enum vt_block_end end;
	uint8_t nslots;
	uint64_t slots[12];
};

static void put_block(struct vt_writer *w, uint64_t id, uint64_t addr, const struct code *c)
{
	uint64_t *row = vt_writer_row(w, VT_BLOCK);

	row[VT_BLOCK_ID] = id;
	row[VT_BLOCK_PID] = PID;
	row[VT_BLOCK_ADDR] = addr;
	row[VT_BLOCK_SIZE] = c->size ? c->size : c->lengths[0] + c->lengths[1];
	row[VT_BLOCK_INSNS] = c->ninsns;
	row[VT_BLOCK_MODE] = 64;
	row[VT_BLOCK_END] = c->end;
	vt_writer_bytes(w, VT_BLOCK_LENGTHS, c->lengths, c->ninsns);
	vt_writer_bytes(w, VT_BLOCK_CODE, c->bytes, c->size);
	vt_writer_words(w, VT_BLOCK_SLOTS, c->slots, c->nslots);
}

/* Executes one block of so many instructions. */
static void run_block(struct vt_writer *w, uint16_t id, uint64_t first, unsigned insns,
		      const uint8_t *data, size_t size)
{
	uint64_t *row = vt_writer_row(w, VT_EXEC);
	uint8_t ids[2];

	row[VT_EXEC_PID] = row[VT_EXEC_TID] = PID;
	row[VT_EXEC_FIRST] = first;
	row[VT_EXEC_BLOCKS] = 1;
	row[VT_EXEC_INSNS] = insns;
	row[VT_EXEC_WIDTH] = 2;
	vt_put_le16(ids, id);
	vt_writer_bytes(w, VT_EXEC_IDS, ids, 2);
	vt_writer_bytes(w, VT_EXEC_DATA, data, size);
}

/* ---- what comes of them ---- */

/* Prints the elements that bases have for the first `n` operations. */
static void put_rows(struct vt_buf *b, const struct vt_ucode *u, struct vt_coproc *c, uint64_t n)
{
	unsigned i, k;

	for (i = 0; i < n; i++) {
		for (k = 0; k < u->nbases; k++)
			vt_buf_printf(b, "%s%" PRIx64, k ? " " : "",
				      vt_coproc_data(c, &u->bases[k], i));
		vt_buf_printf(b, "\n");
	}
}

static void check(const char *program, void (*put)(struct vt_writer *w), const char *want,
		  void (*look)(const struct vt_feed *feed))
{
	const struct vt_assemble_options none = {.slots = 0};
	const struct vt_buffer_options o = {.bytes = 1024, .clock = 100, .ipc = 1, .max_words = 9};
	struct vt_context *context = vt_context_new(NULL);
	const struct vt_feed_stats *stats;
	struct vt_buf text = VT_BUF_INIT;
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	const struct vt_block *block;
	uint32_t first, count;
	struct vt_filters f;
	struct vt_reader *r;
	struct vt_coproc *c;
	struct vt_buffer *b;
	struct vt_feed *feed;
	struct vt_ucode u;

	warnings = 0;
	if (vt_ucode_assemble(&u, program, strlen(program), &none, &err) < 0)
		fail_msg("%s", err.text);
	c = vt_coproc_new(&u, 1024, 2048, &err);
	assert_int_equal(vt_filters_init(&f, 4096, &err), 0);
	b = vt_buffer_new(c, &u, &o, &err);
	feed = vt_feed_new(context, &u, &f, b, warn, NULL);
	assert_true(c && b && feed);
	if (limit)
		vt_feed_limit(feed, limit);
	vt_context_add(context, &(struct vt_consumer){.record = vt_feed_record,
						      .arg = feed,
						      .kinds = VT_FEED_KINDS});
	put(w);
	r = reread_stream(fd, w);
	while (vt_reader_next_run(r, &block, &first, &count, &err) > 0)
		assert_int_equal(vt_context_feed(context, block, first, count, &err), 0);
	assert_int_equal(vt_buffer_drain(b, &err), 0);
	stats = vt_feed_stats(feed);
	put_rows(&text, &u, c, vt_buffer_stats(b)->offered);
	vt_buf_printf(&text, "%" PRIu64 " without: %" PRIu64 " %" PRIu64 " %" PRIu64 ", bad %u\n",
		      stats->insns, stats->no_value, stats->no_address, stats->no_target, warnings);
	assert_string_equal(vt_buf_str(&text), want);
	assert_int_equal(vt_buffer_stats(b)->dropped, 0);
	assert_int_equal(vt_buffer_stats(b)->retired, stats->insns);
	if (look)
		look(feed);
	vt_buf_free(&text);
	vt_feed_free(feed);
	vt_buffer_free(b);
	vt_filters_fini(&f);
	vt_coproc_free(c);
	vt_reader_close(r);
	vt_context_free(context);
	close(fd);
}

/* ---- accesses ---- */

/* add %ecx,(%rbx); vmovdqu (%rax),%ymm0; a store that may be left out; fldt (%rax) */
static void put_accesses(struct vt_writer *w)
{
	static const struct code c = {
		"\x01\x0b\xc5\xfe\x6f\x00\x89\x03\xdb\x28",
		10,
		4,
		{2, 4, 2, 2},
		VT_END_FALL,
		11,
		{SLOT(0, LOAD_ADDRESS, 8), SLOT(0, LOAD, 4), SLOT(0, STORE_ADDRESS, 8),
		 SLOT(0, STORE, 4), SLOT(1, LOAD_ADDRESS, 8), SLOT(1, LOAD, 32), SLOT(2, GUARD, 1),
		 SLOT(2, STORE_ADDRESS, 8), SLOT(2, STORE, 4), SLOT(3, LOAD_ADDRESS, 8),
		 SLOT(3, LOAD, 10)}};
	uint8_t data[95] = {0};
	unsigned i;

	vt_put_le64(data, 0x1000);
	data[8] = 3;
	vt_put_le64(data + 12, 0x1000);
	data[20] = 4;
	vt_put_le64(data + 24, 0x2000);
	for (i = 0; i < 4; i++)
		data[32 + 8 * i] = (uint8_t)(0x10 + i);
	vt_put_le64(data + 65, 0x3000);
	data[73] = 5;
	vt_put_le64(data + 77, 0x4000);
	data[85] = 6;
	data[93] = 7;
	put_block(w, 0, CODE, &c);
	run_block(w, 0, 0, 4, data, sizeof(data));
	data[64] = 1;
	run_block(w, 0, 4, 3, data, 77);
}

static void wide_and_guarded(void **state)
{
	(void)state;
	check(accesses, put_accesses,
	      "401000 3 1000 4\n401000 4 1000 4\n"
	      "401002 10 2000 8\n401002 11 2008 8\n401002 12 2010 8\n401002 13 2018 8\n"
	      "401008 6 4000 8\n401008 7 4008 2\n"
	      "401000 3 1000 4\n401000 4 1000 4\n"
	      "401002 10 2000 8\n401002 11 2008 8\n401002 12 2010 8\n401002 13 2018 8\n"
	      "401006 5 3000 4\n"
	      "7 without: 0 0 0, bad 0\n",
	      NULL);
}

/* add %ecx,(%rbx) with its addresses alone; vmovdqu (%rax),%ymm0 with its value alone. */
static void put_parts(struct vt_writer *w)
{
	static const struct code c = {
		"\x01\x0b\xc5\xfe\x6f\x00",
		6,
		2,
		{2, 4},
		VT_END_FALL,
		3,
		{SLOT(0, LOAD_ADDRESS, 8), SLOT(0, STORE_ADDRESS, 8), SLOT(1, LOAD, 32)}};
	const uint8_t data[48] = {0};

	put_block(w, 0, CODE, &c);
	run_block(w, 0, 0, 2, data, sizeof(data));
	run_block(w, 1, 2, 2, data, sizeof(data)); /* there is no such block */
}

static void parts(void **state)
{
	(void)state;
	check(accesses, put_parts, "2 without: 2 4 0, bad 1\n", NULL);
}

/* ---- branches ---- */

static void put_branches(struct vt_writer *w)
{
	static const struct code branch = {"\x74\x10", 2, 1, {2}, VT_END_BRANCH, 0, {0}};
	static const struct code jump = {"\xeb\x10", 2, 1, {2}, VT_END_JUMP, 0, {0}};
	uint64_t *row;

	put_block(w, 0, CODE, &branch);
	put_block(w, 1, CODE + 2, &jump);
	put_block(w, 2, CODE + 0x12, &branch);
	run_block(w, 0, 0, 1, NULL, 0); /* not taken */
	run_block(w, 1, 1, 1, NULL, 0);
	run_block(w, 2, 2, 1, NULL, 0); /* taken */
	run_block(w, 0, 3, 1, NULL, 0); /* what comes next is missing: here, */
	run_block(w, 1, 9, 1, NULL, 0);
	row = vt_writer_row(w, VT_SIGNAL); /* here, */
	row[VT_SIGNAL_PID] = row[VT_SIGNAL_TID] = PID;
	run_block(w, 2, 10, 1, NULL, 0);
	vt_writer_row(w, VT_GAP); /* and here */
	run_block(w, 1, 11, 1, NULL, 0);
}

static void targets(void **state)
{
	(void)state;
	check(branches, put_branches,
	      "401000 401002 0\n401002 401012 1\n401012 401000 1\n"
	      "7 without: 0 0 3, bad 0\n",
	      NULL);
}

/* Without code, a block's end tells what its last instruction is. */
static void put_bare(struct vt_writer *w)
{
	static const struct code branch = {"", 0, 2, {2, 3}, VT_END_BRANCH, 0, {0}};
	static const struct code fall = {"", 0, 2, {2, 3}, VT_END_FALL, 0, {0}};
	uint64_t *row;

	put_block(w, 0, CODE, &branch);
	put_block(w, 2, CODE + 0x100, &fall);
	row = vt_writer_row(w, VT_BLOCK);
	row[VT_BLOCK_ID] = 1;
	row[VT_BLOCK_PID] = PID;
	row[VT_BLOCK_ADDR] = CODE + UINT64_C(0x100000000);
	row[VT_BLOCK_SIZE] = 5;
	row[VT_BLOCK_INSNS] = 2;
	row[VT_BLOCK_END] = VT_END_JUMP;
	vt_writer_bytes(w, VT_BLOCK_LENGTHS, "\x03\x02", 2);
	run_block(w, 0, 0, 2, NULL, 0);
	run_block(w, 1, 2, 2, NULL, 0);
	run_block(w, 0, 4, 2, NULL, 0);
	run_block(w, 2, 6, 2, NULL, 0);
	run_block(w, 2, 8, 2, NULL, 0);
}

static void look_at_places(const struct vt_feed *feed)
{
	const struct vt_feed_place *p = vt_feed_find(feed, CODE + 2);

	assert_non_null(p);
	assert_int_equal(p->pc, CODE + 2);
	assert_int_equal(p->pid, PID);
	assert_int_equal(p->offset, CODE + 2);
	assert_int_equal(p->image, VT_UNMAPPED_IMAGE);
	assert_int_equal(p->ambiguous, 0);
	/* It is found by its low half. */
	p = vt_feed_find(feed, CODE + 3);
	assert_non_null(p);
	assert_int_equal(p->pc, CODE + 3 + UINT64_C(0x100000000));
	p = vt_feed_find(feed, CODE);
	assert_int_equal(p->pc, CODE);
	assert_int_equal(p->ambiguous, 1);
	assert_null(vt_feed_find(feed, CODE + 1));
}

static void bare(void **state)
{
	(void)state;
	check(branches, put_bare,
	      "401000 0 0\n401002 100401000 1\n401000 0 0\n401003 401000 1\n401000 0 0\n"
	      "401002 401100 1\n401100 0 0\n401102 0 0\n401100 0 0\n401102 0 0\n"
	      "10 without: 0 0 0, bad 0\n",
	      look_at_places);
}

/* ---- single instructions ---- */

static void put_classes(struct vt_writer *w)
{
	static const struct code c = {"\x01\xc8"	     /* add %ecx,%eax */
				      "\x90"		     /* nop */
				      "\x48\x8d\x03"	     /* lea (%rbx),%rax */
				      "\xf7\xf1"	     /* div %ecx */
				      "\x0f\xaf\xc1"	     /* imul %ecx,%eax */
				      "\x89\xc8"	     /* mov %ecx,%eax */
				      "\xf2\x0f\x58\xc1"     /* addsd %xmm1,%xmm0 */
				      "\x66\x0f\xfe\xc1"     /* paddd %xmm1,%xmm0 */
				      "\x39\xc8"	     /* cmp %ecx,%eax */
				      "\xf0\x48\x0f\xc1\x03" /* lock xadd %rax,(%rbx) */
				      "\xf3\xa4"	     /* rep movsb */
				      "\x0f\x05",	     /* syscall */
				      32,
				      12,
				      {2, 1, 3, 2, 3, 2, 4, 4, 2, 5, 2, 2},
				      VT_END_SYSCALL,
				      0,
				      {0}};

	put_block(w, 0, CODE, &c);
	run_block(w, 0, 0, 12, NULL, 0);
}

static void classes(void **state)
{
	struct vt_buf want = VT_BUF_INIT;
	static const struct {
		enum vt_ucode_class class;
		unsigned size;
		uint64_t code; /* its first byte is the lowest */
	} rows[] = {{VT_CLASS_INTEGER, 2, 0xc801},    {VT_CLASS_NOP, 1, 0x90},
		    {VT_CLASS_ADDRESS, 3, 0x038d48},  {VT_CLASS_DIVIDE, 2, 0xf1f7},
		    {VT_CLASS_MULTIPLY, 3, 0xc1af0f}, {VT_CLASS_MOVE, 2, 0xc889},
		    {VT_CLASS_FLOAT, 4, 0xc1580ff2},  {VT_CLASS_VECTOR, 4, 0xc1fe0f66},
		    {VT_CLASS_COMPARE, 2, 0xc839},    {VT_CLASS_ATOMIC, 5, 0x03c10f48f0},
		    {VT_CLASS_STRING, 2, 0xa4f3},     {VT_CLASS_SYSCALL, 2, 0x050f}};
	uint64_t pc = CODE;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); pc += rows[i++].size)
		vt_buf_printf(&want, "%" PRIx64 " %x %x %" PRIx64 " %" PRIx64 "\n", pc,
			      rows[i].class, PID, pc + rows[i].size, rows[i].code);
	vt_buf_printf(&want, "12 without: 0 0 0, bad 0\n");
	check(codes, put_classes, vt_buf_str(&want), NULL);
	vt_buf_free(&want);
}

/* Where a program asks whether accesses missed, each line is an operation. */
static void put_lines(struct vt_writer *w)
{
	static const struct code c = {"\xc5\xfe\x6f\x00",	 4, 1, {4}, VT_END_FALL, 1,
				      {SLOT(0, LOAD_ADDRESS, 8)}};
	uint8_t data[8];

	put_block(w, 0, CODE, &c);
	vt_put_le64(data, 0x103a);
	run_block(w, 0, 0, 1, data, sizeof(data));
}

static void lines(void **state)
{
	(void)state;
	check(misses, put_lines,
	      "103a 6 0\n1040 2 0\n1042 8 0\n104a 8 0\n1052 8 0\n1 without: 0 0 0, bad 0\n", NULL);
}

/* The first instructions, up to the end of a block. */
static void limited(void **state)
{
	(void)state;
	limit = 1;
	check(branches, put_branches, "1 without: 0 0 1, bad 0\n", NULL);
	limit = 2;
	check(branches, put_branches, "401000 401002 0\n2 without: 0 0 1, bad 0\n", NULL);
	limit = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wide_and_guarded), cmocka_unit_test(parts),
		cmocka_unit_test(targets),	    cmocka_unit_test(bare),
		cmocka_unit_test(classes),	    cmocka_unit_test(lines),
		cmocka_unit_test(limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
