/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/formats/db/dbs.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "formats/db/internal.h"
#include "tests/unit/common/streams.h"
#include "tests/unit/common/toolbox.h"

#define BUILDID DB_TEXT("\x01\x02\x03\x04\x05\x06\xab\xcd")
#define PLACES(array)                                                                              \
	{                                                                                          \
		(array), DB_COUNT(array), DB_COUNT(array)                                          \
	}

/* ---- two batches ---- */

static const struct vt_db_input first_input = {{0xa1}, DB_TEXT("a.data"), 1000, 12};
static const struct vt_db_event first_events[] = {
	{DB_TEXT("cycles"),
	 DB_TEXT("cycles"),
	 {[VT_EVENT_POLICY] = 1, [VT_EVENT_CONFIG] = 7, [VT_EVENT_PERIOD] = 100}},
	{DB_TEXT("faults"), DB_TEXT(""), {[VT_EVENT_PERIOD] = 1}},
};
static const struct vt_db_image first_images[] = {
	{DB_TEXT("/opt/one"), BUILDID, 1, 62},
	{DB_TEXT("/opt/lib/two"), DB_TEXT(""), 1, 62},
};
static struct vt_db_place first_one_cycles[] = {{16, 5, 500}, {32, 2, 200}};
static struct vt_db_place first_one_faults[] = {{8, 1, 1}};
static struct vt_db_place first_two[] = {{0, 1, 100}};
static struct vt_db_place first_unmapped[] = {{0x1000, 3, 3}};
static const struct vt_db_profile first_profiles[] = {
	{0, 0, PLACES(first_one_cycles)},
	{0, 1, PLACES(first_one_faults)},
	{1, 0, PLACES(first_two)},
	{VT_DB_UNMAPPED, 1, PLACES(first_unmapped)},
};
static const struct vt_db_loss first_losses[] = {{0, DB_TEXT("perf"), 4}, {1, DB_TEXT("ring"), 1}};
static const struct vt_db_gap first_gaps[] = {{DB_TEXT("cut"), DB_TEXT("a"), 10, 2}};
static const struct vt_db_meta first_metas[] = {
	{DB_TEXT("arch"), DB_TEXT("x86_64")},
	{DB_TEXT("host"), DB_TEXT("alpha")},
};

static const struct vt_db_input second_input = {{0xb2}, DB_TEXT("b.data"), 2000, 13};
static const struct vt_db_event second_events[] = {
	{DB_TEXT("faults"), DB_TEXT(""), {[VT_EVENT_CONFIG] = 9, [VT_EVENT_PERIOD] = 1}},
	{DB_TEXT("cycles"),
	 DB_TEXT("cycles"),
	 {[VT_EVENT_POLICY] = 1, [VT_EVENT_CONFIG] = 7, [VT_EVENT_PERIOD] = 200}},
	{DB_TEXT("cycles"), DB_TEXT("cycles"), {[VT_EVENT_POLICY] = 2, [VT_EVENT_PERIOD] = 100}},
};
static const struct vt_db_image second_images[] = {
	{DB_TEXT("/opt/lib/two"), DB_TEXT(""), 2, 62},
	{DB_TEXT("/bin/one"), BUILDID, 2, 3},
};
static struct vt_db_place second_two[] = {{0, 3, 300}};
static struct vt_db_place second_one_1[] = {{16, 1, 200}, {48, 4, 800}};
static struct vt_db_place second_one_2[] = {{16, 3, 300}};
static struct vt_db_place second_unmapped[] = {{0x1000, 1, 1}, {0x2000, 1, 1}};
static const struct vt_db_profile second_profiles[] = {
	{0, 2, PLACES(second_two)},
	{1, 1, PLACES(second_one_1)},
	{1, 2, PLACES(second_one_2)},
	{VT_DB_UNMAPPED, 0, PLACES(second_unmapped)},
};
static const struct vt_db_loss second_losses[] = {{1, DB_TEXT("perf"), 6}, {2, DB_TEXT("perf"), 1}};
static const struct vt_db_gap second_gaps[] = {
	{DB_TEXT("bad"), DB_TEXT("b"), 7, 0},
	{DB_TEXT("cut"), DB_TEXT("a"), 5, 1},
};
static const struct vt_db_meta second_metas[] = {
	{DB_TEXT("arch"), DB_TEXT("x86_64")},
	{DB_TEXT("extra"), DB_TEXT("1")},
	{DB_TEXT("host"), DB_TEXT("beta")},
};

