/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What comes out of a database of profiles: lists, sums, exports, all of it or what was chosen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/formats/db/dbs.h"

/* Both batches as one: facts on which they disagree, and such numbers of events, are left out. */
#define SUM_FACTS  "META key=arch value=x86_64\nMETA key=extra value=1\n"
#define CYCLES_1   "EVENT name=cycles policy=1 unit=cycles config=7\n"
#define CYCLES_2   "EVENT id=1 name=cycles policy=2 unit=cycles period=100\n"
#define SUM_EVENTS CYCLES_1 CYCLES_2 "EVENT id=2 name=faults period=1\n"
#define SUM_LOSSES                                                                                 \
	"LOST count=10 source=perf\nLOST event=1 count=1 source=perf\n"                            \
	"LOST event=2 count=1 source=ring\n"
#define SUM_GAPS "GAP reason=cut input=a bytes=15 records=3\nGAP reason=bad input=b bytes=7\n"
/* What follows the first byte of the digests of these inputs. */
#define ZEROS "00000000000000000000000000000000000000000000000000000000000000"
#define ONE   "type=2 path=/bin/one buildid=010203040506abcd machine=3\n"

static const char whole_sum[] =
	SUM_FACTS SUM_EVENTS "IMAGE " ONE "IMAGE id=1 type=1 path=/opt/lib/two machine=62\n"
			     "IMAGE id=2 type=2 path=/opt/lib/two machine=62\n" SUM_LOSSES SUM_GAPS
			     "COUNT offset=8 event=2 samples=1 period=1\n"
			     "COUNT offset=16 samples=6 period=700\n"
			     "COUNT offset=16 event=1 samples=3 period=300\n"
			     "COUNT offset=32 samples=2 period=200\n"
			     "COUNT offset=48 samples=4 period=800\n"
			     "COUNT image=1 samples=1 period=100\n"
			     "COUNT image=2 event=1 samples=3 period=300\n"
			     "COUNT image=4294967295 offset=4096 event=2 samples=4 period=4\n"
			     "COUNT image=4294967295 offset=8192 event=2 samples=1 period=1\n";

/* A database of both batches, each where it is wanted. */
static struct vt_db *make(const char *path, const char *first_epoch, const char *first_label,
			  const char *second_epoch, const char *second_label)
{
	struct vt_db_batch first = db_for(&db_first, first_epoch, first_label);
	struct vt_db_batch second = db_for(&db_second, second_epoch, second_label);
	struct vt_db *db = db_open(path, VT_DB_CREATE);

	second.now = 600;
	db_add(db, &first, 1, first_epoch);
	db_add(db, &second, 1, second_epoch);
	return db;
}

static void sums_are_the_same_of_whatever_sections(void **state)
{
	static const char *const where[][4] = {
		{"a", "", "a", ""}, {"a", "", "a", "x"}, {"b", "x", "a", "x"}, {"b", "", "c", "x"}};
	size_t i;

	for (i = 0; i < DB_COUNT(where); i++) {
		struct vt_db *db = make(*state, where[i][0], where[i][1], where[i][2], where[i][3]);

		db_expect(db, DB_WRITTEN, DB_ALL, whole_sum);
		vt_db_close(db);
		assert_int_equal(remove(*state), 0);
	}
}

/* ---- lists of what was chosen ---- */

#define LIST(...) .names = {__VA_ARGS__}, .count = DB_COUNT(((const char *[]){__VA_ARGS__}))

struct choice {
	const char *names[3];
	size_t count;
};

/* First: epoch "a", label "x".  Second: epoch "b", label "".  Epoch "c" is empty. */
static struct vt_db *make_three(const char *path)
{
	struct vt_db *db = make(path, "a", "x", "b", "");
	struct vt_error err = VT_ERROR_INIT;

	assert_int_equal(vt_db_epoch(db, "c", 800, &err), 1);
	return db;
}

#define FIRST_EPOCH	 "a 500 1 1 3 4 12 23\n"
#define SECOND_EPOCH	 "b 600 1 1 3 4 13 27\n"
#define THIRD_EPOCH	 "c 800 0 0 0 0 0 0\n"
#define FIRST_INPUT	 "a/x a.data a1 1000 12\n"
#define SECOND_INPUT	 "b/ b.data b2 2000 13\n"
#define FIRST_NOWHERE	 "a/x  0 faults 1 3 3 6\n"
#define FIRST_ONE	 "a/x /bin/one 8 cycles 2 7 700 7\n"
#define FIRST_ONE_FAULTS "a/x /bin/one 8 faults 1 1 1 5\n"
#define FIRST_TWO	 "a/x /opt/lib/two 0 cycles 1 1 100 5\n"
#define SECOND_NOWHERE	 "b/  0 faults 2 2 2 9\n"
#define SECOND_ONE	 "b/ /bin/one 8 cycles 2 5 1000 8\nb/ /bin/one 8 cycles 1 3 300 5\n"
#define SECOND_TWO	 "b/ /opt/lib/two 0 cycles 1 3 300 5\n"

