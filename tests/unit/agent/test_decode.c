/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The agent's decoder: worked examples, and all opcodes with all prefixes that select one against
 * Zydis, and the code of large libraries.
 *
 * usage: test_decode [PASSES [SEED]]
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <Zydis/Zydis.h>

#include "base/rng.h"
#include "cmd/walker/decode.h"

#define TOLD 40

static struct {
	unsigned passes;
	uint64_t seed;
} options = {.passes = 1, .seed = 1};

struct oracle {
	ZydisDecoder decoder;
	struct vt_rng rng;
	uint64_t valid, wrong;
};

static void complain(struct oracle *o, const char *what, const ZydisDecodedInstruction *z,
		     const uint8_t *code, int64_t got, int64_t truth)
{
	unsigned i;

	if (o->wrong++ >= TOLD)
		return;
	print_message("%s: %s is %lld, not %lld:", ZydisMnemonicGetString(z->mnemonic), what,
		      (long long)got, (long long)truth);
	for (i = 0; i < INSN_MAX; i++)
		print_message(" %02x", code[i]);
	print_message("\n");
}

static const ZydisDecodedOperand *memory_of(const ZydisDecodedInstruction *z,
					    const ZydisDecodedOperand *operands)
{
	unsigned i;

	for (i = 0; i < z->operand_count; i++)
		if (operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    operands[i].encoding == ZYDIS_OPERAND_ENCODING_MODRM_RM)
			return &operands[i];
	return NULL;
}

static int number_of(ZydisRegister r)
{
	if (r == ZYDIS_REGISTER_NONE)
		return INSN_NONE;
	return r == ZYDIS_REGISTER_RIP || r == ZYDIS_REGISTER_EIP ? INSN_IP : ZydisRegisterGetId(r);
}

static void compare_memory(struct oracle *o, const struct insn *i, const uint8_t *code,
			   const ZydisDecodedInstruction *z, const ZydisDecodedOperand *m)
{
	bool vector = m->mem.type == ZYDIS_MEMOP_TYPE_VSIB;
	int index = number_of(m->mem.index), segment = 0;

	if (m->mem.segment == ZYDIS_REGISTER_FS)
		segment = 0x64;
	else if (m->mem.segment == ZYDIS_REGISTER_GS)
		segment = 0x65;
	/* Of these it says r13d without a displacement: SDM volume 2, table 2-3 has no base there.
	 */
	if (i->addr32 && m->mem.base == ZYDIS_REGISTER_R13D && i->modrm < 0x40)
		return;
	if (!i->memory)
		complain(o, "memory", z, code, 0, 1);
	if (i->base != number_of(m->mem.base))
		complain(o, "base", z, code, i->base, number_of(m->mem.base));
	if (vector ? i->vindex != index : i->index != index)
		complain(o, "index", z, code, vector ? i->vindex : i->index, index);
	if (index != INSN_NONE && m->mem.scale && 1 << i->scale != m->mem.scale)
		complain(o, "scale", z, code, 1 << i->scale, m->mem.scale);
	if (i->disp != m->mem.disp.value)
		complain(o, "displacement", z, code, i->disp, m->mem.disp.value);
	if (i->segment != segment && z->mnemonic != ZYDIS_MNEMONIC_LEA &&
	    strncmp(ZydisMnemonicGetString(z->mnemonic), "bnd", 3) != 0)
		complain(o, "segment", z, code, i->segment, segment);
	if (i->addr32 != (z->address_width == 32) && z->mnemonic != ZYDIS_MNEMONIC_BNDSTX &&
	    z->mnemonic != ZYDIS_MNEMONIC_BNDLDX)
		complain(o, "address", z, code, i->addr32, z->address_width);
}

/* Returns the length that Zydis gives; 0: it is no instruction. */
static unsigned compare(struct oracle *o, const uint8_t *code, size_t size)
{
	ZydisDecodedInstruction z;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	const ZydisDecodedOperand *m;
	struct insn i;
	int got;

	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&o->decoder, code, size, &z, operands)))
		return 0;
	/* Of a processor that is no more, whose codes others use. */
	if (strncmp(ZydisISAExtGetString(z.meta.isa_ext), "KNC", 3) == 0)
		return z.length;
	o->valid++;
	got = insn_decode(&i, code, size);
	if (got != z.length) {
		complain(o, "length", &z, code, got, z.length);
		return z.length;
	}
	if (i.op != z.opcode && z.encoding != ZYDIS_INSTRUCTION_ENCODING_3DNOW)
		complain(o, "opcode", &z, code, i.op, z.opcode);
	m = memory_of(&z, operands);
	if (m)
		compare_memory(o, &i, code, &z, m);
	if (z.raw.imm[0].size && z.raw.imm[0].size == 8 * 4 && !z.raw.imm[1].size &&
	    i.imm != (int32_t)z.raw.imm[0].value.u)
		complain(o, "immediate", &z, code, i.imm, (int32_t)z.raw.imm[0].value.u);
	/* With one byte less it is not complete. */
	got = insn_decode(&i, code, z.length - 1U);
	if (got > 0)
		complain(o, "length of a part", &z, code, got, 0);
	return z.length;
}

