/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory profiles by type and member: accesses to a program that tells its addresses itself, as
 * streams, and all types and members that come of them as text.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "image/elf.h"
#include "memory/typed.h"
#include "stream/profileme.h"
#include "tests/unit/common/streams.h"
#include "tests/unit/common/toolbox.h"

#define PID   10
#define SP    0x7fff0000u
#define SHIFT 0x10000000u /* of the image without debug information */

/* It prints where things are: of calls, where they return to; of an array, how far below the CFA.
 */
static const char program[] =
	"#include <stdio.h>\n"
	"#include <stdlib.h>\n"
	"struct node { int key; char tag; struct node *next; long v[2]; };\n"
	"struct other { long a, b; };\n"
	"struct node first; const struct node fixed = {1}; const volatile struct node both;\n"
	"volatile struct other pair; static void *volatile sink; const char *site;\n"
	"#define F __attribute__((noinline))\n"
	"#define RETURN ((unsigned long)__builtin_return_address(0))\n"
	"F void where(const char *name) { printf(\"%s %lx\\n\", name, RETURN); }\n"
	"F void *get(size_t n) { printf(\"%s %lx\\n\", site, RETURN); return malloc(n); }\n"
	"F void node(void) { site = \"node\"; struct node *p = get(sizeof *p);\n"
	"  p->key = 1; sink = p; }\n"
	"F void text(int n) { site = \"text\"; char *p = get(n); p[n - 1] = 0; sink = p; }\n"
	"F void *inner(size_t n) { site = \"inner\";\n"
	"  printf(\"outer %lx\\n\", RETURN); void *p = get(n); if (!p) abort(); return p; }\n"
	"F void outer(void) { struct node *p = inner(sizeof *p); p->key = 2; sink = p; }\n"
	"F long framed(void) { volatile long spot[3] = {0}; spot[0] = 1; where(\"code\");\n"
	"  printf(\"below %lx\\n\", (long)((char *)__builtin_dwarf_cfa() - (char *)spot));\n"
	"  return spot[2]; }\n"
	/* One instruction each, by its own name, on a pointer whose type is known, or is not. */
	"#define I(name, type, code) F void name(type *p) { \\\n"
	"  __asm__ volatile(\".globl at_\" #name \"; at_\" #name \": \" code :: \"D\"(p) : "
	"\"rax\", "
	"\"memory\"); }\n"
	"I(key, struct node, \"movl (%0), %%eax\") I(next, struct node, \"movq %%rax, 8(%0)\")\n"
	"I(sum, struct node, \"addl $1, (%0)\") I(far, struct node, \"movl 100(%0), %%eax\")\n"
	"I(push, struct node, \"pushq 16(%0); popq %%rax\") I(any, void, \"movl (%0), %%eax\")\n"
	"I(direct, void, \"movl first(%%rip), %%eax\") I(v, struct node, \"movq 24(%0), %%rax\")\n"
	"#define SAY(name) { extern char at_##name[]; printf(\"at_\" #name \" %lx\\n\", "
	"(long)at_##name); "
	"}\n"
	"int main(int c, char **v) { (void)v; node(); text(c + 8); outer(); framed();\n"
	"  SAY(key) SAY(next) SAY(sum) SAY(far) SAY(push) SAY(any) SAY(direct) SAY(v)\n"
	"  printf(\"first %lx\\nfixed %lx\\nboth %lx\\npair %lx\\n\", (long)&first, (long)&fixed,\n"
	"         (long)&both, (long)&pair); return 0; }\n";

static struct vt_error err;
static char *dir, *said;

static int build(void **state)
{
	(void)state;
	dir = toolbox_dir();
	toolbox_write(dir, "p.c", program);
	said = toolbox_run(
		dir,
		"gcc -g -O1 -mno-red-zone -no-pie -fno-pie p.c -o p && strip -g p -o q && ./p && "
		"gcc -g -O1 -gsplit-dwarf -no-pie -fno-pie p.c -o r && rm *.dwo && cp r s");
	return 0;
}

