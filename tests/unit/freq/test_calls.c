/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which direct calls agree with the entries of what they call, by arithmetic. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "freq/calls.h"
#include "machine/pipeline/core.h"
#include "profile/procedure_flow.h"
#include "tests/unit/common/toolbox.h"

#define IMAGE 1
#define MOST  32

/* What calls is one procedure; what is called are others. */
static const char program[] =
	".text\n.globl _start\n.macro begin name\n.type \\name,@function\n\\name:\n.endm\n"
	".macro end name\n.size \\name,.-\\name\n.endm\n"
	".macro leaf name\nbegin \\name\nret\nend \\name\n.endm\n"
	"begin _start\n"
	"call once\ncall once\ncall named\ncall taken\nlea taken(%rip),%rax\n"
	"mov $constant,%edi\ncall constant\ncall _start\ncall wide\ntest %edi,%edi\n"
	"jne branched\ncall branched\njmp tail\n"
	"end _start\n"
	"leaf once\nleaf named\nleaf taken\nleaf constant\nleaf wide\nleaf branched\n"
	"leaf uncalled\nleaf tail\n"
	"begin self\ntest %edi,%edi\nje 1f\ncall self\n1: ret\nend self\n"
	"begin within\ncall 1f\n1: call within\njmp 2f\n2: jne within\ncall *%rax\n"
	"jmp once\nend within\n"
	".section .rodata\n.quad 0, named\n";

static struct vt_error err;
static struct vt_images *images;
static struct vt_core core;

/* The executions of all of a procedure's instructions, and those of its entry. */
struct known {
	const char *name;
	struct vt_freq_value insns;
	struct vt_freq_value entry;
};

static void add(struct vt_freqcalls *c, const struct known *k)
{
	enum vt_unknown why;
	struct vt_symbols *symbols = vt_images_symbols(images, IMAGE, 0, &why);
	struct vt_freq_value insn[MOST], edge[MOST];
	const struct vt_freqs freqs = {insn, edge};
	struct vt_procedure proc = {.image = IMAGE};
	const struct vt_symbol *sym;
	struct vt_procflow *f;
	uint64_t start;
	uint32_t i;

	assert_true(vt_symbols_address_of(symbols, k->name, &start));
	sym = vt_symbols_find(symbols, start);
	assert_non_null(sym);
	proc.start = sym->start;
	proc.end = sym->end;
	f = vt_procflow_graph(images, NULL, &proc, &err);
	assert_true(f && f->cfg->ninsns <= MOST && f->cfg->nedges <= MOST);
	assert_int_equal(vt_procflow_decode(f, images, NULL, &core, &err), 0);
	for (i = 0; i < MOST; i++) {
		insn[i] = k->insns;
		edge[i] = k->entry;
	}
	assert_int_equal(vt_freqcalls_add(c, images, symbols, f, &freqs, &err), 0);
	vt_procflow_free(f);
}

static struct vt_freq_value value(double low, double executions, double high)
{
	return (struct vt_freq_value){executions, low, high, VT_CONFIDENCE_HIGH, VT_METHOD_FLOW};
}

static struct vt_freqcalls_sums compare(const struct known *k, size_t n)
{
	struct vt_freqcalls_sums sums = {1000, 500};
	struct vt_freqcalls c;
	size_t i;

	vt_freqcalls_init(&c);
	for (i = 0; i < n; i++)
		add(&c, &k[i]);
	vt_freqcalls_compare(&c, images, IMAGE, &sums);
	vt_freqcalls_fini(&c);
	sums.compared -= 1000;
	sums.disagree -= 500;
	return sums;
}

/*
 * Each site has 100 executions and an interval of 60 to 140: its deviation is 20.  Of two sites,
 * the sum is 200, its deviation 20 sqrt(2), and the interval 143.4 to 256.6.
 */
static void test_intervals(void **state)
{
	static const struct {
		const char *name;
		double low, high; /* of the entry */
		double compared, disagree;
	} rows[] = {
		{"once", 190, 210, 200, 0},
		{"once", 100, 143, 200, 200},
		{"once", 100, 144, 200, 0},
		{"once", 256, 300, 200, 0},
		{"once", 257, 300, 200, 200},
		{"wide", 141, 150, 100, 100},
		{"wide", 139, 150, 100, 0},
		{"tail", 50, 59, 100, 100},
		{"tail", 50, 61, 100, 0},
		/* Entered in other ways: named by data, its address computed, called by the system.
		 */
		{"named", 1, 2, 0, 0},
		{"taken", 1, 2, 0, 0},
		{"constant", 1, 2, 0, 0},
		{"_start", 1, 2, 0, 0},
		/* More often than is known: a branch leads there. */
		{"branched", 1, 2, 0, 0},
		{"uncalled", 1, 2, 0, 0},
	};
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct known k[] = {
			{"_start", value(60, 100, 140), value(1, 1, 1)},
			{rows[i].name, value(0, 0, 0),
			 value(rows[i].low, (rows[i].low + rows[i].high) / 2, rows[i].high)},
		};
		struct vt_freqcalls_sums sums = compare(k, 2);

		if (fabs(sums.compared - rows[i].compared) > 1e-9 ||
		    fabs(sums.disagree - rows[i].disagree) > 1e-9)
			fail_msg("row %u, %s: %g of %g", i, rows[i].name, sums.disagree,
				 sums.compared);
	}
}

