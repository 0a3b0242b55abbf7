/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listing/values/interpreted.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/table.h"
#include "listing/json.h"

static const char *stop_key(enum vt_stop stop)
{
	static const char *const keys[VT_NSTOPS] = {
		[VT_STOP_LENGTH] = "length", [VT_STOP_BRANCH] = "branch",
		[VT_STOP_TARGET] = "target", [VT_STOP_SYSCALL] = "syscall",
		[VT_STOP_CODE] = "code",     [VT_STOP_BAD] = "bad",
		[VT_STOP_TRAP] = "trap",     [VT_STOP_PATH] = "path",
		[VT_STOP_MEMORY] = "memory"};

	return keys[stop];
}

/* A number of the summary. */
struct figure {
	const char *key;
	const char *text;
	uint64_t count;
	uint64_t of; /* `count` is shown as a share of this; 0: it is not */
};

#define NFIGURES 14

static void list_samples(const struct vt_interpret_totals *t, struct figure f[NFIGURES])
{
	const struct figure all[NFIGURES] = {
		{"samples", "samples", t->samples, 0},
		{"left_out", "left out by chance", t->left_out, t->samples},
		{"no_registers", "without registers", t->no_registers, t->samples},
		{"late", "and of these, precise with registers of a later moment", t->late,
		 t->samples},
		{"elsewhere", "with registers of another moment", t->elsewhere, t->samples},
		{"with_lines", "with lines of memory", t->with_lines, t->samples},
		{"bad_lines", "and of these, some or all damaged", t->bad_lines, t->samples},
		{"no_code", "where no code is known", t->no_code, t->samples},
		{"runs", "runs", t->runs, t->samples},
		{"insns", "instructions run", t->insns, 0},
		{"leaving", "that leave something in a register or memory", t->leaving, t->insns},
		{"leaving_known", "and all of that is known", t->leaving_known, t->leaving},
		{"unlifted", "seen in code, and not understood", t->unlifted, 0},
		{"missing", "images whose file was not found", t->missing, 0},
	};

	memcpy(f, all, sizeof(all));
}

static void list_path(const struct vt_interpret_totals *t, struct figure f[NFIGURES])
{
	const struct figure all[NFIGURES] = {
		{"pieces", "pieces of path", t->execs, 0},
		{"begun", "begun with nothing known", t->begun, 0},
		{"insns", "instructions run", t->insns, 0},
		{"leaving", "that leave something in a register or memory", t->leaving, t->insns},
		{"leaving_known", "and all of that is known", t->leaving_known, t->leaving},
		{"foreign", "left out: of the kernel or another mode", t->foreign, 0},
		{"taught", "inferred from the way taken", t->inferred, 0},
		{"told", "recorded by ptwrite", t->ptwritten, 0},
		{"contradictions", "contradictions", t->stops[VT_STOP_PATH] + t->stale, 0},
		{"unlifted", "seen in code, and not understood", t->unlifted, 0},
		{"missing", "images whose file was not found", t->missing, 0},
	};

	memset(f, 0, NFIGURES * sizeof(*f));
	memcpy(f, all, sizeof(all));
}

/* Unused entries at the end have no key. */
static void list_figures(const struct vt_interpret_totals *t, bool path, struct figure f[NFIGURES])
{
	if (path)
		list_path(t, f);
	else
		list_samples(t, f);
}

static uint64_t sum_whats(const uint64_t counts[VT_NWHATS])
{
	uint64_t all = 0;
	unsigned i;

	for (i = 0; i < VT_NWHATS; i++)
		all += counts[i];
	return all;
}

/* ---- tables ---- */

/* Leaves out zeros, except those that say that there was nothing to interpret. */
static void fill_figures(struct vt_table *t, const struct figure f[NFIGURES])
{
	size_t i;

	vt_table_column(t, "what", "what", VT_FORMAT_TEXT);
	vt_table_column(t, "count", "count", VT_FORMAT_NUMBER);
	vt_table_column(t, "share", "share", VT_FORMAT_PERCENT);
	for (i = 0; i < NFIGURES && f[i].key; i++) {
		if (!f[i].count && strcmp(f[i].key, "samples") != 0 &&
		    strcmp(f[i].key, "runs") != 0)
			continue;
		vt_table_row(t, VT_STYLE_PLAIN);
		vt_table_str(t, f[i].text);
		vt_table_number(t, f[i].count);
		vt_table_percent(t, f[i].count, f[i].of);
	}
}