static void open_oracle(struct oracle *o)
{
	memset(o, 0, sizeof(*o));
	assert_true(ZYAN_SUCCESS(
		ZydisDecoderInit(&o->decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)));
	vt_rng_init(&o->rng, options.seed);
}

/* ---- all opcodes ---- */

static void random_tail(struct oracle *o, uint8_t *code, size_t from)
{
	for (; from < INSN_MAX; from++)
		code[from] = (uint8_t)vt_rng_next(&o->rng);
}

/* An opcode behind what is there, with all ModRM bytes. */
static void all_modrm(struct oracle *o, uint8_t *code, size_t at, unsigned op)
{
	unsigned modrm;

	code[at] = (uint8_t)op;
	for (modrm = 0; modrm < 256; modrm++) {
		random_tail(o, code, at + 1);
		code[at + 1] = (uint8_t)modrm;
		compare(o, code, INSN_MAX);
	}
}

static void legacy(struct oracle *o, unsigned map, unsigned prefix)
{
	static const uint8_t prefixes[8][3] = {{0},    {0x66},	     {0xf2}, {0xf3},
					       {0x67}, {0x64, 0x66}, {0xf0}, {0x2e, 0x66, 0xf3}};
	uint8_t code[INSN_MAX + 1];
	unsigned op, rex;

	for (rex = 0; rex < 17; rex += 4)
		for (op = 0; op < 256; op++) {
			size_t n = 0, k;

			for (k = 0; k < 3 && prefixes[prefix][k]; k++)
				code[n++] = prefixes[prefix][k];
			if (rex)
				code[n++] =
					(uint8_t)(0x40 | (rex - 1 + vt_rng_below(&o->rng, 2)) % 16);
			if (map)
				code[n++] = 0x0f;
			if (map > 1)
				code[n++] = map == 2 ? 0x38 : 0x3a;
			all_modrm(o, code, n, op);
		}
}

static void test_legacy(void **state)
{
	struct oracle o;
	unsigned pass, map, prefix;

	(void)state;
	open_oracle(&o);
	for (pass = 0; pass < options.passes; pass++)
		for (map = 0; map < 4; map++)
			for (prefix = 0; prefix < 8; prefix++)
				legacy(&o, map, prefix);
	print_message("%llu valid instructions\n", (unsigned long long)o.valid);
	assert_true(o.valid > 1000000);
	assert_int_equal(o.wrong, 0);
}

static void vex(struct oracle *o, unsigned first, unsigned op)
{
	uint8_t code[INSN_MAX + 1];
	unsigned map, last;

	for (map = 0; map < 12; map++)
		for (last = 0; last < 16; last++) {
			uint8_t random = (uint8_t)vt_rng_next(&o->rng);

			code[0] = (uint8_t)first;
			code[1] = (uint8_t)((random & 0xe0) | map);
			/* vvvv is often bound to be 1111. */
			code[2] = (uint8_t)((last & 7) | (last & 8) << 4 |
					    (random & 1 ? 0x78 : random << 3 & 0x78));
			if (first == 0xc5)
				code[1] = (uint8_t)((code[2] & 0x7f) | (random & 0x80));
			all_modrm(o, code, first == 0xc5 ? 2 : 3, op);
		}
}

static void test_vex(void **state)
{
	struct oracle o;
	unsigned pass, op;

	(void)state;
	open_oracle(&o);
	for (pass = 0; pass < options.passes; pass++)
		for (op = 0; op < 256; op++) {
			vex(&o, 0xc4, op);
			vex(&o, 0xc5, op);
			vex(&o, 0x8f, op);
		}
	print_message("%llu valid instructions\n", (unsigned long long)o.valid);
	assert_true(o.valid > 1000000);
	assert_int_equal(o.wrong, 0);
}

static void evex(struct oracle *o, unsigned map, unsigned op)
{
	uint8_t code[INSN_MAX + 1] = {0x62};
	unsigned form;

	for (form = 0; form < 64; form++) { /* W, pp, length, broadcast */
		uint64_t random = vt_rng_next(&o->rng);
		unsigned vvvv = random & 1 ? 0x78 : random >> 8 & 0x78;
		unsigned mask = random & 2 ? random >> 16 & 7 : 0;

		code[1] = (uint8_t)((random >> 24 & 0xf0) | map);
		code[2] = (uint8_t)((form & 3) | 4 | vvvv | (form & 4) << 5);
		code[3] = (uint8_t)((form & 0x18) << 2 | (form & 0x20) >> 1 |
				    (random & 4 ? 8 : random >> 40 & 8) | mask);
		if (mask && random & 16)
			code[3] |= 0x80;
		all_modrm(o, code, 4, op);
	}
}

