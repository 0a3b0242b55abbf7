/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is damaged in a database of profiles is found, or it changes nothing of what it says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "formats/db/internal.h"
#include "tests/unit/formats/db/dbs.h"

static const enum db_view views[] = {DB_EPOCHS, DB_INPUTS, DB_PROFILES, DB_WRITTEN, DB_EXPORTED};

static void expect_sound(const char *path, int code, const char *text)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_db *db = db_open(path, VT_DB_READ);

	assert_int_equal(vt_db_check(db, &err), code);
	if (code < 0)
		db_same_error(&err, VT_E_DAMAGED, path, text);
	vt_db_close(db);
}

static void make_both(const char *path)
{
	struct vt_db *db;

	db_make_first(path);
	db = db_open(path, VT_DB_WRITE);
	db_add_second(db);
	vt_db_close(db);
}

/* Each column that nothing else checks; which views read it. */
static void each_table_has_sums(void **state)
{
	static const struct {
		const char *sql, *text;
		bool told[DB_COUNT(views)]; /* of an error */
	} rows[] = {
		{"UPDATE epoch SET name = 'c' WHERE name = 'b'",
		 ": row 2 of table epoch is damaged",
		 {1, 1, 1, 1, 1}},
		{"UPDATE epoch SET begun = 501 WHERE name = 'a'",
		 ": row 1 of table epoch is damaged",
		 {1, 1, 1, 1, 1}},
		{"UPDATE section SET label = 'x' WHERE id = 2",
		 ": row 2 of table section is damaged",
		 {1, 1, 1, 1, 1}},
		{"UPDATE input SET name = 'a.date' WHERE id = 1",
		 ": row 1 of table input is damaged",
		 {1, 1, 0, 0, 1}},
		{"UPDATE input SET digest = zeroblob(32) WHERE id = 2",
		 ": row 2 of table input is damaged",
		 {1, 1, 0, 0, 1}},
		{"UPDATE event SET name = 'cyclez' WHERE policy = 2",
		 ": row 3 of table event is damaged",
		 {0, 0, 1, 1, 1}},
		{"UPDATE image SET path = '/bin/two' WHERE path = '/bin/one'",
		 ": row 1 of table image is damaged",
		 {0, 0, 1, 1, 1}},
		{"UPDATE image SET buildid = zeroblob(8) WHERE path = '/bin/one'",
		 ": row 1 of table image is damaged",
		 {0, 0, 1, 1, 1}},
		{"UPDATE image SET machine = 63 WHERE type = 2 AND machine = 62",
		 ": row 3 of table image is damaged",
		 {0, 0, 1, 1, 1}},
		{"UPDATE declared SET fields = x'00' WHERE section = 2 AND event = 3",
		 ": row 2, 3 of table declared is damaged",
		 {0, 0, 0, 1, 1}},
		/* Its offset is another. */
		{"UPDATE profile SET data = x'0101010101' WHERE data = x'0101010801'",
		 ": row 1, 1, 2 of table profile is damaged",
		 {1, 0, 1, 1, 1}},
		{"UPDATE loss SET count = 5 WHERE count = 4",
		 ": row 1, 1, perf of table loss is damaged",
		 {0, 0, 0, 1, 1}},
		{"UPDATE gap SET bytes = 11 WHERE bytes = 10",
		 ": row 1, cut, a of table gap is damaged",
		 {0, 0, 0, 1, 1}},
		{"UPDATE meta SET value = NULL WHERE value = 'alpha'",
		 ": row 1, host of table meta is damaged",
		 {0, 0, 0, 1, 1}},
		{"UPDATE meta SET sum = NULL WHERE value = 'alpha'",
		 ": row 1, host of table meta is damaged",
		 {0, 0, 0, 1, 1}},
	};
	size_t i, k;

	for (i = 0; i < DB_COUNT(rows); i++) {
		struct vt_error err = VT_ERROR_INIT;
		struct vt_buf out = VT_BUF_INIT;
		struct vt_db *db;

		make_both(*state);
		expect_sound(*state, 0, "");
		db_damage(*state, rows[i].sql);
		expect_sound(*state, -VT_E_DAMAGED, rows[i].text);
		db = db_open(*state, VT_DB_READ);
		for (k = 0; k < DB_COUNT(views); k++) {
			if (rows[i].told[k])
				db_expect_error(db, views[k], DB_ALL, VT_E_DAMAGED, rows[i].text);
			else
				assert_int_equal(db_print(db, views[k], DB_ALL, &out, &err), 0);
		}
		vt_buf_free(&out);
		vt_db_close(db);
		assert_int_equal(remove(*state), 0);
	}
}

