/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The engines make the same of the kept traces (tests/fuzz/corpus/fuzz_pt_both), of damaged
 * variants of them, which are the same at each run, and of every sequence of a few packets behind a
 * PSB, good or not, on processors of all errata.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <glob.h>

#include "tests/tools/pt_damage.h"
#include "tests/tools/pt_fuzz.h"

#define CORPUS	 "tests/fuzz/corpus/fuzz_pt_both/*"
#define VARIANTS 120

static const struct vt_pt_engine_ops *const engines[] = {&vt_pt_libipt, &vt_pt_careful,
							 &vt_pt_fast};

/* ---- kept traces and damaged ones ---- */

/* Of all engines, at once and with a stop before each note that can be waited for. */
static void compare(const struct fuzz_input *in, const struct victim *v, const char *path,
		    unsigned variant)
{
	struct result first = {.nblocks = 0}, other = {.nblocks = 0};
	unsigned i;

	run_engine(engines[0], in->code, &in->opt, v->data, v->size, false, &first);
	for (i = 1; i < 6; i++) {
		run_engine(engines[i % 3], in->code, &in->opt, v->data, v->size, i > 2, &other);
		if (!same_result(&first, &other))
			fail_msg("%s, variant %u: %s%s differs", path, variant,
				 engines[i % 3]->name, i > 2 ? " with stops" : "");
	}
	free_result(&first);
	free_result(&other);
}

static void test_file(const char *path)
{
	struct victim v = {.size = 0};
	struct fuzz_input in;
	struct vt_rng rng;
	size_t size;
	uint8_t *data = load_trace(path, &size);
	/* libipt reads behind the end of a trace that a corrupted TMA ends: that one stays whole.
	 */
	unsigned variant, n, variants = strstr(path, "skz84-end") ? 1 : VARIANTS;

	fuzz_parse(&in, data, size);
	vt_rng_init(&rng, 1);
	for (variant = 0; variant < variants; variant++) {
		v.size = in.size;
		v.data = grow(v.data, &v.cap, v.size, 1);
		memcpy(v.data, in.trace, v.size);
		find_packets(&v);
		for (n = variant ? 1 + (unsigned)vt_rng_below(&rng, 4) : 0; n; n--)
			damage(&v, &rng);
		if (variant)
			fuzz_set_model(&in, variant);
		compare(&in, &v, path, variant);
	}
	vt_pt_code_free(in.code);
	free(v.data);
	free(v.starts);
	free(v.ips);
	free(data);
}

static void test_corpus(void **state)
{
	glob_t files;
	size_t i;

	(void)state;
	assert_int_equal(glob(CORPUS, 0, NULL, &files), 0);
	assert_true(files.gl_pathc > 20);
	for (i = 0; i < files.gl_pathc; i++)
		test_file(files.gl_pathv[i]);
	globfree(&files);
}

/* ---- sequences ---- */

#define MAX_SEQUENCE 3

struct piece {
	const char *name;
	uint8_t size;
	uint8_t bytes[16];
};

#define AT(n) (n), 0x10, 0, 0, 0, 0

static const struct piece pieces[] = {
	{"PSB", 16, {2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82}},
	{"PSBEND", 2, {2, 0x23}},
	{"TIP.PGE", 7, {0x71, AT(0x0c)}},
	{"TIP.PGD without address", 1, {0x01}},
	{"TIP", 7, {0x6d, AT(0x0c)}},
	{"TIP without address", 1, {0x0d}},
	{"FUP", 7, {0x7d, AT(0x0c)}},
	{"FUP at the PTWRITE", 7, {0x7d, AT(0x10)}},
	{"FUP without address", 1, {0x1d}},
	{"TNT", 1, {0x06}},
	{"MODE.EXEC", 2, {0x99, 1}},
	{"MODE.TSX", 2, {0x99, 0x20}},
	{"PIP", 8, {2, 0x43, 0, 0, 1, 0, 0, 0}},
	{"VMCS", 7, {2, 0xc8, 0, 0, 1, 0, 0}},
	{"CBR", 4, {2, 3, 0x21, 0}},
	{"TSC", 8, {0x19, 1, 2, 3, 4, 5, 6, 7}},
	{"TMA", 7, {2, 0x73, 0, 0, 0, 0, 0}},
	{"corrupted TMA", 8, {2, 0x73, 0, 0, 0, 0, 9, 0}},
	{"CYC", 1, {3}},
	{"OVF", 2, {2, 0xf3}},
	{"OVF hidden in a CYC", 3, {0x17, 2, 0xf3}},
	{"STOP", 2, {2, 0x83}},
	{"PTW", 6, {2, 0x12, 1, 2, 3, 4}},
	{"PTW with FUP", 6, {2, 0x92, 1, 2, 3, 4}},
	{"EXSTOP with FUP", 2, {2, 0xe2}},
	{"MWAIT", 10, {2, 0xc2, 0, 0, 0, 0, 0, 0, 0, 0}},
	{"PWRX", 7, {2, 0xa2, 0, 0, 0, 0, 0}},
	{"no packet", 1, {5}},
};
#define NPIECES (sizeof(pieces) / sizeof(pieces[0]))

