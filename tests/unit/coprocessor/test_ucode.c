/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "coprocessor/assemble.h"
#include "coprocessor/programs.h"

static const struct vt_assemble_options none;

static int assemble(struct vt_ucode *u, const char *text, struct vt_error *err)
{
	return vt_ucode_assemble(u, text, strlen(text), &none, err);
}

/* ---- words ---- */

/* The bits of each field, by hand from vt-ucode(5). */
static void layout_of_a_word(void **state)
{
	static const struct {
		struct vt_uword w;
		uint64_t bits;
	} words[] = {
		{{.alu = 15}, 0xf},
		{{.a = VT_OP_PC_LO}, 17u << 4},
		{{.b = VT_OP_RAND}, 13u << 9},
		{{.dest = 4}, 4u << 13},
		{{.step = VT_STEP_TAKE}, 7u << 16},
		{{.x = 7}, 7u << 19},
		{{.memory = VT_MEM_SET}, 8u << 22},
		{{.base = 7}, 7u << 26},
		{{.index = VT_INDEX_M}, UINT64_C(2) << 29},
		{{.cam = VT_CAM_INVALIDATE}, UINT64_C(3) << 31},
		{{.cam_m = 1}, UINT64_C(1) << 33},
		{{.cond = VT_COND_EVEN}, UINT64_C(19) << 34},
		{{.target = VT_TARGET_INTERRUPT}, UINT64_C(31) << 39},
		{{.alu = VT_ALU_ADD,
		  .a = VT_OP_D,
		  .b = VT_OP_ONE,
		  .dest = 2,
		  .cond = VT_COND_OVER,
		  .target = VT_TARGET_DONE},
		 UINT64_C(0x0f3000005893)},
	};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_uword w;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		assert_int_equal(vt_ucode_pack(&words[i].w), words[i].bits);
		assert_int_equal(vt_ucode_unpack(&w, words[i].bits, &err), 0);
		assert_memory_equal(&w, &words[i].w, sizeof(w));
	}
}

static void words_without_meaning(void **state)
{
	static const struct {
		uint64_t bits;
		const char *field;
	} words[] = {
		{15u << 4, "field a"},
		{14u << 9, "field b"},
		{5u << 13, "field dest"},
		{9u << 22, "field memory"},
		{UINT64_C(3) << 29, "field index"},
		{UINT64_C(20) << 34, "field cond"},
		{UINT64_C(1) << 44, "reserved"},
		{UINT64_C(1) << 48, "reserved"},
	};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_uword w;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		assert_int_equal(vt_ucode_unpack(&w, words[i].bits, &err), -VT_E_FORMAT);
		assert_non_null(strstr(err.text, words[i].field));
	}
}

static void names_are_there(void **state)
{
	int i;

	(void)state;
	for (i = 0; i < VT_NALUS; i++)
		assert_non_null(vt_ucode_alus[i]);
	for (i = 0; i < VT_NSTEPS; i++)
		assert_non_null(vt_ucode_steps[i]);
	for (i = 0; i < VT_NMEMORIES; i++)
		assert_non_null(vt_ucode_memories[i]);
	for (i = 0; i < VT_NCAMS; i++)
		assert_non_null(vt_ucode_cams[i]);
	for (i = 0; i < VT_NCONDS; i++)
		assert_non_null(vt_ucode_conds[i]);
	for (i = 0; i < VT_NCLASSES; i++)
		assert_non_null(vt_ucode_classes[i]);
	/* Table 1: a start address for each of 21 classes. */
	assert_int_equal(VT_NCLASSES, 21);
}

/* ---- the assembler ---- */

