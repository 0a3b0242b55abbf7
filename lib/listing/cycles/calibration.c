/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listing/cycles/calibration.h"

#include <math.h>
#include <string.h>

#include "base/escape.h"
#include "base/table.h"
#include "listing/json.h"

/* ---- text ---- */

static void print_escaped(struct vt_output *out, const char *before, const char *text)
{
	struct vt_buf b = VT_BUF_INIT;

	vt_escape(&b, text, strlen(text));
	vt_output_printf(out, "%s%s", before, vt_buf_str(&b));
	vt_buf_free(&b);
}

static void print_skid(const struct vt_calibration *c, struct vt_output *out)
{
	const struct vt_skid *s = &c->skid;

	vt_output_printf(out, "\nsamples of a load that misses (%.0f)\n", s->samples);
	vt_output_printf(out, "  on the load           %5.1f %%\n", 100 * s->own);
	vt_output_printf(out, "  one instruction on    %5.1f %%\n", 100 * s->next);
	vt_output_printf(out, "  elsewhere             %5.1f %%\n", 100 * (1 - s->own - s->next));
}

static void print_clock(const struct vt_calibration *c, struct vt_output *out)
{
	vt_output_printf(out, "\nclock\n  %.3f GHz without samples (loops differ by %.1f %%)\n",
			 c->clock, 100 * c->spread);
	if (c->tsc > 0)
		vt_output_printf(out, "  %.3f GHz: the time-stamp counter\n", c->tsc);
	vt_output_printf(out, "  %.2f cycles: a multiplication\n", c->multiply);
}

static int print_rates(const struct vt_calibration *c, struct vt_output *out, struct vt_error *err)
{
	struct vt_table *t = vt_table_new();
	const struct vt_calibration_rate *r;
	int code;

	if (!t)
		return vt_error_nomem(err);
	vt_table_column(t, "rate", "samples/s", VT_FORMAT_RIGHT_TEXT);
	vt_table_column(t, "cost", "us each", VT_FORMAT_RIGHT_TEXT);
	vt_table_column(t, "lost", "of the time", VT_FORMAT_RIGHT_TEXT);
	vt_table_column(t, "effective", c->nanoseconds > 0 ? "effective GHz" : "of the cycles",
			VT_FORMAT_RIGHT_TEXT);
	vt_table_column(t, "spread", "differ by", VT_FORMAT_RIGHT_TEXT);
	for (r = c->rates; r < c->rates + VT_CALIBRATION_RATES; r++) {
		vt_table_row(t, VT_STYLE_PLAIN);
		vt_table_printf(t, "%.0f", r->rate);
		vt_table_printf(t, "%.1f", 1e6 * r->cost);
		vt_table_printf(t, "%.1f %%", 100 * r->lost);
		vt_table_printf(t, "%.3f", r->effective);
		vt_table_printf(t, "%.1f %%", 100 * r->spread);
	}
	vt_output_text(out, "\nwhat samples cost, and the clock that is left\n");
	code = vt_table_print(t, out, VT_TABLE_TEXT, false, err);
	vt_table_free(t);
	return code;
}

static int print_lengths(const struct vt_calibration *c, struct vt_output *out,
			 struct vt_error *err)
{
	struct vt_table *t = vt_table_new();
	const struct vt_calibration_length *l;
	int code;

	if (!t)
		return vt_error_nomem(err);
	vt_table_column(t, "cycles", "cycles a visit", VT_FORMAT_RIGHT_TEXT);
	vt_table_column(t, "samples", "samples", VT_FORMAT_RIGHT_TEXT);
	vt_table_column(t, "error", "wrong by", VT_FORMAT_RIGHT_TEXT);
	vt_table_column(t, "sigma", "+-", VT_FORMAT_RIGHT_TEXT);
	vt_table_column(t, "part", "of the region", VT_FORMAT_RIGHT_TEXT);
	for (l = c->lengths; l < c->lengths + VT_CALIBRATION_LENGTHS; l++) {
		vt_table_row(t, VT_STYLE_PLAIN);
		vt_table_printf(t, "%.0f", l->cycles);
		vt_table_printf(t, "%.0f", l->samples);
		vt_table_printf(t, "%.1f", l->error);
		vt_table_printf(t, "%.1f", l->sigma);
		vt_table_printf(t, "%.1f %%", l->cycles > 0 ? 100 * l->error / l->cycles : 0);
	}
	vt_output_text(out, "\nregions of known length, the worst of each\n");
	code = vt_table_print(t, out, VT_TABLE_TEXT, false, err);
	vt_table_free(t);
	return code;
}

/* ---- what may be believed ---- */

static void tell_instructions(const struct vt_calibration *c, struct vt_output *out)
{
	switch (vt_calibration_policy(c)) {
	case VT_POLICY_PRECISE:
		vt_output_text(out, "  An instruction that waits long has its own samples.\n");
		break;
	case VT_POLICY_INTERRUPT:
		vt_output_text(
			out,
			"  The instruction behind one that waits long has its samples: they are "
			"charged\n  to the one before.  So charged, they tell which instruction "
			"waits.\n");
		break;
	default:
		vt_output_text(out, "  Samples tell no instruction, only regions.\n");
	}
}

