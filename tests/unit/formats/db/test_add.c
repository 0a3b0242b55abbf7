/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Batches that are added to a database of profiles. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formats/db/internal.h"
#include "tests/unit/formats/db/dbs.h"

#define BOTH_PROFILES                                                                              \
	"monday/  0 faults 2 5 5 9\n"                                                              \
	"monday/ /bin/one 8 cycles 3 12 1700 15\n"                                                 \
	"monday/ /bin/one 8 cycles 1 3 300 5\n"                                                    \
	"monday/ /bin/one 8 faults 1 1 1 5\n"                                                      \
	"monday/ /opt/lib/two 0 cycles 1 1 100 5\n"                                                \
	"monday/ /opt/lib/two 0 cycles 1 3 300 5\n"

/* A number, or a text, that a statement finds. */
static void expect_sql(struct vt_db *db, const char *sql, const char *want)
{
	struct vt_error err = VT_ERROR_INIT;
	sqlite3_stmt *s = vti_db_prepare(db, &err, sql, "");

	assert_int_equal(vti_db_step(db, s, &err), 1);
	assert_string_equal((const char *)sqlite3_column_text(s, 0), want);
	sqlite3_finalize(s);
}

/* Packed: format, number and period, then two numbers a place, three where no period is common. */
static void adds_up(void **state)
{
	struct vt_db *db = db_open(*state, VT_DB_CREATE);

	db_add(db, &db_first, 1, "monday");
	db_expect(db, DB_EPOCHS, DB_ALL, "monday 500 1 1 3 4 12 23\n");
	db_expect(db, DB_INPUTS, DB_ALL, "monday/ a.data a1 1000 12\n");
	db_expect(db, DB_PROFILES, DB_ALL,
		  "monday/  0 faults 1 3 3 6\n"
		  "monday/ /opt/lib/two 0 cycles 1 1 100 5\n"
		  "monday/ /opt/one 8 cycles 2 7 700 7\n"
		  "monday/ /opt/one 8 faults 1 1 1 5\n");
	db_add(db, &db_second, 1, "monday");
	db_expect(db, DB_EPOCHS, DB_ALL, "monday 500 2 1 4 6 25 44\n");
	db_expect(db, DB_INPUTS, DB_ALL, "monday/ a.data a1 1000 12\nmonday/ b.data b2 2000 13\n");
	db_expect(db, DB_PROFILES, DB_ALL, BOTH_PROFILES);
	vt_db_close(db);
}

/* Of two paths of a build-id the first in the alphabet stays, with its type and machine. */
static void order_makes_no_difference(void **state)
{
	struct vt_db *db = db_open(*state, VT_DB_CREATE);

	db_add(db, &db_second, 1, "monday");
	db_add(db, &db_first, 1, "monday");
	db_expect(db, DB_PROFILES, DB_ALL, BOTH_PROFILES);
	expect_sql(db,
		   "SELECT group_concat(hex(key) || ' ' || path || ' ' || type || ' ' || machine,"
		   " ';') FROM (SELECT * FROM image ORDER BY path, type)",
		   "62010203040506ABCD /bin/one 2 3;"
		   "70012F6F70742F6C69622F74776F /opt/lib/two 1 62;"
		   "70022F6F70742F6C69622F74776F /opt/lib/two 2 62");
	expect_sql(db, "SELECT group_concat(value) FROM meta WHERE key <> 'host'", "x86_64,1");
	expect_sql(db, "SELECT count(*) - count(value) FROM meta", "1");
	vt_db_close(db);
}

