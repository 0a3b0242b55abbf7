/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listing/profile/profile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/escape.h"
#include "image/lines.h"

enum vt_style vt_heat(uint64_t part, uint64_t whole)
{
	double share = whole ? (double)part / (double)whole : 0;

	return share >= 0.1 ? VT_STYLE_HOT : share >= 0.02 ? VT_STYLE_WARM : VT_STYLE_PLAIN;
}

/* ---- the header ---- */

static const char *policy_text(enum vt_policy policy)
{
	static const char *const text[VT_NPOLICIES] = {
		[VT_POLICY_UNKNOWN] = "how its pc was chosen is unknown",
		[VT_POLICY_INTERRUPT] = "pc at the interrupt, with skid",
		[VT_POLICY_PRECISE] = "pc asked to be precise",
		[VT_POLICY_DISPATCH] = "pc tagged at dispatch",
		[VT_POLICY_MODEL] = "pc from a model",
		[VT_POLICY_EXACT] = "exact pc",
	};

	return text[policy];
}

struct vt_tally vti_event_total(const struct vt_profile *p, size_t event)
{
	const struct vt_profile_event *e = vt_profile_event(p, event);

	return (struct vt_tally){e->samples, e->period, e->squares};
}

/* ", unknown 12 (0.30%)" */
static void print_header_share(const char *what, uint64_t part, uint64_t whole,
			       struct vt_output *out)
{
	vt_output_printf(out, ", %s %" PRIu64, what, part);
	if (whole)
		vt_output_printf(out, " (%.2f%%)", 100.0 * (double)part / (double)whole);
}

/* "executions (estimated) = 1200" */
static void print_estimate_header(const struct vt_profile_event *e, struct vt_output *out)
{
	vt_output_printf(out, "Estimated %s = %" PRIu64 "\n", e->name, e->samples);
}

static void print_event_header(const struct vt_profile *p, const struct vt_ranking *r, size_t event,
			       const char *label, struct vt_output *out)
{
	const struct vt_profile_event *e = vt_profile_event(p, event);
	uint64_t unverified = vt_ranking_unverified(r, event).samples;
	struct vt_buf b = VT_BUF_INIT;

	vt_escape_str(&b, label);
	vt_output_printf(out, "Total samples for event type %s = %" PRIu64 " (%s", vt_buf_str(&b),
			 e->samples, policy_text(e->policy));
	if (e->policy == VT_POLICY_PRECISE && e->precise)
		vt_output_printf(out, ", precise_ip %" PRIu64, e->precise);
	vt_output_text(out, e->kind == VT_PROFILE_EVENT && e->sampling == 1
				    ? ", all of them recorded)"
				    : ")");
	/* A request for precise addresses may fail: each sample says whether it did. */
	if (e->policy == VT_POLICY_PRECISE && e->single)
		print_header_share("EXACT_IP", e->exact_ip, e->single, out);
	/* Of groups of samples alone, nothing is looked up. */
	if (vt_ranking_level(r) != VT_LEVEL_ALL)
		print_header_share("unknown", vt_ranking_unknown(r, event).samples, e->samples,
				   out);
	if (unverified)
		print_header_share("unverified", unverified, e->samples, out);
	vt_output_text(out, "\n");
	vt_buf_free(&b);
}

/* Of all events of the stream, which records that were lost may have been of. */
static uint64_t count_samples(const struct vt_profile *p)
{
	uint64_t samples = 0;
	size_t i;

	for (i = 0; i < vt_profile_nevents(p); i++)
		if (vt_profile_event(p, i)->kind == VT_PROFILE_EVENT)
			samples += vt_profile_event(p, i)->samples;
	return samples;
}

/* What a filter left out must not seem to be all. */
static void print_picked_header(const struct vt_picked *p, struct vt_output *out)
{
	struct vt_buf b = VT_BUF_INIT;

	if (!p->seen)
		return;
	vt_picked_text(p, "records", &b);
	vt_output_printf(out, "Not all of the recording: %s\n", vt_buf_str(&b));
	vt_buf_free(&b);
}

static void print_loss_header(const struct vt_profile *p, struct vt_output *out)
{
	const struct vt_losses *loss = vt_context_losses(vt_profile_context(p));

	if (loss->lost_places) {
		vt_output_printf(out, "Lost while recording: %" PRIu64 " records", loss->lost);
		if (loss->lost)
			vt_output_printf(out, " (%.2f%% of these and all samples)",
					 100.0 * (double)loss->lost /
						 ((double)loss->lost + (double)count_samples(p)));
		vt_output_text(out, "\n");
	}
	if (loss->gaps)
		vt_output_printf(out,
				 "Gaps in the input: %" PRIu64 ", with %" PRIu64
				 " bytes and %" PRIu64 " records known to be missing\n",
				 loss->gaps, loss->gap_bytes, loss->gap_records);
	print_picked_header(&loss->picked, out);
}