static int demolish(void **state)
{
	(void)state;
	free(said);
	toolbox_remove(dir);
	return 0;
}

/* What the program said of this name. */
static uint64_t told(const char *name)
{
	const char *line = said;
	size_t n = strlen(name);

	while (strncmp(line, name, n) != 0 || line[n] != ' ') {
		line = strchr(line, '\n');
		assert_non_null(line);
		line++;
	}
	return strtoull(line + n, NULL, 16);
}

/* ---- streams ---- */

struct maker {
	struct vt_writer *w;
	uint64_t count; /* of blocks, each executed once */
};

/* Writes an image, which is mapped as it is laid out, but `shift` higher. */
static void put_image(struct maker *m, uint32_t id, const char *name, uint64_t shift)
{
	const char *path = toolbox_path(dir, name);
	struct vt_elf *elf = vt_elf_open(path, &err);
	const struct vt_elf_segment *s;
	uint64_t *row = vt_writer_row(m->w, VT_IMAGE);
	size_t n, i;

	assert_non_null(elf);
	row[VT_IMAGE_ID] = id;
	row[VT_IMAGE_TYPE] = VT_IMAGE_FILE;
	vt_writer_text(m->w, VT_IMAGE_PATH, path);
	s = vt_elf_segments(elf, &n);
	for (i = 0; i < n; i++) {
		uint64_t in = s[i].vaddr % 4096;

		row = vt_writer_row(m->w, VT_MAP);
		row[VT_MAP_PID] = PID;
		row[VT_MAP_START] = s[i].vaddr - in + shift;
		row[VT_MAP_LENGTH] = (s[i].filesz + in + 4095) / 4096 * 4096;
		row[VT_MAP_OFFSET] = s[i].offset - in;
		row[VT_MAP_IMAGE] = id;
		row[VT_MAP_PROT] = s[i].exec ? 5 : 1;
		row[VT_MAP_MISC] = 2;
	}
	vt_elf_close(elf);
}

/* Executes an instruction of 5 bytes, with one access. */
static void run_insn(struct maker *m, uint64_t ip, enum vt_block_end end, bool store, unsigned size,
		     uint64_t addr, uint64_t value)
{
	const uint64_t slots[2] = {
		(uint64_t)(store ? VT_WHAT_STORE_ADDRESS : VT_WHAT_LOAD_ADDRESS) << 16 |
			UINT64_C(8) << 32,
		(uint64_t)(store ? VT_WHAT_STORE : VT_WHAT_LOAD) << 16 | (uint64_t)size << 32};
	uint8_t data[8 + 8], ids[2];
	const uint8_t length = 5;
	uint64_t *row = vt_writer_row(m->w, VT_BLOCK);

	row[VT_BLOCK_ID] = m->count;
	row[VT_BLOCK_PID] = PID;
	row[VT_BLOCK_ADDR] = ip;
	row[VT_BLOCK_SIZE] = length;
	row[VT_BLOCK_INSNS] = 1;
	row[VT_BLOCK_END] = end;
	vt_writer_bytes(m->w, VT_BLOCK_LENGTHS, &length, 1);
	vt_writer_words(m->w, VT_BLOCK_SLOTS, slots, 2);
	row = vt_writer_row(m->w, VT_EXEC);
	row[VT_EXEC_PID] = row[VT_EXEC_TID] = PID;
	row[VT_EXEC_FIRST] = m->count;
	row[VT_EXEC_BLOCKS] = row[VT_EXEC_INSNS] = 1;
	row[VT_EXEC_WIDTH] = 2;
	vt_put_le16(ids, (uint16_t)m->count++);
	vt_put_le64(data, addr);
	vt_put_le64(data + 8, value);
	vt_writer_bytes(m->w, VT_EXEC_IDS, ids, 2);
	vt_writer_bytes(m->w, VT_EXEC_DATA, data, 8 + size);
}

static void load(struct maker *m, unsigned size, uint64_t addr, uint64_t value)
{
	run_insn(m, told("code"), VT_END_BRANCH, false, size, addr, value);
}

