/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analysis/specentry_internal.h"
#include "analysis/speclist.h"
#include "image/elf.h"
#include "image/symbols.h"
#include "stream/reader.h"
#include "stream/writer.h"
#include "tests/unit/streams.h"
#include "tests/unit/toolbox.h"

/*
 * A program, and what a recording of it could have told: counts and hot lists are made by hand.
 * at_... are its instructions of note; the file that is looked at has no such symbols.
 */
static const char source[] =
	".intel_syntax noprefix\n"
	".macro proc name\n.globl \\name\n.type \\name, @function\n\\name:\n.endm\n"
	".macro endp name\n.size \\name, . - \\name\n.endm\n"
	".macro at name\n.globl \\name\n\\name:\n.endm\n"
	"proc divide; at at_divide_load; mov ecx, [rdi + 4]; mov eax, esi; xor edx, edx; div ecx\n"
	"ret; endp divide\n"
	"proc apply; at at_apply_call; call [rdi]; at at_apply_return; ret; endp apply\n"
	"proc sum; xor eax, eax; at at_sum_loop; add eax, [rdi]; dec esi; jne at_sum_loop; ret; "
	"endp "
	"sum\n"
	"proc same; at at_same_a; mov eax, [rdi]; at at_same_b; add eax, [rdi + 8]; jz 1f\n"
	"at at_same_c; mov eax, [rsi]; 1: ret; endp same\n"
	"proc walk; 1: mov eax, [rdi]; add rdi, 8; cmp rdi, rsi; jne 1b; ret; endp walk\n"
	"proc cut; at at_cut_a; mov eax, [rdi]; at at_cut_b; mov ecx, [rsi]; ret; .size cut, 3\n"
	"proc stub; at at_stub; jmp [rip + slot]; endp stub\n"
	".data; slot: .quad 0; .text\n"
	"proc _start; call sum; at at_start_return; ret; endp _start\n";

#define BASE 0x10000000u /* where the code's file offset 0 is mapped */

struct program {
	char *dir;
	const struct vt_elf *elf;
	struct vt_elf *owned;
	struct vt_symbols *symbols;
};

/* A stream that is being written, then what was read of it. */
struct fixture {
	const struct program *program;
	int fd;
	struct vt_writer *w;
	struct vt_images *images;
	struct vt_profile *profile;
	struct vt_hotprofile *hot;
	struct vt_spec *spec;
	struct vt_spec_view view;
};

static struct vt_error err;
static struct program program;

static uint64_t offset_of(const char *name)
{
	uint64_t vaddr = 0, offset = 0;

	assert_true(vt_symbols_address_of(program.symbols, name, &vaddr));
	assert_true(vt_elf_vaddr_to_offset(program.elf, vaddr, &offset));
	return offset;
}

static uint64_t address_of(const char *name)
{
	return BASE + offset_of(name);
}

