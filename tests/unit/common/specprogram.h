/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_UNIT_COMMON_SPECPROGRAM_H
#define TESTS_UNIT_COMMON_SPECPROGRAM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "image/elf.h"
#include "image/symbols.h"
#include "listing/values/advice.h"
#include "stream/reader.h"
#include "stream/writer.h"
#include "tests/unit/common/profiles.h"
#include "tests/unit/common/streams.h"
#include "tests/unit/common/toolbox.h"

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
	"proc _start; call sum; at at_start_return; ret; endp _start\n"
	"proc reads; at at_reads_limit; mov eax, [rip + limit]; at at_reads_fixed\n"
	"mov edx, [rip + fixed]; at at_reads_byte; movzx ecx, byte ptr [rdi]; ret; endp reads\n"
	"proc linked; endbr64; at at_linked; jmp [rip + slot]; endp linked\n"
	"proc leaps; at at_leaps; jmp [rdi]; endp leaps\n"
	"proc deeper; nop; at at_deeper; call [rdi]; ret; endp deeper\n"
	"proc table; at at_table; call [rip + only]; ret; endp table\n"
	"proc upto; 1: inc eax; mov ecx, [rsi]; cmp eax, edi; jl 1b; ret; endp upto\n"
	"proc triple; at at_triple; imul eax, edi, 3; test eax, eax; je 1f; at at_known\n"
	"mov eax, 5; test eax, eax; je 1f; inc eax; 1: ret; endp triple\n"
	"proc calls; call sum\n"
	"at at_calls_return; ret; endp calls\n"
	"proc padded; nop dword ptr [rax]; at at_padded_load; mov eax, [rdi]; pop rcx; ret; endp "
	"padded\n"
	"proc kernel; at at_kernel_a; mov eax, [rdi]; syscall; at at_kernel_b; mov ecx, [rsi]; "
	"ret\n"
	"endp kernel\n"
	"proc nowhere; at at_nowhere; mov eax, [0x1234]; ret; endp nowhere\n"
	"proc passes; nop; at at_passes_a; call sum; at at_passes_b; call sum; ret; endp passes\n"
	".data; .globl limit; .type limit, @object; limit: .long 7; .size limit, 4\n"
	".section .rodata; only: .quad sum; fixed: .long 9\n";

#define CODE 0x400000u /* of what a linker puts at file offset 0 */
#define BASE 0x800000u /* where the code's file offset 0 is mapped */

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
	uint64_t image; /* that what is put is of: 1, the program, or 2, whose file is not there */
	double min_invariance; /* options; 0.9 and 0 */
	double min_time;
};

static struct vt_error err;
static struct program program;

static inline uint64_t offset_of(const char *name)
{
	uint64_t vaddr = 0, offset = 0;

	assert_true(vt_symbols_address_of(program.symbols, name, &vaddr));
	assert_true(vt_elf_vaddr_to_offset(program.elf, vaddr, &offset));
	return offset;
}

static inline uint64_t address_of(const char *name)
{
	return BASE + offset_of(name);
}

static inline int setup(void **state)
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

static inline int teardown(void **state)
{
	(void)state;
	vt_symbols_free(program.symbols);
	vt_elf_close(program.owned);
	toolbox_remove(program.dir);
	return 0;
}

static inline void put_event(struct fixture *f, uint64_t id, const char *name,
			     enum vt_policy policy)
{
	uint64_t *row = vt_writer_row(f->w, VT_EVENT);

	row[VT_EVENT_ID] = id;
	row[VT_EVENT_POLICY] = policy;
	vt_writer_text(f->w, VT_EVENT_NAME, name);
}

static inline void begin(struct fixture *f, const char *event)
{
	static char name[] = "test", version[] = "0";
	static struct vt_stage stage = {.program = name, .version = version};
	struct vt_writer_options o = {.compression = VT_COMPRESS_NONE, .stage = &stage};
	uint64_t *row;

	memset(f, 0, sizeof(*f));
	f->fd = scratch_file();
	f->image = 1;
	f->min_invariance = 0.9;
	f->w = vt_writer_open_fd(f->fd, "test", &o, &err);
	assert_non_null(f->w);
	put_event(f, 1, event, VT_POLICY_EXACT);
	row = vt_writer_row(f->w, VT_IMAGE);
	row[VT_IMAGE_ID] = 1;
	row[VT_IMAGE_TYPE] = VT_IMAGE_FILE;
	vt_writer_text(f->w, VT_IMAGE_PATH, toolbox_path(program.dir, "p"));
	row = vt_writer_row(f->w, VT_IMAGE);
	row[VT_IMAGE_ID] = 2;
	row[VT_IMAGE_TYPE] = VT_IMAGE_FILE;
	vt_writer_text(f->w, VT_IMAGE_PATH, toolbox_path(program.dir, "gone"));
	row = vt_writer_row(f->w, VT_MAP);
	row[VT_MAP_PID] = row[VT_MAP_TID] = 7;
	row[VT_MAP_START] = BASE;
	row[VT_MAP_LENGTH] = 0x100000;
	row[VT_MAP_IMAGE] = 1;
	row[VT_MAP_PROT] = 5;
}