static void lists_of_what_was_chosen(void **state)
{
	static const struct {
		struct choice epochs, labels, images, events;
		const char *by_epoch, *by_input, *by_profile;
	} rows[] = {
		{.by_epoch = FIRST_EPOCH SECOND_EPOCH THIRD_EPOCH,
		 .by_input = FIRST_INPUT SECOND_INPUT,
		 .by_profile = FIRST_NOWHERE FIRST_ONE FIRST_ONE_FAULTS FIRST_TWO SECOND_NOWHERE
			 SECOND_ONE SECOND_TWO},
		{.epochs = {LIST("b")},
		 .by_epoch = SECOND_EPOCH,
		 .by_input = SECOND_INPUT,
		 .by_profile = SECOND_NOWHERE SECOND_ONE SECOND_TWO},
		{.epochs = {LIST("c", "a")},
		 .by_epoch = FIRST_EPOCH THIRD_EPOCH,
		 .by_input = FIRST_INPUT,
		 .by_profile = FIRST_NOWHERE FIRST_ONE FIRST_ONE_FAULTS FIRST_TWO},
		{.labels = {LIST("x")},
		 .by_epoch = FIRST_EPOCH "b 600 0 0 0 0 0 0\n" THIRD_EPOCH,
		 .by_input = FIRST_INPUT,
		 .by_profile = FIRST_NOWHERE FIRST_ONE FIRST_ONE_FAULTS FIRST_TWO},
		{.labels = {LIST("")},
		 .epochs = {LIST("a", "b")},
		 .by_epoch = "a 500 0 0 0 0 0 0\n" SECOND_EPOCH,
		 .by_input = SECOND_INPUT,
		 .by_profile = SECOND_NOWHERE SECOND_ONE SECOND_TWO},
		{.labels = {LIST("", "x")},
		 .epochs = {LIST("b")},
		 .by_epoch = SECOND_EPOCH,
		 .by_input = SECOND_INPUT,
		 .by_profile = SECOND_NOWHERE SECOND_ONE SECOND_TWO},
		{.images = {LIST("two")},
		 .by_epoch = "a 500 1 1 1 1 1 5\nb 600 1 1 1 1 3 5\n" THIRD_EPOCH,
		 .by_input = FIRST_INPUT SECOND_INPUT,
		 .by_profile = FIRST_TWO SECOND_TWO},
		{.images = {LIST("lib/two", "010203040506AB")},
		 .epochs = {LIST("a")},
		 .by_epoch = "a 500 1 1 2 3 9 17\n",
		 .by_input = FIRST_INPUT,
		 .by_profile = FIRST_ONE FIRST_ONE_FAULTS FIRST_TWO},
		{.images = {LIST("/bin/one", "one", "01020304")},
		 .events = {LIST("cycles", "cycles")},
		 .by_epoch = "a 500 1 1 1 1 7 7\nb 600 1 1 1 2 8 13\n" THIRD_EPOCH,
		 .by_input = FIRST_INPUT SECOND_INPUT,
		 .by_profile = FIRST_ONE SECOND_ONE},
		{.events = {LIST("faults")},
		 .by_epoch = "a 500 1 1 2 2 4 11\nb 600 1 1 1 1 2 9\n" THIRD_EPOCH,
		 .by_input = FIRST_INPUT SECOND_INPUT,
		 .by_profile = FIRST_NOWHERE FIRST_ONE_FAULTS SECOND_NOWHERE},
		{.events = {LIST("faults", "cycles")},
		 .images = {LIST("/opt/lib/two")},
		 .epochs = {LIST("b")},
		 .by_epoch = "b 600 1 1 1 1 3 5\n",
		 .by_input = SECOND_INPUT,
		 .by_profile = SECOND_TWO},
	};
	struct vt_db *db = make_three(*state);
	size_t i;

	for (i = 0; i < DB_COUNT(rows); i++) {
		const struct vt_db_selection sel = {rows[i].epochs.names, rows[i].epochs.count,
						    rows[i].labels.names, rows[i].labels.count,
						    rows[i].images.names, rows[i].images.count,
						    rows[i].events.names, rows[i].events.count};

		db_expect(db, DB_EPOCHS, &sel, rows[i].by_epoch);
		db_expect(db, DB_INPUTS, &sel, rows[i].by_input);
		db_expect(db, DB_PROFILES, &sel, rows[i].by_profile);
	}
	vt_db_close(db);
}