static int setup(void **state)
{
	(void)state;
	program.dir = toolbox_dir();
	toolbox_write(program.dir, "p.s", source);
	free(toolbox_run(program.dir, "gcc -g -nostdlib -static -no-pie -o labels p.s && "
				      "objcopy -w -N 'at_*' labels p"));
	program.owned = vt_elf_open(toolbox_path(program.dir, "labels"), &err);
	assert_non_null(program.owned);
	program.elf = program.owned;
	program.symbols = vt_symbols_new();
	assert_int_equal(vt_symbols_add_elf(program.symbols, program.elf, NULL, &err), 0);
	assert_int_equal(vt_symbols_finish(program.symbols, &err), 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	vt_symbols_free(program.symbols);
	vt_elf_close(program.owned);
	toolbox_remove(program.dir);
	return 0;
}

static void begin(struct fixture *f, const char *event)
{
	static char name[] = "test", version[] = "0";
	static struct vt_stage stage = {.program = name, .version = version};
	struct vt_writer_options o = {.compression = VT_COMPRESS_NONE, .stage = &stage};
	uint64_t *row;

	memset(f, 0, sizeof(*f));
	f->fd = scratch_file();
	f->w = vt_writer_open_fd(f->fd, "test", &o, &err);
	assert_non_null(f->w);
	row = vt_writer_row(f->w, VT_EVENT);
	row[VT_EVENT_ID] = 1;
	row[VT_EVENT_POLICY] = VT_POLICY_EXACT;
	vt_writer_text(f->w, VT_EVENT_NAME, event);
	row = vt_writer_row(f->w, VT_IMAGE);
	row[VT_IMAGE_ID] = 1;
	row[VT_IMAGE_TYPE] = VT_IMAGE_FILE;
	vt_writer_text(f->w, VT_IMAGE_PATH, toolbox_path(program.dir, "p"));
	row = vt_writer_row(f->w, VT_MAP);
	row[VT_MAP_PID] = row[VT_MAP_TID] = 7;
	row[VT_MAP_START] = BASE;
	row[VT_MAP_LENGTH] = 0x100000;
	row[VT_MAP_IMAGE] = 1;
	row[VT_MAP_PROT] = 5;
}

static void put_count(struct fixture *f, const char *name, uint64_t samples)
{
	uint64_t *row = vt_writer_row(f->w, VT_COUNT);

	row[VT_COUNT_IMAGE] = 1;
	row[VT_COUNT_OFFSET] = offset_of(name);
	row[VT_COUNT_EVENT] = 1;
	row[VT_COUNT_SAMPLES] = row[VT_COUNT_PERIOD] = samples;
}

/* A list of up to two values, of which `many` had the first and `few` the second. */
static void put_list(struct fixture *f, const char *name, enum vt_what what, unsigned reg,
		     const char *caller, uint64_t value, uint64_t many, uint64_t other,
		     uint64_t few)
{
	const uint64_t values[] = {value, other}, counts[] = {many, few};
	double one = 1;
	uint64_t *row = vt_writer_row(f->w, VT_HOT), bits;

	memcpy(&bits, &one, sizeof(bits));
	row[VT_HOT_IMAGE] = 1;
	row[VT_HOT_OFFSET] = offset_of(name);
	row[VT_HOT_WHAT] = what;
	row[VT_HOT_REG] = reg;
	row[VT_HOT_SIZE] = what == VT_WHAT_LOAD && value < 1000 ? 4 : 8;
	row[VT_HOT_CALLER_IMAGE] = caller ? 1 : 0;
	row[VT_HOT_CALLER] = caller ? offset_of(caller) : 0;
	row[VT_HOT_ALGO] = VT_ALGO_EXACT;
	row[VT_HOT_FACTOR] = bits;
	row[VT_HOT_TOTAL] = row[VT_HOT_PROFILED] = many + few;
	row[VT_HOT_FIRST] = row[VT_HOT_LAST] = value;
	vt_writer_words(f->w, VT_HOT_VALUES, values, few ? 2 : 1);
	vt_writer_words(f->w, VT_HOT_COUNTS, counts, few ? 2 : 1);
}

static void feed_images(struct fixture *f, const struct vt_block *block, uint32_t first,
			uint32_t count)
{
	assert_int_equal(vt_profile_feed(f->profile, block, first, count, &err), 0);
	assert_int_equal(vt_hotprofile_feed(f->hot, block, first, count, &err), 0);
}

static void finish(struct fixture *f)
{
	const struct vt_images_options o = {.perf_map_dir = NULL};
	const struct vt_block *block;
	struct vt_reader *r;
	uint32_t first, count;
	int rc;

	f->images = vt_images_new(&o, &err);
	f->profile = vt_profile_new(f->images);
	f->hot = vt_hotprofile_new(1);
	assert_true(f->images && f->profile && f->hot);
	assert_int_equal(vt_writer_close(f->w, VT_STATUS_COMPLETE, &err), 0);
	assert_int_equal(lseek(f->fd, 0, SEEK_SET), 0);
	r = vt_reader_open_fd(f->fd, "test", &err);
	assert_non_null(r);
	while ((rc = vt_reader_next_run(r, &block, &first, &count, &err)) == 1)
		feed_images(f, block, first, count);
	assert_int_equal(rc, 0);
	vt_reader_close(r);
	assert_int_equal(vt_hotprofile_end(f->hot, &err), 0);
	assert_int_equal(vt_hotprofile_damage(f->hot)->rejected, 0);
	f->view =
		(struct vt_spec_view){NULL, f->profile, f->images, f->hot, {.min_invariance = 0.9}};
	f->spec = vt_spec_new(f->profile, f->images, f->hot, &f->view.opt, &err);
	assert_non_null(f->spec);
	f->view.spec = f->spec;
}

static void end(struct fixture *f)
{
	vt_spec_free(f->spec);
	vt_hotprofile_free(f->hot);
	vt_profile_free(f->profile);
	vt_images_free(f->images);
	close(f->fd);
}

static struct vt_cell cell(const struct vt_table *t, size_t row, const char *key)
{
	size_t i;

	for (i = 0; i < vt_table_columns(t); i++)
		if (!strcmp(vt_table_column_at(t, i)->key, key))
			return vt_table_cell(t, row, i);
	fail_msg("no column %s", key);
	return (struct vt_cell){0};
}

static void expect_cell(const struct vt_table *t, size_t row, const char *key, const char *text)
{
	struct vt_cell c = cell(t, row, key);

	assert_int_equal(c.type, VT_CELL_TEXT);
	if (c.size != strlen(text) || memcmp(c.text, text, c.size) != 0)
		fail_msg("row %zu, %s: '%.*s'", row, key, (int)c.size, c.text);
}

static double real_cell(const struct vt_table *t, size_t row, const char *key)
{
	return cell(t, row, key).real;
}

/* The program's time, and each planted value with a decoy beside it. */
static void put_program(struct fixture *f)
{
	begin(f, "instructions");
	put_count(f, "divide", 20000);
	put_count(f, "apply", 30000);
	put_count(f, "sum", 40000);
	put_count(f, "same", 10000);
	put_list(f, "at_divide_load", VT_WHAT_LOAD, 0, NULL, 8, 1000, 0, 0);
	put_list(f, "divide", VT_WHAT_ARG, VT_REG_SI, NULL, 5, 500, 6, 500);
	/* rdx is the same each time, but the procedure does not look at it. */
	put_list(f, "divide", VT_WHAT_ARG, VT_REG_DX, NULL, 7, 1000, 0, 0);
	put_list(f, "at_apply_call", VT_WHAT_TARGET, 0, NULL, address_of("sum"), 998,
		 address_of("same"), 2);
	put_list(f, "at_apply_call", VT_WHAT_LOAD, 0, NULL, address_of("sum"), 998,
		 address_of("same"), 2);
	put_list(f, "sum", VT_WHAT_ARG, VT_REG_SI, NULL, 4, 2000, 0, 0);
	put_list(f, "sum", VT_WHAT_ARG, VT_REG_DI, NULL, address_of("sum"), 2000, 0, 0);
	put_list(f, "at_sum_loop", VT_WHAT_LOAD, 0, NULL, 1, 3000, 2, 5000);
}

static void test_procedures(void **state)
{
	struct fixture f;
	struct vt_table *t = vt_table_new();

	(void)state;
	put_program(&f);
	finish(&f);
	assert_int_equal(vt_speclist_procedures(t, &f.view, &(struct vt_speclist_options){0}, &err),
			 0);
	assert_int_equal(vt_table_rows(t), 4);
	/* 40 % x 1: all of the procedure hangs on its argument. */
	expect_cell(t, 0, "procedure", "sum");
	expect_cell(t, 0, "kind", "argument");
	expect_cell(t, 0, "register", "rsi");
	expect_cell(t, 0, "advice", "specialise the procedure: argument 2 (rsi) is always 4");
	expect_cell(t, 1, "kind", "argument-pointer");
	expect_cell(t, 1, "advice", "refer to it directly: argument 1 (rdi) is always &sum");
	/* 20 divisions' worth for each of 1000 executions are all of divide's 20 %. */
	expect_cell(t, 2, "procedure", "divide");
	expect_cell(t, 2, "advice", "shift instead of dividing: the divisor is always 8");
	assert_float_equal(real_cell(t, 2, "stake"), 20, 0.01);
	expect_cell(t, 3, "procedure", "apply");
	expect_cell(t, 3, "place", "apply");
	expect_cell(t, 3, "advice", "devirtualise: 99.8 % to sum");
	assert_float_equal(real_cell(t, 3, "stake"), 15, 0.01);
	assert_float_equal(real_cell(t, 3, "invariance"), 99.8, 0.001);
	vt_table_free(t);
	end(&f);
}

/*
 * sum()'s argument rdi is an address, in the second megabyte, on the heap as it were; rsi is a
 * number or an address by its size, and by whether that is near.
 */
static void check_value(const char *procedure, const char *at, enum vt_what what, unsigned reg,
			uint64_t value, bool told)
{
	struct fixture f;

	begin(&f, "instructions");
	put_count(&f, procedure, 40000);
	put_list(&f, at, what, reg, NULL, value, 2000, 0, 0);
	finish(&f);
	assert_int_equal(vt_spec_nrows(f.spec), told);
	assert_int_equal(vt_spec_of_run(f.spec), !told);
	end(&f);
}

static void check_number(uint64_t value, bool told)
{
	struct fixture f;
	struct vt_table *t = vt_table_new();

	begin(&f, "instructions");
	put_count(&f, "sum", 40000);
	put_list(&f, "sum", VT_WHAT_ARG, VT_REG_DI, NULL, 0x180000, 2000, 0, 0);
	put_list(&f, "sum", VT_WHAT_ARG, VT_REG_SI, NULL, value, 2000, 0, 0);
	finish(&f);
	assert_int_equal(vt_speclist_procedures(t, &f.view, &(struct vt_speclist_options){0}, &err),
			 0);
	assert_int_equal(vt_table_rows(t), told);
	if (told)
		expect_cell(t, 0, "register", "rsi");
	assert_int_equal(vt_spec_of_run(f.spec), told ? 1 : 2);
	vt_table_free(t);
	end(&f);
}

static void test_addresses_of_the_run(void **state)
{
	const uint64_t megabyte = 1 << 20;

	(void)state;
	check_number(4, true);
	check_number(megabyte - 1, true);
	check_number(megabyte, false);
	check_number(2 * megabyte, false);
	check_number(3 * megabyte - 4, false);
	check_number(3 * megabyte, true);
	check_number(16 * megabyte - 4, true);
	check_number(16 * megabyte, false);
	check_number(0x4e54114, false);
	check_number(0x7ffe12345678, false);
	check_number(UINT64_C(1) << 47, true);
	check_number(UINT64_MAX, true);
	/* Of the image: the same in each run. */
	check_number(address_of("same"), true);
	/* What divides is a number of any size, what is loaded from or walked up to none. */
	check_value("divide", "at_divide_load", VT_WHAT_LOAD, 0, 16 * megabyte, true);
	check_value("walk", "walk", VT_WHAT_ARG, VT_REG_SI, 3 * megabyte, false);
	check_value("walk", "walk", VT_WHAT_ARG, VT_REG_DI, 3 * megabyte, false);
	check_value("sum", "sum", VT_WHAT_ARG, VT_REG_SI, 3 * megabyte, true);
}

static void test_choice(void **state)
{
	struct fixture f;
	struct vt_table *t = vt_table_new();

	(void)state;
	put_program(&f);
	finish(&f);
	assert_int_equal(vt_speclist_procedures(t, &f.view,
						&(struct vt_speclist_options){.top = 1, .each = 1},
						&err),
			 2);
	assert_int_equal(vt_table_rows(t), 1);
	vt_table_free(t);
	t = vt_table_new();
	assert_int_equal(
		vt_speclist_arguments(t, &f.view, &(struct vt_speclist_options){.top = 1}, &err),
		1);
	assert_int_equal(vt_table_rows(t), 1);
	expect_cell(t, 0, "what", "arg");
	vt_table_free(t);
	t = vt_table_new();
	assert_int_equal(vt_speclist_loads(t, &f.view, &(struct vt_speclist_options){0}, &err), 0);
	assert_int_equal(vt_table_rows(t), 1);
	expect_cell(t, 0, "place", "divide");
	assert_int_equal(vt_spec_lists(f.spec, VT_WHAT_ARG), 4);
	assert_int_equal(vt_spec_lists(f.spec, VT_WHAT_RETURN), 0);
	assert_int_equal(vt_spec_blind(f.spec), 0);
	vt_table_free(t);
	vt_spec_free(f.spec);
	f.view.opt.min_time = 0.25;
	f.spec = vt_spec_new(f.profile, f.images, f.hot, &f.view.opt, &err);
	assert_int_equal(vt_spec_nrows(f.spec), 3);
	end(&f);
}

/* Where instructions were not counted, loads stand for them. */
static void test_other_event(void **state)
{
	const struct vt_spec_row *r;
	struct fixture f;

	(void)state;
	begin(&f, "cycles");
	put_count(&f, "divide", 100);
	put_list(&f, "at_divide_load", VT_WHAT_LOAD, 0, NULL, 10, 1000, 0, 0);
	finish(&f);
	assert_int_equal(vt_spec_nrows(f.spec), 1);
	r = vt_spec_row(f.spec, 0);
	assert_int_equal(r->verdict.kind, VT_SPEC_DIVISOR);
	assert_int_equal(r->samples, 100);
	/* 15 for each of a load's four instructions: all of it. */
	assert_float_equal(r->stake, 1, 1e-9);
	end(&f);
}

static void test_callers(void **state)
{
	struct fixture f;
	struct vt_table *t = vt_table_new();

	(void)state;
	begin(&f, "instructions");
	put_count(&f, "sum", 1000);
	put_list(&f, "sum", VT_WHAT_RETURN, 0, NULL, address_of("at_apply_return"), 750,
		 address_of("at_start_return"), 250);
	put_list(&f, "sum", VT_WHAT_ARG, VT_REG_SI, "at_apply_return", 4, 750, 0, 0);
	put_list(&f, "sum", VT_WHAT_ARG, VT_REG_DI, "at_apply_return", 3, 749, 0, 1);
	put_list(&f, "sum", VT_WHAT_ARG, VT_REG_SI, "at_start_return", 5, 150, 6, 100);
	finish(&f);
	assert_int_equal(vt_speclist_callers(t, &f.view, &(struct vt_speclist_options){0}, &err),
			 0);
	assert_int_equal(vt_table_rows(t), 2);
	expect_cell(t, 0, "procedure", "sum");
	expect_cell(t, 0, "caller", "apply+0x2");
	expect_cell(t, 0, "arguments",
		    "argument 1 (rdi) is 3 in 99.8 %; argument 2 (rsi) is always 4");
	assert_float_equal(real_cell(t, 0, "calls.percent"), 75, 0);
	expect_cell(t, 1, "caller", "_start+0x5");
	expect_cell(t, 1, "arguments", "");
	vt_table_free(t);
	end(&f);
}

static void test_blocks(void **state)
{
	struct fixture f;
	struct vt_table *t = vt_table_new();

	(void)state;
	begin(&f, "instructions");
	put_count(&f, "at_same_a", 1000);
	put_count(&f, "at_same_b", 1000);
	put_count(&f, "at_same_c", 500);
	put_count(&f, "at_sum_loop", 500);
	put_list(&f, "at_same_a", VT_WHAT_LOAD, 0, NULL, 4, 1000, 0, 0);
	put_list(&f, "at_same_b", VT_WHAT_LOAD, 0, NULL, 5, 990, 6, 10);
	put_list(&f, "at_same_c", VT_WHAT_LOAD, 0, NULL, 5, 300, 6, 200);
	/* at_sum_loop has a load of which nothing is known: no verdict. */
	finish(&f);
	assert_int_equal(vt_speclist_blocks(t, &f.view, &(struct vt_speclist_options){0}, &err), 0);
	assert_int_equal(vt_table_rows(t), 1);
	expect_cell(t, 0, "block", "same");
	assert_float_equal(real_cell(t, 0, "invariance"), 99, 0.001);
	assert_float_equal(real_cell(t, 0, "time"), 66.667, 0.001);
	vt_table_free(t);
	t = vt_table_new();
	assert_int_equal(
		vt_speclist_blocks(t, &f.view, &(struct vt_speclist_options){.top = 1}, &err), 0);
	assert_int_equal(vt_table_rows(t), 1);
	vt_table_free(t);
	end(&f);
}

/* Where a loader put the target, the program has no say. */
static void test_linkage(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, "instructions");
	put_count(&f, "stub", 1000);
	put_list(&f, "at_stub", VT_WHAT_TARGET, 0, NULL, address_of("sum"), 1000, 0, 0);
	finish(&f);
	assert_int_equal(vt_spec_lists(f.spec, VT_WHAT_TARGET), 1);
	assert_int_equal(vt_spec_nrows(f.spec), 0);
	end(&f);
}

