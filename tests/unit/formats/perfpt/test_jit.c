/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Generated code that is traced: the dumps that it goes to, number by number, as
 * tools/perf/Documentation/jitdump-specification.txt of the kernel has them, and when.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "formats/perfdata/abi.h"
#include "tests/unit/formats/perfpt/ptwrapped.h"

#define MAKING 1000 /* instructions that it takes to make a piece of code */

static char dir[] = "/tmp/vt-ptwrap-XXXXXX";

static int make_dir(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	(void)state;
	return rmdir(dir);
}

static const char *path_of(int pid)
{
	static char path[64];

	snprintf(path, sizeof(path), "%s/jit-%d.dump", dir, pid);
	return path;
}

/* A block of instructions of one byte. */
static void put_code(struct made *m, uint64_t id, int64_t pid, uint64_t addr, const void *code,
		     size_t size)
{
	static const uint8_t lengths[8] = {1, 1, 1, 1, 1, 1, 1, 1};
	uint64_t *row = vt_writer_row(m->w, VT_BLOCK);

	row[VT_BLOCK_ID] = id;
	row[VT_BLOCK_PID] = (uint64_t)pid;
	row[VT_BLOCK_ADDR] = addr;
	row[VT_BLOCK_SIZE] = row[VT_BLOCK_INSNS] = size;
	vt_writer_bytes(m->w, VT_BLOCK_LENGTHS, lengths, size);
	vt_writer_bytes(m->w, VT_BLOCK_CODE, code, size);
}

/* ---- dumps ---- */

struct dump {
	uint8_t *bytes;
	size_t size;
	size_t at;
	uint64_t loads;
};

static void open_dump(struct dump *d, int pid)
{
	int fd = open(path_of(pid), O_RDONLY);

	*d = (struct dump){.at = 0};
	assert_true(fd >= 0);
	d->bytes = slurp(fd, &d->size);
	close(fd);
	unlink(path_of(pid));
}

static void close_dump(struct dump *d)
{
	assert_int_equal(d->at, d->size);
	free(d->bytes);
}

static void check_header(struct dump *d, uint32_t pid, uint64_t tick)
{
	const uint8_t *h = d->bytes;

	assert_true(d->size >= 40);
	assert_memory_equal(h, "DTiJ", 4);
	assert_int_equal(vt_le32(h + 4), 1);  /* version */
	assert_int_equal(vt_le32(h + 8), 40); /* size */
	assert_int_equal(vt_le32(h + 12), 62);
	assert_int_equal(vt_le32(h + 16), 0);
	assert_int_equal(vt_le32(h + 20), pid);
	assert_int_equal(vt_le64(h + 24), tick);
	assert_int_equal(vt_le64(h + 32), 1); /* times are the TSC's */
	d->at = 40;
}

static void check_load(struct dump *d, uint32_t pid, uint64_t addr, const void *code, size_t size,
		       uint64_t tick)
{
	const uint8_t *r = d->bytes + d->at;
	char name[32];
	size_t length = (size_t)snprintf(name, sizeof(name), "generated_%" PRIx64, addr) + 1;

	assert_in_range(56 + length + size, 0, d->size - d->at);
	assert_int_equal(vt_le32(r), 0); /* JIT_CODE_LOAD */
	assert_int_equal(vt_le32(r + 4), 56 + length + size);
	assert_int_equal(vt_le64(r + 8), tick);
	assert_int_equal(vt_le32(r + 16), pid);
	assert_int_equal(vt_le32(r + 20), pid);
	assert_int_equal(vt_le64(r + 24), addr);
	assert_int_equal(vt_le64(r + 32), addr);
	assert_int_equal(vt_le64(r + 40), size);
	assert_int_equal(vt_le64(r + 48), d->loads++);
	assert_string_equal((const char *)r + 56, name);
	assert_memory_equal(r + 56 + length, code, size);
	d->at += 56 + length + size;
}

