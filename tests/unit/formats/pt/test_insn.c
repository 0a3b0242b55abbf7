/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What instructions are to a trace: against libipt's instruction decoder on random bytes and on the
 * code of recorded traces, and against Zydis on compiled programs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <Zydis/Zydis.h>
#include <intel-pt.h>

#include "base/rng.h"
#include "formats/common/wholefile.h"
#include "formats/pt/block.h"
#include "image/elf.h"

#define ADDR	   0x10000
#define MAX_LENGTH 15

/* ---- libipt, on one instruction at a time ---- */

struct oracle {
	unsigned mode;
	struct pt_insn_decoder *decoder;
	uint8_t trace[64];
	const uint8_t *bytes;
	size_t size;
};

static int read_memory(uint8_t *out, size_t size, const struct pt_asid *asid, uint64_t ip,
		       void *context)
{
	const struct oracle *o = context;

	(void)asid;
	if (ip < ADDR || ip - ADDR >= o->size)
		return -pte_nomap;
	if (size > o->size - (ip - ADDR))
		size = o->size - (ip - ADDR);
	memcpy(out, o->bytes + (ip - ADDR), size);
	return (int)size;
}

/* A trace that does nothing but begin at ADDR: PSB, MODE.EXEC, PSBEND, TIP.PGE. */
static void oracle_open(struct oracle *o, unsigned mode)
{
	struct pt_config config;
	size_t n = 0, i;

	*o = (struct oracle){.mode = mode};
	for (i = 0; i < 8; i++) {
		o->trace[n++] = 0x02;
		o->trace[n++] = 0x82;
	}
	o->trace[n++] = 0x99;
	o->trace[n++] = mode == 64 ? 1 : mode == 32 ? 2 : 0;
	o->trace[n++] = 0x02;
	o->trace[n++] = 0x23;
	o->trace[n++] = 2 << 5 | 0x11;
	for (i = 0; i < 4; i++)
		o->trace[n++] = (uint8_t)((uint64_t)ADDR >> 8 * i);
	pt_config_init(&config);
	config.begin = o->trace;
	config.end = o->trace + n;
	o->decoder = pt_insn_alloc_decoder(&config);
	assert_non_null(o->decoder);
	assert_int_equal(pt_image_set_callback(pt_insn_get_image(o->decoder), read_memory, o), 0);
}

/* The length of the instruction, 0 for none, and its class. */
static unsigned ask(struct oracle *o, const uint8_t *bytes, size_t size, enum pt_insn_class *class)
{
	struct pt_event event;
	struct pt_insn insn = {0};
	int status;

	o->bytes = bytes;
	o->size = size;
	status = pt_insn_sync_set(o->decoder, 0);
	while (status >= 0 && status & pts_event_pending)
		status = pt_insn_event(o->decoder, &event, sizeof(event));
	/* A transfer of control is told, too, when the trace ends behind it. */
	status = pt_insn_next(o->decoder, &insn, sizeof(insn));
	*class = insn.iclass;
	return status == -pte_bad_insn ? 0 : insn.size;
}

static enum pt_insn_class class_of(uint8_t end, uint8_t mark)
{
	static const enum pt_insn_class classes[] = {
		[VT_PT_END_FALL] = ptic_other,	       [VT_PT_END_JUMP] = ptic_jump,
		[VT_PT_END_CALL] = ptic_call,	       [VT_PT_END_COND] = ptic_cond_jump,
		[VT_PT_END_RET] = ptic_return,	       [VT_PT_END_JUMP_INDIRECT] = ptic_jump,
		[VT_PT_END_CALL_INDIRECT] = ptic_call, [VT_PT_END_FAR_CALL] = ptic_far_call,
		[VT_PT_END_FAR_RET] = ptic_far_return, [VT_PT_END_FAR_JUMP] = ptic_far_jump,
	};

	return mark & VT_PT_MARK_PTWRITE ? ptic_ptwrite : classes[end];
}

