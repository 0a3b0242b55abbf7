/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From records to objects: streams of single accesses, allocations and calls, and the counts of all
 * objects and locations as text.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "memory/memory.h"
#include "tests/unit/common/streams.h"
#include "value/hot_record.h"

#define PID 10
#define SP  0x7fff0000u

static struct vt_error err;

/* ---- streams ---- */

/* What happens, each in a block of its own: block number = size, plus one of these. */
enum { LOAD = 0, STORE = 64, CALL = 128, RETURN, STUB };

struct maker {
	struct vt_writer *w;
	uint64_t first;
	int64_t pid;
	int64_t tid;
	bool known[256];
};

static uint64_t block_addr(unsigned id)
{
	return 0x400000 + 0x100 * (uint64_t)id;
}

static void put_block(struct maker *m, unsigned id)
{
	const bool call = id == CALL, ret = id == RETURN;
	unsigned size = call || ret ? 8 : id % STORE;
	bool store = call || (id >= STORE && id < CALL);
	uint64_t slots[2] = {
		(uint64_t)(store ? VT_WHAT_STORE_ADDRESS : VT_WHAT_LOAD_ADDRESS) << 16 |
			UINT64_C(8) << 32,
		(uint64_t)(store ? VT_WHAT_STORE : VT_WHAT_LOAD) << 16 | (uint64_t)size << 32};
	const uint8_t length = 5;
	uint64_t *row;

	if (m->known[id])
		return;
	m->known[id] = true;
	row = vt_writer_row(m->w, VT_BLOCK);
	row[VT_BLOCK_ID] = id;
	row[VT_BLOCK_PID] = PID;
	row[VT_BLOCK_ADDR] = block_addr(id);
	row[VT_BLOCK_SIZE] = length;
	row[VT_BLOCK_INSNS] = 1;
	row[VT_BLOCK_END] = call	 ? VT_END_CALL
			    : ret	 ? VT_END_RETURN
			    : id == STUB ? VT_END_JUMP_INDIRECT
					 : VT_END_BRANCH;
	vt_writer_bytes(m->w, VT_BLOCK_LENGTHS, &length, 1);
	vt_writer_words(m->w, VT_BLOCK_SLOTS, slots, id == STUB ? 0 : 2);
}

static void run_block(struct maker *m, unsigned id, uint64_t addr, const void *value, size_t size)
{
	uint8_t data[8 + 64], ids[2];
	uint64_t *row;

	put_block(m, id);
	row = vt_writer_row(m->w, VT_EXEC);
	row[VT_EXEC_PID] = (uint64_t)m->pid;
	row[VT_EXEC_TID] = (uint64_t)m->tid;
	row[VT_EXEC_FIRST] = m->first++;
	row[VT_EXEC_BLOCKS] = 1;
	row[VT_EXEC_INSNS] = 1;
	row[VT_EXEC_WIDTH] = 2;
	vt_put_le16(ids, (uint16_t)id);
	vt_put_le64(data, addr);
	if (size)
		memcpy(data + 8, value, size);
	vt_writer_bytes(m->w, VT_EXEC_IDS, ids, 2);
	vt_writer_bytes(m->w, VT_EXEC_DATA, data, id == STUB ? 0 : 8 + size);
}

static void access_value(struct maker *m, unsigned what, unsigned size, uint64_t addr,
			 uint64_t value)
{
	uint8_t bytes[64] = {0};

	vt_put_le64(bytes, value);
	run_block(m, what + size, addr, bytes, size);
}

static void load(struct maker *m, unsigned size, uint64_t addr, uint64_t value)
{
	access_value(m, LOAD, size, addr, value);
}

static void store(struct maker *m, unsigned size, uint64_t addr, uint64_t value)
{
	access_value(m, STORE, size, addr, value);
}

static void call(struct maker *m, uint64_t slot)
{
	run_block(m, CALL, slot, &(uint64_t){0}, 8);
}