static void store(struct maker *m, unsigned size, uint64_t addr, uint64_t value)
{
	run_insn(m, told("code"), VT_END_BRANCH, true, size, addr, value);
}

/* A call that returns to `back`. */
static void call(struct maker *m, uint64_t back, uint64_t slot)
{
	run_insn(m, back - 5, VT_END_CALL, true, 8, slot, back);
}

static void allocate(struct maker *m, uint64_t addr, uint64_t size, const char *site)
{
	uint64_t *row = vt_writer_row(m->w, VT_HEAP);

	row[VT_HEAP_PID] = row[VT_HEAP_TID] = PID;
	row[VT_HEAP_FIRST] = m->count;
	row[VT_HEAP_OP] = VT_HEAP_MALLOC;
	row[VT_HEAP_ADDR] = addr;
	row[VT_HEAP_SIZE] = size;
	row[VT_HEAP_CALLER] = told(site);
}

/* ---- what comes of them ---- */

static void put_sampled(struct vt_buf *b, const struct vt_typed_sums *s)
{
	const struct vt_memory_sampled *m = &s->sampled;

	vt_buf_printf(b,
		      " l%" PRIu64 ":%" PRIu64 " s%" PRIu64 ":%" PRIu64 " n%" PRIu64 " lat%" PRIu64
		      "/%" PRIu64 " l2:%" PRIu64 " dram%" PRIu64 " tlb%" PRIu64 "/%" PRIu64
		      " of%" PRIu64 "\n",
		      s->counts.loads, s->counts.loaded, s->counts.stores, s->counts.stored,
		      m->samples, m->latency, m->latencies, m->sources[VT_SOURCE_L2],
		      m->sources[VT_SOURCE_DRAM], m->tlb_misses, m->tlb_told, s->objects);
}

static void put_sums(struct vt_buf *b, const struct vt_typed_sums *s)
{
	const struct vt_memory_counts *c = &s->counts;

	if (s->sampled.samples) {
		put_sampled(b, s);
		return;
	}
	vt_buf_printf(b, " l%" PRIu64 ":%" PRIu64 " s%" PRIu64 ":%" PRIu64, c->loads, c->loaded,
		      c->stores, c->stored);
	vt_buf_printf(b, " zero%" PRIu64 " again%" PRIu64 " silent%" PRIu64 " dead%" PRIu64,
		      c->zero, c->redundant, c->silent, c->dead);
	vt_buf_printf(b, " top%" PRIu64 "/%" PRIu64 " of%" PRIu64 "\n", s->top_loads,
		      s->valued_loads, s->objects);
}

static void put_types(struct vt_buf *b, const struct vt_typed *t)
{
	size_t i, k;

	for (i = 0; i < vt_typed_count(t); i++) {
		const struct vt_typed_type *type = vt_typed_at(t, i);

		if (type->why)
			vt_buf_printf(b, "(%s: %s)", vt_object_type_name(type->of), type->name);
		else
			vt_buf_printf(b, "%s %" PRIu64, type->name, type->size);
		put_sums(b, &type->sums);
		for (k = 0; k < type->nmembers; k++) {
			const struct vt_typed_member *m = vt_typed_member(t, type->first + k);

			vt_buf_printf(b, " +%" PRIu64 " w%" PRIu64 " '%s' %s", m->offset, m->size,
				      m->path, m->type ? m->type : "-");
			put_sums(b, &m->sums);
		}
	}
}