static const uint8_t code[] = {
	0xeb, 0x0e,		/* 1000: jmp 1010 */
	0x90, 0x90, 0x90, 0x90, /* 1002: nop */
	0x90, 0x90, 0x90, 0x90, /* 1006: nop */
	0x90, 0x90,		/* 100a: nop */
	0x90, 0x90,		/* 100c: nop */
	0xeb, 0x00,		/* 100e: jmp 1010 */
	0xf3, 0x0f, 0xae, 0xe0, /* 1010: ptwrite %eax */
	0x0f, 0x22, 0xd8,	/* 1014: mov %rax,%cr3 */
	0x74, 0xf1,		/* 1017: je 100a */
	0x90,			/* 1019: nop */
	0xff, 0xe0,		/* 101a: jmp *%rax */
};

static struct vt_pt_code *code_at_1000(const uint8_t *bytes, size_t size)
{
	struct vt_pt_section s = {.start = 0x1000, .size = size, .bytes = bytes};
	struct vt_pt_code *c = vt_pt_code_new();
	struct vt_error err = VT_ERROR_INIT;

	assert_non_null(c);
	assert_int_equal(vt_pt_code_add(c, &s, &err), 0);
	return c;
}

/* A PSB, and if tracing is on the rest of its header. */
static size_t begin_trace(uint8_t *trace, bool on)
{
	static const uint8_t header[] = {0x99, 1, 0x7d, AT(0), 2, 0x23};

	memcpy(trace, pieces[0].bytes, pieces[0].size);
	if (on)
		memcpy(trace + pieces[0].size, header, sizeof(header));
	return on ? pieces[0].size + sizeof(header) : pieces[0].size;
}

static void compare_sequence(const struct vt_pt_code *c, const struct vt_pt_options *opt,
			     const uint8_t *trace, size_t size, size_t number,
			     struct result results[3])
{
	/* Behind its last byte there is nothing to read. */
	uint8_t *own = malloc(size);
	unsigned i;

	assert_non_null(own);
	memcpy(own, trace, size);
	for (i = 0; i < 3; i++)
		run_engine(engines[i], c, opt, own, size, false, &results[i]);
	free(own);
	for (i = 1; i < 3; i++) {
		if (!same_result(&results[0], &results[i]))
			fail_msg("model %x, sequence %zu (%s, %s, %s, ...): %s differs", opt->model,
				 number, pieces[number % NPIECES].name,
				 pieces[number / NPIECES % NPIECES].name,
				 pieces[number / NPIECES / NPIECES % NPIECES].name,
				 engines[i]->name);
	}
}

#define PADDING 48 /* so much that the accelerator dares to look at what is before */

/* All sequences of n pieces, and `cut` bytes of the last one missing; or padding behind it. */
static void compare_all(unsigned model, bool on, unsigned n, unsigned cut, unsigned padding)
{
	struct vt_pt_options opt = {.clock = {3, 32, 256, 2}, .family = 6, .model = (uint8_t)model};
	struct result results[3] = {{.nblocks = 0}};
	struct vt_pt_code *c = code_at_1000(code, sizeof(code));
	uint8_t trace[(MAX_SEQUENCE + 2) * 16 + PADDING];
	size_t count = 1, i, k;

	for (i = 0; i < n; i++)
		count *= NPIECES;
	for (i = 0; i < count; i++) {
		size_t size = begin_trace(trace, on), rest = i;

		for (k = 0; k < n; k++, rest /= NPIECES) {
			const struct piece *p = &pieces[rest % NPIECES];

			memcpy(trace + size, p->bytes, p->size);
			size += p->size;
		}
		memset(trace + size, 0, padding);
		compare_sequence(c, &opt, trace, size - cut + padding, i, results);
	}
	for (i = 0; i < 3; i++)
		free_result(&results[i]);
	vt_pt_code_free(c);
}