void vt_proflist_header(const struct vt_profile *p, const struct vt_ranking *r,
			const struct vt_event_choice *events, struct vt_output *out)
{
	size_t i;

	for (i = 0; i < events->count; i++) {
		const struct vt_profile_event *e = vt_profile_event(p, events->index[i]);

		if (e->estimate)
			print_estimate_header(e, out);
		else
			print_event_header(p, r, events->index[i], events->label[i], out);
	}
	if (!events->count)
		vt_output_text(out, "No samples\n");
	print_loss_header(p, out);
}

struct vt_share vt_proflist_first(const struct vt_proflist_side *side, bool by_period)
{
	if (!side->events->count || !vt_ranking_count(side->ranking))
		return (struct vt_share){.known = false};
	return vt_share_of_event(vt_profile_event(side->profile, side->events->index[0]),
				 vt_ranking_tally(side->ranking, 0, side->events->index[0]),
				 by_period);
}

void vt_proflist_enough(const struct vt_share *s, uint64_t samples, struct vt_output *out)
{
	uint64_t more = s->known ? vt_share_missing(s, samples, 0.01) : 0;

	if (more)
		vt_output_printf(
			out, "For ±1 point in the first row, %" PRIu64 " more samples are needed\n",
			more);
	else if (s->known)
		vt_output_text(out, "For ±1 point in the first row, there are enough samples\n");
}

void vt_proflist_sign(struct vt_output *out)
{
	vt_output_text(out, "± is the sampling error of % with 95% confidence, in percentage "
			    "points.\n");
}

void vt_proflist_legend(const struct vt_proflist_legend *l, struct vt_output *out)
{
	vt_output_printf(
		out, "\nA column counts the samples of its event%s%s.\n",
		l->children ? " in a procedure or in what it called" : "",
		l->diff ? ",\nbefore and after, with the change in samples and in percentage "
			  "points,\nand how likely chance alone makes such a change; a star if "
			  "it is significant"
			: "");
	if (l->by_period)
		vt_output_text(out, "The percentages weigh each sample by its period.\n");
	else if (l->unequal)
		vt_output_text(out, "The samples have unequal periods: --period weighs each by its "
				    "own, as perf report does.\n");
	if (l->intervals)
		vt_proflist_sign(out);
	vt_output_text(out, "============================================================="
			    "===================\n");
}

/* ---- the table ---- */

void vti_event_column(struct vt_table *t, const char *label, const char *member,
		      const char *heading, enum vt_format format)
{
	bool main = strcmp(member, "samples") == 0;
	struct vt_buf key = VT_BUF_INIT;

	vt_buf_printf(&key, "%s%s%s", label, main ? "" : ".", main ? "" : member);
	vt_table_column_of(t, "events", label, member, vt_buf_str(&key), heading, format);
	vt_buf_free(&key);
}

void vti_sign_column(struct vt_table *t)
{
	vt_table_column(t, NULL, "±", VT_FORMAT_RIGHT_TEXT);
}

void vti_sign_cell(struct vt_table *t, const struct vt_share *s)
{
	if (s->known)
		vt_table_printf(t, "±%.2f", 100 * vt_share_half(s));
	else
		vt_table_empty(t);
	if (s->known && !(s->part > 0))
		vt_table_cell_style(t, VT_STYLE_FAINT);
}

void vti_bound_columns(struct vt_table *t, const char *low, const char *high)
{
	vt_table_column(t, low, NULL, VT_FORMAT_PERCENT);
	vt_table_column(t, high, NULL, VT_FORMAT_PERCENT);
}

void vti_bound_cells(struct vt_table *t, const struct vt_share *s)
{
	if (s->known) {
		vt_table_real(t, 100 * s->low);
		vt_table_real(t, 100 * s->high);
	} else {
		vt_table_empty(t);
		vt_table_empty(t);
	}
}

void vti_name_columns(struct vt_table *t, enum vt_level level)
{
	if (level == VT_LEVEL_LINE)
		vt_table_column_max(t, "line", "line", VT_FORMAT_PATH, VTI_NAME_WIDTH);
	else if (level != VT_LEVEL_IMAGE)
		vt_table_column_max(t, "procedure", "procedure", VT_FORMAT_NAME, VTI_NAME_WIDTH);
	vt_table_column(t, "image", "image", VT_FORMAT_PATH);
}

void vti_name_cells(struct vt_table *t, enum vt_level level, const struct vt_runs *runs, size_t row)
{
	const char *label = vt_runs_label(runs, row);
	bool images = level == VT_LEVEL_IMAGE;

	if (!images)
		vt_table_str(t, label);
	/* The label of an image is the cause why samples are in none. */
	vt_table_str(t, images && *label ? label : vt_runs_path(runs, row));
}