static void check_split(void (*put)(struct maker *m), uint64_t split, const char *want)
{
	const struct vt_images_options io = {.find = {.symfs = NULL}};
	struct vt_memory_options o = {.depth = 2, .grain = 0, .limit = 1000};
	struct vt_images *images = vt_images_new(&io, &err);
	struct vt_context *context = vt_context_new(images);
	int fd = scratch_file();
	struct maker maker = {.w = start_stream(fd)};
	struct vt_buf text = VT_BUF_INIT;
	const struct vt_block *block;
	uint32_t first, count;
	struct vt_reader *r;
	struct vt_memory *m;
	struct vt_typed *t;

	put_image(&maker, 1, "p", 0);
	put(&maker);
	r = reread_stream(fd, maker.w);
	o.images = images;
	m = vt_memory_new(&o, context, &err);
	while (vt_reader_next_run(r, &block, &first, &count, &err) > 0)
		assert_int_equal(vt_context_feed(context, block, first, count, &err), 0);
	assert_int_equal(vt_memory_finish(m, &err), 0);
	t = vt_typed_new(m, images, &err);
	assert_non_null(t);
	put_types(&text, t);
	assert_string_equal(vt_buf_str(&text), want);
	assert_int_equal(vt_typed_lost(t)->split, split);
	assert_int_equal(vt_typed_lost(t)->limits, 0);
	assert_false(vt_typed_lost(t)->alternate);
	vt_buf_free(&text);
	vt_typed_free(t);
	vt_memory_free(m);
	vt_reader_close(r);
	vt_context_free(context);
	vt_images_free(images);
	close(fd);
}

static void check(void (*put)(struct maker *m), const char *want)
{
	check_split(put, 0, want);
}

/* ---- variables ---- */

static void put_variables(struct maker *m)
{
	store(m, 8, told("pair") + 8, 5);
	load(m, 4, told("first"), 0);
	load(m, 4, told("first"), 0);
	load(m, 4, told("first"), 7);
	store(m, 1, told("first") + 4, 1);
	load(m, 8, told("first") + 8, 0x123);
	load(m, 8, told("fixed") + 8, 0);
	load(m, 1, told("first") + 5, 3);
	load(m, 8, told("first") + 24, 4);
	load(m, 8, told("both") + 16, 4);
	load(m, 8, 0x1000, 1);
	store(m, 8, 0x1008, 1);
}

/*
 * What is const or volatile has the same type.  Of the loads of `key`, two of three are of the most
 * frequent value.
 */
static void variables(void **state)
{
	(void)state;
	check(put_variables,
	      "struct node 32 l8:45 s1:1 zero3 again1 silent0 dead0 top7/8 of3\n"
	      " +0 w4 'key' int l3:12 s0:0 zero2 again1 silent0 dead0 top2/3 of0\n"
	      " +4 w1 'tag' char l0:0 s1:1 zero0 again0 silent0 dead0 top0/0 of0\n"
	      " +5 w1 '(padding)' - l1:1 s0:0 zero0 again0 silent0 dead0 top1/1 of0\n"
	      " +8 w8 'next' struct node * l2:16 s0:0 zero1 again0 silent0 dead0 top2/2 of0\n"
	      " +16 w8 'v[]' long int l2:16 s0:0 zero0 again0 silent0 dead0 top2/2 of0\n"
	      "(unknown: no variable there) l1:8 s1:8 zero0 again0 silent0 dead0 top1/1 of1\n"
	      "struct other 16 l0:0 s1:8 zero0 again0 silent0 dead0 top0/0 of1\n"
	      " +8 w8 'b' long int l0:0 s1:8 zero0 again0 silent0 dead0 top0/0 of0\n");
}

static void put_stripped(struct maker *m)
{
	put_image(m, 2, "q", SHIFT);
	load(m, 4, told("first") + SHIFT, 1);
	load(m, 4, told("first") + SHIFT + 8, 1);
	load(m, 8, told("pair"), 1);
}

static void stripped(void **state)
{
	(void)state;
	check(put_stripped,
	      "(global: no debug information) l2:8 s0:0 zero0 again0 silent0 dead0 top2/2 of1\n"
	      "struct other 16 l1:8 s0:0 zero0 again0 silent0 dead0 top1/1 of1\n"
	      " +0 w8 'a' long int l1:8 s0:0 zero0 again0 silent0 dead0 top1/1 of0\n");
}