/* The next mapping that makes decoders look at a dump. */
static void check_mark(struct wrapped *f, uint32_t pid, const char *path, uint64_t insns)
{
	const uint8_t *r;
	size_t name = strlen(path) / 8 * 8 + 8;

	do {
		r = find_record(f, PD_MMAP2);
		assert_non_null(r);
	} while (vt_le64(r + 64) != PAIR(5, 2)); /* readable, executable; private */
	assert_int_equal(vt_le16(r + 4), 2);
	assert_int_equal(record_size(r), 72 + name + 24);
	assert_int_equal(vt_le64(r + 8), PAIR(pid, pid));
	assert_int_equal(vt_le64(r + 16), 4096);
	assert_int_equal(vt_le64(r + 24), 4096);
	assert_int_equal(vt_le64(r + 32), 0);
	assert_string_equal((const char *)r + 72, path);
	assert_int_equal(vt_le64(r + 72 + name), PAIR(pid, pid));
	assert_int_equal(vt_le64(r + 80 + name), TIME(insns));
	assert_int_equal(vt_le64(r + 88 + name), 2);
}

/* ---- what is dumped, and when ---- */

static const struct {
	int pid;
	uint64_t addr;
	const char *code;
	size_t size;
} codes[] = {
	{7, 0, NULL, 0},
	{7, 0x1ffe, "\x90\x91\x92\x93", 4},
	{7, 0x1ffe, "\x90\x96\x92\x93", 4},
	{7, 0x2000, "\x92", 1},
	{7, 0x2002, "\0", 1},
	{7, 0x1ffe, "\x90", 1},
	{7, 0x3000, "\x90", 1},
	{7, 0x10, "\x90", 1},
	{9, 0x2000, "\x95", 1},
};

#define NCODES (sizeof(codes) / sizeof(codes[0]))

/* What happens: a block is executed, which is dumped or is known; or something is forgotten. */
enum { RUN, MAP, EXEC, NAME };

static const struct {
	unsigned what;
	bool dumped;
	uint16_t block;
	int pid;
	uint64_t start, length;
} steps[] = {
	{RUN, 1, 1, 0, 0, 0},		{RUN, 0, 1, 0, 0, 0},
	{RUN, 1, 2, 0, 0, 0},				      /* its second byte is another one */
	{RUN, 0, 3, 0, 0, 0},				      /* a part of it */
	{RUN, 1, 1, 0, 0, 0},		{RUN, 1, 4, 0, 0, 0}, /* zero, which is not yet known */
	{RUN, 0, 4, 0, 0, 0},		{RUN, 1, 6, 0, 0, 0},
	{RUN, 1, 8, 0, 0, 0},		{RUN, 1, 7, 0, 0, 0},
	{MAP, 0, 0, 9, 0x2000, 0x1000}, /* of the other process */
	{RUN, 0, 3, 0, 0, 0},		{RUN, 1, 8, 0, 0, 0},
	{MAP, 0, 0, 7, 0x2000, 0x1000}, /* neither the page before nor behind it */
	{RUN, 0, 5, 0, 0, 0},		{RUN, 0, 6, 0, 0, 0},
	{RUN, 1, 3, 0, 0, 0},		{RUN, 0, 8, 0, 0, 0},
	{NAME, 0, 0, 7, 0, 0},		{RUN, 0, 6, 0, 0, 0},
	{EXEC, 0, 0, 7, 0, 0},		{RUN, 1, 6, 0, 0, 0},
	{RUN, 1, 7, 0, 0, 0},		{RUN, 1, 5, 0, 0, 0},
	{RUN, 1, 3, 0, 0, 0},		{RUN, 0, 8, 0, 0, 0},
	{MAP, 0, 0, 7, 0x1000, 0x2000}, /* two pages */
	{RUN, 1, 5, 0, 0, 0},		{RUN, 1, 3, 0, 0, 0},
	{RUN, 0, 6, 0, 0, 0},
};

#define NSTEPS (sizeof(steps) / sizeof(steps[0]))