/* Each time that it happened, and once for each. */
static void test_counted(void **state)
{
	struct vt_profile_event e = {.samples = 7, .period = 7};

	(void)state;
	e.policy = VT_POLICY_EXACT;
	assert_true(vt_spec_is_counted(&e));
	e.period = 14;
	assert_false(vt_spec_is_counted(&e));
	e.policy = VT_POLICY_INTERRUPT;
	assert_false(vt_spec_is_counted(&e));
	e.period = 7;
	assert_false(vt_spec_is_counted(&e));
}

/* Callers that return addresses alone tell, or lists of arguments alone; some are of no image. */
static void test_sources_of_callers(void **state)
{
	struct fixture f;
	struct vt_table *t = vt_table_new();

	(void)state;
	begin(&f, "instructions");
	put_count(&f, "sum", 1000);
	put_list(&f, "sum", VT_WHAT_RETURN, 0, NULL, address_of("at_start_return"), 250,
		 address_of("at_apply_return"), 750);
	put_list(&f, "same", VT_WHAT_RETURN, 0, NULL, 0x1234, 10, address_of("at_apply_return"),
		 30);
	finish(&f);
	assert_int_equal(vt_speclist_callers(t, &f.view, &(struct vt_speclist_options){0}, &err),
			 0);
	assert_int_equal(vt_table_rows(t), 2);
	expect_cell(t, 0, "caller", "apply+0x2");
	assert_int_equal(cell(t, 0, "calls").number, 750);
	assert_float_equal(real_cell(t, 0, "calls.percent"), 75, 0);
	expect_cell(t, 1, "caller", "_start+0x5");
	assert_int_equal(cell(t, 1, "calls").number, 250);
	assert_float_equal(real_cell(t, 1, "calls.percent"), 25, 0);
	vt_table_free(t);
	end(&f);

	t = vt_table_new();
	begin(&f, "instructions");
	put_count(&f, "sum", 1000);
	put_list(&f, "sum", VT_WHAT_ARG, VT_REG_SI, "at_apply_return", 4, 90, 5, 10);
	put_list(&f, "sum", VT_WHAT_ARG, VT_REG_SI, "at_start_return", 4, 300, 5, 0);
	put_list(&f, "sum", VT_WHAT_ARG, VT_REG_DI, "at_start_return", 4, 200, 5, 100);
	finish(&f);
	assert_int_equal(vt_speclist_callers(t, &f.view, &(struct vt_speclist_options){0}, &err),
			 0);
	assert_int_equal(vt_table_rows(t), 2);
	expect_cell(t, 0, "caller", "_start+0x5");
	assert_int_equal(cell(t, 0, "calls").number, 300);
	assert_float_equal(real_cell(t, 0, "calls.percent"), 75, 0);
	expect_cell(t, 1, "caller", "apply+0x2");
	assert_int_equal(cell(t, 1, "calls").number, 100);
	vt_table_free(t);
	end(&f);
}