static void add_known_row(struct vt_table *t, const char *name, uint64_t values, uint64_t known)
{
	vt_table_row(t, VT_STYLE_PLAIN);
	vt_table_str(t, name);
	vt_table_number(t, values);
	vt_table_number(t, known);
	vt_table_percent(t, known, values);
}

static void fill_known_values(struct vt_table *t, const struct vt_interpret_totals *totals)
{
	unsigned i;

	vt_table_column(t, "values", "values", VT_FORMAT_TEXT);
	vt_table_column(t, "count", "count", VT_FORMAT_NUMBER);
	vt_table_column(t, "known", "known", VT_FORMAT_NUMBER);
	vt_table_column(t, "share", "share", VT_FORMAT_PERCENT);
	for (i = 0; i < VT_NWHATS; i++)
		if (totals->values[i])
			add_known_row(t, vt_what_name(i), totals->values[i], totals->known[i]);
	add_known_row(t, "all", sum_whats(totals->values), sum_whats(totals->known));
}

static void fill_stops(struct vt_table *t, const struct vt_interpret_totals *totals)
{
	int i;

	vt_table_column(t, "stop", "why runs ended", VT_FORMAT_TEXT);
	vt_table_column(t, "runs", "runs", VT_FORMAT_NUMBER);
	vt_table_column(t, "share", "share", VT_FORMAT_PERCENT);
	for (i = 0; i < VT_NSTOPS; i++) {
		if (!totals->stops[i])
			continue;
		vt_table_row(t, VT_STYLE_PLAIN);
		vt_table_str(t, vt_stop_name((enum vt_stop)i));
		vt_table_number(t, totals->stops[i]);
		vt_table_percent(t, totals->stops[i], totals->runs);
	}
}

/* Why the contents of files were not used as the contents of memory. */
static const struct {
	const char *key;
	const char *text;
} reasons[VT_NWITHHELD] = {
	[VT_WITHHELD_MISSING] = {"missing", "its file is not there"},
	[VT_WITHHELD_UNVERIFIED] = {"unverified", "unverified image"},
	[VT_WITHHELD_PATCHED] = {"patched", "patched at run time"},
	[VT_WITHHELD_UNSEEN] = {"unseen", "writes to it are not recorded"},
};

static void fill_withheld(struct vt_table *t, const struct vt_interpret_totals *totals)
{
	int i;

	vt_table_column(t, "withheld", "withheld", VT_FORMAT_TEXT);
	vt_table_column(t, "code", "code", VT_FORMAT_NUMBER);
	vt_table_column(t, "constants", "constants", VT_FORMAT_NUMBER);
	for (i = VT_WITHHELD_MISSING; i < VT_NWITHHELD; i++) {
		if (!totals->code_withheld[i] && !totals->constants_withheld[i])
			continue;
		vt_table_row(t, VT_STYLE_PLAIN);
		vt_table_str(t, reasons[i].text);
		vt_table_number(t, totals->code_withheld[i]);
		vt_table_number(t, totals->constants_withheld[i]);
	}
}

static json_t *make_withheld_json(const struct vt_interpret_totals *t)
{
	json_t *all = json_object();
	int i;

	for (i = VT_WITHHELD_MISSING; i < VT_NWITHHELD; i++) {
		json_t *o = json_object();

		json_object_set_new(o, "code", vt_json_u64(t->code_withheld[i]));
		json_object_set_new(o, "constants", vt_json_u64(t->constants_withheld[i]));
		json_object_set_new(all, reasons[i].key, o);
	}
	return all;
}

static json_t *make_known_json(uint64_t values, uint64_t known)
{
	json_t *o = json_object();

	json_object_set_new(o, "count", vt_json_u64(values));
	json_object_set_new(o, "known", vt_json_u64(known));
	return o;
}

