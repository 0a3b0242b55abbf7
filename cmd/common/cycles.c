/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/common/cycles.h"

#include "cmd/common/stream.h"
#include "culprit/cause.h"

const char *const app_graph_words[] = {"svg", "dot", NULL};

bool app_cycles_asked(const struct app_cycles *o)
{
	return o->calc || o->summary || o->draw || o->stall;
}

bool app_cycles_check(struct app *a, struct app_cycles *o, bool other, bool top)
{
	bool stall = o->stall != NULL;
	const struct app_rule rules[] = {
		{o->calc + o->summary + o->draw + stall > 1,
		 "--calc, --summary, --stall and --cfg exclude each other"},
		{other, "--calc, --summary, --stall and --cfg go with no other listing"},
		{(o->form.csv || o->form.tsv) && !stall,
		 "--csv and --tsv go with --stall; there is --json"},
	};
	const struct app_rule more[] = {
		{o->images.count && (o->calc || o->draw || a->argc || (o->summary && top)),
		 "--image goes with --summary and --stall, without procedures"},
		{stall && a->argc, "--stall lists procedures and takes none"},
		{(o->calc || o->draw) && !a->argc && !top,
		 "name a procedure, or give --all or --top N"},
	};

	if (!APP_CHECK_RULES(a, rules))
		return false;
	if (stall && vt_stall_find(o->stall) == VT_NSTALLS)
		return app_usage(a, "--stall %s: no such cause; vlist(1) has them", o->stall);
	o->view = o->calc      ? VT_CYCLES_CALC
		  : o->summary ? VT_CYCLES_SUMMARY
		  : stall      ? VT_CYCLES_STALL
			       : VT_CYCLES_GRAPH;
	return APP_CHECK_RULES(a, more);
}

/* A listing of stalls needs some; other listings only lack columns. */
static bool check_stalls(struct app *a, const struct app_cycles *o, const struct app_profile *p)
{
	static const char none[] = "no stalls (vculprit finds them)";

	if (p->stalls || p->explained || o->view == VT_CYCLES_GRAPH)
		return true;
	if (o->view == VT_CYCLES_STALL)
		return app_lacks(a, p->name, none);
	app_say(a, "%s: %s", p->name, none);
	return true;
}

static void tell_left_out(void *left_out, const char *text)
{
	struct app_warnings *w = left_out;

	app_warn(w, text);
	app_raise(w->app, APP_LOSSY);
}

/* Prints what was checked. */
static bool print_list(struct app *a, struct vt_cyclelist *l, const struct vt_found *found)
{
	struct vt_error err = VT_ERROR_INIT;
	int code = vt_cyclelist_print(l, found, &err);

	if (code < 0)
		app_fail(a, &err);
	if (code == -VT_E_LIMIT && l->view == VT_CYCLES_GRAPH && l->count)
		app_say(a, "--cutoff leaves cold blocks out; --cfg=dot knows no limit");
	if ((l->view == VT_CYCLES_CALC || l->view == VT_CYCLES_GRAPH) && !l->count)
		app_raise(a, APP_INPUT);
	return code == 0;
}

bool app_cycles_list(struct app *a, const struct app_cycles *o, const struct app_profile *p,
		     const struct vt_found *found)
{
	struct app_warnings left_out = {a, "procedures that are not listed", 0};
	struct vt_cyclelist l = {
		.view = o->view,
		.src = {p->profile, p->in.images.store, p->freqs, p->code, o->syntax, SIZE_MAX},
		.images = &p->seen_images,
		.names = o->images.items,
		.nnames = o->images.count,
		.cutoff = o->cutoff,
		.top = o->top,
		.cause = o->stall ? vt_stall_find(o->stall) : 0,
		.dot = o->graph == APP_GRAPH_DOT,
		.sources = o->sources,
		.losses = o->form.json ? &a->losses : NULL,
		.form = app_table_form(&o->form),
		.warn = tell_left_out,
		.arg = &left_out,
	};
	const char *unknown = vt_cyclelist_unknown(&l);
	bool ok;

	if (!check_stalls(a, o, p))
		return false;
	if (unknown)
		return app_usage(a, "--image %s: no samples are of such an image", unknown);
	if (l.view == VT_CYCLES_GRAPH && !l.dot && !l.losses && found->count != 1)
		return app_usage(a, "--cfg=svg draws one procedure");
	l.out = app_text(a, o->form.output);
	l.color = l.out && app_form_color(a, &o->form);
	ok = l.out && print_list(a, &l, found);
	app_warnings_end(&left_out);
	return ok;
}