static void put_steps(struct made *m)
{
	size_t i;

	for (i = 1; i < NCODES; i++)
		put_code(m, i, codes[i].pid, codes[i].addr, codes[i].code, codes[i].size);
	for (i = 0; i < NSTEPS; i++) {
		uint16_t id = steps[i].block;

		if (steps[i].what == RUN)
			put_run(m, codes[id].pid, codes[id].pid, &id, 1, codes[id].size);
		else if (steps[i].what == MAP)
			put_mapping(m, 1, steps[i].pid, steps[i].start, steps[i].length);
		else
			put_task(m, steps[i].what == EXEC ? VT_OP_EXEC : VT_OP_COMM, steps[i].pid,
				 steps[i].pid, "name");
	}
}

static void test_dumps(void **state)
{
	struct vt_pt_wrap_options opt = timed_options();
	uint64_t insns = 0, dumped = 0;
	struct dump dumps[2]; /* of 7 and 9 */
	struct wrapped f;
	struct made m;
	size_t i;

	(void)state;
	opt.jit_dir = dir;
	begin(&m);
	put_steps(&m);
	wrap(&f, &m, &opt);
	open_dump(&dumps[0], 7);
	open_dump(&dumps[1], 9);
	for (i = 0; i < NSTEPS; i++) {
		size_t k = steps[i].block;
		struct dump *d = &dumps[codes[k].pid == 9];
		uint64_t now = insns + MAKING * dumped;

		if (steps[i].dumped) {
			bool first = d->at == 0;

			if (first)
				check_header(d, codes[k].pid, TICK(now));
			/* It is there right behind the mapping that announces it. */
			check_load(d, codes[k].pid, codes[k].addr, codes[k].code, codes[k].size,
				   TICK(now) + 1);
			check_mark(&f, codes[k].pid, first ? path_of(codes[k].pid) : "//anon", now);
			dumped++;
		}
		insns += codes[k].size;
	}
	assert_int_equal(f.sum.generated, dumped);
	assert_int_equal(f.sum.generated_left_out, 0);
	close_dump(&dumps[0]);
	close_dump(&dumps[1]);
	free(f.bytes);
}

/* ---- patched code ---- */

#define PATCHED_AT 0x10000

/* Blocks of a file of nops, of which one is not what the file has: at an offset, and how long. */
static const struct {
	uint64_t at;
	const char *code;
	size_t size;
} parts[] = {{0, NULL, 0},
	     {0x10, "\x90", 1},
	     {0x20, "\x97", 1}, /* patched */
	     {0x1010, "\x90", 1},
	     {0xffe, "\x90\x90\x90\x90", 4}};

/* Runs of them, by the process or its child; which are dumped, for decoders would take the file. */
static const struct {
	uint16_t part;
	bool child, dumped;
} patched[] = {
	{1, 0, 0}, {2, 0, 1}, {2, 0, 0}, {1, 0, 1}, {1, 0, 0}, /* the page may be patched back */
	{3, 0, 0}, {4, 0, 1}, {3, 0, 1}, {3, 0, 0},	       /* so may be that behind it */
	{1, 1, 1}, {1, 1, 0}, {3, 1, 1}, {1, 0, 0},	       /* the child has its own */
};

static void put_patched(struct made *m, const char *path)
{
	size_t i;

	put_path(m, 1, VT_IMAGE_FILE, path);
	put_mapping(m, 1, 7, PATCHED_AT, 0x2000)[VT_MAP_PROT] = 5;
	for (i = 1; i < sizeof(parts) / sizeof(parts[0]); i++)
		put_code(m, i, 7, PATCHED_AT + parts[i].at, parts[i].code, parts[i].size);
	for (i = 0; i < sizeof(patched) / sizeof(patched[0]); i++) {
		int pid = patched[i].child ? 9 : 7;
		uint64_t *row;

		if (i == 9) {
			row = put_task(m, VT_OP_FORK, 9, 9, "");
			row[VT_THREAD_TIME] = 1;
			row[VT_THREAD_PPID] = row[VT_THREAD_PTID] = 7;
		}
		put_run(m, pid, pid, &patched[i].part, 1, parts[patched[i].part].size);
	}
}

