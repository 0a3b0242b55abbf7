/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The letters and words of causes and reasons, as vculprit(1) and vlist(1) have them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "culprit/cause.h"

static const struct {
	enum vt_stall_cause cause;
	char letter;
	const char *text;
	const char *absent; /* why it was ruled out */
} causes[] = {
	{VT_STALL_UNEXPLAINED, 'u', "unexplained stall", "nothing that could"},
	{VT_STALL_GAIN, 'g', "unexplained gain", "nothing that could"},
	{VT_STALL_ICACHE, 'i', "I-cache miss", "its lines stay in the cache"},
	{VT_STALL_ITLB, 'I', "ITB miss", "its pages stay in the TLB"},
	{VT_STALL_DCACHE, 'd', "D-cache miss", "no load"},
	{VT_STALL_DTLB, 'D', "DTB miss", "no load or store to another page"},
	{VT_STALL_WRITE_BUFFER, 'w', "write-buffer overflow", "no store"},
	{VT_STALL_FORWARD, 'f', "store forwarding", "no store before that may overlap a load"},
	{VT_STALL_MISPREDICT, 'p', "branch mispredict", "no branch that may go wrong"},
	{VT_STALL_SYNC, 'y', "synchronization", "no fence, atomic or microcode"},
	{VT_STALL_MULTIPLIER, 'm', "multiplier busy", "nothing that could"},
	{VT_STALL_DIVIDER, 'v', "divider busy", "no division"},
	{VT_STALL_UNIT, 'x', "unit busy", "nothing that could"},
	{VT_STALL_DEPENDENCY, 'r', "operand of unknown latency", "nothing that could"},
	{VT_STALL_QUEUE, 'q', "queue or registers full", "nothing that could"},
	{VT_STALL_OTHER, 'o', "other", "no system call"},
	{VT_STALL_SLOTTING, 's', "slotting hazard", "nothing that could"},
	{VT_STALL_OPERAND_A, 'a', "Ra dependency", "nothing that could"},
	{VT_STALL_OPERAND_B, 'b', "Rb dependency", "nothing that could"},
	{VT_STALL_OPERAND_C, 'c', "Rc dependency", "nothing that could"},
	{VT_STALL_UNIT_STATIC, 'X', "FU dependency", "nothing that could"},
};

static void test_causes(void **state)
{
	unsigned i;

	(void)state;
	assert_int_equal(sizeof(causes) / sizeof(causes[0]), VT_NSTALLS);
	for (i = 0; i < VT_NSTALLS; i++) {
		const char letter[] = {causes[i].letter, 0};
		const char twice[] = {causes[i].letter, causes[i].letter, 0};

		assert_int_equal(vt_stall_letter(causes[i].cause), causes[i].letter);
		assert_string_equal(vt_stall_text(causes[i].cause), causes[i].text);
		assert_string_equal(vt_stall_why_text(causes[i].cause, VT_WHY_ABSENT),
				    causes[i].absent);
		assert_int_equal(vt_stall_find(letter), causes[i].cause);
		assert_int_equal(vt_stall_find(vt_stall_name(causes[i].cause)), causes[i].cause);
		assert_int_equal(vt_stall_find(twice), VT_NSTALLS);
	}
}

/* What is no cause has neither. */
static void test_no_cause(void **state)
{
	unsigned i;

	(void)state;
	for (i = VT_NSTALLS; i < VT_NSTALLS + 2; i++) {
		assert_int_equal(vt_stall_letter(i), '?');
		assert_string_equal(vt_stall_text(i), "?");
	}
	assert_int_equal(vt_stall_find(""), VT_NSTALLS);
	assert_int_equal(vt_stall_find("?"), VT_NSTALLS);
	assert_int_equal(vt_stall_find("dcache "), VT_NSTALLS);
}

/* Of code, stores and other accesses. */
static void test_reasons(void **state)
{
	static const struct {
		enum vt_stall_why why;
		const char *code;
		const char *store;
		const char *access;
	} rows[] = {
		{VT_WHY_NONE, "", "", ""},
		{VT_WHY_ANYWHERE, "an access goes anywhere", "a store goes anywhere",
		 "an access goes anywhere"},
		{VT_WHY_STEPS, "an access steps on to new lines or pages",
		 "an access steps on to new lines or pages",
		 "an access steps on to new lines or pages"},
		{VT_WHY_DISPLACED, "other code may displace it", "what is called may displace it",
		 "what is called may displace it"},
		{VT_WHY_SMALL, "too rare", "too rare", "too rare"},
		{VT_WHY_MINOR, "others account for more", "others account for more",
		 "others account for more"},
		{VT_WHY_SOURCE, "as the data source of its samples tells",
		 "as the data source of its samples tells",
		 "as the data source of its samples tells"},
		{VT_NWHYS, "", "", ""},
	};
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_string_equal(vt_stall_why_text(VT_STALL_ICACHE, rows[i].why), rows[i].code);
		assert_string_equal(vt_stall_why_text(VT_STALL_ITLB, rows[i].why), rows[i].code);
		assert_string_equal(vt_stall_why_text(VT_STALL_WRITE_BUFFER, rows[i].why),
				    rows[i].store);
		assert_string_equal(vt_stall_why_text(VT_STALL_DCACHE, rows[i].why),
				    rows[i].access);
		assert_string_equal(vt_stall_why_text(VT_STALL_DTLB, rows[i].why), rows[i].access);
	}
}

/* Three of them rule a cause out. */
static void test_acquittals(void **state)
{
	enum vt_stall_why why;

	(void)state;
	for (why = VT_WHY_NONE; why < VT_NWHYS; why++)
		assert_int_equal(vt_why_acquits(why), why == VT_WHY_ABSENT || why == VT_WHY_SMALL ||
							      why == VT_WHY_MINOR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_causes),
		cmocka_unit_test(test_no_cause),
		cmocka_unit_test(test_reasons),
		cmocka_unit_test(test_acquittals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