static void test_evex(void **state)
{
	struct oracle o;
	unsigned pass, op, map;

	(void)state;
	open_oracle(&o);
	for (pass = 0; pass < options.passes; pass++)
		for (map = 1; map < 7; map++)
			for (op = 0; op < 256; op++)
				evex(&o, map, op);
	print_message("%llu valid instructions\n", (unsigned long long)o.valid);
	assert_true(o.valid > 500000);
	assert_int_equal(o.wrong, 0);
}

/* ---- libraries ---- */

static uint64_t sweep(struct oracle *o, const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t *bytes;
	size_t size, at;
	unsigned n;

	if (!f)
		return 0;
	assert_int_equal(fseek(f, 0, SEEK_END), 0);
	size = (size_t)ftell(f);
	rewind(f);
	bytes = malloc(size + INSN_MAX);
	assert_non_null(bytes);
	assert_int_equal(fread(bytes, 1, size, f), size);
	fclose(f);
	memset(bytes + size, 0xcc, INSN_MAX);
	for (at = 0; at < size; at += n ? n : 1)
		n = compare(o, bytes + at, INSN_MAX);
	free(bytes);
	return size;
}

/* Whole files: in code the sweep falls into step within a few instructions. */
static void test_libraries(void **state)
{
	static const char *const paths[] = {"/lib/x86_64-linux-gnu/libc.so.6",
					    "/lib/x86_64-linux-gnu/libm.so.6",
					    "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
					    "/usr/lib/x86_64-linux-gnu/libcrypto.so.3"};
	struct oracle o;
	uint64_t bytes = 0;
	size_t i;

	(void)state;
	open_oracle(&o);
	for (i = 0; i < sizeof(paths) / sizeof(*paths); i++)
		bytes += sweep(&o, paths[i]);
	if (!bytes)
		skip();
	print_message("%llu valid instructions in %llu bytes\n", (unsigned long long)o.valid,
		      (unsigned long long)bytes);
	assert_int_equal(o.wrong, 0);
}

/* ---- worked examples ---- */

static void test_examples(void **state)
{
	/* lea rax, [rip - 7]; mov rax, fs:[0x28]; vpcmpeqb k1, ymm16, [rsi + 2 * 32]; enter 5, 3 */
	static const uint8_t lea[] = {0x48, 0x8d, 0x05, 0xf9, 0xff, 0xff, 0xff};
	static const uint8_t canary[] = {0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0};
	static const uint8_t compare_bytes[] = {0x62, 0xf1, 0x7d, 0x20, 0x74, 0x4e, 0x02};
	static const uint8_t enter[] = {0xc8, 5, 0, 3};
	struct insn i;

	(void)state;
	assert_int_equal(insn_decode(&i, lea, sizeof(lea)), 7);
	assert_int_equal(i.base, INSN_IP);
	assert_int_equal(i.disp, -7);
	assert_true(i.w && i.memory);
	assert_int_equal(insn_decode(&i, canary, sizeof(canary)), 9);
	assert_int_equal(i.segment, 0x64);
	assert_int_equal(i.base, INSN_NONE);
	assert_int_equal(i.index, INSN_NONE);
	assert_int_equal(i.disp, 0x28);
	assert_int_equal(insn_decode(&i, compare_bytes, sizeof(compare_bytes)), 7);
	assert_int_equal(i.encoding, INSN_EVEX);
	assert_int_equal(i.vvvv, 16);
	assert_int_equal(i.reg, 1);
	assert_int_equal(i.vbytes, 32);
	assert_int_equal(i.base, 6);
	assert_int_equal(i.disp, 64);
	assert_int_equal(insn_decode(&i, enter, sizeof(enter)), 4);
	assert_int_equal(i.imm, 0x30005);
}

/* Too long, cut off, nothing at all. */
static void test_bad(void **state)
{
	uint8_t code[64];
	struct insn i;
	size_t n;

	(void)state;
	memset(code, 0x66, sizeof(code));
	assert_int_equal(insn_decode(&i, code, sizeof(code)), 0);
	code[14] = 0x90;
	assert_int_equal(insn_decode(&i, code, sizeof(code)), 15);
	code[14] = 0x05; /* add ax, imm16: 17 bytes */
	assert_int_equal(insn_decode(&i, code, sizeof(code)), 0);
	for (n = 0; n < 7; n++)
		assert_int_equal(insn_decode(&i, (const uint8_t[]){0x48, 0x8d, 5, 1, 2, 3, 4}, n),
				 0);
	assert_int_equal(insn_decode(&i, (const uint8_t[]){0x06}, 1), -1);
	assert_int_equal(insn_decode(&i, code, 0), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_examples), cmocka_unit_test(test_bad),
		cmocka_unit_test(test_legacy),	 cmocka_unit_test(test_vex),
		cmocka_unit_test(test_evex),	 cmocka_unit_test(test_libraries),
	};

	if (argc > 1)
		options.passes = (unsigned)strtoul(argv[1], NULL, 10);
	if (argc > 2)
		options.seed = strtoull(argv[2], NULL, 10);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