/* What has no estimate or was counted is not compared; a procedure's calls of itself are calls of
 * it. */
static void test_unknown(void **state)
{
	const struct vt_freq_value none = {.high = INFINITY};
	const struct known sites[] = {{"_start", none, none},
				      {"wide", value(1, 1, 1), value(1, 1, 1)}};
	const struct known entry[] = {{"_start", value(9, 9, 9), none},
				      {"wide", value(1, 1, 1), none}};
	const struct known self[] = {{"self", value(30, 30, 30), value(30, 30, 30)}};
	const struct known less[] = {{"self", value(30, 30, 30), value(31, 31, 31)}};
	const struct vt_freq_value all = {30, 30, 30, VT_CONFIDENCE_EXACT, VT_METHOD_COUNTED};
	const struct known counted[] = {{"self", all, value(31, 31, 31)}};

	(void)state;
	assert_true(compare(sites, 2).compared == 0);
	assert_true(compare(entry, 2).compared == 0);
	assert_true(compare(self, 1).compared == 30 && compare(self, 1).disagree == 0);
	assert_true(compare(counted, 1).compared == 0);
	assert_true(compare(less, 1).compared == 30 && compare(less, 1).disagree == 30);
}

static uint64_t address_of(const char *name)
{
	enum vt_unknown why;
	uint64_t start = 0;

	assert_true(vt_symbols_address_of(vt_images_symbols(images, IMAGE, 0, &why), name, &start));
	return start;
}

/* Calls of other procedures or of its own start, and jumps to others. */
static void test_leads_away(void **state)
{
	static const char *const to[] = {NULL, "within", NULL, NULL, NULL, "once"};
	enum vt_unknown why;
	const struct vt_elf *elf = vt_images_elf(images, IMAGE, &why);
	struct vt_procedure proc = {.image = IMAGE, .start = address_of("within")};
	struct vt_procflow *f;
	uint32_t i;

	(void)state;
	proc.end = vt_symbols_find(vt_images_symbols(images, IMAGE, 0, &why), proc.start)->end;
	f = vt_procflow_graph(images, NULL, &proc, &err);
	assert_true(elf && f && f->cfg->ninsns == sizeof(to) / sizeof(to[0]));
	for (i = 0; i < f->cfg->ninsns; i++) {
		uint64_t vaddr = 0;

		if (vti_freq_leads_away(elf, f->cfg, i, &vaddr) != (to[i] != NULL))
			fail_msg("instruction %u", i);
		assert_true(!to[i] || vaddr == address_of(to[i]));
	}
	vt_procflow_free(f);
}

/* Two sites of 100 executions, each with a deviation of 20. */
static void test_calls_of(void **state)
{
	const struct known start = {"_start", value(60, 100, 140), value(1, 1, 1)};
	const struct known never = {"_start", value(0, 0, 0), value(0, 0, 0)};
	struct vt_freq_measure m;
	struct vt_freqcalls c;

	(void)state;
	vt_freqcalls_init(&c);
	add(&c, &start);
	m = vt_freqcalls_of(&c, address_of("once"));
	assert_true(m.executions == 200 && fabs(m.sigma - 20 * sqrt(2)) < 1e-9);
	m = vt_freqcalls_of(&c, address_of("tail"));
	assert_true(m.executions == 100 && fabs(m.sigma - 20) < 1e-9);
	/* By the call, and not by the branch. */
	assert_true(vt_freqcalls_of(&c, address_of("branched")).executions == 100);
	assert_true(vt_freqcalls_of(&c, address_of("uncalled")).executions == -1);
	vt_freqcalls_clear(&c);
	assert_true(vt_freqcalls_of(&c, address_of("once")).executions == -1);
	/* What is never executed calls nobody. */
	add(&c, &never);
	assert_true(vt_freqcalls_of(&c, address_of("once")).executions == -1);
	vt_freqcalls_fini(&c);
}

int main(void)
{
	static const struct vt_images_options none = {.warn = NULL};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_intervals),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_leads_away),
		cmocka_unit_test(test_calls_of),
	};
	char *dir = toolbox_assemble(program);
	const char *path = toolbox_path(dir, "p");
	int code;

	images = vt_images_new(&none, &err);
	if (!images || vt_core_load(&core, "alpha21164", &err) < 0 ||
	    vt_images_add(images, IMAGE, VT_IMAGE_FILE, path, strlen(path), NULL, 0, &err) < 0)
		return 1;
	code = cmocka_run_group_tests(tests, NULL, NULL);
	vt_images_free(images);
	toolbox_remove(dir);
	return code;
}