/* Callers whose arguments hardly change come first, however few of the calls are theirs. */
static void test_order_of_callers(void **state)
{
	struct fixture f;
	struct vt_table *t = vt_table_new();

	(void)state;
	begin(&f, "instructions");
	put_count(&f, "sum", 1000);
	put_list(&f, "sum", VT_WHAT_RETURN, 0, NULL, address_of("at_apply_return"), 750,
		 address_of("at_start_return"), 250);
	put_list(&f, "sum", VT_WHAT_ARG, VT_REG_SI, "at_apply_return", 4, 350, 5, 400);
	put_list(&f, "sum", VT_WHAT_ARG, VT_REG_SI, "at_start_return", 5, 250, 0, 0);
	finish(&f);
	assert_int_equal(vt_speclist_callers(t, &f.view, &(struct vt_speclist_options){0}, &err),
			 0);
	assert_int_equal(vt_table_rows(t), 2);
	expect_cell(t, 0, "caller", "_start+0x5");
	assert_float_equal(real_cell(t, 0, "calls.percent"), 25, 0);
	expect_cell(t, 0, "arguments", "argument 2 (rsi) is always 5");
	expect_cell(t, 1, "caller", "apply+0x2");
	expect_cell(t, 1, "arguments", "");
	vt_table_free(t);
	end(&f);
}