static void assembled_words(void **state)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_ucode u;
	struct vt_uword w;

	(void)state;
	assert_int_equal(assemble(&u,
				  ".slots 64\n.cam 64 word\n.random 7\n.constant c 0x10 + 2 * 3\n"
				  ".index i slots + 1 = 9 keep\n.index k slots\n"
				  ".base small 8 4 key\n.base big 32 keep\n"
				  ".target far -> b\n.class load -> a\n.class store -> b\n"
				  "a: b: match addr.word | up i | if miss far # to b\n"
				  "  write big[m], d\n"
				  "c: add v1, d, c | inc small | if full c2\n"
				  "  invalidate m | go a\n"
				  "c2: nop | go interrupt\n",
				  &err),
			 0);
	assert_int_equal(u.nwords, 5);
	assert_int_equal(u.slots, 64);
	assert_int_equal(u.cam_bits, 64);
	assert_int_equal(u.random_bits, 7);
	assert_string_equal(u.key, "word");
	/* from left to right */
	assert_int_equal(u.constants[0].value, 54);
	assert_int_equal(u.indexes[0].bits, 7);
	assert_int_equal(u.indexes[0].start, 9);
	assert_true(u.indexes[0].keep);
	assert_int_equal(u.indexes[1].bits, 6);
	assert_true(u.bases[0].key && !u.bases[0].keep);
	assert_true(!u.bases[1].key && u.bases[1].keep);
	/* the second is aligned to its 256 bytes */
	assert_int_equal(u.bases[0].start, 0);
	assert_int_equal(u.bases[1].start, 256);
	assert_int_equal(vt_ucode_data_bytes(&u), 512);
	assert_int_equal(u.start[VT_CLASS_LOAD], 0);
	assert_int_equal(u.start[VT_CLASS_BRANCH], VT_UCODE_NO_START);
	w = (struct vt_uword){.a = VT_OP_WORD,
			      .step = VT_STEP_UP,
			      .cam = VT_CAM_MATCH,
			      .cond = VT_COND_MISS,
			      .target = VT_TARGET_REGISTER};
	assert_int_equal(u.words[0], vt_ucode_pack(&w));
	w = (struct vt_uword){.alu = VT_ALU_MOV,
			      .a = VT_OP_D,
			      .memory = VT_MEM_WRITE,
			      .base = 1,
			      .index = VT_INDEX_M};
	assert_int_equal(u.words[1], vt_ucode_pack(&w));
	w = (struct vt_uword){.alu = VT_ALU_ADD,
			      .a = VT_OP_D,
			      .b = VT_OP_C0,
			      .dest = 2,
			      .memory = VT_MEM_INC,
			      .cond = VT_COND_FULL,
			      .target = 1};
	assert_int_equal(u.words[2], vt_ucode_pack(&w));
	w = (struct vt_uword){.cam = VT_CAM_INVALIDATE,
			      .cam_m = 1,
			      .cond = VT_COND_ALWAYS,
			      .target = VT_TARGET_BACK + 2};
	assert_int_equal(u.words[3], vt_ucode_pack(&w));
	assert_int_equal(vt_ucode_reads(&u), UINT32_C(1) << VT_OP_WORD);
}

#define HEAD                                                                                       \
	".slots 16\n.index i 4\n.index k 4\n.constant c 1\n.constant e 2\n.base b 8\n.class load " \
	"-> a\n"