static void heap(struct maker *m, unsigned op, uint64_t addr, uint64_t size, uint64_t old,
		 uint64_t caller)
{
	uint64_t *row = vt_writer_row(m->w, VT_HEAP);

	row[VT_HEAP_PID] = (uint64_t)m->pid;
	row[VT_HEAP_TID] = (uint64_t)m->tid;
	row[VT_HEAP_FIRST] = m->first;
	row[VT_HEAP_OP] = op;
	row[VT_HEAP_ADDR] = addr;
	row[VT_HEAP_SIZE] = size;
	row[VT_HEAP_OLD] = old;
	row[VT_HEAP_CALLER] = caller;
}

static void kernel_call(struct maker *m, uint64_t number, uint64_t a, uint64_t b, uint64_t c,
			uint64_t result)
{
	const uint64_t args[6] = {a, b, c, 0x20, 0, 0};
	uint64_t *row = vt_writer_row(m->w, VT_SYSCALL);

	row[VT_SYSCALL_PID] = (uint64_t)m->pid;
	row[VT_SYSCALL_TID] = (uint64_t)m->tid;
	row[VT_SYSCALL_FIRST] = m->first;
	row[VT_SYSCALL_NUMBER] = number;
	row[VT_SYSCALL_RESULT] = result;
	vt_writer_words(m->w, VT_SYSCALL_ARGS, args, 6);
}

static void kernel_write(struct maker *m, uint64_t addr, const char *text)
{
	uint64_t *row = vt_writer_row(m->w, VT_MEMORY);

	row[VT_MEMORY_PID] = (uint64_t)m->pid;
	row[VT_MEMORY_TID] = (uint64_t)m->tid;
	row[VT_MEMORY_ADDR] = addr;
	vt_writer_bytes(m->w, VT_MEMORY_DATA, text, strlen(text));
}

static void start_thread(struct maker *m, uint64_t sp)
{
	uint64_t regs[24] = {[7] = sp};
	uint64_t *row = vt_writer_row(m->w, VT_STATE);

	row[VT_STATE_PID] = (uint64_t)m->pid;
	row[VT_STATE_TID] = (uint64_t)m->tid;
	row[VT_STATE_REASON] = VT_STATE_START;
	vt_writer_words(m->w, VT_STATE_REGS, regs, 24);
}

static void thread_op(struct maker *m, unsigned op, int64_t pid, int64_t parent)
{
	uint64_t *row = vt_writer_row(m->w, VT_THREAD);

	row[VT_THREAD_PID] = row[VT_THREAD_TID] = (uint64_t)pid;
	row[VT_THREAD_PPID] = row[VT_THREAD_PTID] = (uint64_t)parent;
	row[VT_THREAD_OP] = op;
}

/* ---- what comes of them ---- */

struct taken {
	struct vt_context *context;
	struct vt_memory *m;
	struct vt_reader *r;
	struct vt_buf text;
	int fd;
};

static struct vt_memory_options usual(void)
{
	return (struct vt_memory_options){.depth = 2, .grain = 8, .limit = 1000};
}

static void take(struct taken *t, const struct vt_memory_options *o, void (*put)(struct maker *m))
{
	struct maker maker = {.pid = PID, .tid = PID};
	const struct vt_block *block;
	uint32_t first, count;

	*t = (struct taken){.fd = scratch_file(), .text = VT_BUF_INIT};
	maker.w = start_stream(t->fd);
	put(&maker);
	t->r = reread_stream(t->fd, maker.w);
	t->context = vt_context_new(NULL);
	t->m = vt_memory_new(o, t->context, &err);
	assert_non_null(t->m);
	while (vt_reader_next_run(t->r, &block, &first, &count, &err) > 0)
		assert_int_equal(vt_context_feed(t->context, block, first, count, &err), 0);
	assert_int_equal(vt_memory_finish(t->m, &err), 0);
}

static void drop(struct taken *t)
{
	vt_buf_free(&t->text);
	vt_memory_free(t->m);
	vt_context_free(t->context);
	vt_reader_close(t->r);
	close(t->fd);
}

static void put_counts(struct vt_buf *b, const struct vt_memory_counts *c)
{
	vt_buf_printf(b, "l%" PRIu64 ":%" PRIu64 " s%" PRIu64 ":%" PRIu64, c->loads, c->loaded,
		      c->stores, c->stored);
	if (c->zero)
		vt_buf_printf(b, " zero%" PRIu64, c->zero);
	if (c->redundant)
		vt_buf_printf(b, " again%" PRIu64, c->redundant);
	if (c->silent)
		vt_buf_printf(b, " silent%" PRIu64, c->silent);
	if (c->dead)
		vt_buf_printf(b, " dead%" PRIu64, c->dead);
}