static void known_inputs_are_not_added_again(void **state)
{
	struct vt_db *db = db_open(*state, VT_DB_CREATE);
	struct vt_db_batch b = db_for(&db_first, "tuesday", "x");
	struct vt_db_batch again = db_for(&db_first, "wednesday", "");
	struct vt_error err = VT_ERROR_INIT;
	struct vt_db_input inputs[3] = {*db_second.inputs, *db_first.inputs, *db_second.inputs};
	char *epoch = (char *)"";

	db_add(db, &db_first, 1, "monday");
	db_add(db, &b, 0, "monday");
	assert_int_equal(vt_db_add(db, &b, NULL, &err), 0);
	db_expect(db, DB_EPOCHS, DB_ALL, "monday 500 1 1 3 4 12 23\n");

	b.inputs = inputs;
	b.ninputs = 2;
	assert_int_equal(vt_db_add(db, &b, &epoch, &err), -VT_E_AMBIGUOUS);
	assert_null(epoch);
	db_same_error(&err, VT_E_AMBIGUOUS, *state, ": 1 of the 2 inputs are there already");
	db_expect(db, DB_EPOCHS, DB_ALL, "monday 500 1 1 3 4 12 23\n");

	/* When all are there, the first one's epoch is told; the third is the first once more. */
	again.inputs = inputs;
	db_add(db, &again, 1, "wednesday");
	b.ninputs = 3;
	db_add(db, &b, 0, "wednesday");

	again.inputs = db_first.inputs;
	again.again = true;
	again.epoch = "monday";
	db_add(db, &again, 1, "monday");
	db_expect(db, DB_EPOCHS, DB_ALL,
		  "monday 500 2 1 3 4 24 23\n"
		  "wednesday 500 1 1 3 4 12 23\n");
	vt_db_close(db);
}

/* No input, nothing counted: this is no input that is there already. */
static void empty_batches(void **state)
{
	const struct vt_db_batch b = {.label = "", .now = 3};
	struct vt_db *db = db_open(*state, VT_DB_CREATE);

	db_add(db, &b, 1, "default");
	db_add(db, &b, 1, "default");
	db_expect(db, DB_EPOCHS, DB_ALL, "default 3 0 1 0 0 0 0\n");
	vt_db_close(db);
}

static void goes_to_the_latest_epoch(void **state)
{
	struct vt_db *db = db_open(*state, VT_DB_CREATE);
	struct vt_db_batch first = db_for(&db_first, NULL, ""), second = first;
	struct vt_error err = VT_ERROR_INIT;

	db_add(db, &first, 1, "default");
	assert_int_equal(vt_db_epoch(db, "b", 700, &err), 1);
	assert_int_equal(vt_db_epoch(db, "a", 800, &err), 1);
	assert_int_equal(vt_db_epoch(db, "b", 900, &err), 0);
	second.inputs = db_second.inputs;
	second.now = 1000;
	db_add(db, &second, 1, "a");
	db_expect(db, DB_EPOCHS, DB_ALL,
		  "default 500 1 1 3 4 12 23\nb 700 0 0 0 0 0 0\na 800 1 1 3 4 12 23\n");
	vt_db_close(db);
}

static void names_of_epochs_and_labels(void **state)
{
	static const char empty[] = ": a name has 1 to 255 bytes",
			  control[] = ": a name has no control characters";
	static const struct {
		const char *name;
		size_t pad; /* letters behind it */
		const char *epoch, *label;
	} names[] = {
		{"a", 0, NULL, NULL},	       {"\xc3\xa4 ~", 0, NULL, NULL},
		{"", 255, NULL, NULL},	       {"", 256, empty, empty},
		{"", 0, empty, NULL},	       {"a\x1f", 0, control, control},
		{"\x7f", 0, control, control},
	};
	struct vt_db *db = db_open(*state, VT_DB_CREATE);
	struct vt_db_batch b = db_for(&db_first, "monday", "");
	size_t i;

	b.again = true;
	for (i = 0; i < DB_COUNT(names); i++) {
		struct vt_error err = VT_ERROR_INIT;
		char name[300];

		snprintf(name, sizeof(name), "%s%0*d", names[i].name, (int)names[i].pad, 0);
		name[strlen(names[i].name) + names[i].pad] = '\0';
		b = (struct vt_db_batch){.label = "", .epoch = name};
		if (names[i].epoch) {
			assert_int_equal(vt_db_epoch(db, name, 1, &err), -VT_E_USAGE);
			db_same_error(&err, VT_E_USAGE, "the epoch", names[i].epoch);
			assert_int_equal(vt_db_add(db, &b, NULL, &err), -VT_E_USAGE);
		} else {
			assert_int_equal(vt_db_epoch(db, name, 1, &err), 1);
			assert_int_equal(vt_db_add(db, &b, NULL, &err), 1);
		}
		b = (struct vt_db_batch){.label = name, .epoch = "a"};
		assert_int_equal(vt_db_add(db, &b, NULL, &err), names[i].label ? -VT_E_USAGE : 1);
		if (names[i].label)
			db_same_error(&err, VT_E_USAGE, "the label", names[i].label);
	}
	db_expect(db, DB_INPUTS, DB_ALL, "");
	expect_sql(db,
		   "SELECT group_concat(length(name)) FROM (SELECT name FROM epoch ORDER BY id)",
		   "1,3,255");
	vt_db_close(db);
}