static void test_patched(void **state)
{
	struct vt_pt_wrap_options opt = timed_options();
	uint64_t insns = 0, dumped = 0;
	struct dump dumps[2]; /* of 7 and 9 */
	uint8_t nops[0x2000];
	char path[64];
	struct wrapped f;
	struct made m;
	size_t i;
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "%s/file", dir);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	memset(nops, 0x90, sizeof(nops));
	assert_int_equal(write(fd, nops, sizeof(nops)), sizeof(nops));
	close(fd);
	/* Nowhere to put it. */
	begin(&m);
	put_patched(&m, path);
	wrap(&f, &m, &opt);
	assert_int_equal(f.sum.generated_left_out, 1);
	assert_int_equal(f.sum.generated, 0);
	free(f.bytes);
	opt.jit_dir = dir;
	begin(&m);
	put_patched(&m, path);
	wrap(&f, &m, &opt);
	open_dump(&dumps[0], 7);
	open_dump(&dumps[1], 9);
	for (i = 0; i < sizeof(patched) / sizeof(patched[0]); i++) {
		struct dump *d = &dumps[patched[i].child];
		size_t k = patched[i].part;
		uint64_t now = insns + MAKING * dumped;

		if (patched[i].dumped) {
			if (d->at == 0)
				check_header(d, patched[i].child ? 9 : 7, TICK(now));
			check_load(d, patched[i].child ? 9 : 7, PATCHED_AT + parts[k].at,
				   parts[k].code, parts[k].size, TICK(now) + 1);
			dumped++;
		}
		insns += parts[k].size;
	}
	assert_int_equal(f.sum.generated, dumped);
	assert_int_equal(f.sum.generated_left_out, 0);
	close_dump(&dumps[0]);
	close_dump(&dumps[1]);
	free(f.bytes);
	unlink(path);
}

/* perf learns of the process in whose name the mapping is, whichever of its threads ran. */
static void test_process(void **state)
{
	struct vt_pt_wrap_options opt = timed_options();
	struct wrapped f;
	struct dump d;
	struct made m;

	(void)state;
	opt.jit_dir = dir;
	begin(&m);
	put_task(&m, VT_OP_COMM, 7, 8, "");
	put_code(&m, 1, 7, 0x1000, "\x90", 1);
	put_run(&m, 7, 8, (const uint16_t[]){1}, 1, 1);
	wrap(&f, &m, &opt);
	check_words(find_record(&f, PD_COMM), PD_COMM, 0,
		    (const uint64_t[]){PAIR(7, 7), text_word(":7"), PAIR(7, 7), TIME(0), 2}, 5);
	assert_null(find_record(&f, PD_COMM));
	free(f.bytes);
	open_dump(&d, 7);
	check_header(&d, 7, TICK(0));
	check_load(&d, 7, 0x1000, "\x90", 1, TICK(0) + 1);
	close_dump(&d);
}

/* Generated is not what files have that are there, cannot be a process's, or is not known. */
static void test_what_is_generated(void **state)
{
	enum { UNMAPPED, FILE_AT, ANON_AT, GONE_AT };
	static const struct {
		int64_t pid;
		unsigned where;
		size_t size; /* of what is known of the code */
		uint64_t left_out;
	} cases[] = {
		{7, UNMAPPED, 1, 1},	     {7, UNMAPPED, 0, 0},
		{7, FILE_AT, 1, 0},	     {7, ANON_AT, 1, 1},
		{0, UNMAPPED, 1, 1},	     {-1, UNMAPPED, 1, 0},
		{INT32_MAX, UNMAPPED, 1, 1}, {INT32_MAX + INT64_C(1), UNMAPPED, 1, 0},
		{7, GONE_AT, 1, 1},
	};
	struct vt_pt_wrap_options opt = timed_options();
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wrapped f;
		struct made m;

		begin(&m);
		put_path(&m, FILE_AT, VT_IMAGE_FILE, "/file");
		put_path(&m, ANON_AT, VT_IMAGE_ANON, "//anon");
		put_path(&m, GONE_AT, VT_IMAGE_FILE, "/no/such/file (deleted)");
		if (cases[i].where != UNMAPPED)
			put_mapping(&m, cases[i].where, 7, 0x1000, 0x1000);
		put_code(&m, 1, cases[i].pid, 0x1fff, "\x90", 1);
		vt_writer_bytes(m.w, VT_BLOCK_CODE, "\x90", cases[i].size);
		wrap(&f, &m, &opt);
		assert_int_equal(f.sum.generated_left_out, cases[i].left_out);
		assert_int_equal(f.sum.generated, 0);
		free(f.bytes);
	}
}