static void put_object(struct vt_buf *b, const struct vt_memory_object *o)
{
	uint32_t i;

	vt_buf_printf(b, "%s", vt_object_type_name(o->type));
	for (i = 0; i < o->nplaces; i++)
		vt_buf_printf(b, "%c%" PRIx64, i ? '<' : ' ', o->places[i].offset);
	vt_buf_printf(b, " ");
	put_counts(b, &o->counts);
	if (o->instances)
		vt_buf_printf(
			b, " n%" PRIu64 "-%" PRIu64 " size%" PRIu64 " peak%" PRIu64 " life%" PRIu64,
			o->instances, o->freed, o->size, o->peak, o->lifetime);
	if (o->unread)
		vt_buf_printf(b, " unread%" PRIu64, o->unread);
	if (o->valued_loads)
		vt_buf_printf(b, " top%" PRIu64 "/%" PRIu64, o->top_loads, o->valued_loads);
	vt_buf_printf(b, "\n");
}

static const char *objects(struct taken *t)
{
	size_t i;

	t->text.size = 0;
	for (i = 0; i < vt_memory_nobjects(t->m); i++)
		put_object(&t->text, vt_memory_object(t->m, i));
	return vt_buf_str(&t->text);
}

static const char *locations(struct taken *t)
{
	size_t i;

	t->text.size = 0;
	for (i = 0; i < vt_memory_nlocations(t->m); i++) {
		const struct vt_memory_location *l = vt_memory_location(t->m, i);

		vt_buf_printf(&t->text, "%" PRIu32 "%+" PRId64 " w%u ", l->object, l->offset,
			      l->size);
		put_counts(&t->text, &l->counts);
		vt_buf_printf(&t->text, " r%02x w%02x\n", l->read, l->written);
	}
	return vt_buf_str(&t->text);
}

static void check_of(const struct vt_memory_options *o, void (*put)(struct maker *m),
		     const char *want_objects, const char *want_locations)
{
	struct taken t;

	take(&t, o, put);
	assert_string_equal(objects(&t), want_objects);
	if (want_locations)
		assert_string_equal(locations(&t), want_locations);
	drop(&t);
}

static void check(void (*put)(struct maker *m), const char *want_objects,
		  const char *want_locations)
{
	const struct vt_memory_options o = usual();

	check_of(&o, put, want_objects, want_locations);
}

/* ---- values ---- */

static void put_values(struct maker *m)
{
	load(m, 8, 0x1000, 0);
	load(m, 8, 0x1000, 0);	/* again */
	store(m, 4, 0x1000, 0); /* silent: it was loaded as 0 */
	store(m, 4, 0x1000, 7); /* the store before is dead */
	load(m, 8, 0x1000, 7);	/* not what was loaded last */
	load(m, 4, 0x1004, 0);	/* again: a part of it */
	store(m, 8, 0x1008, 1);
	store(m, 2, 0x100a, 5); /* 2 of the 8 are dead */
	load(m, 1, 0x1008, 1);	/* 5 of them are left */
	store(m, 8, 0x1008, 9); /* 5 and 2 more */
	store(m, 8, 0x1008, 9); /* silent, and 8 more */
}

static void test_values(void **state)
{
	(void)state;
	check(put_values, "unknown l5:29 s6:34 zero3 again2 silent2 dead21 unread7 top4/5\n",
	      "0+4096 w8 l4:28 s2:8 zero3 again2 silent1 dead4 rff w0f\n"
	      "0+4104 w8 l1:1 s4:26 silent1 dead17 r01 wff\n");
}

static void put_across(struct maker *m)
{
	store(m, 8, 0x1004, UINT64_C(0x1122334455667788));
	load(m, 4, 0x1008, 0x11223344);
	load(m, 4, 0x1004, 0x55667788);
	load(m, 8, 0x1004, UINT64_C(0x1122334455667788));
	store(m, 16, 0x1004, UINT64_C(0x1122334455667788));
	load(m, 32, 0x2000, 0);
}