/* Both on the same bytes; returns the length. */
static unsigned compare(struct oracle *o, const uint8_t *bytes, size_t size)
{
	enum pt_insn_class class;
	uint8_t end, mark;
	uint64_t target;
	const unsigned theirs = ask(o, bytes, size, &class);
	const unsigned ours = vt_pt_insn_classify(bytes, size, o->mode, ADDR, &end, &target, &mark);
	size_t i;

	if (ours == theirs && (!ours || class_of(end, mark) == class))
		return ours;
	for (i = 0; i < size && i < MAX_LENGTH; i++)
		fprintf(stderr, "%02x ", bytes[i]);
	fprintf(stderr, "in %u-bit code: %u, class %d; libipt %u, class %d\n", o->mode, ours,
		class_of(end, mark), theirs, class);
	fail();
	return 0;
}

/* Bytes that are mostly random, but often begin like something that needs care. */
static size_t make_bytes(struct vt_rng *rng, uint8_t *bytes)
{
	static const uint8_t starts[] = {0x66, 0x67, 0xf2, 0xf3, 0x0f, 0x40, 0x48, 0x4c, 0x62,
					 0xc4, 0xc5, 0xc7, 0xff, 0x2e, 0xf0, 0x8f, 0xd5, 0x38};
	const size_t size = vt_rng_below(rng, 4) ? MAX_LENGTH : 1 + vt_rng_below(rng, MAX_LENGTH);
	const size_t nstarts = vt_rng_below(rng, 5);
	size_t i;

	for (i = 0; i < size; i++) {
		bytes[i] = (uint8_t)vt_rng_next(rng);
		if (i < nstarts)
			bytes[i] = starts[vt_rng_below(rng, sizeof(starts))];
	}
	return size;
}

static void test_random(void **state)
{
	static const unsigned modes[] = {16, 32, 64};
	struct vt_rng rng;
	unsigned m, i;

	(void)state;
	vt_rng_init(&rng, 1);
	for (m = 0; m < 3; m++) {
		struct oracle o;
		uint8_t bytes[MAX_LENGTH];
		unsigned good = 0;

		oracle_open(&o, modes[m]);
		for (i = 0; i < 100000; i++) {
			const size_t size = make_bytes(&rng, bytes);

			good += compare(&o, bytes, size) > 0;
		}
		assert_true(good > 20000);
		pt_insn_free_decoder(o.decoder);
	}
}

/* ---- all code of the recorded traces ---- */

static void sweep(const char *path, unsigned mode)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_wholefile f;
	struct oracle o;
	size_t at = 0;

	if (vt_wholefile_open(&f, path, &err) < 0)
		fail_msg("%s", err.text);
	oracle_open(&o, mode);
	while (at < f.size) {
		const size_t left = f.size - at;
		const unsigned n = compare(&o, f.bytes + at, left < MAX_LENGTH ? left : MAX_LENGTH);

		at += n ? n : 1;
	}
	pt_insn_free_decoder(o.decoder);
	vt_wholefile_fini(&f);
}

static void test_captures(void **state)
{
	static const struct {
		const char *dump;
		unsigned mode;
	} all[] = {{"mruby/data.dump", 64},
		   {"Unzip/data.dump", 64},
		   {"foo/data.dump", 64},
		   {"avscript_32/page_cache.dump", 32},
		   {"griffin-hello/pages.dump", 64}};
	const char *data = getenv("VTRACE_DATA");
	char path[4096];
	size_t i;

	(void)state;
	if (!data)
		data = "../shared/data";
	for (i = 0; i < sizeof(all) / sizeof(*all); i++) {
		FILE *f;

		snprintf(path, sizeof(path), "%s/pt/%s", data, all[i].dump);
		f = fopen(path, "rb");
		if (!f) {
			print_message("no optional test data at $VTRACE_DATA or ../shared/data\n");
			skip();
		}
		fclose(f);
		sweep(path, all[i].mode);
	}
}

/* ---- compiled programs ---- */

/* XOP is AMD's, whose processors have no such traces; here it is the instruction pop. */
static bool is_foreign(const ZydisDecodedInstruction *insn)
{
	return insn->encoding == ZYDIS_INSTRUCTION_ENCODING_XOP;
}

