/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the order of executed blocks says of values: which arguments, return addresses and targets
 * belong where, and what breaks that order off.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "machine/insn/insn.h"
#include "stream/reader.h"
#include "tests/unit/common/streams.h"
#include "tests/unit/value/collected.h"

/* ---- the program ---- */

/* A block is called by a letter; its offset in the image is 0x1000 times its id. */
/* A call: an argument that is none of the procedure's, and the procedure's own two. */
#define CALL_SLOTS                                                                                 \
	.nslots = 3,                                                                               \
	.slots = {SLOT(0, VT_WHAT_ARG, 8, VT_REG_CX), SLOT(1, VT_WHAT_ARG, 8, VT_REG_DI),          \
		  SLOT(1, VT_WHAT_ARG, 12, VT_REG_SI)},                                            \
	.nvalues = 28,                                                                             \
	.values = {5, 0, 0,    0,    0,	   0,	 0,    0,    0x77, 0,	 0,    0,    0,	   0,      \
		   0, 0, 0xef, 0xcd, 0xab, 0x90, 0x78, 0x56, 0x34, 0x12, 0x98, 0xba, 0xdc, 0xfe}

static const struct collected_block program[] = {
	{'C', 2, {3, 2}, VT_END_CALL, CALL_SLOTS},
	{'I', 2, {3, 2}, VT_END_CALL_INDIRECT, CALL_SLOTS},
	{'P', 1, {4}, VT_END_OTHER, .nvalues = 0},
	{'N', 1, {4}, VT_END_FALL, .nvalues = 0},
	/* Stubs: without code; jmp *0(%rip), after bnd, after endbr64, after both. */
	{'S', 2, {4, 6}, VT_END_JUMP_INDIRECT, .nvalues = 0},
	{'T', 1, {6}, VT_END_JUMP_INDIRECT, {0xff, 0x25}, 6, .nvalues = 0},
	{'U', 1, {7}, VT_END_JUMP_INDIRECT, {0xf2, 0xff, 0x25}, 7, .nvalues = 0},
	{'V',
	 2,
	 {4, 6},
	 VT_END_JUMP_INDIRECT,
	 {0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25},
	 10,
	 .nvalues = 0},
	{'W',
	 2,
	 {4, 7},
	 VT_END_JUMP_INDIRECT,
	 {0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25},
	 11,
	 .nvalues = 0},
	/* None: jmp *%rax, jmp *0 (absolute), another prefix, a nop first, three instructions, and
	 * a direct jump. */
	{'a', 1, {2}, VT_END_JUMP_INDIRECT, {0xff, 0xe0}, 2, .nvalues = 0},
	{'b', 1, {6}, VT_END_JUMP_INDIRECT, {0xff, 0x24}, 6, .nvalues = 0},
	{'c', 1, {7}, VT_END_JUMP_INDIRECT, {0xf3, 0xff, 0x25}, 7, .nvalues = 0},
	{'d', 2, {4, 6}, VT_END_JUMP_INDIRECT, {0x0f, 0x1f, 0x40, 0, 0xff, 0x25}, 10, .nvalues = 0},
	{'e', 3, {4, 1, 6}, VT_END_JUMP_INDIRECT, .nvalues = 0},
	{'f', 1, {6}, VT_END_JUMP, {0xff, 0x25}, 6, .nvalues = 0},
	/* On to the linker: push $0 and a jump, after endbr64 too; a procedure of a push alone, and
	 * one that pushes something else. */
	{'L', 2, {5, 5}, VT_END_JUMP, {0x68, 0, 0, 0, 0, 0xe9}, 10, .nvalues = 0},
	{'M',
	 3,
	 {4, 5, 5},
	 VT_END_JUMP,
	 {0xf3, 0x0f, 0x1e, 0xfa, 0x68, 0, 0, 0, 0, 0xe9},
	 14,
	 .nvalues = 0},
	{'g', 1, {5}, VT_END_FALL, {0x68}, 5, .nvalues = 0},
	{'h', 2, {2, 5}, VT_END_JUMP, {0x6a, 0, 0xe9}, 7, .nvalues = 0},
	/* Two instructions, the first of which may be left out of a run; a return. */
	{'Q', 2, {3, 2}, VT_END_FALL, .nvalues = 0},
	{'R', 1, {1}, VT_END_RETURN, .nvalues = 0},
};

#define NPROGRAM (sizeof(program) / sizeof(program[0]))

static size_t id_of(char name)
{
	size_t i;

	for (i = 0; i < NPROGRAM && program[i].name != name; i++)
		;
	assert_true(i < NPROGRAM);
	return i + 1;
}