static void refusals(void **state)
{
	static const struct {
		const char *text, *error;
	} bad[] = {
		{HEAD "a: go nowhere\n", "8:7: label nowhere is at no word"},
		{HEAD "a: mov v0, d\n", "8:1: target: the last word goes on to the next"},
		{HEAD "a: frob v0\n", "8:4: frob is no operation"},
		{HEAD "a: mov v4, d\n", "8:8: v4 is no value register"},
		{HEAD "a: test pc, value | go done\n", "8:13: field b cannot encode value"},
		{HEAD "a: match pc | test value, d | go done\n", "8:20: field a is taken by pc"},
		{HEAD "a: test c, e | go done\n", "8:1: b: the constants have one port"},
		{HEAD "a: up i | down i | go done\n", "8:11: field step is taken"},
		{HEAD "a: up i | inc b[k] | go done\n", "8:17: field x is taken by i"},
		{HEAD "a: inc b[m] | inc b[m] | go done\n", "8:15: field memory is taken"},
		{HEAD "a: go done | go done\n", "8:14: field cond is taken"},
		{HEAD "a: go done x\n", "8:12: x is no part of this line"},
		{HEAD "a: inc b[m | go done\n", "8:12: expected \"]\""},
		{HEAD "a: go a\n", "8:7: field target cannot encode +0 words"},
		{HEAD "a: go done\na: go done\n", "9:1: label a is there already"},
		{".index i 17\n", "1:10: the width of an index register is 1 to 16"},
		{".index pc 4\n", "1:8: pc is named already"},
		{".base b 12\n", "1:9: elements have 8, 16, 32 or 64 bits"},
		{".base b 8 12\n", "1:11: arrays have a power of two of elements"},
		{".base b 8\n.slots 4\n", "2:8: .slots stands before what uses it"},
		{".class frob -> a\n", "1:8: frob is no class of operations"},
		{".class load -> a\n", "1:16: label a is at no word"},
		{".frob\n", "1:1: .frob is no directive"},
		{"a: go done\n", "1:1: no class of operations is profiled"},
		{".host values\n.class load -> a\na: go done\n", "3:1: host values: arrays or"},
		{".index i 9\n.base b 8 256\n.class load -> a\na: inc b[i] | go done\n",
		 "4:1: index: 512 elements can be picked, and b has 256"},
		{".index i 9\n.class load -> a\na: enter i, pc | go done\n",
		 "3:1: entry: i has 9 bits, and there are 256 slots"},
		{".constant a 1\n.constant b 1\n.constant c 1\n.constant e 1\n.constant f 1\n",
		 "5:11: there are 4 constant registers"},
		{"", "0:1: a program has 1 to 64 words"},
	};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_ucode u;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(assemble(&u, bad[i].text, &err), -VT_E_FORMAT);
		if (strncmp(err.text, bad[i].error, strlen(bad[i].error)) != 0)
			fail_msg("%s: not %s", err.text, bad[i].error);
	}
}

/* Offsets are 10 back to 16 ahead. */
static void distances(void **state)
{
	char text[4096];
	struct vt_error err = VT_ERROR_INIT;
	struct vt_ucode u;
	int ahead, i;
	size_t n;

	(void)state;
	for (ahead = 0; ahead < 2; ahead++) {
		int most = ahead ? 16 : 10, far;

		for (far = most; far <= most + 1; far++) {
			n = (size_t)snprintf(text, sizeof(text), ".class load -> a\na: %s\n",
					     ahead ? "go z" : "nop");
			for (i = 1; i < far; i++)
				n += (size_t)snprintf(text + n, sizeof(text) - n, " nop\n");
			snprintf(text + n, sizeof(text) - n, "z: go %s\n", ahead ? "done" : "a");
			assert_int_equal(assemble(&u, text, &err) == 0, far == most);
		}
	}
}

static void too_many_words(void **state)
{
	char text[1024] = ".class load -> a\na: nop\n";
	struct vt_error err = VT_ERROR_INIT;
	struct vt_ucode u;
	int i;

	(void)state;
	for (i = 1; i < 63; i++)
		strcat(text, "nop\n");
	strcat(text, "go done\n");
	assert_int_equal(assemble(&u, text, &err), 0);
	assert_int_equal(u.nwords, 64);
	strcat(text, "go done\n");
	assert_int_equal(assemble(&u, text, &err), -VT_E_FORMAT);
	assert_string_equal(err.text, "66:1: a program has at most 64 words");
}