/* Transfers of control that a block ends with and whose target is known. */
static bool is_direct(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *op)
{
	return (insn->meta.category == ZYDIS_CATEGORY_COND_BR ||
		insn->meta.category == ZYDIS_CATEGORY_UNCOND_BR ||
		insn->meta.category == ZYDIS_CATEGORY_CALL) &&
	       insn->mnemonic != ZYDIS_MNEMONIC_XBEGIN && insn->mnemonic != ZYDIS_MNEMONIC_XABORT &&
	       op->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
}

static unsigned compare_zydis(const ZydisDecoder *d, const uint8_t *p, size_t size, uint64_t ip,
			      unsigned *branches)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction insn;
	uint64_t target, theirs = 0;
	uint8_t end, mark;
	unsigned n;

	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(d, p, size, &insn, ops)) || is_foreign(&insn))
		return 1;
	n = vt_pt_insn_classify(p, size, 64, ip, &end, &target, &mark);
	assert_int_equal(n, insn.length);
	if (is_direct(&insn, &ops[0])) {
		assert_true(ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&insn, &ops[0], ip, &theirs)));
		++*branches;
	}
	assert_int_equal(target, theirs);
	assert_int_equal(end == VT_PT_END_JUMP || end == VT_PT_END_CALL || end == VT_PT_END_COND,
			 is_direct(&insn, &ops[0]));
	return n;
}

static void test_zydis(void **state)
{
	static const char *const files[] = {"/proc/self/exe", "/lib/x86_64-linux-gnu/libc.so.6"};
	ZydisDecoder decoder;
	unsigned branches = 0;
	size_t i, k, n;

	(void)state;
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (i = 0; i < sizeof(files) / sizeof(*files); i++) {
		struct vt_error err = VT_ERROR_INIT;
		struct vt_elf *elf = vt_elf_open(files[i], &err);
		const struct vt_elf_segment *s = elf ? vt_elf_segments(elf, &n) : NULL;

		for (k = 0; s && k < n; k++) {
			size_t at, size;
			const uint8_t *p = vt_elf_bytes(elf, s[k].vaddr, &size);

			for (at = 0; s[k].exec && at < size;)
				at += compare_zydis(&decoder, p + at, size - at, s[k].vaddr + at,
						    &branches);
		}
		vt_elf_close(elf);
	}
	assert_true(branches > 10000);
}

/* The instructions that are marked, and those next to them that are not. */
static void test_marks(void **state)
{
	static const struct {
		uint8_t bytes[8];
		uint8_t mark;
	} all[] = {
		{{0x0f, 0x22, 0xd8}, VT_PT_MARK_CR3},		      /* mov cr3, rax */
		{{0x0f, 0x22, 0xd9}, VT_PT_MARK_CR3},		      /* mov cr3, rcx */
		{{0x41, 0x0f, 0x22, 0xd9}, VT_PT_MARK_CR3},	      /* mov cr3, r9 */
		{{0x44, 0x0f, 0x22, 0xd8}, 0},			      /* mov cr11, rax */
		{{0x0f, 0x22, 0xe0}, 0},			      /* mov cr4, rax */
		{{0x0f, 0x20, 0xd8}, 0},			      /* mov rax, cr3 */
		{{0xf3, 0x48, 0x0f, 0xae, 0xe0}, VT_PT_MARK_PTWRITE}, /* ptwrite rax */
		{{0xf3, 0x0f, 0xae, 0x20}, VT_PT_MARK_PTWRITE},	      /* ptwrite [rax] */
		{{0x0f, 0xae, 0x20}, 0},			      /* xsave [rax] */
		{{0xf3, 0x0f, 0xae, 0xe8}, 0},			      /* incsspd */
		{{0x0f, 0xc7, 0x30}, VT_PT_MARK_VMPTRLD},	      /* vmptrld [rax] */
		{{0x0f, 0xc7, 0xf0}, 0},			      /* rdrand */
		{{0x0f, 0xc7, 0x38}, 0},			      /* vmptrst [rax] */
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(all) / sizeof(*all); i++) {
		uint8_t end, mark;
		uint64_t target;

		assert_true(vt_pt_insn_classify(all[i].bytes, 8, 64, 0, &end, &target, &mark) > 0);
		assert_int_equal(mark, all[i].mark);
		assert_int_equal(end, VT_PT_END_FALL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_captures),
		cmocka_unit_test(test_zydis),
		cmocka_unit_test(test_marks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