static void what_is_not_there(void **state)
{
	static const struct {
		struct choice epochs, labels, images, events;
		const char *text;
	} rows[] = {
		{.epochs = {LIST("a", "d")}, .text = ": there is no epoch 'd'"},
		{.labels = {LIST("y", "x")}, .text = ": there is no label 'y'"},
		{.images = {LIST("two", "wo", "none")}, .text = ": there is no image 'wo'"},
		{.images = {LIST("/two")}, .text = ": there is no image '/two'"},
		/* Seven digits are a name, as are eight with another letter. */
		{.images = {LIST("0102030")}, .text = ": there is no image '0102030'"},
		{.images = {LIST("01020304x")}, .text = ": there is no image '01020304x'"},
		{.images = {LIST("02030405")}, .text = ": there is no image '02030405'"},
		{.events = {LIST("cycle", "cycles")}, .text = ": there is no event 'cycle'"},
	};
	struct vt_db *db = make_three(*state);
	enum db_view view;
	size_t i;

	for (i = 0; i < DB_COUNT(rows); i++) {
		const struct vt_db_selection sel = {rows[i].epochs.names, rows[i].epochs.count,
						    rows[i].labels.names, rows[i].labels.count,
						    rows[i].images.names, rows[i].images.count,
						    rows[i].events.names, rows[i].events.count};

		for (view = DB_EPOCHS; view <= DB_EXPORTED; view++)
			db_expect_error(db, view, &sel, VT_E_NOTFOUND, rows[i].text);
	}
	db_expect(db, DB_WRITTEN, DB_ALL, whole_sum);
	vt_db_close(db);
}

/* ---- streams of what was chosen ---- */

/* The first batch alone; what begins the second one's section, and its gaps. */
#define FIRST_RECORDS                                                                              \
	"META key=arch value=x86_64\nMETA key=host value=alpha\n"                                  \
	"EVENT name=cycles policy=1 unit=cycles config=7 period=100\n"                             \
	"EVENT id=1 name=faults period=1\n"                                                        \
	"IMAGE " ONE "IMAGE id=1 type=1 path=/opt/lib/two machine=62\n"                            \
	"LOST count=4 source=perf\nLOST event=1 count=1 source=ring\n"                             \
	"GAP reason=cut input=a bytes=10 records=2\n"                                              \
	"COUNT offset=8 event=1 samples=1 period=1\n"                                              \
	"COUNT offset=16 samples=5 period=500\n"                                                   \
	"COUNT offset=32 samples=2 period=200\n"                                                   \
	"COUNT image=1 samples=1 period=100\n"                                                     \
	"COUNT image=4294967295 offset=4096 event=1 samples=3 period=3\n"
#define SECOND_FACTS                                                                               \
	"META key=vdb.epoch value=b\nMETA key=vdb.label\nMETA key=vdb.begun value=600\n"           \
	"META key=vdb.input value=b2" ZEROS " 2000 13 b.data\n"                                    \
	"META key=arch value=x86_64\nMETA key=extra value=1\nMETA key=host value=beta\n"
#define SECOND_GAPS "GAP reason=cut input=a bytes=5 records=1\nGAP reason=bad input=b bytes=7\n"

static void sums_of_what_was_chosen(void **state)
{
	static const char *const a[] = {"a"}, *const one[] = {"one"}, *const faults[] = {"faults"},
				 *const cycles[] = {"cycles"};
	const struct vt_db_selection first = {.epochs = a, .nepochs = 1};
	const struct vt_db_selection image = {
		.images = one, .nimages = 1, .events = cycles, .nevents = 1};
	const struct vt_db_selection event = {.events = faults, .nevents = 1};
	struct vt_db *db = make_three(*state);

	db_expect(db, DB_WRITTEN, &first, FIRST_RECORDS);
	db_expect(db, DB_WRITTEN, &image,
		  SUM_FACTS CYCLES_1 CYCLES_2
		  "IMAGE " ONE
		  "LOST count=10 source=perf\nLOST event=1 count=1 source=perf\n" SUM_GAPS
		  "COUNT offset=16 samples=6 period=700\n"
		  "COUNT offset=16 event=1 samples=3 period=300\n"
		  "COUNT offset=32 samples=2 period=200\n"
		  "COUNT offset=48 samples=4 period=800\n");
	db_expect(db, DB_WRITTEN, &event,
		  SUM_FACTS "EVENT name=faults period=1\n"
			    "IMAGE " ONE "LOST count=1 source=ring\n" SUM_GAPS
			    "COUNT offset=8 samples=1 period=1\n"
			    "COUNT image=4294967295 offset=4096 samples=4 period=4\n"
			    "COUNT image=4294967295 offset=8192 samples=1 period=1\n");
	vt_db_close(db);
}