static inline void put_count_of(struct fixture *f, uint64_t event, const char *name,
				uint64_t samples)
{
	uint64_t *row = vt_writer_row(f->w, VT_COUNT);

	row[VT_COUNT_IMAGE] = f->image;
	row[VT_COUNT_OFFSET] = offset_of(name);
	row[VT_COUNT_EVENT] = event;
	row[VT_COUNT_SAMPLES] = row[VT_COUNT_PERIOD] = samples;
}

static inline void put_count(struct fixture *f, const char *name, uint64_t samples)
{
	put_count_of(f, 1, name, samples);
}

/* A hot list of up to three values: those that have counts. */
struct planted {
	const char *at;
	enum vt_what what;
	unsigned reg, lane, size;
	const char *caller;
	uint64_t values[3], counts[3];
};

static inline void put_hot(struct fixture *f, const struct planted *h)
{
	double one = 1;
	uint64_t *row = vt_writer_row(f->w, VT_HOT), bits;
	size_t n = 0;

	memcpy(&bits, &one, sizeof(bits));
	for (n = 0; n < 3 && h->counts[n]; n++)
		row[VT_HOT_TOTAL] += h->counts[n];
	row[VT_HOT_IMAGE] = f->image;
	row[VT_HOT_OFFSET] = offset_of(h->at);
	row[VT_HOT_WHAT] = h->what;
	row[VT_HOT_REG] = h->reg;
	row[VT_HOT_LANE] = h->lane;
	row[VT_HOT_SIZE] = h->size;
	row[VT_HOT_CALLER_IMAGE] = h->caller ? f->image : 0;
	row[VT_HOT_CALLER] = h->caller ? offset_of(h->caller) : 0;
	row[VT_HOT_ALGO] = VT_ALGO_EXACT;
	row[VT_HOT_FACTOR] = bits;
	row[VT_HOT_PROFILED] = row[VT_HOT_TOTAL];
	row[VT_HOT_FIRST] = row[VT_HOT_LAST] = h->values[0];
	vt_writer_words(f->w, VT_HOT_VALUES, h->values, n);
	vt_writer_words(f->w, VT_HOT_COUNTS, h->counts, n);
}

/* A list of up to two values, of which `many` had the first and `few` the second. */
static inline void put_list(struct fixture *f, const char *name, enum vt_what what, unsigned reg,
			    const char *caller, uint64_t value, uint64_t many, uint64_t other,
			    uint64_t few)
{
	put_hot(f, &(struct planted){.at = name,
				     .what = what,
				     .reg = reg,
				     .size = what == VT_WHAT_LOAD && value < 1000 ? 4 : 8,
				     .caller = caller,
				     .values = {value, other},
				     .counts = {many, few}});
}

static inline void finish(struct fixture *f)
{
	const struct vt_images_options o = {.perf_map_dir = NULL};

	f->images = vt_images_new(&o, &err);
	f->profile = new_profile(f->images);
	f->hot = vt_hotprofile_new(1);
	assert_true(f->images && f->hot);
	vt_context_add(vt_profile_context(f->profile),
		       &(struct vt_consumer){.take = vt_hotprofile_feed, .arg = f->hot});
	read_context(vt_profile_context(f->profile), f->fd, f->w);
	assert_int_equal(vt_hotprofile_end(f->hot, &err), 0);
	assert_int_equal(vt_hotprofile_damage(f->hot)->rejected, 0);
	f->view = (struct vt_spec_view){
		NULL,
		f->profile,
		f->images,
		f->hot,
		{.min_invariance = f->min_invariance, .min_time = f->min_time},
	};
	f->spec = vt_spec_new(f->profile, f->images, f->hot, &f->view.opt, &err);
	assert_non_null(f->spec);
	f->view.spec = f->spec;
}

static inline void end(struct fixture *f)
{
	vt_spec_free(f->spec);
	vt_hotprofile_free(f->hot);
	free_profile(f->profile);
	vt_images_free(f->images);
}

static inline struct vt_cell cell(const struct vt_table *t, size_t row, const char *key)
{
	size_t i;

	for (i = 0; i < vt_table_columns(t); i++)
		if (!strcmp(vt_table_column_at(t, i)->key, key))
			return vt_table_cell(t, row, i);
	fail_msg("no column %s", key);
	return (struct vt_cell){0};
}

static inline void expect_cell(const struct vt_table *t, size_t row, const char *key,
			       const char *text)
{
	struct vt_cell c = cell(t, row, key);

	assert_int_equal(c.type, VT_CELL_TEXT);
	if (c.size != strlen(text) || memcmp(c.text, text, c.size) != 0)
		fail_msg("row %zu, %s: '%.*s'", row, key, (int)c.size, c.text);
}

static inline double real_cell(const struct vt_table *t, size_t row, const char *key)
{
	return cell(t, row, key).real;
}

/* The program's time, and each planted value with a decoy beside it. */
static inline void put_program(struct fixture *f)
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

#endif
