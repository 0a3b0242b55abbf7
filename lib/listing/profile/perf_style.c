/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listing/profile/perf_style.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/escape.h"
#include "base/hash.h"
#include "base/intern.h"

#define COLUMNS (VT_PERF_STYLE_KEYS + 2)
#define DIGITS	16 /* of an address */

/* How a row's code is told from that of others in its image. */
enum kind {
	KIND_ANY,     /* not at all */
	KIND_ADDRESS, /* `at`: there is no symbol */
	KIND_SYMBOL,  /* `at`: where the symbol starts */
};

/* What makes two places fall into one row. */
struct row_key {
	uint64_t values[VT_PERF_STYLE_KEYS]; /* numbers, or the text's id */
	uint64_t at;
	uint32_t image; /* the name's id */
	uint32_t kind;
	uint32_t event; /* of the profile */
	uint32_t zero;	/* the key has no padding */
};

struct row {
	struct row_key key;
	const char *symbol;
	uint64_t mode; /* of the first sample */
	uint64_t samples;
	uint64_t period;
};

struct report {
	const struct vt_perf_style *how;
	const struct vt_groups *groups;
	size_t nkeys;
	struct vt_hash rows;
	struct vt_intern *texts;
};

/* A row of the event at hand, for qsort(). */
struct ranked {
	const struct report *report;
	const struct row *row;
};

static bool is_text(const struct report *r, size_t key)
{
	return vt_groups_key(r->groups, key) == VT_GROUP_COMM;
}

/* ---- from a place to its row ---- */

/* perf's name of a kernel module: the file's, with underscores and without what follows. */
static void name_module(const char *name, struct vt_buf *out)
{
	const char *end = strstr(name, ".ko");

	vt_buf_printf(out, "[");
	for (; *name && name != end; name++)
		vt_buf_printf(out, "%c", *name == '-' ? '_' : *name);
	vt_buf_printf(out, "]");
}

static void name_image(const struct report *r, const struct vt_place *p, struct vt_buf *out)
{
	const struct vt_image *image =
		p->image == VT_UNMAPPED_IMAGE ? NULL : vt_images_get(r->how->images, p->image);

	if (!image)
		vt_buf_printf(out, "[unknown]");
	else if (image->type == VT_IMAGE_ANON)
		vt_buf_printf(out, "[JIT] tid %" PRId32, p->pid);
	else if (image->type == VT_IMAGE_MODULE && image->name[0] != '[')
		name_module(image->name, out);
	else
		vt_escape_str(out, image->name);
}

/* The number of a group's value; perf has -1 for what is not known. */
static int64_t key_number(const struct report *r, uint32_t group, size_t key)
{
	int64_t number;

	return vt_groups_number(r->groups, group, key, &number) ? number : -1;
}

static void name_comm(const struct report *r, uint32_t group, size_t key, struct vt_buf *out)
{
	struct vt_buf raw = VT_BUF_INIT;
	int64_t any;

	if (vt_groups_number(r->groups, group, key, &any))
		vt_groups_text(r->groups, group, key, &raw);
	else
		vt_buf_printf(&raw, ":-1");
	vt_escape_str(out, vt_buf_str(&raw));
	out->failed = out->failed || raw.failed;
	vt_buf_free(&raw);
}

static bool intern_text(struct report *r, struct vt_buf *text, uint32_t *id)
{
	bool ok = !text->failed;

	*id = ok ? vt_intern_str(r->texts, vt_buf_str(text)) : UINT32_MAX;
	vt_buf_free(text);
	return *id != UINT32_MAX;
}

static bool fill_keys(struct report *r, const struct vt_place *p, struct row_key *k)
{
	size_t i;

	for (i = 0; i < r->nkeys; i++) {
		struct vt_buf text = VT_BUF_INIT;
		uint32_t id;

		if (!is_text(r, i)) {
			k->values[i] = (uint64_t)key_number(r, p->group, i);
			continue;
		}
		name_comm(r, p->group, i, &text);
		if (!intern_text(r, &text, &id))
			return false;
		k->values[i] = id;
	}
	return true;
}