static void test_across(void **state)
{
	(void)state;
	/* An access that crosses counts once for the object, and once in each location. */
	check(put_across, "unknown l4:48 s2:24 zero1 again1 unread8 top8/8\n",
	      "0+4096 w4 l2:8 s2:8 again1 silent1 rf0 wf0\n"
	      "0+4104 w8 l2:8 s2:12 again1 r0f wff\n"
	      "0+4112 w4 l0:0 s1:4 r00 w0f\n"
	      "0+8192 w8 l1:8 s0:0 zero1 rff w00\n"
	      "0+8200 w8 l1:8 s0:0 zero1 rff w00\n"
	      "0+8208 w8 l1:8 s0:0 zero1 rff w00\n"
	      "0+8216 w8 l1:8 s0:0 zero1 rff w00\n");
}

static void put_grain(struct maker *m)
{
	heap(m, VT_HEAP_MALLOC, 0x1000, 8, 0, 0x77);
	store(m, 8, 0x1000, UINT64_C(0x100000000));
	load(m, 4, 0x1000, 0);
	load(m, 2, 0x1004, 1);
	load(m, 4, 0x1002, 0x10000);
}

static void test_grain(void **state)
{
	struct vt_memory_options o = usual();

	(void)state;
	o.grain = 4;
	check_of(&o, put_grain,
		 "heap 77 l3:10 s1:8 zero1 again1 n1-0 size8 peak8 life0 unread2 top4/4\n",
		 "0+0 w4 l2:6 s1:4 zero2 again1 r0f w0f\n"
		 "0+4 w4 l2:4 s1:4 again1 r30 wf0\n");
	o.grain = 1;
	check_of(&o, put_grain,
		 "heap 77 l3:10 s1:8 zero1 again1 n1-0 size8 peak8 life0 unread2 top10/10\n", NULL);
}

/* Locations side by side in 8 bytes: what is lost is each one's own, in whatever order. */
static void put_small(struct maker *m)
{
	heap(m, VT_HEAP_MALLOC, 0x1000, 16, 0, 0x77);
	store(m, 4, 0x1000, 1);
	store(m, 2, 0x1004, 2);
	store(m, 2, 0x1006, 3);
	store(m, 8, 0x1008, 4);
	load(m, 4, 0x1008, 4);
	load(m, 2, 0x1004, 2);
	heap(m, VT_HEAP_FREE, 0, 0, 0x1000, 0x99);
}

static void test_small(void **state)
{
	struct vt_memory_options o = usual();

	(void)state;
	o.grain = 2;
	check_of(&o, put_small,
		 "heap 77 l2:6 s4:16 dead10 n1-1 size16 peak16 life6 unread10 top3/3\n",
		 "0+0 w2 l0:0 s1:2 dead2 r00 w03\n"
		 "0+2 w2 l0:0 s1:2 dead2 r00 w0c\n"
		 "0+4 w2 l1:2 s1:2 r30 w30\n"
		 "0+6 w2 l0:0 s1:2 dead2 r00 wc0\n"
		 "0+8 w2 l1:2 s1:2 r03 w03\n"
		 "0+10 w2 l1:2 s1:2 zero1 r0c w0c\n"
		 "0+12 w2 l0:0 s1:2 dead2 r00 w30\n"
		 "0+14 w2 l0:0 s1:2 dead2 r00 wc0\n");
	/* By where accesses begin, and their size. */
	o.grain = 0;
	check_of(&o, put_small,
		 "heap 77 l2:6 s4:16 dead10 n1-1 size16 peak16 life6 unread14 top2/2\n",
		 "0+0 w4 l0:0 s1:4 dead4 r00 w0f\n"
		 "0+4 w2 l1:2 s1:2 r30 w30\n"
		 "0+6 w2 l0:0 s1:2 dead2 r00 wc0\n"
		 "0+8 w8 l0:0 s1:8 dead4 r00 wff\n"
		 "0+8 w4 l1:4 s0:0 r0f w00\n");
}

/* ---- allocations ---- */