static void tell_regions(const struct vt_calibration *c, struct vt_output *out)
{
	if (c->bound.least > 0)
		vt_output_printf(
			out,
			"  By all lengths together, a region's time is wrong by up to %.1f cycles "
			"a visit:\n  believe regions of at least %.0f cycles a visit, which are "
			"within %.0f %%, and no\n  cycles of less.\n",
			c->bound.error, c->bound.least, 100 * VT_SERIAL_BAR);
	else
		vt_output_printf(out,
				 "  No region measured is within %.0f %%: believe only whole loops "
				 "and procedures.\n",
				 100 * VT_SERIAL_BAR);
}

static void tell_clock(const struct vt_calibration *c, struct vt_output *out)
{
	const struct vt_calibration_rate *r = &c->rates[0];
	double doubt = fmax(c->spread, r->spread);

	vt_output_printf(
		out,
		"  Loops that nothing stalls agree within %.1f %% about the clock: cycles are as "
		"doubtful.\n",
		100 * doubt);
	if (c->nanoseconds > 0 && r->effective > 0)
		vt_output_printf(out,
				 "  At %.0f samples a second, a nanosecond of a program's time is "
				 "%.2f cycles of its\n  work, not %.2f: shares of time are as they "
				 "are, but cycles need that clock.\n",
				 r->hz, r->effective, c->clock);
}

static void tell_cost(const struct vt_calibration *c, struct vt_output *out)
{
	double lost = vt_calibration_lost(c);

	if (lost > VT_CALIBRATION_LOSS_BAR)
		vt_output_printf(out,
				 "  WARNING: samples at the rate of vtrace record take %.1f %% of "
				 "the time, which is\n  charged to the program; take fewer "
				 "(--period).\n",
				 100 * lost);
	if (c->lost > 0)
		vt_output_printf(out, "  WARNING: the kernel lost %.0f samples.\n", c->lost);
}

int vt_calibration_print(const struct vt_calibration *c, struct vt_output *out,
			 struct vt_error *err)
{
	int code;

	print_escaped(out, "sampled by ", c->event);
	print_escaped(out, " on ", c->cpu);
	vt_output_text(out, "\n");
	print_skid(c, out);
	print_clock(c, out);
	code = print_rates(c, out, err);
	if (code == 0)
		code = print_lengths(c, out, err);
	vt_output_text(out, "\nwhat may be believed\n");
	tell_instructions(c, out);
	tell_regions(c, out);
	tell_clock(c, out);
	tell_cost(c, out);
	return code;
}

/* ---- JSON ---- */

struct member {
	const char *key;
	double value;
};

/* A count as an integer. */
static json_t *number_json(double v)
{
	return v == floor(v) && fabs(v) < 1e15 ? json_integer((json_int_t)v) : vt_json_real(v);
}

static json_t *members_json(const struct member *m, size_t n)
{
	json_t *o = json_object();
	size_t i;

	for (i = 0; i < n; i++)
		json_object_set_new(o, m[i].key, number_json(m[i].value));
	return o;
}

#define MEMBERS(...)                                                                               \
	members_json((const struct member[]){__VA_ARGS__},                                         \
		     sizeof((const struct member[]){__VA_ARGS__}) / sizeof(struct member))

static json_t *rates_json(const struct vt_calibration *c)
{
	json_t *list = json_array();
	const struct vt_calibration_rate *r;

	for (r = c->rates; r < c->rates + VT_CALIBRATION_RATES; r++)
		json_array_append_new(list,
				      MEMBERS({"hz", r->hz}, {"rate", r->rate}, {"cost", r->cost},
					      {"lost", r->lost}, {"effective", r->effective},
					      {"spread", r->spread}));
	return list;
}

static json_t *lengths_json(const struct vt_calibration *c)
{
	json_t *list = json_array();
	const struct vt_calibration_length *l;

	for (l = c->lengths; l < c->lengths + VT_CALIBRATION_LENGTHS; l++)
		json_array_append_new(list, MEMBERS({"cycles", l->cycles}, {"samples", l->samples},
						    {"error", l->error}, {"sigma", l->sigma}));
	return list;
}

json_t *vt_calibration_json(const struct vt_calibration *c)
{
	json_t *doc = vt_json_doc("vtrace-record/1");

	json_object_set_new(doc, "event", vt_json_text(c->event, strlen(c->event)));
	json_object_set_new(doc, "cpu", vt_json_text(c->cpu, strlen(c->cpu)));
	json_object_set_new(doc, "policy", json_string(vt_policy_name(vt_calibration_policy(c))));
	json_object_set_new(doc, "lost", number_json(c->lost));
	json_object_set_new(doc, "skid",
			    MEMBERS({"samples", c->skid.samples}, {"own", c->skid.own},
				    {"next", c->skid.next}));
	json_object_set_new(doc, "clock",
			    MEMBERS({"ghz", c->clock}, {"spread", c->spread}, {"tsc", c->tsc},
				    {"multiply", c->multiply}));
	json_object_set_new(doc, "rates", rates_json(c));
	json_object_set_new(doc, "recording",
			    MEMBERS({"period", c->period}, {"lost", vt_calibration_lost(c)}));
	json_object_set_new(doc, "lengths", lengths_json(c));
	json_object_set_new(doc, "regions",
			    MEMBERS({"error", c->bound.error}, {"from", c->bound.from},
				    {"least", c->bound.least > 0 ? c->bound.least : NAN}));
	return doc;
}
