/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Paths through blocks of several instructions, which are run in parts, and whose code is that of
 * files: where it is left out, what each run says of itself, and what is counted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "interpret/interpret.h"
#include "machine/insn/insn.h"
#include "tests/unit/common/streams.h"

#define PID   7
#define OTHER 9

static struct vt_error err;

/* ---- streams ---- */

struct path {
	int fd;
	struct vt_writer *w;
	uint64_t first[2]; /* instructions so far, of both processes */
};

/*
 * mov $5,%ebx; mov %rbx,%rax; mov $6,%ebx, at 1000, 2000 and 3000, and the last of it, mov
 * %rbx,%rax, behind that.
 */
static const uint8_t three[] = {0xbb, 5, 0, 0, 0, 0x48, 0x89, 0xd8, 0xbb, 6, 0, 0, 0};
static const uint8_t three_lengths[] = {5, 3, 5};
static const uint8_t last[] = {0x48, 0x89, 0xd8};
static const uint8_t last_lengths[] = {3};

static void put_block(struct path *p, uint64_t id, uint64_t addr, bool of_three)
{
	uint64_t *row = vt_writer_row(p->w, VT_BLOCK);

	row[VT_BLOCK_ID] = id;
	row[VT_BLOCK_PID] = PID;
	row[VT_BLOCK_ADDR] = addr;
	row[VT_BLOCK_SIZE] = of_three ? sizeof(three) : sizeof(last);
	row[VT_BLOCK_INSNS] = of_three ? 3 : 1;
	row[VT_BLOCK_END] = VT_END_FALL;
	if (of_three) {
		vt_writer_bytes(p->w, VT_BLOCK_LENGTHS, three_lengths, 3);
		vt_writer_bytes(p->w, VT_BLOCK_CODE, three, sizeof(three));
	} else {
		vt_writer_bytes(p->w, VT_BLOCK_LENGTHS, last_lengths, 1);
		vt_writer_bytes(p->w, VT_BLOCK_CODE, last, sizeof(last));
	}
}

static void begin(struct path *p)
{
	uint64_t id;

	*p = (struct path){.fd = scratch_file()};
	p->w = start_stream(p->fd);
	for (id = 0; id < 3; id++)
		put_block(p, id, 0x1000 * (id + 1), true);
	put_block(p, 3, 0x1000 + sizeof(three), false);
}

static void put_run(struct path *p, int64_t pid, const uint8_t *ids, size_t n, uint64_t skip,
		    uint64_t insns)
{
	uint64_t *row = vt_writer_row(p->w, VT_EXEC);
	uint8_t wide[16];
	size_t i;

	row[VT_EXEC_TIME] = 77;
	row[VT_EXEC_PID] = (uint64_t)pid;
	row[VT_EXEC_TID] = (uint64_t)pid;
	row[VT_EXEC_FIRST] = p->first[pid == OTHER];
	row[VT_EXEC_BLOCKS] = n;
	row[VT_EXEC_SKIP] = skip;
	row[VT_EXEC_INSNS] = insns;
	row[VT_EXEC_WIDTH] = 2;
	for (i = 0; i < n; i++)
		vt_put_le16(wide + 2 * i, ids[i]);
	vt_writer_bytes(p->w, VT_EXEC_IDS, wide, 2 * n);
	p->first[pid == OTHER] += insns;
}

/* A part of one block. */
static void put_part(struct path *p, uint8_t id, uint64_t skip, uint64_t insns)
{
	put_run(p, PID, &id, 1, skip, insns);
}

static void put_meta(struct path *p, const char *key, const char *value)
{
	vt_writer_row(p->w, VT_META);
	vt_writer_text(p->w, VT_META_KEY, key);
	vt_writer_text(p->w, VT_META_VALUE, value);
}