/* The symbol at a place; NULL where perf knows none: it makes up no names for stripped files. */
static const struct vt_symbol *find_symbol(const struct report *r, const struct vt_place *p)
{
	struct vt_location loc = {0};

	if (p->image == VT_UNMAPPED_IMAGE)
		return NULL;
	vt_images_symbol(r->how->images, p->image, p->pid, p->offset, &loc);
	return loc.symbol && !(loc.symbol->flags & VT_SYMBOL_FRAME) ? loc.symbol : NULL;
}

/* The offset in a file; the sample's own address where there is none, and in the kernel. */
static uint64_t shown_address(const struct report *r, const struct vt_place *p)
{
	const struct vt_image *image =
		p->image == VT_UNMAPPED_IMAGE ? NULL : vt_images_get(r->how->images, p->image);

	if (image && image->type != VT_IMAGE_KERNEL)
		return p->offset;
	return (uint64_t)key_number(r, p->group, r->nkeys + 1);
}

static int add_place(struct report *r, const struct vt_place *p, struct vt_error *err)
{
	struct row_key k = {.event = p->event};
	const struct vt_symbol *symbol = NULL;
	struct vt_buf name = VT_BUF_INIT;
	struct row *row;
	bool added;

	if (!fill_keys(r, p, &k))
		return vt_error_nomem(err);
	if (r->how->image) {
		name_image(r, p, &name);
		if (!intern_text(r, &name, &k.image))
			return vt_error_nomem(err);
	}
	/* Where only images have columns, the first sample's symbol matters to their width. */
	if (r->how->image)
		symbol = find_symbol(r, p);
	if (r->how->procedure) {
		k.kind = symbol ? KIND_SYMBOL : KIND_ADDRESS;
		k.at = symbol ? symbol->start : shown_address(r, p);
	}
	row = vt_hash_add(&r->rows, &k, &added);
	if (!row)
		return vt_error_nomem(err);
	if (added) {
		row->mode = (uint64_t)key_number(r, p->group, r->nkeys);
		row->symbol =
			symbol ? vt_images_display(r->how->images, p->image, p->pid, symbol) : NULL;
	}
	row->samples += p->samples;
	row->period += p->period;
	return 0;
}

/* ---- order ---- */

static int compare_numbers(int64_t a, int64_t b)
{
	return a < b ? -1 : a > b;
}

/* Text ascends, but what is unknown comes last. */
static int compare_names(const struct report *r, const struct row *a, const struct row *b)
{
	const char *left = vt_intern_get(r->texts, a->key.image);
	const char *right = vt_intern_get(r->texts, b->key.image);
	int c = (strcmp(left, "[unknown]") == 0) - (strcmp(right, "[unknown]") == 0);

	if (!c)
		c = strcmp(left, right);
	if (!c && r->how->procedure)
		c = !a->symbol - !b->symbol;
	if (!c && a->symbol && r->how->procedure)
		c = strcmp(a->symbol, b->symbol);
	return c;
}

static int compare_rows(const void *pa, const void *pb)
{
	const struct report *r = ((const struct ranked *)pa)->report;
	const struct row *a = ((const struct ranked *)pa)->row;
	const struct row *b = ((const struct ranked *)pb)->row;
	size_t i;
	int c = 0;

	if (a->period != b->period)
		return a->period > b->period ? -1 : 1;
	for (i = 0; i < r->nkeys && c == 0; i++) {
		uint64_t left = a->key.values[i], right = b->key.values[i];

		c = is_text(r, i) ? strcmp(vt_intern_get(r->texts, (uint32_t)left),
					   vt_intern_get(r->texts, (uint32_t)right))
				  : compare_numbers((int64_t)left, (int64_t)right);
	}
	if (!c)
		c = compare_names(r, a, b);
	/* perf takes addresses as signed numbers. */
	return c ? c : compare_numbers((int64_t)a->key.at, (int64_t)b->key.at);
}