/* ---- limits ---- */

/* A batch of one place and an input. */
static int add_counts(struct vt_db *db, const char *label, uint64_t samples, uint64_t period,
		      uint64_t in_input, struct vt_error *err)
{
	static const struct vt_db_event event = {DB_TEXT("e"), DB_TEXT(""), {0}};
	struct vt_db_place place = {1, samples, period};
	const struct vt_db_profile profile = {VT_DB_UNMAPPED, 0, {&place, 1, 1}};
	const struct vt_db_input input = {.name = DB_TEXT("i"), .samples = in_input};
	const struct vt_db_batch b = {.epoch = "e",
				      .label = label,
				      .again = true,
				      .inputs = &input,
				      .ninputs = 1,
				      .events = &event,
				      .nevents = 1,
				      .profiles = &profile,
				      .nprofiles = 1};

	return vt_db_add(db, &b, NULL, err);
}

static void sums_that_are_too_high(void **state)
{
	static const struct {
		uint64_t samples, period, in_input;
		int code;
	} rows[] = {
		{INT64_MAX, 5, INT64_MAX, 1},
		{1, 1, 1, -VT_E_LIMIT},
		{0, INT64_MAX - 5, 0, 1},
		{0, 1, 0, -VT_E_LIMIT},
		{0, 0, (uint64_t)INT64_MAX + 1, -VT_E_LIMIT},
		{0, 0, 0, 1},
	};
	struct vt_db *db = db_open(*state, VT_DB_CREATE);
	size_t i;

	for (i = 0; i < DB_COUNT(rows); i++) {
		struct vt_error err = VT_ERROR_INIT;

		assert_int_equal(
			add_counts(db, "", rows[i].samples, rows[i].period, rows[i].in_input, &err),
			rows[i].code);
		if (rows[i].code < 0)
			assert_string_equal(err.text, "more samples than can be counted");
	}
	db_expect(db, DB_PROFILES, DB_ALL,
		  "e/  0 e 1 9223372036854775807 9223372036854775807 13\n");
	vt_db_close(db);
}

/* Each section holds what a signed number can, a sum of sections what an unsigned one can. */
static void sums_of_sections_that_are_too_high(void **state)
{
	static const struct {
		const char *label;
		uint64_t samples, period;
		bool fits;
	} rows[] = {
		{"a", INT64_MAX, 0, true}, {"b", INT64_MAX, INT64_MAX, true},
		{"c", 1, INT64_MAX, true}, {"d", 1, 0, false},
		{"d", 0, 0, false},
	};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_db *db = db_open(*state, VT_DB_CREATE);
	static const char *const abc[] = {"a", "b", "c"}, *const bcp[] = {"b", "c", "p"};
	const struct vt_db_selection fits = {.labels = abc, .nlabels = 3};
	const struct vt_db_selection periods = {.labels = bcp, .nlabels = 3};
	size_t i;

	for (i = 0; i < DB_COUNT(rows); i++)
		assert_int_equal(
			add_counts(db, rows[i].label, rows[i].samples, rows[i].period, 0, &err), 1);
	db_expect(db, DB_WRITTEN, &fits,
		  "EVENT name=e\nCOUNT image=4294967295 offset=1 samples=18446744073709551615"
		  " period=18446744073709551614\n");
	/* A listing says as much as it can. */
	db_expect(db, DB_EPOCHS, &fits, "e 0 3 3 1 3 9223372036854775807 40\n");
	db_expect_error(db, DB_WRITTEN, DB_ALL, VT_E_LIMIT, ": a sum is too high");
	assert_int_equal(add_counts(db, "p", 0, 1, 0, &err), 1);
	db_expect(db, DB_WRITTEN, &periods,
		  "EVENT name=e\nCOUNT image=4294967295 offset=1 samples=9223372036854775808"
		  " period=18446744073709551615\n");
	assert_int_equal(add_counts(db, "p", 0, 1, 0, &err), 1);
	db_expect_error(db, DB_WRITTEN, &periods, VT_E_LIMIT, ": a sum is too high");
	vt_db_close(db);
}