static void put_heap(struct maker *m)
{
	call(m, SP); /* main */
	heap(m, VT_HEAP_MALLOC, 0x5000, 20, 0, 0x77);
	store(m, 8, 0x5000, 1);
	store(m, 8, 0x5008, 2);
	load(m, 8, 0x5000, 1);
	heap(m, VT_HEAP_FREE, 0, 0, 0x5000, 0x99); /* 8 bytes are dead */
	store(m, 8, 0x5000, 1);			   /* nobody's */
	heap(m, VT_HEAP_CALLOC, 0x5000, 16, 0, 0x88);
	load(m, 8, 0x5000, 1); /* another object: not again */
	store(m, 4, 0x500c, 1);
	heap(m, VT_HEAP_REALLOC, 0x6000, 100, 0x5000, 0x99);
	load(m, 8, 0x6008, 4);
	heap(m, VT_HEAP_REALLOC, 0, 0x7fffffff, 0x6000, 0x99); /* fails: nothing changes */
	load(m, 8, 0x6008, 4);
	heap(m, VT_HEAP_FREE, 0, 0, 0x6008, 0x99); /* not the start */
	heap(m, VT_HEAP_FREE, 0, 0, 0, 0x99);	   /* no address: nothing */
	heap(m, VT_HEAP_NEW, 0x6010, 8, 0, 0x66);  /* overlaps */
	load(m, 8, 0x6010, 3);
	load(m, 8, 0x6000, 3);
	heap(m, VT_HEAP_NEW, UINT64_MAX - 3, 8, 0, 0x66);
	heap(m, VT_HEAP_NEW, 0, 8, 0, 0x66);
}

static void test_heap(void **state)
{
	const struct vt_memory_options o = usual();
	const uint64_t back = block_addr(CALL) + 5;
	struct taken t;
	char want[600];

	(void)state;
	take(&t, &o, put_heap);
	snprintf(want, sizeof(want),
		 /* The return address was stored before any stack was known. */
		 "heap 77<%" PRIx64 " l1:8 s2:16 dead8 n1-1 size20 peak20 life3 unread8 top1/1\n"
		 "unknown l1:8 s2:16 silent1 unread16 top1/1\n"
		 "heap 88<%" PRIx64 " l1:8 s1:4 n1-1 size16 peak16 life2 unread4 top1/1\n"
		 "heap 99<%" PRIx64 " l2:16 s0:0 again1 n1-1 size100 peak100 life2 top2/2\n"
		 "heap 66<%" PRIx64 " l1:8 s0:0 n1-0 size8 peak8 life0 top1/1\n",
		 back, back, back, back);
	assert_string_equal(objects(&t), want);
	assert_int_equal(vt_memory_totals(t.m)->heap_events, 10);
	assert_int_equal(vt_memory_totals(t.m)->unknown_frees, 1);
	assert_int_equal(vt_memory_totals(t.m)->overlaps, 2);
	assert_int_equal(vt_memory_totals(t.m)->insns, 11);
	drop(&t);
}

/* A recording tells of an allocation before the code that made it. */
static void put_ahead(struct maker *m)
{
	m->first = 2;
	heap(m, VT_HEAP_MALLOC, 0x5000, 8, 0, 0x77);
	m->first = 0;
	store(m, 8, 0x5000, 1);
	store(m, 8, 0x5000, 2);
	load(m, 8, 0x5000, 2);
}

static void test_ahead(void **state)
{
	(void)state;
	check(put_ahead,
	      "unknown l0:0 s2:16 dead8 unread8\n"
	      "heap 77 l1:8 s0:0 n1-0 size8 peak8 life0 top1/1\n",
	      NULL);
}