/* ---- text ---- */

static char mode_letter(uint64_t mode)
{
	static const char letters[] = "Hk.Hgu";

	return mode < sizeof(letters) - 1 ? letters[mode] : 'H';
}

/* The cell of a row; the heading for NULL. */
static void print_key(const struct report *r, const struct row *row, size_t key, struct vt_buf *out)
{
	char buf[VT_COMM_SIZE];

	switch (vt_groups_key(r->groups, key)) {
	case VT_GROUP_COMM:
		vt_buf_printf(out, "%s",
			      row ? vt_intern_get(r->texts, (uint32_t)row->key.values[key])
				  : "Command");
		break;
	case VT_GROUP_THREAD:
		if (!row) {
			vt_buf_printf(out, "    Pid:Command");
			break;
		}
		vt_buf_printf(out, "%7" PRId64 ":", (int64_t)row->key.values[key]);
		vt_escape_str(out,
			      vt_groups_last_comm(r->groups, (int32_t)row->key.values[key], buf));
		break;
	default:
		if (row)
			vt_buf_printf(out, "%.3" PRId64, (int64_t)row->key.values[key]);
		else
			vt_buf_printf(out, "CPU");
		break;
	}
}

static void print_symbol(const struct row *row, struct vt_buf *out)
{
	if (!row) {
		vt_buf_printf(out, "Symbol");
		return;
	}
	vt_buf_printf(out, "[%c] ", mode_letter(row->mode));
	if (row->symbol)
		vt_escape_str(out, row->symbol);
	else
		vt_buf_printf(out, "%#.*" PRIx64, DIGITS, row->key.at);
}

static size_t count_columns(const struct report *r)
{
	return r->nkeys + r->how->image + r->how->procedure;
}

static void print_cell(const struct report *r, const struct row *row, size_t column,
		       struct vt_buf *out)
{
	if (column < r->nkeys)
		print_key(r, row, column, out);
	else if (column == r->nkeys)
		vt_buf_printf(out, "%s",
			      row ? vt_intern_get(r->texts, row->key.image) : "Shared Object");
	else
		print_symbol(row, out);
}

/* Perf pads all cells but the symbol, and that, too, in the heading. */
static void print_line(const struct report *r, const struct row *row, const size_t *widths,
		       struct vt_buf *out)
{
	size_t i;

	for (i = 0; i < count_columns(r); i++) {
		size_t from, size;

		vt_buf_printf(out, "  ");
		from = out->size;
		print_cell(r, row, i, out);
		size = out->size - from;
		if (size < widths[i] && (!row || i <= r->nkeys))
			vt_buf_printf(out, "%*s", (int)(widths[i] - size), "");
	}
	vt_buf_printf(out, "\n");
}

static void measure(const struct report *r, const struct row *row, size_t *widths)
{
	struct vt_buf cell = VT_BUF_INIT;
	size_t i;

	for (i = 0; i < count_columns(r); i++) {
		/* -001, an unknown CPU, widens nothing. */
		if (row && i < r->nkeys && vt_groups_key(r->groups, i) == VT_GROUP_CPU)
			continue;
		cell.size = 0;
		print_cell(r, row, i, &cell);
		if (cell.size > widths[i])
			widths[i] = cell.size;
	}
	vt_buf_free(&cell);
}

static void print_head(const struct report *r, const struct vt_profile_event *e, const char *name,
		       const size_t *widths, struct vt_buf *out)
{
	static const char units[] = " KMG";
	uint64_t samples = e->samples;
	size_t i, j, unit = 0;

	/* As perf: the quotient is cut, and 1000 itself is no thousand. */
	for (; samples > 1000 && unit < sizeof(units) - 2; unit++)
		samples /= 1000;
	vt_buf_printf(out, "# Samples: %" PRIu64 "%c of event '", samples, units[unit]);
	vt_escape_str(out, name);
	vt_buf_printf(out, "'\n# Event count (approx.): %" PRIu64 "\n#\n# Overhead", e->period);
	print_line(r, NULL, widths, out);
	vt_buf_printf(out, "# ........");
	for (i = 0; i < count_columns(r); i++) {
		vt_buf_printf(out, "  ");
		for (j = 0; j < widths[i]; j++)
			vt_buf_printf(out, ".");
	}
	vt_buf_printf(out, "\n#\n");
}