/* Two images, whose debug information is in a file each that is not there. */
static void put_split(struct maker *m)
{
	put_image(m, 2, "r", SHIFT);
	put_image(m, 3, "s", 2 * SHIFT);
	load(m, 4, told("first") + SHIFT, 1);
	load(m, 4, told("first") + 2 * SHIFT, 1);
}

static void split(void **state)
{
	(void)state;
	check_split(
		put_split, 2,
		"(global: debug information in a file not found) l2:8 s0:0 zero0 again0 silent0 "
		"dead0 top2/2 of2\n");
}

/* ---- the heap ---- */

static void put_heap(struct maker *m)
{
	call(m, told("outer"), SP - 8);
	allocate(m, 0x5000, 32, "inner");
	store(m, 1, 0x5004, 1);
	allocate(m, 0x6000, 24, "text");
	store(m, 1, 0x6000, 1);
	store(m, 1, 0x6001, 1);
	store(m, 1, 0x6002, 1);
	store(m, 1, 0x6003, 1);
	store(m, 2, 0x6000, 1); /* two are dead */
	allocate(m, 0x7000, 64, "node");
	store(m, 4, 0x7020, 3);
	store(m, 4, 0x7020, 3); /* silent: and 4 are dead */
	load(m, 4, 0x7020, 3);
	load(m, 8, 0x7008, 0);
}

/* The caller of inner() says what it returns; two nodes are an array. */
static void heap(void **state)
{
	(void)state;
	check(put_heap,
	      "(heap: pointer to void or characters) l0:0 s5:6 zero0 again0 silent0 dead2 top0/0 "
	      "of1\n"
	      "struct node 32 l2:12 s3:9 zero1 again0 silent1 dead4 top2/2 of2\n"
	      " +0 w4 '[].key' int l1:4 s2:8 zero0 again0 silent1 dead4 top1/1 of0\n"
	      " +4 w1 'tag' char l0:0 s1:1 zero0 again0 silent0 dead0 top0/0 of0\n"
	      " +8 w8 '[].next' struct node * l1:8 s0:0 zero1 again0 silent0 dead0 top1/1 of0\n"
	      "(unknown: no variable there) l0:0 s1:8 zero0 again0 silent0 dead0 top0/0 of1\n");
}

/* Of one call come objects of several sizes: each may be an array. */
static void put_sizes(struct maker *m)
{
	allocate(m, 0x5000, 32, "node");
	store(m, 4, 0x5000, 1);
	allocate(m, 0x6000, 96, "node");
	store(m, 4, 0x6040, 1);
	store(m, 8, 0x6058, 1);
	allocate(m, 0x7000, 33, "text");
	store(m, 1, 0x7020, 1);
}

static void sizes(void **state)
{
	(void)state;
	check(put_sizes,
	      "struct node 32 l0:0 s3:16 zero0 again0 silent0 dead0 top0/0 of1\n"
	      " +0 w4 '[].key' int l0:0 s2:8 zero0 again0 silent0 dead0 top0/0 of0\n"
	      " +24 w8 '[].v[]' long int l0:0 s1:8 zero0 again0 silent0 dead0 top0/0 of0\n"
	      "(heap: pointer to void or characters) l0:0 s1:1 zero0 again0 silent0 dead0 top0/0 "
	      "of1\n");
}

/* ---- the stack ---- */

static void put_stack(struct maker *m)
{
	uint64_t spot = SP - told("below");

	call(m, 0x10, SP - 8);
	store(m, 8, spot + 8, 5);
	load(m, 8, spot + 8, 5);
	load(m, 8, spot + 16, 0);
	load(m, 8, spot - 8, 1);
}

/* That there is a stack is known from the first call on, which stored before. */
static void stack(void **state)
{
	(void)state;
	check(put_stack,
	      "long int[3] 24 l2:16 s1:8 zero1 again0 silent0 dead0 top2/2 of1\n"
	      " +8 w8 '[]' volatile long int l2:16 s1:8 zero1 again0 silent0 dead0 top2/2 of0\n"
	      "(stack: no variable there) l1:8 s0:0 zero0 again0 silent0 dead0 top1/1 of1\n"
	      "(unknown: no variable there) l0:0 s1:8 zero0 again0 silent0 dead0 top0/0 of1\n");
}