static void replaced_constants(void **state)
{
	const char *const set[] = {"c=7"}, *const unknown[] = {"d=7"}, *const bad[] = {"c=x"};
	const char text[] = HEAD "a: go done\n";
	struct vt_assemble_options o = {.slots = 32, .sets = set, .nsets = 1};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_ucode u;

	(void)state;
	assert_int_equal(vt_ucode_assemble(&u, text, strlen(text), &o, &err), 0);
	assert_int_equal(u.constants[0].value, 7);
	assert_int_equal(u.slots, 32);
	assert_int_equal(u.bases[0].elements, 32);
	o.sets = unknown;
	assert_int_equal(vt_ucode_assemble(&u, text, strlen(text), &o, &err), -VT_E_USAGE);
	o.sets = bad;
	assert_int_equal(vt_ucode_assemble(&u, text, strlen(text), &o, &err), -VT_E_USAGE);
}

/* ---- other forms ---- */

/* The programs of vtrace: text, assembled, as text again, assembled; and saved and loaded. */
static void round_trips(void **state)
{
	const struct vti_text *t;
	struct vt_error err = VT_ERROR_INIT;
	struct vt_ucode u, v;
	unsigned n = 0;

	(void)state;
	for (t = vti_ucode_texts; t->name; t++, n++) {
		struct vt_buf text = VT_BUF_INIT, bytes = VT_BUF_INIT;

		assert_int_equal(vt_ucode_assemble(&u, t->text, t->size, &none, &err), 0);
		vt_ucode_disassemble(&u, &text);
		assert_int_equal(assemble(&v, vt_buf_str(&text), &err), 0);
		assert_memory_equal(&u, &v, sizeof(u));
		vt_ucode_save(&u, &bytes);
		assert_true(vt_ucode_is_binary(bytes.data, bytes.size));
		assert_int_equal(vt_ucode_load(&v, bytes.data, bytes.size, &err), 0);
		assert_memory_equal(&u, &v, sizeof(u));
		vt_buf_free(&text);
		vt_buf_free(&bytes);
	}
	assert_int_equal(n, 8);
}

/* Each byte changed and each length: refused; with a right checksum, refused or a good program. */
static void damage(void **state)
{
	const struct vti_text *t = vt_ucode_program("load-value");
	struct vt_buf bytes = VT_BUF_INIT;
	struct vt_error err = VT_ERROR_INIT;
	struct vt_ucode u;
	size_t i, loaded = 0;

	(void)state;
	assert_int_equal(vt_ucode_assemble(&u, t->text, t->size, &none, &err), 0);
	/* It fits 64 words, and 256 slots 1 kB and 2 kB. */
	assert_true(u.nwords <= 64);
	assert_int_equal(u.slots, 256);
	assert_int_equal(vt_ucode_data_bytes(&u), 2048);
	vt_ucode_save(&u, &bytes);
	for (i = 0; i < bytes.size; i++) {
		int bit;

		assert_int_equal(vt_ucode_load(&u, bytes.data, i, &err), -VT_E_FORMAT);
		for (bit = 0; bit < 8 && i < bytes.size - 8; bit++) {
			bytes.data[i] ^= (uint8_t)(1 << bit);
			assert_int_equal(vt_ucode_load(&u, bytes.data, bytes.size, &err),
					 -VT_E_FORMAT);
			vt_put_le64(bytes.data + bytes.size - 8,
				    vt_hash_bytes(bytes.data, bytes.size - 8));
			loaded += vt_ucode_load(&u, bytes.data, bytes.size, &err) == 0;
			bytes.data[i] ^= (uint8_t)(1 << bit);
			vt_put_le64(bytes.data + bytes.size - 8,
				    vt_hash_bytes(bytes.data, bytes.size - 8));
		}
	}
	assert_true(loaded > 100);
	vt_buf_free(&bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(layout_of_a_word), cmocka_unit_test(words_without_meaning),
		cmocka_unit_test(names_are_there),  cmocka_unit_test(assembled_words),
		cmocka_unit_test(refusals),	    cmocka_unit_test(distances),
		cmocka_unit_test(too_many_words),   cmocka_unit_test(replaced_constants),
		cmocka_unit_test(round_trips),	    cmocka_unit_test(damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