static void put_mappings(struct maker *m)
{
	kernel_call(m, 12, 0, 0, 0, 0x20000); /* brk */
	kernel_call(m, 12, 0x22000, 0, 0, 0x22000);
	kernel_call(m, 9, 0, 0x1800, 3, 0x40000); /* mmap of two pages, anonymous */
	load(m, 8, 0x21ff8, 1);
	load(m, 8, 0x22000, 1);
	kernel_call(m, 12, 0x21000, 0, 0, 0x21000); /* less of it */
	load(m, 8, 0x21ff8, 2);
	load(m, 8, 0x41ff8, 1);
	load(m, 8, 0x42000, 1);
	kernel_call(m, 11, 0x41000, 0x1000, 0, 0); /* munmap of the second */
	load(m, 8, 0x41ff0, 1);
	load(m, 8, 0x40ff0, 1);
	kernel_call(m, 25, 0x40000, 0x1000, 0x1000, 0x50000); /* mremap */
	load(m, 8, 0x40ff0, 1);
	load(m, 8, 0x50000, 1);
	kernel_call(m, 9, 0, 0x1000, 3, (uint64_t)-12); /* fails */
	heap(m, VT_HEAP_MMAP, 0x60000, 0x2000, 0, 0x77);
	load(m, 8, 0x60000, 1);
	heap(m, VT_HEAP_MUNMAP, 0, 0x1000, 0x61000, 0x77); /* a part */
	load(m, 8, 0x60008, 1);
	heap(m, VT_HEAP_MMAP, 0x60000, 0x1000, 0, 0x88); /* over the rest */
	load(m, 8, 0x60008, 1);
}

static void test_mappings(void **state)
{
	struct vt_memory_options o = usual();
	struct taken t;

	(void)state;
	o.depth = 1;
	take(&t, &o, put_mappings);
	assert_string_equal(objects(&t),
			    "unknown l5:40 s0:0 top5/5\n"
			    "free l4:32 s0:0 top4/4\n"
			    "mapped 77 l2:16 s0:0 n1-0 size8192 peak8192 life0 top2/2\n"
			    "mapped 88 l1:8 s0:0 n1-0 size4096 peak4096 life0 top1/1\n");
	assert_int_equal(vt_memory_totals(t.m)->overlaps, 0);
	assert_int_equal(vt_memory_totals(t.m)->unknown_frees, 0);
	drop(&t);
}

/* ---- stacks ---- */

static void put_stack(struct maker *m)
{
	start_thread(m, SP);
	store(m, 8, SP - 16, 5); /* the first procedure */
	call(m, SP - 24);
	run_block(m, STUB, 0, NULL, 0);
	store(m, 4, SP - 32, 1); /* STORE + 4 is the procedure's first block */
	load(m, 8, SP - 16, 5);	 /* the caller's */
	run_block(m, RETURN, SP - 24, &(uint64_t){0}, 8);
	call(m, SP - 24);
	load(m, 8, SP - 32, 1); /* another procedure: what was there is lost */
	load(m, 8, SP + 64, 3); /* above all */
}

static void test_stack(void **state)
{
	(void)state;
	/* Return addresses are in the frame of the caller. */
	check(put_stack,
	      "stack 404800 l2:16 s3:24 zero1 silent1 top2/2\n"
	      "stack l1:8 s0:0 top1/1\n"
	      "stack 400800 l1:8 s0:0 top1/1\n"
	      "stack 404400 l0:0 s1:4 dead4 unread4\n",
	      NULL);
}

/* ---- the kernel ---- */

static void put_kernel(struct maker *m)
{
	store(m, 8, 0x1000, 1);
	store(m, 8, 0x1200, 1);
	store(m, 8, 0x3000, 0x1200);
	store(m, 8, 0x3008, 8);
	kernel_call(m, 1, 1, 0x1000, 8, 8);  /* write(1, 0x1000, 8) */
	store(m, 8, 0x1000, 2);		     /* not dead */
	store(m, 8, 0x1200, 2);		     /* dead */
	kernel_call(m, 20, 1, 0x3000, 1, 8); /* writev: 8 bytes at 0x1200 */
	store(m, 8, 0x1200, 3);		     /* not dead */
	kernel_write(m, 0x1200, "abcdefgh");
	store(m, 8, 0x1200, UINT64_C(0x6867666564636261)); /* silent, and what was there is gone */
	store(m, 8, 0x4000, 1);
	store(m, 8, 0x4100, 1);
	kernel_call(m, 16, 1, 0x4000, 0, 0); /* ioctl: may read 256 bytes */
	store(m, 8, 0x4000, 1);		     /* silent */
	store(m, 8, 0x4100, 1);		     /* silent, dead */
}

static void test_kernel(void **state)
{
	(void)state;
	check(put_kernel, "unknown l0:0 s12:96 silent3 dead16 unread8\n", NULL);
}