#define BATCH(which)                                                                               \
	{                                                                                          \
		.epoch = "monday", .label = "", .now = 500, .inputs = &which##_input,              \
		.ninputs = 1, .events = which##_events, .nevents = DB_COUNT(which##_events),       \
		.images = which##_images, .nimages = DB_COUNT(which##_images),                     \
		.profiles = which##_profiles, .nprofiles = DB_COUNT(which##_profiles),             \
		.losses = which##_losses, .nlosses = DB_COUNT(which##_losses),                     \
		.gaps = which##_gaps, .ngaps = DB_COUNT(which##_gaps), .metas = which##_metas,     \
		.nmetas = DB_COUNT(which##_metas), .marks = {                                      \
			11,                                                                        \
			22,                                                                        \
			33                                                                         \
		}                                                                                  \
	}

const struct vt_db_batch db_first = BATCH(first), db_second = BATCH(second);

struct vt_db_batch db_for(const struct vt_db_batch *b, const char *epoch, const char *label)
{
	struct vt_db_batch copy = *b;

	copy.epoch = epoch;
	copy.label = label;
	return copy;
}

void db_add(struct vt_db *db, const struct vt_db_batch *b, int code, const char *epoch)
{
	struct vt_error err = VT_ERROR_INIT;
	char *name;

	assert_int_equal(vt_db_add(db, b, &name, &err), code);
	assert_string_equal(name, epoch);
	free(name);
}

/* ---- files ---- */

/*
 * In place of the C library's, which SQLite calls: no test looks at what a machine that fails
 * leaves, and waiting for the disk would take most of their time.
 */
/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): theirs is reserved */
int fdatasync(int fd)
{
	(void)fd;
	return 0;
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): theirs is reserved */
int fsync(int fd)
{
	(void)fd;
	return 0;
}

int db_setup(void **state)
{
	char *dir = toolbox_dir();

	*state = strdup(toolbox_path(dir, "p.vdb"));
	assert_non_null(*state);
	free(dir);
	return 0;
}

int db_teardown(void **state)
{
	char *path = *state;

	*strrchr(path, '/') = '\0';
	toolbox_remove(path);
	return 0;
}

char *db_enter(const char *path)
{
	char dir[400];

	snprintf(dir, sizeof(dir), "%.*s", (int)(strrchr(path, '/') - path), path);
	return toolbox_enter(dir);
}

struct vt_db *db_open(const char *path, enum vt_db_mode mode)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_db *db = vt_db_open(path, mode, &err);

	if (!db)
		fail_msg("%s", err.text);
	return db;
}

void db_same_error(const struct vt_error *err, enum vt_errcode code, const char *path,
		   const char *text)
{
	assert_int_equal(strncmp(err->text, path, strlen(path)), 0);
	assert_string_equal(err->text + strlen(path), text);
	assert_int_equal(err->code, code);
}

void db_refuse(const char *path, enum vt_db_mode mode, enum vt_errcode code, const char *text)
{
	struct vt_error err = VT_ERROR_INIT;

	assert_null(vt_db_open(path, mode, &err));
	db_same_error(&err, code, path, text);
}

static sqlite3 *run_statements(const char *path, const char *sql)
{
	char *message = NULL;
	sqlite3 *s;

	assert_int_equal(sqlite3_open(path, &s), SQLITE_OK);
	if (sqlite3_exec(s, sql, NULL, NULL, &message) != SQLITE_OK)
		fail_msg("%s: %s", sql, message);
	return s;
}

void db_damage(const char *path, const char *sql)
{
	sqlite3_close(run_statements(path, sql));
}

void db_change(const char *path, const char *sql)
{
	struct vt_db db = {.sql = run_statements(path, sql), .path = (char *)path};
	struct vt_error err = VT_ERROR_INIT;

	assert_int_equal(vti_db_functions_init(&db, &err), 0);
	/* Not where a table is none of a database, or was dropped. */
	(void)vti_db_sums_make(&db, &err);
	sqlite3_close(db.sql);
}

const char *db_beside(const char *path, const char *suffix)
{
	static char names[4][400];
	static unsigned next;
	char *name = names[next++ % 4];

	snprintf(name, sizeof(names[0]), "%s%s", path, suffix);
	return name;
}

void db_resize(const char *path, int64_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT, 0644);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, size), 0);
	close(fd);
}

/* ---- what it says ---- */

/* A cell: of a digest the first byte, of a build-id the size, of a time the seconds of 1970. */
static void print_cell(struct vt_buf *out, const char *key, const struct vt_cell *c)
{
	unsigned hour, minute, second;
	char text[40];

	snprintf(text, sizeof(text), "%.*s", (int)c->size, c->text);
	if (c->type == VT_CELL_NUMBER)
		vt_buf_printf(out, "%" PRIu64, c->number);
	else if (strcmp(key, "digest") == 0)
		vt_buf_printf(out, "%.2s", text);
	else if (strcmp(key, "buildid") == 0)
		vt_buf_printf(out, "%zu", c->size / 2);
	else if (strcmp(key, "begun") == 0 || strcmp(key, "added") == 0)
		vt_buf_printf(out, "%u",
			      sscanf(text, "1970-01-01T%2u:%2u:%2uZ", &hour, &minute, &second) == 3
				      ? hour * 3600 + minute * 60 + second
				      : UINT_MAX);
	else
		vt_buf_put(out, c->text, c->size);
}