/* Events and images are numbered once: the second section has some of the first's. */
static void exports_section_by_section(void **state)
{
	static const char *const b[] = {"b"};
	const struct vt_db_selection second = {.epochs = b, .nepochs = 1};
	struct vt_db *db = make_three(*state);

	db_expect(db, DB_EXPORTED, &second,
		  SECOND_FACTS
		  "EVENT name=cycles policy=1 unit=cycles config=7 period=200\n"
		  "EVENT id=1 name=cycles policy=2 unit=cycles period=100\n"
		  "EVENT id=2 name=faults config=9 period=1\n"
		  "IMAGE " ONE "IMAGE id=1 type=2 path=/opt/lib/two machine=62\n"
		  "LOST count=6 source=perf\nLOST event=1 count=1 source=perf\n" SECOND_GAPS
		  "COUNT offset=16 samples=1 period=200\n"
		  "COUNT offset=16 event=1 samples=3 period=300\n"
		  "COUNT offset=48 samples=4 period=800\n"
		  "COUNT image=1 event=1 samples=3 period=300\n"
		  "COUNT image=4294967295 offset=4096 event=2 samples=1 period=1\n"
		  "COUNT image=4294967295 offset=8192 event=2 samples=1 period=1\n");
	db_expect(db, DB_EXPORTED, DB_ALL,
		  "META key=vdb.epoch value=a\nMETA key=vdb.label value=x\n"
		  "META key=vdb.begun value=500\n"
		  "META key=vdb.input value=a1" ZEROS " 1000 12 a.data\n" FIRST_RECORDS SECOND_FACTS
		  "EVENT name=cycles policy=1 unit=cycles config=7 period=200\n"
		  "EVENT id=2 name=cycles policy=2 unit=cycles period=100\n"
		  "EVENT id=1 name=faults config=9 period=1\n"
		  "IMAGE " ONE "IMAGE id=2 type=2 path=/opt/lib/two machine=62\n"
		  "LOST count=6 source=perf\nLOST event=2 count=1 source=perf\n" SECOND_GAPS
		  "COUNT offset=16 samples=1 period=200\n"
		  "COUNT offset=16 event=2 samples=3 period=300\n"
		  "COUNT offset=48 samples=4 period=800\n"
		  "COUNT image=2 event=2 samples=3 period=300\n"
		  "COUNT image=4294967295 offset=4096 event=1 samples=1 period=1\n"
		  "COUNT image=4294967295 offset=8192 event=1 samples=1 period=1\n");
	vt_db_close(db);
}

/* ---- what is damaged ---- */

static void every_table_is_needed(void **state)
{
	static const char *const tables[] = {"epoch", "section", "input",    "event", "image",
					     "meta",  "profile", "declared", "loss",  "gap"};
	size_t i;

	for (i = 0; i < DB_COUNT(tables); i++) {
		struct vt_db *db = make_three(*state);
		char sql[100], text[100];

		vt_db_close(db);
		snprintf(sql, sizeof(sql), "DROP TABLE %s", tables[i]);
		snprintf(text, sizeof(text), ": no such table: %s", tables[i]);
		db_change(*state, sql);
		db = db_open(*state, VT_DB_READ);
		if (strcmp(tables[i], "input") == 0)
			db_expect(db, DB_WRITTEN, DB_ALL, whole_sum);
		else
			db_expect_error(db, DB_WRITTEN, DB_ALL, VT_E_SYSTEM, text);
		db_expect_error(db, DB_EXPORTED, DB_ALL, VT_E_SYSTEM, text);
		vt_db_close(db);
		assert_int_equal(remove(*state), 0);
	}
}