static void put_image(struct path *p, uint64_t id, bool has_buildid)
{
	uint64_t *row = vt_writer_row(p->w, VT_IMAGE);

	row[VT_IMAGE_ID] = id;
	row[VT_IMAGE_TYPE] = VT_IMAGE_FILE;
	vt_writer_text(p->w, VT_IMAGE_PATH, "/none");
	if (has_buildid)
		vt_writer_bytes(p->w, VT_IMAGE_BUILDID, "12345678901234567890", 20);
}

static void put_map(struct path *p, int64_t pid, uint64_t image, uint64_t start, uint64_t prot)
{
	uint64_t *row = vt_writer_row(p->w, VT_MAP);

	row[VT_MAP_TIME] = 1;
	row[VT_MAP_PID] = row[VT_MAP_TID] = (uint64_t)pid;
	row[VT_MAP_START] = start;
	row[VT_MAP_LENGTH] = 0x1000;
	row[VT_MAP_IMAGE] = image;
	row[VT_MAP_PROT] = prot;
}

/* ---- what becomes of them ---- */

struct seen {
	char text[256]; /* results: a and b are %rax and %rbx */
	struct vt_interpret_totals totals;
	unsigned runs;
	int returns; /* what is said of each run */
	int code;    /* what came of it */
};

static int take(void *arg, const struct vt_run *run, struct vt_error *e)
{
	struct seen *s = arg;
	size_t i;

	(void)e;
	s->runs++;
	assert_int_equal(run->time, 77);
	assert_int_equal(run->weight, 1);
	assert_int_equal(run->stop, VT_STOP_LENGTH);
	assert_int_equal(run->pid, run->tid);
	assert_int_equal(run->caller, 0);
	assert_int_equal(run->ncallers, 0);
	for (i = 0; i < run->ncaptures; i++) {
		const struct vt_capture *c = &run->captures[i];
		size_t n = strlen(s->text);

		if (c->what != VT_WHAT_RESULT)
			continue;
		assert_int_equal(c->size, 8);
		snprintf(s->text + n, sizeof(s->text) - n, "%c%d ", c->reg == VT_REG_AX ? 'a' : 'b',
			 c->known ? (int)c->value : -1);
	}
	return s->returns;
}

static void end(struct path *p, struct seen *s, bool told)
{
	const struct vt_interpret_options o = {.path = true, .capture = 1U << VT_WHAT_RESULT};
	const struct vt_images_options none = {.warn = NULL};
	struct vt_images *images = vt_images_new(&none, &err);
	struct vt_context *context = vt_context_new(images);
	struct vt_interpret *in = vt_interpret_new(&o, context, told ? take : NULL, s, &err);
	struct vt_reader *r = reread_stream(p->fd, p->w);
	struct vt_record rec;
	int code;

	assert_non_null(in);
	vt_context_add(context, &(struct vt_consumer){.record = vt_interpret_feed, .arg = in});
	while (vt_reader_next(r, &rec, &err) > 0) {
		code = vt_context_feed(context, rec.block, rec.row, 1, &err);
		if (!s->code)
			s->code = code;
	}
	vt_interpret_end(in);
	s->totals = *vt_interpret_totals(in);
	vt_interpret_free(in);
	vt_context_free(context);
	vt_images_free(images);
	vt_reader_close(r);
	close(p->fd);
}

/* ---- parts ---- */