static int print_listing(struct vt_db *db, enum vt_db_listing which,
			 const struct vt_db_selection *sel, struct vt_buf *out,
			 struct vt_error *err)
{
	/* The columns, and what stands behind each. */
	static const char *const orders[] = {
		"epoch begun inputs labels images profiles samples bytes\n",
		"epoch/label input digest added samples\n",
		"epoch/label image buildid event places samples period bytes\n"};
	struct vt_table *t = vt_table_new();
	int code = vt_db_list(db, which, sel, t, err);
	size_t row, i;

	for (row = 0; row < vt_table_rows(t); row++) {
		const char *p = orders[which];

		while (*p) {
			size_t size = strcspn(p, " /\n");
			struct vt_cell c;

			for (i = 0; strncmp(vt_table_column_at(t, i)->key, p, size) != 0; i++)
				;
			c = vt_table_cell(t, row, i);
			print_cell(out, vt_table_column_at(t, i)->key, &c);
			vt_buf_put_u8(out, (uint8_t)p[size]);
			p += size + 1;
		}
	}
	vt_table_free(t);
	return code;
}

static void print_field(struct vt_buf *out, const struct vt_record *rec, unsigned f)
{
	const struct vt_field_desc *field = &rec->block->desc->fields[f];

	if (field->type == VT_TYPE_S || field->type == VT_TYPE_B) {
		struct vt_bytes b = vt_record_bytes(rec, f);
		size_t i;

		if (b.size == 0)
			return;
		vt_buf_printf(out, " %s=", field->name);
		for (i = 0; i < b.size; i++)
			vt_buf_printf(out, field->type == VT_TYPE_S ? "%c" : "%02x", b.data[i]);
	} else if (vt_record_u64(rec, f)) {
		vt_buf_printf(out, " %s=%" PRIu64, field->name, vt_record_u64(rec, f));
	}
}

static int print_stream(struct vt_db *db, bool export, const struct vt_db_selection *sel,
			struct vt_buf *out, struct vt_error *err)
{
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	int code = vt_db_write(db, sel, export, w, err);
	struct vt_reader *r = reread_stream(fd, w);
	struct vt_error read_err = VT_ERROR_INIT;
	struct vt_record rec;
	unsigned f;

	while (vt_reader_next(r, &rec, &read_err) == 1) {
		vt_buf_printf(out, "%s", rec.block->desc->name);
		for (f = 0; f < rec.block->ncolumns; f++)
			print_field(out, &rec, f);
		vt_buf_put_u8(out, '\n');
	}
	assert_int_equal(read_err.code, VT_OK);
	vt_reader_close(r);
	close(fd);
	return code;
}

int db_print(struct vt_db *db, enum db_view view, const struct vt_db_selection *sel,
	     struct vt_buf *out, struct vt_error *err)
{
	if (view <= DB_PROFILES)
		return print_listing(db, (enum vt_db_listing)view, sel, out, err);
	return print_stream(db, view == DB_EXPORTED, sel, out, err);
}

void db_expect(struct vt_db *db, enum db_view view, const struct vt_db_selection *sel,
	       const char *want)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_buf out = VT_BUF_INIT;

	if (db_print(db, view, sel, &out, &err) != 0)
		fail_msg("%s", err.text);
	assert_string_equal(vt_buf_str(&out), want);
	vt_buf_free(&out);
}

void db_expect_error(struct vt_db *db, enum db_view view, const struct vt_db_selection *sel,
		     enum vt_errcode code, const char *text)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_buf out = VT_BUF_INIT;

	assert_int_equal(db_print(db, view, sel, &out, &err), -(int)code);
	db_same_error(&err, code, db->path, text);
	vt_buf_free(&out);
	/* No transaction is left open. */
	assert_int_equal(sqlite3_get_autocommit(db->sql), 1);
}

/* ---- a database of both ---- */

void db_add_second(struct vt_db *db)
{
	struct vt_db_batch b = db_for(&db_second, "b", "");

	db_add(db, &b, 1, "b");
}

void db_make_first(const char *path)
{
	struct vt_db_batch b = db_for(&db_first, "a", "");
	struct vt_db *db = db_open(path, VT_DB_CREATE);

	db_add(db, &b, 1, "a");
	vt_db_close(db);
}

void db_expect_epochs(const char *path, const char *want)
{
	struct vt_db *db = db_open(path, VT_DB_READ);

	db_expect(db, DB_EPOCHS, DB_ALL, want);
	vt_db_close(db);
}