static uint64_t offset_of(char name)
{
	return 0x1000 * id_of(name);
}

/* ---- running it ---- */

/* A run of whole blocks; returns how many letters of `names` it is. */
static size_t put_blocks(struct vt_writer *w, struct collected_run *r, const char *names)
{
	uint8_t data[64 * 48];
	uint16_t ids[64];
	size_t n, size = 0;

	r->insns = 0;
	for (n = 0; names[n] && names[n] != ' '; n++) {
		const struct collected_block *b = &program[id_of(names[n]) - 1];

		ids[n] = (uint16_t)id_of(names[n]);
		memcpy(data + size, b->values, b->nvalues);
		size += b->nvalues;
		r->insns += b->ninsns;
	}
	collected_exec(w, r, ids, n, data, size);
	r->first += r->insns;
	r->caller = 0;
	return n;
}

static void put_state(struct vt_writer *w, int64_t pid, enum vt_state_reason reason)
{
	uint64_t *row = vt_writer_row(w, VT_STATE);

	row[VT_STATE_PID] = row[VT_STATE_TID] = (uint64_t)pid;
	row[VT_STATE_REASON] = reason;
}

static void put_signal(struct vt_writer *w, int64_t tid)
{
	uint64_t *row = vt_writer_row(w, VT_SIGNAL);

	row[VT_SIGNAL_PID] = PID;
	row[VT_SIGNAL_TID] = (uint64_t)tid;
}

/* A run of whole blocks, but for the part of the last that is not executed. */
static void put_part(struct vt_writer *w, struct collected_run *r, char name, unsigned skip,
		     unsigned insns)
{
	const uint16_t id = (uint16_t)id_of(name);

	r->skip = skip;
	r->insns = insns;
	collected_exec(w, r, &id, 1, NULL, 0);
	r->first += insns;
	r->skip = 0;
}

/* A run that is right up to its second block, which there is not. */
static void put_damaged(struct vt_writer *w, struct collected_run *r)
{
	const uint16_t ids[] = {(uint16_t)id_of('N'), 0x7fff};

	r->insns = 2;
	collected_exec(w, r, ids, 2, NULL, 0);
	r->first += 2;
}

/* What a digit between runs stands for. */
static void put_event(struct vt_writer *w, char what, struct collected_run *r)
{
	switch (what) {
	case '0':
		vt_writer_row(w, VT_GAP);
		break;
	case '1':
		vt_writer_row(w, VT_LOST);
		break;
	case '2':
		put_state(w, PID, VT_STATE_WINDOW);
		break;
	case '3':
		collected_thread(w, VT_OP_EXEC);
		collected_map(w, 3, BASE, 0x100000);
		break;
	case '4':
		put_signal(w, r->tid);
		break;
	case '5':
		r->first++;
		break;
	case '6':
		put_damaged(w, r);
		break;
	case '7':
		put_part(w, r, 'Q', 1, 1);
		break;
	case '8':
		put_part(w, r, 'Q', 0, 1);
		break;
	/* From here on, nothing that breaks the order off. */
	case '+':
		put_state(w, PID, VT_STATE_SIGRETURN);
		put_state(w, PID + 1, VT_STATE_WINDOW);
		collected_thread(w, VT_OP_COMM);
		put_signal(w, r->tid + 1);
		break;
	case '>':
		r->tid++;
		break;
	default:
		assert_int_equal(what, '<');
		r->tid--;
	}
}

/* The program's image, mapping and blocks. */
static struct vt_writer *begin_program(int fd)
{
	struct vt_writer *w = collected_begin(fd);
	size_t i;

	collected_image(w, 3, "/bin/program");
	collected_map(w, 3, BASE, 0x100000);
	for (i = 0; i < NPROGRAM; i++)
		collected_block(w, &program[i], i + 1);
	return w;
}

/* Runs what `path` says: letters are blocks, executed one after the other up to the next blank. */
static void follow(struct collected_profile *p, const char *path)
{
	int fd = scratch_file();
	struct vt_writer *w = begin_program(fd);
	struct collected_run r = {.pid = PID, .tid = PID};

	while (*path) {
		if (*path >= 'A')
			path += put_blocks(w, &r, path);
		else if (*path == ' ')
			path++;
		else
			put_event(w, *path++, &r);
	}
	collected_take(p, fd, w);
}

/* ---- procedures ---- */