/* What is lost is counted to 2^62 - 1. */
static void losses_end_at_a_limit(void **state)
{
	const uint64_t limit = UINT64_C(0x3fffffffffffffff);
	static const struct vt_db_event event = {DB_TEXT("e"), DB_TEXT(""), {0}};
	struct vt_db_loss losses[] = {
		{0, DB_TEXT("a"), limit - 1}, {0, DB_TEXT("b"), limit + 1}, {0, DB_TEXT("c"), 1}};
	struct vt_db_gap gaps[] = {{DB_TEXT("r"), DB_TEXT("i"), limit - 1, UINT64_MAX},
				   {DB_TEXT("s"), DB_TEXT("i"), UINT64_MAX, limit - 1}};
	struct vt_db_batch b = {.epoch = "e",
				.label = "",
				.events = &event,
				.nevents = 1,
				.losses = losses,
				.nlosses = DB_COUNT(losses),
				.gaps = gaps,
				.ngaps = DB_COUNT(gaps)};
	struct vt_db *db = db_open(*state, VT_DB_CREATE);

	db_add(db, &b, 1, "e");
	db_expect(db, DB_WRITTEN, DB_ALL,
		  "EVENT name=e\n"
		  "LOST count=4611686018427387902 source=a\n"
		  "LOST count=4611686018427387903 source=b\n"
		  "LOST count=1 source=c\n"
		  "GAP reason=r input=i bytes=4611686018427387902 records=4611686018427387903\n"
		  "GAP reason=s input=i bytes=4611686018427387903 records=4611686018427387902\n");
	db_add(db, &b, 1, "e");
	db_expect(db, DB_WRITTEN, DB_ALL,
		  "EVENT name=e\n"
		  "LOST count=4611686018427387903 source=a\n"
		  "LOST count=4611686018427387903 source=b\n"
		  "LOST count=2 source=c\n"
		  "GAP reason=r input=i bytes=4611686018427387903 records=4611686018427387903\n"
		  "GAP reason=s input=i bytes=4611686018427387903 records=4611686018427387903\n");
	/* Two more sections: no sum is higher than 2^63 - 1. */
	b.label = "x";
	db_add(db, &b, 1, "e");
	b.label = "y";
	db_add(db, &b, 1, "e");
	db_expect(db, DB_WRITTEN, DB_ALL,
		  "EVENT name=e\n"
		  "LOST count=9223372036854775807 source=a\n"
		  "LOST count=9223372036854775807 source=b\n"
		  "LOST count=4 source=c\n"
		  "GAP reason=r input=i bytes=9223372036854775807 records=9223372036854775807\n"
		  "GAP reason=s input=i bytes=9223372036854775807 records=9223372036854775807\n");
	vt_db_close(db);
}