/* ---- samples ---- */

enum { PRECISE = 1, MODEL = 2 }; /* events */

#define LOADS  VT_PM_EVENT(LOAD)
#define STORES VT_PM_EVENT(STORE)

static void put_event(struct maker *m, uint64_t id, enum vt_policy policy)
{
	uint64_t *row = vt_writer_row(m->w, VT_EVENT);

	row[VT_EVENT_ID] = id;
	row[VT_EVENT_POLICY] = policy;
}

/* A sample with a latency, if that is not 0, and an answer of the L2 cache or of memory. */
static void sample(struct maker *m, unsigned event, bool exact, const char *code, uint64_t events,
		   uint64_t addr, unsigned width, uint64_t latency)
{
	uint64_t *row = vt_writer_row(m->w, VT_SAMPLE);

	row[VT_SAMPLE_PID] = row[VT_SAMPLE_TID] = PID;
	row[VT_SAMPLE_EVENT] = event;
	row[VT_SAMPLE_IP] = told(code);
	row[VT_SAMPLE_MISC] = 2 | (exact ? VT_MISC_EXACT_IP : 0);
	row[VT_SAMPLE_HAS] = VT_HAS_IP | VT_HAS_ADDR;
	row[VT_SAMPLE_ADDR] = addr;
	row[VT_SAMPLE_EVENTS] = events | (latency > 100 ? VT_PM_EVENT(DTLB_MISS) : 0);
	row[VT_SAMPLE_EVENTS_TOLD] = latency ? VT_PM_EVENT(DTLB_MISS) : 0;
	row[VT_SAMPLE_PM_HAS] =
		VT_PM_BIT(EVENTS) | (latency ? VT_PM_BIT(LAT_LOAD) | VT_PM_BIT(SOURCE) : 0);
	row[VT_SAMPLE_LAT_LOAD] = latency;
	row[VT_SAMPLE_SOURCE] = latency > 100 ? VT_SOURCE_DRAM : VT_SOURCE_L2;
	row[VT_SAMPLE_WIDTH] = width;
}

static void put_samples(struct maker *m)
{
	put_event(m, PRECISE, VT_POLICY_PRECISE);
	put_event(m, MODEL, VT_POLICY_MODEL);
	/* Nothing but the operand tells of these addresses. */
	sample(m, PRECISE, true, "at_key", LOADS, 0x1000, 4, 12);
	sample(m, PRECISE, true, "at_key", LOADS, 0x2000, 4, 200);
	sample(m, MODEL, false, "at_next", STORES, 0x1008, 8, 0);
	sample(m, PRECISE, true, "at_sum", LOADS | STORES, 0x1000, 4, 14);
	sample(m, PRECISE, true, "at_push", LOADS, 0x1010, 8, 16);
	sample(m, PRECISE, true, "at_v", LOADS, 0x1018, 0, 0);
	/* Where the address is a variable's, it counts. */
	sample(m, PRECISE, false, "at_any", LOADS, told("first"), 4, 18);
	sample(m, PRECISE, true, "at_v", LOADS, told("pair") + 8, 8, 300);
	sample(m, PRECISE, true, "at_any", LOADS, told("pair"), 16, 0);
}

/* By the address, or by the operand. */
static void samples(void **state)
{
	(void)state;
	check(put_samples,
	      "struct node 32 l6:24 s2:12 n7 lat260/5 l2:4 dram1 tlb1/5 of2\n"
	      " +0 w4 'key' int l4:16 s1:4 n4 lat244/4 l2:3 dram1 tlb1/4 of0\n"
	      " +8 w8 'next' struct node * l0:0 s1:8 n1 lat0/0 l2:0 dram0 tlb0/0 of0\n"
	      " +16 w8 'v[]' long int l2:8 s0:0 n2 lat16/1 l2:1 dram0 tlb0/1 of0\n"
	      "struct other 16 l2:24 s0:0 n2 lat300/1 l2:0 dram1 tlb1/1 of1\n"
	      " +0 w16 'a..b' volatile struct other l1:16 s0:0 n1 lat0/0 l2:0 dram0 tlb0/0 of0\n"
	      " +8 w8 'b' long int l1:8 s0:0 n1 lat300/1 l2:0 dram1 tlb1/1 of0\n");
}