/* ---- processes ---- */

static void put_processes(struct maker *m)
{
	heap(m, VT_HEAP_MALLOC, 0x5000, 8, 0, 0x77);
	store(m, 8, 0x5000, 1);
	thread_op(m, VT_OP_FORK, 11, PID);
	m->pid = m->tid = 11;
	m->first = 0;
	load(m, 8, 0x5000, 1); /* the same object in the child */
	heap(m, VT_HEAP_FREE, 0, 0, 0x5000, 0x99);
	load(m, 8, 0x5000, 1);
	thread_op(m, VT_OP_EXEC, 11, 11);
	heap(m, VT_HEAP_MALLOC, 0x5000, 8, 0, 0x88);
	load(m, 8, 0x5000, 1);
	thread_op(m, VT_OP_EXIT, 11, 11);
	m->pid = m->tid = PID;
	m->first = 1;
	load(m, 8, 0x5000, 1);
}

static void test_processes(void **state)
{
	(void)state;
	check(put_processes,
	      "heap 77 l2:16 s1:8 n1-0 size8 peak8 life0 top2/2\n"
	      "heap 88 l1:8 s0:0 n1-0 size8 peak8 life0 top1/1\n"
	      "unknown l1:8 s0:0 top1/1\n",
	      NULL);
}

/* ---- static loads ---- */

static void put_loads(struct maker *m)
{
	static const uint64_t wide[4] = {0, 0, 1, 0};
	unsigned i;

	start_thread(m, SP);
	heap(m, VT_HEAP_MALLOC, 0x5000, 16, 0, 0x77);
	heap(m, VT_HEAP_MALLOC, 0x6000, 16, 0, 0x77);
	/* One field of two objects, and the other of the first. */
	load(m, 8, 0x5000, 3);
	load(m, 8, 0x6000, 3);
	load(m, 8, 0x5008, 0);
	load(m, 8, 0x5000, 3);
	/* Bytes of a location; and one load that crosses into the next. */
	for (i = 0; i < 4; i++)
		load(m, 1, 0x5002 + i, 0);
	load(m, 4, 0x5006, 0);
	run_block(m, LOAD + 32, 0x7000, wide, sizeof(wide));
	/* A slot of a frame, at two depths. */
	call(m, SP - 24);
	load(m, 2, SP - 32, 1);
	load(m, 2, SP - 30, 0);
	run_block(m, RETURN, SP - 24, &(uint64_t){0}, 8);
	call(m, SP - 16);
	load(m, 2, SP - 24, 1);
	store(m, 8, 0x5000, 1);
	/* The same address in another process. */
	thread_op(m, VT_OP_FORK, 11, PID);
	m->pid = m->tid = 11;
	m->first = 0;
	load(m, 4, 0x5006, 0);
}

static const char *static_loads(struct taken *t)
{
	size_t i;
	unsigned k;

	t->text.size = 0;
	for (i = 0; i < vt_memory_nloads(t->m); i++) {
		const struct vt_memory_load *l = vt_memory_load(t->m, i);

		vt_buf_printf(&t->text, "%" PRIx64 " l%" PRIu64 " w%u a%" PRIu64 " p%" PRIu64,
			      l->offset, l->loads, l->size,
			      l->distinct[VT_DISTINCT_ADDRESSES].count,
			      l->distinct[VT_DISTINCT_LOCATIONS].count);
		vt_buf_printf(&t->text,
			      " top%" PRIu64 " zero%" PRIu64 " again%" PRIu64 " own%" PRIu64,
			      l->top, l->zero, l->redundant, l->repeated);
		for (k = 0; k < VT_NOBJECTTYPES; k++)
			if (l->types[k])
				vt_buf_printf(&t->text, " %s%" PRIu64, vt_object_type_name(k),
					      l->types[k]);
		vt_buf_printf(&t->text, "\n");
	}
	return vt_buf_str(&t->text);
}