/* One model for each set of errata, and one that has none. */
static void test_pairs(void **state)
{
	static const unsigned models[] = {0, 0x3d, 0x4e, 0x55, 0x5c, 0x7a, 0x7d, 0x97};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
		compare_all(models[i], false, 2, 0, 0);
		compare_all(models[i], true, 2, 0, 0);
		compare_all(models[i], true, 2, 1, 0);
		compare_all(models[i], true, 2, 0, PADDING);
	}
}

/* Where the processor may leave packets out, corrupt them, or make one too many. */
static void test_triples(void **state)
{
	(void)state;
	compare_all(0x4e, false, 3, 0, 0);
	compare_all(0x55, false, 3, 0, 0);
	compare_all(0x55, true, 3, 1, 0);
	compare_all(0x5c, false, 3, 0, 0);
	compare_all(0x4e, true, 3, 0, PADDING);
}

/* Cycles of each size, up to more than 64 bits, between two packets that the accelerator takes. */
static void test_cycles(void **state)
{
	const struct vt_pt_options opt = {.clock = {3, 32, 256, 2}};
	struct result results[3] = {{.nblocks = 0}};
	static const uint8_t before[] = {2, 3, 0x21, 0, 6}; /* CBR, TNT */
	struct vt_pt_code *c = code_at_1000(code, sizeof(code));
	unsigned more, last;
	size_t i;

	(void)state;
	for (more = 0; more < 12; more++) {
		for (last = 0; last < 256; last += 2) {
			uint8_t trace[128] = {0};
			size_t size = begin_trace(trace, true);

			memcpy(trace + size, before, sizeof(before));
			size += sizeof(before);
			trace[size++] = more ? 0xff : 0xfb;
			memset(trace + size, 0xff, more);
			size += more;
			/* Bit 0 of the last one says that it is that. */
			if (more)
				trace[size - 1] = (uint8_t)last;
			memset(trace + size, 6, 2);
			compare_sequence(c, &opt, trace, size + 2 + PADDING, more, results);
		}
	}
	for (i = 0; i < 3; i++)
		free_result(&results[i]);
	vt_pt_code_free(c);
}

/* With erratum SKD022, a VM entry ends tracing as a jump would, not as an interrupt before it. */
static void test_vm_entries(void **state)
{
	static const struct {
		uint8_t size, bytes[8];
		bool entry;
	} insns[] = {
		{3, {0x0f, 0x01, 0xc2}, true}, /* vmlaunch */
		{3, {0x0f, 0x01, 0xc3}, true}, /* vmresume */
		{4, {0x48, 0x0f, 0x01, 0xc2}, true},
		{5, {0x67, 0x4f, 0x0f, 0x01, 0xc3}, true},
		{3, {0x0f, 0x01, 0xc1}, false}, /* vmcall */
		{3, {0x0f, 0x01, 0xf8}, false}, /* swapgs */
		{2, {0x0f, 0x05}, false},	/* syscall */
		{2, {0x48, 0xcf}, false},	/* iretq */
		{3, {0x0f, 0x00, 0xc2}, false}, /* str %edx */
		{3, {0x0d, 0x01, 0xc2}, false}, /* the first bytes of an or */
		{1, {0x90}, false},
	};
	static const uint8_t end[] = {0x7d, AT(0), 0x01}; /* FUP, TIP.PGD */
	const struct vt_pt_options opt = {.family = 6, .model = 0x4e};
	struct result results[3] = {{.nblocks = 0}};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(insns) / sizeof(insns[0]); i++) {
		struct vt_pt_code *c;
		uint8_t trace[64], bytes[16];
		size_t size = begin_trace(trace, true);

		memset(bytes, 0x90, sizeof(bytes));
		memcpy(bytes, insns[i].bytes, insns[i].size);
		c = code_at_1000(bytes, sizeof(bytes));
		memcpy(trace + size, end, sizeof(end));
		compare_sequence(c, &opt, trace, size + sizeof(end), 0, results);
		assert_int_equal(results[0].notes[results[0].nnotes - 1].note.type,
				 insns[i].entry ? VT_PT_NOTE_DISABLED : VT_PT_NOTE_ASYNC_DISABLED);
		vt_pt_code_free(c);
	}
	for (i = 0; i < 3; i++)
		free_result(&results[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_corpus),	cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_triples), cmocka_unit_test(test_vm_entries),
		cmocka_unit_test(test_cycles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