/*
 * Two blocks of `same`, and of `cut` the instruction that is whole, the best score first. Of 5000
 * samples they have 2000, 500 and 1500.
 */
static void test_order_of_blocks(void **state)
{
	static const struct {
		const char *block, *line;
		double time, share;
		uint64_t executions, insns, loads, results;
		const char *advice;
	} want[] = {
		{"same", "p.s:18", 0.4, 0.9, 800, 3, 2, 1,
		 "compute it once: each load and result hardly ever gives anything but the same"},
		{"cut", "p.s:21", 0.3, 1, 1500, 1, 1, 0,
		 "compute once what follows from it: each load always gives the same"},
		{"same+0x7", "p.s:19", 0.1, 1, 300, 1, 1, 0,
		 "compute once what follows from it: each load always gives the same"},
	};
	size_t i;
	struct fixture f;
	struct vt_table *t = vt_table_new();

	(void)state;
	begin(&f, "instructions");
	put_count(&f, "at_same_a", 1000);
	put_count(&f, "at_same_b", 1000);
	put_count(&f, "at_same_c", 500);
	put_count(&f, "at_cut_a", 1500);
	put_count(&f, "at_sum_loop", 1000);
	put_list(&f, "at_same_a", VT_WHAT_LOAD, 0, NULL, 4, 800, 0, 0);
	put_list(&f, "at_same_b", VT_WHAT_LOAD, 0, NULL, 5, 990, 6, 10);
	put_list(&f, "at_same_b", VT_WHAT_RESULT, VT_REG_AX, NULL, 9, 900, 10, 100);
	put_list(&f, "at_same_c", VT_WHAT_LOAD, 0, NULL, 5, 300, 0, 0);
	put_list(&f, "at_cut_a", VT_WHAT_LOAD, 0, NULL, 1, 1500, 0, 0);
	finish(&f);
	f.view.opt.min_invariance = 0.8;
	assert_int_equal(vt_speclist_blocks(t, &f.view, &(struct vt_speclist_options){0}, &err), 0);
	assert_int_equal(vt_table_rows(t), 3);
	for (i = 0; i < 3; i++) {
		double low = vt_share_low(want[i].share, (double)want[i].executions);

		expect_cell(t, i, "block", want[i].block);
		expect_cell(t, i, "block.line", want[i].line);
		assert_float_equal(real_cell(t, i, "time"), 100 * want[i].time, 1e-9);
		assert_float_equal(real_cell(t, i, "invariance"), 100 * want[i].share, 0.01);
		assert_float_equal(real_cell(t, i, "invariance.low"), 100 * low, 0.01);
		assert_float_equal(real_cell(t, i, "score"), 100 * want[i].time * low, 1e-9);
		assert_int_equal(cell(t, i, "executions").number, want[i].executions);
		assert_int_equal(cell(t, i, "instructions").number, want[i].insns);
		assert_int_equal(cell(t, i, "loads").number, want[i].loads);
		assert_int_equal(cell(t, i, "results").number, want[i].results);
		expect_cell(t, i, "advice", want[i].advice);
	}
	vt_table_free(t);
	t = vt_table_new();
	assert_int_equal(
		vt_speclist_blocks(t, &f.view, &(struct vt_speclist_options){.top = 1}, &err), 2);
	assert_int_equal(vt_table_rows(t), 1);
	vt_table_free(t);
	end(&f);
}