static void add_group_columns(struct vt_table *t, const struct vt_groups *g)
{
	size_t i;

	for (i = 0; g && i < vt_groups_nkeys(g); i++) {
		const char *word = vt_group_words[vt_groups_key(g, i)];

		vt_table_column(t, word, word,
				vt_groups_is_number(g, i) ? VT_FORMAT_NUMBER : VT_FORMAT_TEXT);
	}
}

static void group_cells(struct vt_table *t, const struct vt_groups *g, uint32_t group)
{
	size_t i;

	for (i = 0; g && i < vt_groups_nkeys(g); i++) {
		struct vt_buf text = VT_BUF_INIT;
		int64_t number;

		if (!vt_groups_is_number(g, i)) {
			vt_groups_text(g, group, i, &text);
			vt_table_text(t, vt_buf_str(&text), text.size);
		} else if (!vt_groups_number(g, group, i, &number)) {
			vt_table_empty(t);
		} else if (number < 0) {
			vt_table_signed(t, number);
		} else {
			vt_table_number(t, (uint64_t)number);
		}
		vt_buf_free(&text);
	}
}

static void add_rank_columns(struct vt_table *t, enum vt_level level)
{
	if (level == VT_LEVEL_ALL)
		return;
	if (level == VT_LEVEL_INSTRUCTION)
		vt_table_column(t, "address", "address", VT_FORMAT_HEX);
	vti_name_columns(t, level);
	if (level == VT_LEVEL_INSTRUCTION)
		vt_table_column(t, "line", "line", VT_FORMAT_PATH);
	if (level != VT_LEVEL_IMAGE && level != VT_LEVEL_LINE)
		vt_table_column(t, "symbol", NULL, VT_FORMAT_TEXT);
	vt_table_column(t, "unknown", NULL, VT_FORMAT_TEXT);
}

static void rank_line_cell(struct vt_table *t, const struct vt_rank *k, struct vt_images *images)
{
	struct vt_lines *lines = NULL;
	struct vt_line line;

	if (k->image != VT_UNMAPPED_IMAGE)
		lines = vt_images_lines(images, k->image);
	if (lines && vt_lines_at(lines, k->address, &line) && line.line)
		vt_table_printf(t, "%s:%u", line.file, line.line);
	else
		vt_table_empty(t);
}

static void rank_name_cells(struct vt_table *t, const struct vt_rank *k, enum vt_level level,
			    struct vt_images *images)
{
	enum vt_style style = *k->cause ? VT_STYLE_FAINT : VT_STYLE_PLAIN;
	struct vt_buf label = VT_BUF_INIT;

	if (level == VT_LEVEL_ALL)
		return;
	if (level == VT_LEVEL_INSTRUCTION && k->image != VT_UNMAPPED_IMAGE)
		vt_table_number(t, k->address);
	else if (level == VT_LEVEL_INSTRUCTION)
		vt_table_empty(t);
	if (level != VT_LEVEL_IMAGE) {
		vt_rank_label(k, level, &label);
		vt_table_text(t, vt_buf_str(&label), label.size);
		vt_table_cell_style(t, style);
		vt_table_str(t, k->path);
	} else if (k->image == VT_UNMAPPED_IMAGE) {
		vt_table_printf(t, "[%s]", k->cause);
	} else {
		vt_table_str(t, k->path);
	}
	vt_table_cell_style(t, style);
	if (level == VT_LEVEL_INSTRUCTION)
		rank_line_cell(t, k, images);
	if (level != VT_LEVEL_IMAGE && level != VT_LEVEL_LINE)
		vt_table_str(t, k->symbol);
	vt_table_str(t, k->cause);
	vt_buf_free(&label);
}

void vti_cpi_cell(struct vt_table *t, struct vt_tally cycles, struct vt_tally executions)
{
	if (executions.samples)
		vt_table_real(t, (double)cycles.samples / (double)executions.samples);
	else
		vt_table_empty(t);
}

static bool profile_has_cpi(const struct vt_profile *p)
{
	return vt_profile_estimate_event(p, VT_ESTIMATE_EXECUTIONS) != SIZE_MAX &&
	       vt_profile_estimate_event(p, VT_ESTIMATE_CYCLES) != SIZE_MAX;
}

/* People see the intervals of the first event alone: a line has no room for more. */
static bool has_interval_sign(const struct vt_profile *p, const struct vt_event_choice *events,
			      size_t i)
{
	const struct vt_tally none = {0};

	return i == 0 &&
	       vt_share_of_event(vt_profile_event(p, events->index[0]), none, false).known;
}