/* What is sound can be had though something else is damaged. */
static void sums_of_what_was_chosen(void **state)
{
	static const char *const epochs[] = {"a", "b"}, *const images[] = {"two"};
	const struct vt_db_selection first = {.epochs = epochs, .nepochs = 1};
	const struct vt_db_selection second = {.epochs = epochs + 1, .nepochs = 1};
	const struct vt_db_selection two = {.images = images, .nimages = 1};
	static const char text[] = ": row 2, 1, 1 of table profile is damaged";
	struct vt_error err = VT_ERROR_INIT;
	struct vt_buf out = VT_BUF_INIT;
	struct vt_db *db;

	make_both(*state);
	db_damage(*state, "UPDATE profile SET period = 7 WHERE section = 2 AND image = 1 AND"
			  " event = 1");
	db = db_open(*state, VT_DB_READ);
	assert_int_equal(db_print(db, DB_PROFILES, &first, &out, &err), 0);
	assert_int_equal(db_print(db, DB_PROFILES, &two, &out, &err), 0);
	db_expect_error(db, DB_PROFILES, &second, VT_E_DAMAGED, text);
	db_expect_error(db, DB_WRITTEN, DB_ALL, VT_E_DAMAGED, text);
	vt_buf_free(&out);
	vt_db_close(db);
}

/* A database without sums, as version 1 made it, is read as it is, and has them from an addition.
 */
static void databases_of_version_1(void **state)
{
	static const char *const tables[] = {"epoch", "section", "input",    "event", "image",
					     "meta",  "profile", "declared", "loss",  "gap"};
	struct vt_db *db;
	char sql[100];
	size_t i;

	db_make_first(*state);
	for (i = 0; i < DB_COUNT(tables); i++) {
		snprintf(sql, sizeof(sql), "ALTER TABLE %s DROP COLUMN sum", tables[i]);
		db_damage(*state, sql);
	}
	db_damage(*state, "PRAGMA user_version = 1");
	db_expect_epochs(*state, DB_FIRST);
	expect_sound(*state, 0, "");
	db = db_open(*state, VT_DB_WRITE);
	db_add_second(db);
	vt_db_close(db);
	db_expect_epochs(*state, DB_BOTH);
	expect_sound(*state, 0, "");
	db_damage(*state, "UPDATE image SET path = '/bin/two' WHERE path = '/bin/one'");
	expect_sound(*state, -VT_E_DAMAGED, ": row 1 of table image is damaged");
}

/* ---- bits ---- */

static uint8_t *read_file(const char *path, size_t *size)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data;

	assert_non_null(f);
	assert_int_equal(fseek(f, 0, SEEK_END), 0);
	*size = (size_t)ftell(f);
	rewind(f);
	data = malloc(*size);
	assert_non_null(data);
	assert_int_equal(fread(data, 1, *size, f), *size);
	fclose(f);
	return data;
}

static void write_byte(const char *path, size_t at, uint8_t byte)
{
	FILE *f = fopen(path, "r+b");

	assert_non_null(f);
	assert_int_equal(fseek(f, (long)at, SEEK_SET), 0);
	assert_int_equal(fputc(byte, f), byte);
	assert_int_equal(fclose(f), 0);
}

/* All that it says; whether its check finds nothing. */
static bool tell_all(const char *path, struct vt_buf *out)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_db *db = vt_db_open(path, VT_DB_READ, &err);
	bool sound = db && vt_db_check(db, &err) == 0;
	size_t i;

	out->size = 0;
	for (i = 0; i < DB_COUNT(views) && sound; i++)
		vt_buf_printf(out, "%d\n", db_print(db, views[i], DB_ALL, out, &err));
	vt_db_close(db);
	return sound;
}

/* One bit of every STEP-th byte that is not 0: the others are mostly room. */
#define STEP 9

static void a_bit_is_found_or_changes_nothing(void **state)
{
	struct vt_buf want = VT_BUF_INIT, got = VT_BUF_INIT;
	unsigned flips = 0, found = 0;
	size_t size, i, n = 0;
	uint8_t *data;

	make_both(*state);
	assert_true(tell_all(*state, &want));
	assert_int_equal(access(db_beside(*state, "-wal"), F_OK), -1);
	data = read_file(*state, &size);
	for (i = 0; i < size; i++) {
		if (data[i] == 0 || n++ % STEP)
			continue;
		write_byte(*state, i, data[i] ^ (uint8_t)(1u << flips % 8));
		if (!tell_all(*state, &got))
			found++;
		else if (strcmp(vt_buf_str(&got), vt_buf_str(&want)) != 0)
			fail_msg("byte %zu, bit %u", i, flips % 8);
		write_byte(*state, i, data[i]);
		flips++;
	}
	print_message("# %u flips, %u found\n", flips, found);
	assert_true(flips > 400 && found > flips / 4);
	free(data);
	vt_buf_free(&want);
	vt_buf_free(&got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_table_has_sums, db_setup, db_teardown),
		cmocka_unit_test_setup_teardown(sums_of_what_was_chosen, db_setup, db_teardown),
		cmocka_unit_test_setup_teardown(databases_of_version_1, db_setup, db_teardown),
		cmocka_unit_test_setup_teardown(a_bit_is_found_or_changes_nothing, db_setup,
						db_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