/* Procedures of images without symbols: each ends where the next one of its image begins. */
static void test_entries(void **state)
{
	struct vti_entries e = {0};
	const struct vti_entry *at;
	uint64_t end, i;

	(void)state;
	assert_int_equal(vti_entries_add(&e, 4, 0x30, &err), 0);
	assert_int_equal(vti_entries_add(&e, 2, 0x20, &err), 0);
	assert_int_equal(vti_entries_add(&e, 2, 0x10, &err), 0);
	vti_entries_sort(&e);
	for (i = 0; i < 0x40; i++) {
		at = vti_entries_before(&e, 2, i, &end);
		assert_int_equal(at ? at->offset : 0, i < 0x10 ? 0 : i < 0x20 ? 0x10 : 0x20);
		assert_int_equal(end, i < 0x10 ? 0x10 : i < 0x20 ? 0x20 : 0);
		at = vti_entries_before(&e, 4, i, &end);
		assert_int_equal(at ? at->offset : 0, i < 0x30 ? 0 : 0x30);
		assert_int_equal(end, i < 0x30 ? 0x30 : 0);
		assert_null(vti_entries_before(&e, 1, i, &end));
		assert_int_equal(end, 0);
		assert_null(vti_entries_before(&e, 3, i, &end));
		assert_int_equal(end, 0);
		assert_null(vti_entries_before(&e, 5, i, &end));
		assert_int_equal(end, 0);
	}
	vti_entries_fini(&e);
}