static void test_loads(void **state)
{
	struct vt_memory_options o = usual();
	struct taken t;

	(void)state;
	take(&t, &o, put_loads);
	assert_int_equal(vt_memory_nloads(t.m), 0);
	drop(&t);
	o.loads = true;
	take(&t, &o, put_loads);
	assert_string_equal(static_loads(&t),
			    "400100 l4 w1 a4 p1 top4 zero4 again4 own0 heap4\n"
			    "400800 l4 w8 a3 p2 top3 zero1 again1 own1 heap4\n"
			    "400200 l3 w2 a2 p1 top2 zero1 again0 own1 stack3\n"
			    "400400 l2 w4 a2 p1 top2 zero2 again1 own0 heap2\n"
			    "402000 l1 w32 a1 p1 top1 zero0 again0 own0 unknown1\n"
			    "408100 l1 w8 a1 p1 top1 zero1 again0 own0 stack1\n");
	assert_int_equal(vt_memory_totals(t.m)->counts.loads, 15);
	drop(&t);
}

/* ---- limits ---- */

static void put_many(struct maker *m)
{
	unsigned i, k;

	heap(m, VT_HEAP_MALLOC, 0x100000, 8 * 1100, 0, 0x77);
	for (i = 0; i < 1100; i++)
		for (k = 0; k < (i < 400 ? 3 : 1); k++)
			load(m, 8, 0x100000 + 8 * i, 1);
	for (i = 0; i < 1100; i += 1099)
		load(m, 8, 0x100000 + 8 * i, 1);
}

static void check_limit(bool exact)
{
	struct vt_memory_options o = usual();
	const struct vt_memory_object *of;
	struct taken t;

	o.exact = exact;
	take(&t, &o, put_many);
	of = vt_memory_object(t.m, 0);
	/* At location 1000, 500 of those with one load went; all others are there. */
	assert_int_equal(of->counts.loads, 400 * 3 + 700 + 2);
	assert_int_equal(of->left_out, 500);
	assert_int_equal(of->left_out_accesses, 500);
	assert_int_equal(of->locations, 600);
	assert_int_equal(vt_memory_nlocations(t.m), 600);
	assert_int_equal(vt_memory_totals(t.m)->left_out, 500);
	assert_int_equal(vt_memory_totals(t.m)->left_out_accesses, 500);
	assert_int_equal(vt_memory_location(t.m, 0)->counts.loads, 4);
	assert_int_equal(vt_memory_location(t.m, 599)->offset, 8 * 1099);
	assert_int_equal(vt_memory_location(t.m, 599)->counts.loads, 2);
	/* Their lists of values are used again, unless these keep all. */
	assert_int_equal(of->valued_loads, 400 * 3 + 200 + 2);
	assert_int_equal(of->top_loads, 400 * 3 + 200 + 2);
	drop(&t);
}

static void test_limit(void **state)
{
	(void)state;
	check_limit(false);
	check_limit(true);
}

/* Each of nine values once: a list of eight counts the last for the first. */
static void put_nine(struct maker *m)
{
	unsigned i;

	for (i = 1; i <= 9; i++)
		load(m, 8, 0x1000, i);
}

static void test_exact(void **state)
{
	struct vt_memory_options o = usual();
	struct vt_hot hot = {.size = 0};
	struct vt_error err;
	struct taken t;
	unsigned exact;

	(void)state;
	for (exact = 0; exact < 2; exact++) {
		o.exact = exact;
		take(&t, &o, put_nine);
		assert_int_equal(vt_memory_values(t.m, vt_memory_location(t.m, 0), &hot, &err), 0);
		assert_int_equal(hot.nvalues, exact ? 9 : 8);
		assert_int_equal(hot.profiled, 9);
		assert_int_equal(vt_memory_top_loads(vt_memory_location(t.m, 0), &hot, 9),
				 exact ? 9 : 8);
		vt_hot_fini(&hot);
		drop(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),	 cmocka_unit_test(test_across),
		cmocka_unit_test(test_grain),	 cmocka_unit_test(test_small),
		cmocka_unit_test(test_heap),	 cmocka_unit_test(test_ahead),
		cmocka_unit_test(test_mappings), cmocka_unit_test(test_stack),
		cmocka_unit_test(test_kernel),	 cmocka_unit_test(test_processes),
		cmocka_unit_test(test_limit),	 cmocka_unit_test(test_exact),
		cmocka_unit_test(test_loads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
