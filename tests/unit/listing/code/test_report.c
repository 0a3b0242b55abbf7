/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which procedures vlist lists and compares, and the documents that it makes of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "listing/code/diff.h"
#include "listing/code/report.h"
#include "tests/unit/common/printed.h"
#include "tests/unit/common/scenes.h"
#include "tests/unit/common/streams.h"
#include "tests/unit/common/toolbox.h"

static struct vt_error err;
static char *dir;
static struct scene s;
static struct vt_event_choice events;
static char notes[256];

/* 20 cycles in f, 30 in g, 5 elsewhere in the file. */
static int begin(void **state)
{
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);

	(void)state;
	dir = toolbox_dir();
	scene_program(dir, scene_walk);
	scene_event(w, 1, "cycles", VT_POLICY_INTERRUPT);
	scene_image(w, 1, toolbox_path(dir, "prog"));
	scene_map(w, 0x400000, 1);
	scene_samples(w, 1, 0x401000, 0, 1, 20);
	scene_samples(w, 1, 0x40101c, 0, 1, 30);
	scene_samples(w, 1, 0x40101e, 0, 1, 5);
	scene_read(&s, fd, w, false);
	assert_int_equal(vt_event_choice_init(&events, s.profile, NULL, 0, &err), 0);
	return 0;
}

static int end(void **state)
{
	(void)state;
	vt_event_choice_fini(&events);
	scene_drop(&s);
	toolbox_remove(dir);
	return 0;
}

static struct vt_listreport report(void)
{
	return (struct vt_listreport){
		.profile = s.profile, .images = s.images, .events = &events, .view = VT_LIST_ASM};
}

/* Keeps each text, ended by ';'. */
static void note(void *arg, const char *text)
{
	size_t size = strlen(notes);

	(void)arg;
	snprintf(notes + size, sizeof(notes) - size, "%s;", text);
}

/* ---- which procedures ---- */

static void test_find(void **state)
{
	struct vt_listreport r = report();

	(void)state;
	assert_int_equal(vt_listreport_find(&r, "g", &err), 0);
	assert_int_equal(vt_listreport_find(&r, "0x401004", &err), 0);
	assert_int_equal(vt_listreport_find(&r, "nothing", &err), -VT_E_NOTFOUND);
	assert_int_equal(vt_listreport_find(&r, "prog:[no symbol covers it]", &err), 0);
	assert_int_equal(r.found.count, 3);
	vt_listreport_explain(&r, "g", -VT_E_AMBIGUOUS, 1, note, NULL);
	assert_string_equal(
		scene_text(notes, dir),
		"  #1  D/prog:0x401000  f, 20 samples (36.36%);"
		"  #2  D/prog:[no symbol covers it]  5 samples (9.09%);"
		"name one of them so: 'g#2', IMAGE:NAME, IMAGE:0xADDRESS or IMAGE:[CAUSE];");
	*notes = 0;
	vt_listreport_explain(&r, "nothing", -VT_E_NOTFOUND, 3, note, NULL);
	assert_string_equal(scene_text(notes, dir),
			    "samples in no procedure are there of D/prog: no symbol covers it;");
	*notes = 0;
	vt_listreport_explain(&r, "g", -VT_E_NOMEM, 0, note, NULL);
	assert_string_equal(notes, "");
	vt_listreport_fini(&r);
}

static void test_top(void **state)
{
	static const struct {
		uint64_t top;
		size_t count;
	} rows[] = {{1, 1}, {2, 2}, {UINT64_MAX, 3}};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct vt_listreport r = report();

		assert_int_equal(vt_listreport_find_top(&r, rows[i].top, &err), 0);
		assert_int_equal(r.found.count, rows[i].count);
		assert_string_equal(r.found.list[0].name, "g");
		vt_listreport_fini(&r);
	}
}

/* ---- the documents ---- */

static const char *print_listings(struct vt_listreport *r)
{
	const struct vt_listing_options o = {.view = VT_LIST_ASM};
	struct vt_output out;

	print_begin(&out);
	r->out = &out;
	assert_int_equal(vt_listreport_find_top(r, 2, &err), 0);
	assert_int_equal(vt_listreport_list(r, &o, note, NULL, &err), 0);
	assert_string_equal(notes, "");
	vt_listreport_fini(r);
	return print_end(&out);
}

static size_t count_of(const char *text, const char *part)
{
	size_t n = 0;

	for (; (text = strstr(text, part)); text += strlen(part))
		n++;
	return n;
}

static void test_documents(void **state)
{
	struct vt_listreport r = report();
	const char *text = print_listings(&r);

	(void)state;
	assert_int_equal(count_of(text, " in "), 2);
	assert_int_equal(count_of(text, "\n\nf in "), 1);
	r = report();
	r.form = VT_TABLE_CSV;
	text = print_listings(&r);
	assert_int_equal(count_of(text, "cycles.percent"), 1);
	r = report();
	r.json = true;
	text = print_listings(&r);
	assert_int_equal(count_of(text, "\"schema\": \"vlist/1\""), 1);
	assert_int_equal(count_of(text, "\"symbol\": "), 2);
}

/* ---- before and after ---- */

static void test_diff(void **state)
{
	const struct vt_listing_options o = {.view = VT_LIST_ASM};
	struct vt_procedure list[] = {
		{.image = 1, .start = 0x401000, .end = 0x40101c, .symbol = "x", .name = "x"},
		{.image = 1, .start = 0x401000, .end = 0x40101c, .symbol = "f", .name = "f"},
	};
	const struct vt_found both = {list, 2, 2}, other = {list, 1, 1};
	struct vt_diffreport d = {.side = {{s.profile, s.images, NULL, "old.vt"},
					   {s.profile, s.images, NULL, "new.vt"}},
				  .events = &events,
				  .options = &o,
				  .warn = note};
	struct vt_output out;

	(void)state;
	print_begin(&out);
	d.out = &out;
	assert_int_equal(vt_diffreport_list(&d, &both, NULL, NULL, &err), -VT_E_NOTFOUND);
	assert_memory_equal(err.text, "old.vt: ", 8);
	assert_int_equal(vt_diffreport_list(&d, &other, note, NULL, &err), -VT_E_ABSENT);
	assert_memory_equal(notes, "old.vt: ", 8);
	list[0].symbol = NULL;
	*notes = 0;
	assert_int_equal(vt_diffreport_list(&d, &both, note, NULL, &err), 0);
	assert_non_null(strstr(notes, "prog: what lies in no procedure is not compared;"));
	assert_int_equal(d.count, 1);
	vt_diffreport_fini(&d);
	assert_non_null(strstr(print_end(&out), "0 changes are significant (*); 0 rows only before "
						"(<), 0 only after (>)\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_top),
		cmocka_unit_test(test_documents),
		cmocka_unit_test(test_diff),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