/* A block goes on where its part has ended; elsewhere, nothing is known. */
static void test_parts(void **state)
{
	/* Block, instructions that are left out, and run: in parts. */
	static const struct {
		uint8_t parts[3][3];
		const char *text;
		unsigned begun, insns;
	} rows[] = {
		{{{0, 0, 3}}, "b5 a5 b6 ", 1, 3},
		{{{0, 0, 2}, {0, 2, 1}, {3, 0, 1}}, "b5 a5 b6 a6 ", 1, 4},
		{{{0, 0, 1}, {0, 1, 2}, {3, 0, 1}}, "b5 a5 b6 a6 ", 1, 4},
		{{{0, 0, 1}, {0, 1, 1}, {0, 2, 1}}, "b5 a5 b6 ", 1, 3},
		{{{0, 0, 3}, {3, 0, 1}}, "b5 a5 b6 a6 ", 1, 4},
		{{{0, 0, 2}, {3, 0, 1}}, "b5 a5 a-1 ", 2, 3},
		{{{0, 0, 1}, {1, 1, 1}}, "b5 a-1 ", 2, 2},
		{{{0, 1, 2}}, "a-1 b6 ", 1, 2},
		{{{0, 0, 1}, {0, 0, 1}, {0, 1, 1}}, "b5 b5 a5 ", 2, 3},
	};
	struct path p;
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct seen s = {.runs = 0};

		begin(&p);
		for (k = 0; k < 3 && rows[i].parts[k][2]; k++)
			put_part(&p, rows[i].parts[k][0], rows[i].parts[k][1], rows[i].parts[k][2]);
		end(&p, &s, true);
		if (strcmp(s.text, rows[i].text) != 0 || s.totals.begun != rows[i].begun)
			fail_msg("row %zu: %s, begun %d", i, s.text, (int)s.totals.begun);
		assert_int_equal(s.totals.insns, rows[i].insns);
		assert_int_equal(s.totals.execs, k);
		assert_int_equal(s.totals.runs, k);
		assert_int_equal(s.runs, k);
		assert_int_equal(s.code, 0);
	}
}

/* Without anybody who is told, all is counted; what that one says ends it all. */
static void test_told(void **state)
{
	struct seen s = {.runs = 0};
	struct path p;

	(void)state;
	begin(&p);
	put_part(&p, 0, 0, 3);
	end(&p, &s, false);
	assert_int_equal(s.code, 0);
	assert_int_equal(s.totals.runs, 1);
	s = (struct seen){.returns = -VT_E_WRITE};
	begin(&p);
	put_part(&p, 0, 0, 3);
	end(&p, &s, true);
	assert_int_equal(s.code, -VT_E_WRITE);
}

/* Only these keys and values say who recorded it, and that runs are samples. */
static void test_metas(void **state)
{
	static const struct {
		const char *key, *value;
		bool sampled, recorded;
	} rows[] = {
		{"sampling", "x", 1, 0},	{"samplinh", "x", 0, 0},
		{"sampling2", "x", 0, 0},	{"recorder", "valgrind", 0, 1},
		{"recorder", "valgrine", 0, 0}, {"recorder", "valgrind2", 0, 0},
		{"recordes", "valgrind", 0, 0}, {"recorder2", "valgrind", 0, 0},
	};
	struct path p;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct seen s = {.runs = 0};
		static const uint8_t one[] = {1};

		begin(&p);
		put_meta(&p, rows[i].key, rows[i].value);
		put_part(&p, 0, 0, 1);
		put_run(&p, OTHER, one, 1, 0, 1);
		put_part(&p, 0, 1, 1);
		end(&p, &s, true);
		/* A recorder's threads go on with their registers, samples with nothing. */
		assert_string_equal(s.text, rows[i].recorded ? "b5 b5 a5 " : "b5 b5 a-1 ");
		assert_int_equal(s.totals.begun, rows[i].recorded ? 2 : 3);
		s = (struct seen){.runs = 0};
		begin(&p);
		put_meta(&p, rows[i].key, rows[i].value);
		put_part(&p, 0, 0, 1);
		put_part(&p, 0, 1, 1);
		end(&p, &s, true);
		assert_string_equal(s.text, rows[i].sampled ? "b5 a-1 " : "b5 a5 ");
	}
}

/* ---- code that is left out ---- */