/* ---- the report ---- */

static size_t gather_event(const struct report *r, size_t event, struct ranked *list)
{
	size_t i, n = 0;

	for (i = 0; i < r->rows.count; i++) {
		const struct row *row = vt_hash_at(&r->rows, i);

		if (row->key.event == event)
			list[n++] = (struct ranked){r, row};
	}
	qsort(list, n, sizeof(*list), compare_rows);
	return n;
}

static int print_event(const struct report *r, size_t chosen, struct ranked *list,
		       struct vt_output *out, struct vt_error *err)
{
	size_t index = r->how->events->index[chosen], widths[COLUMNS] = {0};
	const struct vt_profile_event *e = vt_profile_event(r->how->profile, index);
	size_t i, n = gather_event(r, index, list);
	struct vt_buf text = VT_BUF_INIT;
	int code = 0;

	measure(r, NULL, widths);
	for (i = 0; i < n; i++) {
		measure(r, list[i].row, widths);
		if (r->how->image && !list[i].row->symbol && widths[r->nkeys] < DIGITS)
			widths[r->nkeys] = DIGITS;
	}
	print_head(r, e, e->name, widths, &text);
	for (i = 0; i < n && (!r->how->top || i < r->how->top); i++) {
		double period = (double)list[i].row->period;
		double percent = e->period ? 100.0 * period / (double)e->period : 0;

		if (percent < r->how->min_percent)
			break;
		vt_buf_printf(&text, "%9.2f%%", percent);
		print_line(r, list[i].row, widths, &text);
	}
	vt_buf_printf(&text, "\n\n");
	if (text.failed)
		code = vt_error_nomem(err);
	else
		vt_output_put(out, text.data, text.size);
	vt_buf_free(&text);
	return code;
}

static void print_losses(const struct vt_losses *losses, struct vt_output *out)
{
	struct vt_buf b = VT_BUF_INIT;

	vt_output_printf(out, "#\n# Total Lost Samples: %" PRIu64 "\n", losses->lost);
	if (losses->picked.seen) {
		vt_picked_text(&losses->picked, "records", &b);
		vt_output_printf(out, "# %s\n", vt_buf_str(&b));
	}
	vt_output_text(out, "#\n");
	vt_buf_free(&b);
}

static int print_report(struct report *r, struct vt_output *out, struct vt_error *err)
{
	size_t i, n = vt_profile_nplaces(r->how->profile);
	struct ranked *list;
	int code = 0;

	for (i = 0; i < n && code == 0; i++)
		code = add_place(r, vt_profile_place(r->how->profile, i), err);
	if (code < 0)
		return code;
	list = calloc(r->rows.count + 1, sizeof(*list));
	if (!list)
		return vt_error_nomem(err);
	print_losses(r->how->losses, out);
	for (i = 0; i < r->how->events->count && code == 0; i++)
		code = print_event(r, i, list, out, err);
	free(list);
	return code;
}

int vt_perf_style_print(const struct vt_perf_style *s, struct vt_output *out, struct vt_error *err)
{
	struct report r = {.how = s, .groups = vt_profile_groups(s->profile)};
	int code;

	r.nkeys = vt_groups_nkeys(r.groups) - 2;
	vt_hash_init(&r.rows, sizeof(struct row), sizeof(struct row_key));
	r.texts = vt_intern_new();
	code = r.texts ? print_report(&r, out, err) : vt_error_nomem(err);
	vt_intern_free(r.texts);
	vt_hash_fini(&r.rows);
	return code;
}