/* Without symbols, procedures begin where calls went. */
static void test_stripped(void **state)
{
	const struct vt_spec_procedure *p;
	struct fixture f;

	(void)state;
	free(toolbox_run(program.dir, "cp p whole && strip p"));
	put_program(&f);
	finish(&f);
	assert_int_equal(vt_spec_nrows(f.spec), 4);
	p = vt_spec_procedure(f.spec, vt_spec_row(f.spec, 0)->procedure);
	assert_string_equal(p->name, "");
	/* sum is the last one called, so same's time is counted as its own. */
	assert_float_equal(p->time, 0.5, 1e-9);
	assert_int_equal(vt_spec_find(f.spec, 1, offset_of("same")),
			 vt_spec_row(f.spec, 0)->procedure);
	end(&f);
	free(toolbox_run(program.dir, "mv whole p"));
}

/* Without the file, what is done with values is not known. */
static void test_blind(void **state)
{
	struct fixture f;

	(void)state;
	put_program(&f);
	free(toolbox_run(program.dir, "mv p whole"));
	finish(&f);
	assert_int_equal(vt_spec_blind(f.spec), 8);
	end(&f);
	free(toolbox_run(program.dir, "mv whole p"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_procedures),
		cmocka_unit_test(test_choice),
		cmocka_unit_test(test_addresses_of_the_run),
		cmocka_unit_test(test_other_event),
		cmocka_unit_test(test_callers),
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_order_of_callers),
		cmocka_unit_test(test_linkage),
		cmocka_unit_test(test_counted),
		cmocka_unit_test(test_sources_of_callers),
		cmocka_unit_test(test_order_of_blocks),
		cmocka_unit_test(test_entries),
		cmocka_unit_test(test_stripped),
		cmocka_unit_test(test_blind),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