static json_t *make_interpret_json(const struct vt_losses *losses,
				   const struct vt_interpret_totals *t, bool path)
{
	json_t *doc = vt_json_doc(path ? "vinterp-path/1" : "vinterp/1"), *values = json_object(),
	       *stops = json_object();
	struct figure f[NFIGURES];
	unsigned i;

	list_figures(t, path, f);
	vt_json_losses(doc, losses);
	for (i = 0; i < NFIGURES && f[i].key; i++)
		json_object_set_new(doc, f[i].key, vt_json_u64(f[i].count));
	for (i = 0; i < VT_NWHATS; i++)
		if (t->values[i])
			json_object_set_new(values, vt_what_name(i),
					    make_known_json(t->values[i], t->known[i]));
	json_object_set_new(values, "all",
			    make_known_json(sum_whats(t->values), sum_whats(t->known)));
	json_object_set_new(doc, "values", values);
	for (i = 0; i < VT_NSTOPS; i++)
		json_object_set_new(stops, stop_key((enum vt_stop)i), vt_json_u64(t->stops[i]));
	json_object_set_new(doc, "stops", stops);
	json_object_set_new(doc, "withheld", make_withheld_json(t));
	return doc;
}

#define NTABLES 4

static int print_interpret_tables(const struct vt_interpret_totals *totals, bool path,
				  struct vt_output *out, struct vt_error *err)
{
	static void (*const fill[NTABLES])(struct vt_table *,
					   const struct vt_interpret_totals *) = {
		NULL, fill_known_values, fill_stops, fill_withheld};
	struct vt_table *t[NTABLES] = {NULL};
	struct figure f[NFIGURES];
	int rc = 0;
	size_t i;

	list_figures(totals, path, f);
	for (i = 0; i < NTABLES && rc == 0; i++) {
		t[i] = vt_table_new();
		if (!t[i])
			rc = vt_error_nomem(err);
		else if (i == 0)
			fill_figures(t[i], f);
		else
			fill[i](t[i], totals);
	}
	for (i = 0; i < NTABLES && rc == 0; i++) {
		if (i && vt_table_rows(t[i]))
			vt_output_text(out, "\n");
		if (vt_table_rows(t[i]))
			rc = vt_table_print(t[i], out, VT_TABLE_TEXT, false, err);
	}
	for (i = 0; i < NTABLES; i++)
		vt_table_free(t[i]);
	return rc;
}

int vt_interpretlist_print(const struct vt_interpret_totals *t, bool path,
			   const struct vt_losses *losses, struct vt_output *out,
			   struct vt_error *err)
{
	if (!losses)
		return print_interpret_tables(t, path, out, err);
	vt_json_write(out, make_interpret_json(losses, t, path), true);
	return 0;
}

void vt_interpretlist_withheld(const struct vt_interpret_totals *t, vt_warn_fn *note, void *arg)
{
	char text[160];
	uint64_t patched =
		t->code_withheld[VT_WITHHELD_PATCHED] + t->constants_withheld[VT_WITHHELD_PATCHED];

	if (patched) {
		snprintf(text, sizeof(text),
			 "code or constants were patched at run time: %" PRIu64
			 " times, what their file has was withheld",
			 patched);
		note(arg, text);
	}
	if (t->constants_withheld[VT_WITHHELD_UNSEEN])
		note(arg,
		     "constants are withheld: only `perf record --data` (vtrace record --regs) "
		     "shows whether a program writes to them (--trust constants)");
}

/* ---- records ---- */

static void write_interpret_total(struct vt_writer *w, const char *group, const char *key,
				  uint64_t count)
{
	char name[64];

	snprintf(name, sizeof(name), "vinterp.%s%s", group, key);
	vt_writer_meta_u64(w, name, count);
}

void vt_interpretlist_write(const struct vt_interpret_totals *t, bool path, struct vt_writer *w)
{
	struct figure f[NFIGURES];
	unsigned i;

	list_figures(t, path, f);
	for (i = 0; i < NFIGURES && f[i].key; i++)
		write_interpret_total(w, "", f[i].key, f[i].count);
	for (i = 0; i < VT_NWHATS; i++) {
		if (!t->values[i])
			continue;
		write_interpret_total(w, "values.", vt_what_name(i), t->values[i]);
		write_interpret_total(w, "known.", vt_what_name(i), t->known[i]);
	}
	for (i = 0; i < VT_NSTOPS; i++)
		if (t->stops[i])
			write_interpret_total(w, "stop.", stop_key((enum vt_stop)i), t->stops[i]);
	for (i = VT_WITHHELD_MISSING; i < VT_NWITHHELD; i++) {
		if (t->code_withheld[i])
			write_interpret_total(w, "code_withheld.", reasons[i].key,
					      t->code_withheld[i]);
		if (t->constants_withheld[i])
			write_interpret_total(w, "constants_withheld.", reasons[i].key,
					      t->constants_withheld[i]);
	}
}