static void facts_that_are_too_long_or_too_many(void **state)
{
	static uint8_t text[VT_DB_META_MAX + 1];
	static struct vt_db_meta metas[VT_DB_METAS + 2];
	const struct vt_db_batch b = {
		.epoch = "e", .label = "", .metas = metas, .nmetas = DB_COUNT(metas)};
	struct vt_db *db = db_open(*state, VT_DB_CREATE);
	size_t i;

	memset(text, 'x', sizeof(text));
	for (i = 0; i < DB_COUNT(metas); i++)
		metas[i] = (struct vt_db_meta){{text, i + 1}, DB_TEXT("v")};
	metas[0].value = (struct vt_bytes){text, VT_DB_META_MAX};
	metas[1].value = (struct vt_bytes){text, VT_DB_META_MAX + 1};
	metas[2].key.size = VT_DB_META_MAX;
	metas[3].key.size = VT_DB_META_MAX + 1;
	db_add(db, &b, 1, "e");
	/* Those with keys of 2 and 4097 letters are too long, those of 257 and 258 too many. */
	expect_sql(db,
		   "SELECT count(*) || ' ' || max(length(value)) || ' ' || max(length(key)) || ' '"
		   " || (SELECT group_concat(length(key)) FROM (SELECT key FROM meta"
		   " WHERE length(key) < 7 OR length(key) BETWEEN 256 AND 300 ORDER BY key))"
		   " FROM meta",
		   "254 4096 4096 1,5,6,256");
	vt_db_close(db);
}

/* ---- what fails ---- */

/* Whatever cannot be read or written, nothing is added. */
static void every_table_is_needed(void **state)
{
	static const char *const tables[] = {"epoch", "section", "input",    "event", "image",
					     "meta",  "profile", "declared", "loss",  "gap"};
	static const struct {
		const char *sql, *text; /* with the name of a table */
	} damages[] = {
		{"DROP TABLE %s", ": no such table: %s"},
		{"CREATE TRIGGER t BEFORE INSERT ON %s BEGIN SELECT RAISE(ABORT, 'no %s'); END",
		 ": no %s"},
	};
	struct vt_db_batch b = db_for(&db_second, "tuesday", "");
	size_t i;

	for (i = 0; i < DB_COUNT(tables) * DB_COUNT(damages); i++) {
		const char *table = tables[i / DB_COUNT(damages)];
		struct vt_error err = VT_ERROR_INIT;
		struct vt_db *db;
		char sql[100], text[100];
		char *epoch = (char *)"";

		db_make_first(*state);
		snprintf(sql, sizeof(sql), damages[i % DB_COUNT(damages)].sql, table, table);
		snprintf(text, sizeof(text), damages[i % DB_COUNT(damages)].text, table);
		db_change(*state, sql);
		db = db_open(*state, VT_DB_WRITE);
		assert_int_equal(vt_db_add(db, &b, &epoch, &err), -VT_E_SYSTEM);
		assert_null(epoch);
		db_same_error(&err, VT_E_SYSTEM, *state, text);
		assert_int_equal(sqlite3_get_autocommit(db->sql), 1);
		if (strcmp(table, "profile") != 0)
			expect_sql(db, "SELECT count(*) FROM profile", "4");
		assert_int_equal(vt_db_epoch(db, "new", 1, &err),
				 strcmp(table, "epoch") == 0 ? -VT_E_SYSTEM : 1);
		vt_db_close(db);
		assert_int_equal(remove(*state), 0);
	}
}

/* To what is damaged nothing is added; numbers of an event that are damaged are not missed. */
static void damaged_profiles_are_not_added_to(void **state)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_db *db = db_open(*state, VT_DB_CREATE);

	db_add(db, &db_first, 1, "monday");
	vt_db_close(db);
	db_change(*state, "UPDATE declared SET fields = x'80'");
	db = db_open(*state, VT_DB_WRITE);
	db_add(db, &db_second, 1, "monday");
	vt_db_close(db);
	db_change(*state, "UPDATE profile SET data = x'00' WHERE image <> 0");
	db = db_open(*state, VT_DB_WRITE);
	db_add(db, &db_first, 0, "monday");
	expect_sql(db, "SELECT count(*) FROM input", "2");
	{
		struct vt_db_batch b = db_for(&db_first, "monday", "");

		b.again = true;
		assert_int_equal(vt_db_add(db, &b, NULL, &err), -VT_E_VERSION);
	}
	db_same_error(&err, VT_E_VERSION, *state, ": a profile in a later version's format");
	expect_sql(db, "SELECT count(*) FROM input", "2");
	vt_db_close(db);
}