static void add_profile_columns(struct vt_table *t, const struct vt_profile *p,
				const struct vt_event_choice *events, enum vt_level level)
{
	size_t i;

	for (i = 0; i < events->count; i++) {
		vti_event_column(t, events->label[i], "samples", events->label[i],
				 VT_FORMAT_NUMBER);
		vti_event_column(t, events->label[i], "percent", "%", VT_FORMAT_PERCENT);
		if (has_interval_sign(p, events, i))
			vti_sign_column(t);
		if (i == 0)
			vti_event_column(t, events->label[i], "cumulative", "cum%",
					 VT_FORMAT_PERCENT);
	}
	if (profile_has_cpi(p))
		vt_table_column(t, "cpi", "cpi", VT_FORMAT_REAL);
	add_group_columns(t, vt_profile_groups(p));
	add_rank_columns(t, level);
	/* Behind all others, whose numbers scripts may rely on. */
	for (i = 0; i < events->count; i++) {
		vti_event_column(t, events->label[i], "low", NULL, VT_FORMAT_PERCENT);
		vti_event_column(t, events->label[i], "high", NULL, VT_FORMAT_PERCENT);
	}
}

static struct vt_share row_share(const struct vt_proflist_side *side, size_t row, size_t event,
				 bool by_period)
{
	return vt_share_of_event(vt_profile_event(side->profile, event),
				 vt_ranking_tally(side->ranking, row, event), by_period);
}

static void bound_cells(struct vt_table *t, const struct vt_proflist_side *side, size_t row,
			bool by_period)
{
	size_t i;

	for (i = 0; i < side->events->count; i++) {
		struct vt_share s = row_share(side, row, side->events->index[i], by_period);

		vti_bound_cells(t, &s);
	}
}

static void count_cells(struct vt_table *t, const struct vt_proflist_side *side, size_t row,
			bool by_period, uint64_t cumulative)
{
	size_t i;

	for (i = 0; i < side->events->count; i++) {
		size_t event = side->events->index[i];
		struct vt_tally tally = vt_ranking_tally(side->ranking, row, event);
		uint64_t part = vti_weigh(tally, by_period);
		uint64_t whole = vti_weigh(vti_event_total(side->profile, event), by_period);
		struct vt_share share;

		vt_table_number(t, tally.samples);
		vt_table_cell_style(t, part ? VT_STYLE_PLAIN : VT_STYLE_FAINT);
		vt_table_percent(t, part, whole);
		vt_table_cell_style(t, part ? vt_heat(part, whole) : VT_STYLE_FAINT);
		if (has_interval_sign(side->profile, side->events, i)) {
			share = row_share(side, row, event, by_period);
			vti_sign_cell(t, &share);
		}
		if (i == 0)
			vt_table_percent(t, cumulative, whole);
	}
	if (profile_has_cpi(side->profile)) {
		const struct vt_profile *p = side->profile;

		vti_cpi_cell(
			t,
			vt_ranking_tally(side->ranking, row,
					 vt_profile_estimate_event(p, VT_ESTIMATE_CYCLES)),
			vt_ranking_tally(side->ranking, row,
					 vt_profile_estimate_event(p, VT_ESTIMATE_EXECUTIONS)));
	}
}

/* A row may have samples of events that were not chosen only. */
static bool row_has_samples(const struct vt_proflist_side *side, size_t row)
{
	size_t i;

	for (i = 0; i < side->events->count; i++)
		if (vt_ranking_tally(side->ranking, row, side->events->index[i]).samples)
			return true;
	return false;
}

uint64_t vt_proflist_fill(struct vt_table *t, const struct vt_proflist_side *side,
			  const struct vt_proflist_options *opt)
{
	enum vt_level level = vt_ranking_level(side->ranking);
	size_t row, first, n = vt_ranking_count(side->ranking);
	uint64_t all, cumulative = 0, left_out = 0;

	add_profile_columns(t, side->profile, side->events, level);
	if (!side->events->count)
		return 0;
	first = side->events->index[0];
	all = vti_weigh(vti_event_total(side->profile, first), opt->by_period);
	for (row = 0; row < n; row++) {
		uint64_t part =
			vti_weigh(vt_ranking_tally(side->ranking, row, first), opt->by_period);

		if (!row_has_samples(side, row))
			continue;
		if ((opt->top && vt_table_rows(t) == opt->top) ||
		    100.0 * (double)part < opt->min_percent * (double)all) {
			left_out++;
			continue;
		}
		cumulative += part;
		vt_table_row(t, VT_STYLE_PLAIN);
		count_cells(t, side, row, opt->by_period, cumulative);
		group_cells(t, vt_profile_groups(side->profile),
			    vt_ranking_at(side->ranking, row)->group);
		rank_name_cells(t, vt_ranking_at(side->ranking, row), level, side->images);
		bound_cells(t, side, row, opt->by_period);
	}
	return left_out;
}