/* Where the arguments of the only call come to; 0: nowhere. */
static void check_call(const char *path, char where)
{
	struct collected_profile p;
	uint64_t at = where ? offset_of(where) : 0;
	const char *call = strchr(path, 'I') ? strchr(path, 'I') : strchr(path, 'C');

	collected_open(&p, ALL, false);
	follow(&p, path);
	COLLECTED(&p, collected_find(&p, offset_of(*call), VT_WHAT_ARG, VT_REG_CX, 0, 0), 5);
	assert_int_equal(collected_count(&p, VT_WHAT_ARG), where ? 4 : 1);
	assert_int_equal(collected_count(&p, VT_WHAT_RETURN), where ? 1 : 0);
	if (where) {
		COLLECTED(&p, collected_find(&p, at, VT_WHAT_ARG, VT_REG_DI, 0, 0), 0x77);
		COLLECTED(&p, collected_find(&p, at, VT_WHAT_ARG, VT_REG_SI, 0, 0),
			  0x1234567890abcdef);
		COLLECTED(&p, collected_find(&p, at, VT_WHAT_ARG, VT_REG_SI, 1, 0), 0xfedcba98);
		COLLECTED(&p, collected_find(&p, at, VT_WHAT_RETURN, 0, 0, 0),
			  BASE + offset_of(*call) + 5);
	}
	collected_close(&p);
}

static void test_calls(void **state)
{
	(void)state;
	check_call("CPN", 'P');
	check_call("C P N", 'P');
	check_call("IPN", 'P');
	check_call("NPCQNP", 'Q');
	/* Past stubs, one or more; then nothing else. */
	check_call("CSPN", 'P');
	check_call("CTPN", 'P');
	check_call("CUPN", 'P');
	check_call("CVPN", 'P');
	check_call("CWSTPN", 'P');
	check_call("CaPN", 'a');
	check_call("CbPN", 'b');
	check_call("CcPN", 'c');
	check_call("CdPN", 'd');
	check_call("CePN", 'e');
	check_call("CfPN", 'f');
	/* The linker runs before the procedure: not to be guessed. */
	check_call("CTLPN", 0);
	check_call("CTMPN", 0);
	check_call("CTgPN", 'g');
	check_call("CThPN", 'h');
}

static void test_breaks(void **state)
{
	struct collected_profile p;

	(void)state;
	check_call("C 0 PN", 0);
	check_call("C 1 PN", 0);
	check_call("C 2 PN", 0);
	check_call("C 3 PN", 0);
	check_call("C 4 PN", 0);
	check_call("C 5 PN", 0);
	check_call("C + PN", 'P');
	/* The part of a block that begins it is where a call goes, the other part is not. */
	check_call("C 7 PN", 0);
	check_call("C 8 PN", 'Q');
	/* Another thread in between, and a break in it. */
	check_call("C > PN < Q", 'Q');
	check_call("C > 6 < PN", 0);
	check_call("> N < C > 4 < PN", 'P');
	collected_open(&p, ALL, false);
	follow(&p, "> 6");
	assert_int_equal(p.stats.damaged, 1);
	assert_int_equal(p.stats.insns, 1);
	assert_int_equal(p.stats.unmapped, 0);
	collected_close(&p);
}

/* Each indirect jump or call goes to the block behind it, unless the order breaks off. */
static void test_targets(void **state)
{
	struct collected_profile p;

	(void)state;
	collected_open(&p, ALL, false);
	follow(&p, "ITaPIP I 2 N CN aQ a 7 S 4 P");
	COLLECTED(&p, collected_find(&p, offset_of('I') + 3, VT_WHAT_TARGET, 0, 0, 0),
		  BASE + offset_of('T'), BASE + offset_of('P'));
	COLLECTED(&p, collected_find(&p, offset_of('T'), VT_WHAT_TARGET, 0, 0, 0),
		  BASE + offset_of('a'));
	COLLECTED(&p, collected_find(&p, offset_of('a'), VT_WHAT_TARGET, 0, 0, 0),
		  BASE + offset_of('P'), BASE + offset_of('Q'));
	assert_int_equal(collected_count(&p, VT_WHAT_TARGET), 3);
	collected_close(&p);
}

/* Without arguments and return addresses, a call is as any other block. */
static void test_unwanted(void **state)
{
	static const uint32_t whats[] = {VT_WHAT_TARGET, VT_WHAT_RETURN, VT_WHAT_ARG};
	static const size_t lists[][3] = {{2, 0, 0}, {0, 1, 0}, {0, 0, 5}};
	struct collected_profile p;
	size_t i, k;

	(void)state;
	for (i = 0; i < 3; i++) {
		collected_open(&p, 1u << whats[i], false);
		follow(&p, "IPTP CPN");
		for (k = 0; k < 3; k++)
			assert_int_equal(collected_count(&p, whats[k]), lists[i][k]);
		assert_int_equal(p.stats.insns, 9);
		collected_close(&p);
	}
}

