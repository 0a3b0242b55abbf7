/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/escape.h"
#include "cmd/common/app.h"
#include "cmd/common/stream.h"
#include "cmd/programs.h"
#include "cmd/record/checkup.h"
#include "listing/json.h"

/* Paths and the errors that name them are not to be trusted. */
static void print_finding(const struct checkup_finding *f, struct vt_output *out)
{
	struct vt_buf line = VT_BUF_INIT;

	vt_buf_printf(&line, "%-4s %-16s ", f->there ? "yes" : "no", f->what);
	vt_escape(&line, f->found.data, f->found.size);
	if (f->fix.size)
		vt_buf_printf(&line, "\n%-21s fix: %.*s", "", (int)f->fix.size,
			      (const char *)f->fix.data);
	vt_buf_printf(&line, "\n");
	vt_output_text(out, vt_buf_str(&line));
	vt_buf_free(&line);
}

static json_t *finding_json(const struct checkup_finding *f)
{
	json_t *o = json_object();

	json_object_set_new(o, "what", json_string(f->key));
	json_object_set_new(o, "there", json_boolean(f->there));
	json_object_set_new(o, "found", vt_json_text(f->found.data, f->found.size));
	if (f->fix.size)
		json_object_set_new(o, "fix", vt_json_text(f->fix.data, f->fix.size));
	return o;
}

static json_t *checkup_json(const struct checkup *c)
{
	json_t *doc = vt_json_doc("vtrace-doctor/1"), *list = json_array();
	size_t i;

	for (i = 0; i < c->count; i++)
		json_array_append_new(list, finding_json(&c->findings[i]));
	json_object_set_new(doc, "findings", list);
	return doc;
}

static void show_checkup(struct app *a, const struct checkup *c, bool json, const char *output)
{
	struct vt_output *out = app_text(a, output);
	size_t i;

	if (out && json)
		vt_json_write(out, checkup_json(c), true);
	else if (out)
		for (i = 0; i < c->count; i++)
			print_finding(&c->findings[i], out);
}

static void examine(struct app *a, bool json, const char *output)
{
	struct checkup c = {.count = 0};
	int i;

	checkup_machine(&c);
	for (i = 0; i < a->argc; i++)
		checkup_program(&c, a->argv[i], a->debuginfod);
	if (checkup_ok(&c))
		show_checkup(a, &c, json, output);
	else
		app_no_memory(a);
	checkup_fini(&c);
}

int cmd_doctor(int argc, char **argv)
{
	const char *output = NULL;
	bool json = false;
	struct app app;
	const struct vt_opt opts[] = {
		{0, "json", VT_OPT_FLAG, &json, .help = "print one JSON object"},
		APP_OPT_OUTPUT(output),
		{0},
	};
	const struct vt_opt_page page = {
		.program = "vtrace doctor",
		.usage = "[--json] [-o FILE] [PROGRAM]...",
		.about = "Says what this machine lets you record, and what to do about the rest.  "
			 "Of a\n"
			 "PROGRAM or library, whether profiles of it will have names and source "
			 "lines.",
		.opts = opts,
		.max_operands = CHECKUP_PROGRAMS,
	};

	if (app_start(&app, &page, argc, argv))
		examine(&app, json, output);
	return app_finish(&app);
}