/* ---- what an input is known by ---- */

/*
 * SHA-256 of the batch as numbers of 8 bytes and texts with their sizes before them, by Python's
 * hashlib.  Databases hold such digests: they must stay as they are.
 */
static void digest_of_a_batch(void **state)
{
	static const uint8_t first[] = {0xf2, 0x60, 0xce, 0xe4, 0x7c, 0x44, 0x8c, 0x1a,
					0x5c, 0x09, 0x87, 0xd2, 0xbd, 0xaa, 0x6e, 0xde,
					0x29, 0x2b, 0x38, 0xf9, 0xaf, 0xb5, 0xf6, 0xa8,
					0x0e, 0x33, 0x31, 0x83, 0x39, 0xb3, 0x07, 0x7c};
	static const uint8_t nothing[] = {0x17, 0xb0, 0x76, 0x1f, 0x87, 0xb0, 0x81, 0xd5,
					  0xcf, 0x10, 0x75, 0x7c, 0xcc, 0x89, 0xf1, 0x2b,
					  0xe3, 0x55, 0xc7, 0x0e, 0x2e, 0x29, 0xdf, 0x28,
					  0x8b, 0x65, 0xb3, 0x07, 0x10, 0xdc, 0xbc, 0xd1};
	const struct vt_db_batch empty = {.label = "x"};
	struct vt_db_batch b = db_for(&db_first, "other", "label");
	uint8_t digest[VT_DIGEST_SIZE];

	(void)state;
	/* Neither where it goes nor what was lost, nor other numbers of an event, count. */
	b.nlosses = b.ngaps = b.ninputs = 0;
	b.now++;
	b.again = true;
	vt_db_batch_digest(&b, digest);
	assert_memory_equal(digest, first, sizeof(first));
	vt_db_batch_digest(&empty, digest);
	assert_memory_equal(digest, nothing, sizeof(nothing));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, db_setup, db_teardown)

/* Hexadecimal digits are lower case, numbers in range, and all of it is there. */
static void parse_an_input(void **state)
{
#define DIGEST "00f0000000000000000000000000000000000000000000000000000000000aff"
	static const char *const damaged[] = {
		"",
		"00",
		DIGEST,
		DIGEST " ",
		DIGEST " 1",
		DIGEST " 1 2",
		DIGEST "0 1 2 name",
		DIGEST " x 2 name",
		DIGEST " 1 99999999999999999999 name",
		"G" DIGEST " 1 2 name",
	};
	struct vt_db_input input;
	size_t i;

	(void)state;
	assert_true(vt_db_parse_input(DIGEST " -5 7 a name", &input));
	assert_int_equal(input.digest[1], 0xf0);
	assert_int_equal(input.digest[31], 0xff);
	assert_int_equal(input.added, -5);
	assert_int_equal(input.samples, 7);
	assert_int_equal(input.name.size, strlen("a name"));
	assert_memory_equal(input.name.data, "a name", input.name.size);
	for (i = 0; i < sizeof(damaged) / sizeof(damaged[0]); i++)
		assert_false(vt_db_parse_input(damaged[i], &input));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(adds_up),
		TEST(order_makes_no_difference),
		TEST(known_inputs_are_not_added_again),
		TEST(empty_batches),
		TEST(goes_to_the_latest_epoch),
		TEST(names_of_epochs_and_labels),
		TEST(sums_that_are_too_high),
		TEST(sums_of_sections_that_are_too_high),
		TEST(losses_end_at_a_limit),
		TEST(facts_that_are_too_long_or_too_many),
		TEST(every_table_is_needed),
		TEST(damaged_profiles_are_not_added_to),
		cmocka_unit_test(digest_of_a_batch),
		cmocka_unit_test(parse_an_input),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