static void damaged_rows(void **state)
{
	static const struct {
		const char *sql;
		enum vt_errcode code;
		const char *text;
	} rows[] = {
		{"UPDATE profile SET data = x'00' WHERE image = 0", VT_E_VERSION,
		 ": a profile in a later version's format"},
		{"UPDATE profile SET data = x'0101' WHERE image <> 0", VT_E_DAMAGED,
		 ": a profile is damaged"},
		{"DELETE FROM declared WHERE event = (SELECT id FROM event WHERE name = 'faults')",
		 VT_E_DAMAGED, ": a profile of an event that is not declared"},
		{"UPDATE declared SET fields = x'0280'", VT_E_DAMAGED, ": an event is damaged"},
	};
	size_t i;

	for (i = 0; i < DB_COUNT(rows); i++) {
		struct vt_db *db = make_three(*state);

		vt_db_close(db);
		db_change(*state, rows[i].sql);
		db = db_open(*state, VT_DB_READ);
		db_expect_error(db, DB_WRITTEN, DB_ALL, rows[i].code, rows[i].text);
		db_expect_error(db, DB_EXPORTED, DB_ALL, rows[i].code, rows[i].text);
		vt_db_close(db);
		assert_int_equal(remove(*state), 0);
	}
}

static void names_cannot_be_looked_up(void **state)
{
	static const char *const names[] = {"one"};
	static const struct {
		const char *sql;
		struct vt_db_selection sel;
		const char *text;
	} rows[] = {
		{"DROP TABLE image", {.images = names, .nimages = 1}, ": no such table: image"},
		{"DROP TABLE event", {.events = names, .nevents = 1}, ": no such table: event"},
		{"DROP TABLE section", {.labels = names, .nlabels = 1}, ": no such table: section"},
	};
	size_t i;

	for (i = 0; i < DB_COUNT(rows); i++) {
		struct vt_db *db;

		db_make_first(*state);
		db_change(*state, rows[i].sql);
		db = db_open(*state, VT_DB_READ);
		db_expect_error(db, DB_EPOCHS, &rows[i].sel, VT_E_SYSTEM, rows[i].text);
		vt_db_close(db);
		assert_int_equal(remove(*state), 0);
	}
}

/* Numbers below 0, digests of another size, columns that are empty: what no program writes. */
static void odd_rows(void **state)
{
	struct vt_db *db = make_three(*state);

	vt_db_close(db);
	db_change(*state, "UPDATE input SET digest = x'01', samples = -1 WHERE samples = 12;"
			  "UPDATE input SET samples = -1 WHERE samples = 13;"
			  "UPDATE image SET type = -1, machine = 0 WHERE path = '/bin/one';"
			  "UPDATE profile SET period = -7 WHERE samples = 7");
	db = db_open(*state, VT_DB_READ);
	db_expect(db, DB_INPUTS, DB_ALL, "b/ b.data b2 2000 0\n");
	vt_db_close(db);
}

/* Streams of another version: of an event with fewer numbers the rest is 0, more are ignored. */
static void numbers_of_other_versions(void **state)
{
	static const struct {
		const char *fields, *event;
	} rows[] = {
		{"x'00'", "EVENT name=e\n"},
		{"x'0505040302' || x'01'", "EVENT name=e type=1\n"},
		{"x'1301010101010101010101010101010101010107' || x''",
		 "EVENT name=e type=1 config=1 config1=1 config2=1 period=1 freq=1 precise=1"
		 " sample_type=1 read_format=1 attr_flags=1 branch_type=1 regs_user_mask=1"
		 " regs_intr_mask=1 stack_user=1\n"},
	};
	static const struct vt_db_event event = {DB_TEXT("e"), DB_TEXT(""), {0}};
	const struct vt_db_batch b = {.epoch = "e", .label = "", .events = &event, .nevents = 1};
	size_t i;

	for (i = 0; i < DB_COUNT(rows); i++) {
		struct vt_db *db = db_open(*state, VT_DB_CREATE);
		char sql[200];

		db_add(db, &b, 1, "e");
		vt_db_close(db);
		snprintf(sql, sizeof(sql), "UPDATE declared SET fields = CAST(%s AS BLOB)",
			 rows[i].fields);
		db_change(*state, sql);
		db = db_open(*state, VT_DB_READ);
		db_expect(db, DB_WRITTEN, DB_ALL, rows[i].event);
		vt_db_close(db);
		assert_int_equal(remove(*state), 0);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, db_setup, db_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(sums_are_the_same_of_whatever_sections),
		TEST(lists_of_what_was_chosen),
		TEST(what_is_not_there),
		TEST(sums_of_what_was_chosen),
		TEST(exports_section_by_section),
		TEST(every_table_is_needed),
		TEST(damaged_rows),
		TEST(names_cannot_be_looked_up),
		TEST(odd_rows),
		TEST(numbers_of_other_versions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