static void put_unknown(struct maker *m)
{
	put_event(m, PRECISE, VT_POLICY_PRECISE);
	put_event(m, MODEL, VT_POLICY_MODEL);
	/* The instruction is not this one, does not do that, or does it twice. */
	sample(m, PRECISE, false, "at_key", LOADS, 0x1000, 4, 0);
	sample(m, PRECISE, true, "at_key", STORES, 0x1000, 4, 0);
	sample(m, PRECISE, true, "at_next", LOADS, 0x1008, 8, 0);
	sample(m, PRECISE, true, "at_push", STORES, 0x1010, 8, 0);
	sample(m, MODEL, false, "at_push", LOADS | STORES, 0x1010, 8, 0);
	/* It may be anything, or another place than the code has. */
	sample(m, PRECISE, true, "at_any", LOADS, 0x1000, 4, 0);
	sample(m, PRECISE, true, "at_direct", LOADS, 0x1000, 4, 0);
	sample(m, PRECISE, true, "at_far", LOADS, 0x1064, 4, 0);
}

static void unknown(void **state)
{
	(void)state;
	check(put_unknown,
	      "(unknown: instruction not known) l3:20 s3:20 n5 lat0/0 l2:0 dram0 tlb0/0 of1\n"
	      "(unknown: no variable there) l2:8 s0:0 n2 lat0/0 l2:0 dram0 tlb0/0 of1\n"
	      "(unknown: outside the type) l1:4 s0:0 n1 lat0/0 l2:0 dram0 tlb0/0 of1\n");
}

/* Objects of an allocator that tells no type; and others. */
static void put_sampled_heap(struct maker *m)
{
	put_event(m, MODEL, VT_POLICY_MODEL);
	allocate(m, 0x6000, 24, "text");
	allocate(m, 0x7000, 64, "node");
	sample(m, MODEL, false, "at_any", LOADS, 0x6000, 1, 0);
	sample(m, MODEL, false, "at_any", LOADS, 0x6001, 1, 0);
	sample(m, MODEL, false, "at_key", LOADS, 0x6000, 4, 0);
	sample(m, MODEL, false, "at_any", LOADS, 0x7020, 4, 0);
	sample(m, MODEL, false, "at_v", LOADS, 0x7020, 4, 0);
	sample(m, MODEL, false, "at_any", LOADS, 0x7028, 8, 0);
}

static void sampled_heap(void **state)
{
	(void)state;
	check(put_sampled_heap,
	      "struct node 32 l4:20 s0:0 n4 lat0/0 l2:0 dram0 tlb0/0 of2\n"
	      " +0 w4 '[].key' int l2:8 s0:0 n2 lat0/0 l2:0 dram0 tlb0/0 of0\n"
	      " +0 w4 'key' int l1:4 s0:0 n1 lat0/0 l2:0 dram0 tlb0/0 of0\n"
	      " +8 w8 '[].next' struct node * l1:8 s0:0 n1 lat0/0 l2:0 dram0 tlb0/0 of0\n"
	      "(heap: pointer to void or characters) l2:2 s0:0 n2 lat0/0 l2:0 dram0 tlb0/0 of1\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(variables),	cmocka_unit_test(stripped),
		cmocka_unit_test(split),	cmocka_unit_test(heap),
		cmocka_unit_test(sizes),	cmocka_unit_test(stack),
		cmocka_unit_test(samples),	cmocka_unit_test(unknown),
		cmocka_unit_test(sampled_heap),
	};

	return cmocka_run_group_tests(tests, build, demolish);
}