/* Without times there is no telling when code took the place of other code. */
static void test_untimed(void **state)
{
	struct vt_pt_wrap_options opt = untimed_options();
	struct wrapped f;
	struct made m;

	(void)state;
	opt.jit_dir = dir;
	begin(&m);
	put_code(&m, 1, 7, 0x1000, "\x90", 1);
	put_run(&m, 7, 7, (const uint16_t[]){1}, 1, 1);
	wrap(&f, &m, &opt);
	assert_int_equal(f.sum.generated_left_out, 1);
	assert_int_equal(f.sum.generated, 0);
	assert_int_equal(access(path_of(7), F_OK), -1);
	free(f.bytes);
}

/* ---- dumps that cannot be written ---- */

/* Each process that has a bit in `full` finds no room for its dump; the error's text. */
static void try_full(unsigned full, bool at_once, const char *want)
{
	static uint8_t code[1024 * 15], lengths[1024];
	struct vt_pt_wrap_options opt = timed_options();
	struct wrapped f;
	struct made m;
	unsigned pid, id = 0, i;

	memset(lengths, 15, sizeof(lengths));
	memset(code, 0x90, sizeof(code));
	opt.jit_dir = dir;
	begin(&m);
	for (pid = 7; pid < 9; pid++) {
		if (full >> (pid - 7) & 1)
			assert_int_equal(symlink("/dev/full", path_of((int)pid)), 0);
		/* More than is held back before it is written. */
		for (i = 0; i < (at_once ? 6 : 1); i++) {
			uint64_t *row = vt_writer_row(m.w, VT_BLOCK);

			row[VT_BLOCK_ID] = ++id;
			row[VT_BLOCK_PID] = pid;
			row[VT_BLOCK_ADDR] = 0x10000 * (i + 1);
			row[VT_BLOCK_SIZE] = sizeof(code);
			row[VT_BLOCK_INSNS] = sizeof(lengths);
			vt_writer_bytes(m.w, VT_BLOCK_LENGTHS, lengths, sizeof(lengths));
			vt_writer_bytes(m.w, VT_BLOCK_CODE, code, sizeof(code));
			put_run(&m, pid, pid, (const uint16_t[]){(uint16_t)id}, 1, 1024);
		}
	}
	assert_int_equal(try_wrap(&f, &m, &opt), want ? -VT_E_WRITE : 0);
	if (want)
		assert_string_equal(f.err.text, want);
	assert_int_equal(f.sum.generated, !at_once ? 2 : want ? 5 : 12);
	free(f.bytes);
	unlink(path_of(7));
	unlink(path_of(8));
}

static void test_no_room(void **state)
{
	char want[2][96];
	int i;

	(void)state;
	for (i = 0; i < 2; i++)
		snprintf(want[i], sizeof(want[i]), "%s: No space left on device", path_of(7 + i));
	for (i = 0; i < 4; i++)
		try_full((unsigned)i, false, i & 1 ? want[0] : i ? want[1] : NULL);
	try_full(0, true, NULL);
	try_full(1, true, want[0]);
}

static void test_no_directory(void **state)
{
	struct vt_pt_wrap_options opt = timed_options();
	struct wrapped f;
	struct made m;

	(void)state;
	opt.jit_dir = "/none/of/these";
	begin(&m);
	put_code(&m, 1, 7, 0x1000, "\x90", 1);
	put_run(&m, 7, 7, (const uint16_t[]){1}, 1, 1);
	assert_int_equal(try_wrap(&f, &m, &opt), -VT_E_WRITE);
	assert_string_equal(f.err.text, "/none/of/these/jit-7.dump: No such file or directory");
	assert_int_equal(f.sum.generated, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dumps),	     cmocka_unit_test(test_process),
		cmocka_unit_test(test_patched),	     cmocka_unit_test(test_what_is_generated),
		cmocka_unit_test(test_untimed),	     cmocka_unit_test(test_no_room),
		cmocka_unit_test(test_no_directory),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