/* A file's code is left out where nothing shows that it is what ran: mapping by mapping. */
static void test_withheld(void **state)
{
	/* Which of the mappings at 1000 and 2000 have a file with a build-id: bits. */
	unsigned known;

	(void)state;
	for (known = 0; known < 4; known++) {
		static const uint8_t ids[] = {0, 1, 0, 2, 1, 1};
		/* Of the blocks, by bits: those in 1000 twice, in 2000 three times, in 3000 once.
		 */
		unsigned left_out = (known & 1 ? 0 : 2 * 3) + (known & 2 ? 0 : 3 * 3);
		struct seen s = {.runs = 0};
		struct path p;

		begin(&p);
		put_image(&p, 1, false);
		put_image(&p, 2, true);
		put_map(&p, PID, known & 1 ? 2 : 1, 0x1000, 5);
		put_map(&p, PID, known & 2 ? 2 : 1, 0x2000, 5);
		put_run(&p, PID, ids, 6, 0, 18);
		end(&p, &s, true);
		assert_int_equal(s.totals.code_withheld[VT_WITHHELD_UNVERIFIED], left_out);
		assert_int_equal(s.totals.insns, 18);
		assert_int_equal(s.totals.values[VT_WHAT_RESULT], 18 - left_out);
		/* Without a map, it is a recorder's. */
		assert_int_equal(s.totals.code_withheld[VT_WITHHELD_PATCHED], 0);
	}
}

/* What is withheld changes with the process, and with what is mapped. */
static void test_withheld_changes(void **state)
{
	static const uint8_t ids[] = {0};
	struct seen s = {.runs = 0};
	struct path p;

	(void)state;
	begin(&p);
	put_image(&p, 1, false);
	put_image(&p, 2, true);
	put_map(&p, PID, 2, 0x1000, 5);
	put_map(&p, OTHER, 1, 0x1000, 5);
	put_run(&p, PID, ids, 1, 0, 3);
	put_run(&p, OTHER, ids, 1, 0, 3); /* left out */
	put_run(&p, PID, ids, 1, 0, 3);
	put_map(&p, PID, 1, 0x1000, 5);
	put_run(&p, PID, ids, 1, 0, 3); /* left out */
	put_run(&p, PID, ids, 1, 0, 3); /* left out */
	put_map(&p, PID, 2, 0x1000, 7);
	put_run(&p, PID, ids, 1, 0, 3); /* patched */
	end(&p, &s, true);
	assert_int_equal(s.totals.code_withheld[VT_WITHHELD_UNVERIFIED], 9);
	assert_int_equal(s.totals.code_withheld[VT_WITHHELD_PATCHED], 3);
	assert_string_equal(s.text, "b5 a5 b6 b5 a5 b6 ");
	/* A recorder tells the code that ran. */
	s = (struct seen){.runs = 0};
	begin(&p);
	put_meta(&p, "recorder", "valgrind");
	put_image(&p, 1, false);
	put_map(&p, PID, 1, 0x1000, 5);
	put_run(&p, PID, ids, 1, 0, 3);
	end(&p, &s, true);
	assert_int_equal(s.totals.code_withheld[VT_WITHHELD_UNVERIFIED], 0);
	assert_string_equal(s.text, "b5 a5 b6 ");
}

/* Behind code that is left out, nothing is known. */
static void test_behind_withheld(void **state)
{
	static const uint8_t ids[] = {0, 1, 0};
	struct seen s = {.runs = 0};
	struct path p;

	(void)state;
	begin(&p);
	put_image(&p, 1, false);
	put_map(&p, PID, 1, 0x2000, 5);
	put_run(&p, PID, ids, 2, 0, 6);
	put_part(&p, 0, 1, 1);
	end(&p, &s, true);
	assert_string_equal(s.text, "b5 a5 b6 a-1 ");
	assert_int_equal(s.totals.begun, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_told),
		cmocka_unit_test(test_metas),
		cmocka_unit_test(test_withheld),
		cmocka_unit_test(test_withheld_changes),
		cmocka_unit_test(test_behind_withheld),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