/* With very many lists the same is taken, also of a run that names a block that there is not. */
static void test_many_lists(void **state)
{
	const uint16_t n = (uint16_t)id_of('N'),
		       ids[] = {n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, 0x7fff, n, n};
	struct collected_run r = {.pid = PID, .tid = PID};
	struct collected_profile p;
	struct vt_writer *w;
	uint64_t i;
	int fd;

	(void)state;
	collected_open(&p, ALL, false);
	for (i = 1; i <= 10001; i++) {
		const struct vt_site site = {.offset = i, .what = VT_WHAT_STORE};

		assert_non_null(vt_sites_list(p.sites, &site, 8));
	}
	follow(&p, "NNNNNNNNNNNNNNNNNNNNCPNNNNNNNNNNNNNNNNNNIPQNNNNNNNNNNNNNNNN CPTa");
	assert_int_equal(p.stats.insns, 67);
	assert_int_equal(collected_count(&p, VT_WHAT_RETURN), 1);
	COLLECTED(&p, collected_find(&p, offset_of('P'), VT_WHAT_ARG, VT_REG_DI, 0, 0), 0x77, 0x77,
		  0x77);
	fd = scratch_file();
	w = begin_program(fd);
	r.insns = 20;
	collected_exec(w, &r, ids, 20, NULL, 0);
	collected_take(&p, fd, w);
	assert_int_equal(p.stats.insns, 67 + 17);
	assert_int_equal(p.stats.damaged, 1);
	collected_close(&p);
}

/* Two calls of one procedure, from two places; what it returns to is the caller of what it runs. */
static void test_callers(void **state)
{
	const uint64_t from_c = offset_of('C') + 5, from_i = offset_of('I') + 5;
	struct collected_profile p;

	(void)state;
	collected_open(&p, ALL, true);
	follow(&p, "CPCPIP CPa");
	COLLECTED(&p, collected_find(&p, offset_of('P'), VT_WHAT_ARG, VT_REG_DI, 0, from_c), 0x77,
		  0x77, 0x77);
	COLLECTED(&p, collected_find(&p, offset_of('P'), VT_WHAT_ARG, VT_REG_DI, 0, from_i), 0x77);
	COLLECTED(&p, collected_find(&p, offset_of('P'), VT_WHAT_RETURN, 0, 0, from_c),
		  BASE + from_c, BASE + from_c, BASE + from_c);
	COLLECTED(&p, collected_find(&p, offset_of('P'), VT_WHAT_RETURN, 0, 0, from_i),
		  BASE + from_i);
	/* Nothing has returned: the second and fourth calls are made within the first and third. */
	COLLECTED(&p, collected_find(&p, offset_of('C'), VT_WHAT_ARG, VT_REG_CX, 0, 0), 5);
	COLLECTED(&p, collected_find(&p, offset_of('C'), VT_WHAT_ARG, VT_REG_CX, 0, from_c), 5);
	COLLECTED(&p, collected_find(&p, offset_of('I'), VT_WHAT_ARG, VT_REG_CX, 0, from_c), 5);
	COLLECTED(&p, collected_find(&p, offset_of('C'), VT_WHAT_ARG, VT_REG_CX, 0, from_i), 5);
	assert_int_equal(collected_count(&p, VT_WHAT_RETURN), 2);
	collected_close(&p);
}

/* After a signal, a handler that returns; after a window's edge, nobody's. */
static void test_callers_end(void **state)
{
	const uint64_t from_c = offset_of('C') + 5;
	struct collected_profile p;

	(void)state;
	collected_open(&p, 1u << VT_WHAT_ARG, true);
	follow(&p, "CPC 4 C 2 C");
	COLLECTED(&p, collected_find(&p, offset_of('C'), VT_WHAT_ARG, VT_REG_CX, 0, 0), 5, 5, 5);
	COLLECTED(&p, collected_find(&p, offset_of('C'), VT_WHAT_ARG, VT_REG_CX, 0, from_c), 5);
	collected_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls),	    cmocka_unit_test(test_breaks),
		cmocka_unit_test(test_targets),	    cmocka_unit_test(test_many_lists),
		cmocka_unit_test(test_unwanted),    cmocka_unit_test(test_callers),
		cmocka_unit_test(test_callers_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
