/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <limits.h>
#include <string.h>

#include "base/buf.h"
#include "base/spelling.h"
#include "cmd/common/app.h"
#include "cmd/common/heap.h"
#include "cmd/programs.h"

struct program {
	const char *name;
	const char *link; /* the name that it has, too, as a link to this executable; or NULL */
	int (*run)(int argc, char **argv);
	const char *about;
};

static const struct program programs[] = {
	{"record", NULL, cmd_record, "run a program and record it"},
	{"doctor", NULL, cmd_doctor, "say what this machine can record, and what to do"},
	{"decode", NULL, cmd_decode, "make a record stream from a recorded trace"},
	{"encode", NULL, cmd_encode, "make an Intel PT trace of executed blocks"},
	{"info", NULL, cmd_info, "say what is in a stream"},
	{"dump", NULL, cmd_dump, "print the records of a stream"},
	{"merge", NULL, cmd_merge, "add up the profiles of several runs"},
	{"pack", NULL, cmd_pack, "add names, lines and code: a profile to take elsewhere"},
	{"db", "vdb", cmd_db, "keep profiles in a database"},
	{"prof", "vprof", cmd_prof, "list where samples fell; compare profiles"},
	{"list", "vlist", cmd_list, "list procedures: source and assembly, with samples or values"},
	{"stats", "vstats", cmd_stats, "say how samples vary between runs"},
	{"flame", "vflame", cmd_flame, "draw call chains as a flame graph"},
	{"export", "vexport", cmd_export, "write samples and call chains for other tools"},
	{"sample", "vsample", cmd_sample, "pick samples out of a full stream"},
	{"sim", "vsim", cmd_sim, "run executed code through a model of a processor"},
	{"freq", "vfreq", cmd_freq, "estimate execution frequencies and CPI from samples"},
	{"culprit", "vculprit", cmd_culprit, "explain why instructions stalled"},
	{"event", "vevent", cmd_event, "estimate events and latencies of each instruction"},
	{"pair", "vpair", cmd_pair, "measure what is in progress at the same time, from pairs"},
	{"path", "vpath", cmd_path, "find the paths that led to samples"},
	{"replay", "vreplay", cmd_replay, "find pairs of memory accesses that conflict"},
	{"interp", "vinterp", cmd_interp, "interpret the instructions after samples: their values"},
	{"coproc", "vcoproc", cmd_coproc, "run a model of a profiling co-processor"},
	{"hot", "vhot", cmd_hot, "collect hot lists of values"},
	{"inv", "vinv", cmd_inv, "measure the invariance of values"},
	{"cmp", "vcmp", cmd_cmp, "compare profiles of values"},
	{"mem", "vmem", cmd_mem, "list memory by object: accesses and values"},
	{"spec", "vspec", cmd_spec, "find code that is worth specialising"},
	{NULL, NULL, NULL, NULL},
};

/* The program that the executable was called as, "vprof" or "bin/vprof"; NULL: vtrace itself. */
static const struct program *find_link(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;
	const struct program *p;

	for (p = programs; path && p->name; p++)
		if (p->link && strcmp(p->link, slash ? slash + 1 : path) == 0)
			return p;
	return NULL;
}

/* perf's subcommands, and what does the same. */
static const struct {
	const char *perf;
	const char *here;
} perf_words[] = {
	{"report", "vtrace prof; its --style perf prints perf's columns"},
	{"script", "vtrace dump, with -F FIELDS"},
	{"annotate", "vtrace list"},
	{"stat", "vtrace record and vtrace prof: nothing is counted without a recording"},
	{"top", "vtrace record --all-cpus and vtrace prof: nothing is shown while it runs"},
	{"diff", "vtrace prof --diff"},
	{"evlist", "vtrace info"},
	{"archive", "vtrace pack"},
	{"flamegraph", "vtrace flame"},
	{"buildid-list", "vtrace info"},
};

/* By either name; NULL after app_usage(). */
static const struct program *find_program(struct app *a, const char *name)
{
	struct vt_spelling near = vt_spelling_start(name);
	const struct program *p;
	size_t i;

	for (i = 0; i < sizeof(perf_words) / sizeof(perf_words[0]); i++) {
		if (strcmp(perf_words[i].perf, name) == 0) {
			app_usage(a, "%s: that is perf's; here it is %s", name, perf_words[i].here);
			return NULL;
		}
	}
	for (p = programs; p->name; p++) {
		if (strcmp(p->name, name) == 0 || (p->link && strcmp(p->link, name) == 0))
			return p;
		vt_spelling_try(&near, p->name);
		if (p->link)
			vt_spelling_try(&near, p->link);
	}
	if (near.best)
		app_usage(a, "%s: no such subcommand; did you mean %s?", name, near.best);
	else
		app_usage(a, "%s: no such subcommand; see vtrace help", name);
	return NULL;
}

static int run_program(const struct program *p, char *option)
{
	char *argv[] = {(char *)p->name, option, NULL};

	return p->run(option ? 2 : 1, argv);
}

static void describe_programs(struct vt_buf *about)
{
	const struct program *p;

	vt_buf_printf(about, "Records, converts, analyses and shows traces.  Subcommands:\n\n");
	for (p = programs; p->name; p++)
		vt_buf_printf(about, "  %-7s  %-8s  %s\n", p->name, p->link ? p->link : "",
			      p->about);
	vt_buf_printf(about, "\nThe name beside a subcommand is the same program.  vtrace help "
			     "SUBCOMMAND tells more.");
}

/* What the command line asks for; NULL: nothing is left to run, or app_usage() said why not. */
static const struct program *choose_program(struct app *a, char **option)
{
	bool help = strcmp(a->argv[0], "help") == 0;

	*option = help ? (char *)"--help" : NULL;
	if (help && a->argc > 2)
		app_usage(a, "help: one operand too many: '%s'", a->argv[2]);
	else if (help && (a->argc == 1 || strcmp(a->argv[1], "help") == 0))
		app_help(a);
	else
		return find_program(a, a->argv[help]);
	return NULL;
}

static int run_vtrace(int argc, char **argv)
{
	static const struct vt_opt opts[] = {{0}};
	struct vt_buf about = VT_BUF_INIT;
	struct vt_opt_page page = {
		.program = "vtrace",
		.usage = "SUBCOMMAND [options] [FILE]...\nhelp [SUBCOMMAND]",
		.opts = opts,
		.stop_at_operand = true,
		.min_operands = 1,
		.max_operands = UINT_MAX,
		.missing_operand = "which subcommand? see vtrace help",
	};
	const struct program *p = NULL;
	struct app app;
	char *option = NULL;

	describe_programs(&about);
	page.about = vt_buf_str(&about);
	if (app_start(&app, &page, argc, argv))
		p = choose_program(&app, &option);
	vt_buf_free(&about);
	if (!p)
		return app_finish(&app);
	app_release(&app);
	return option ? run_program(p, option) : p->run(app.argc, app.argv);
}

int main(int argc, char **argv)
{
	const struct program *p = find_link(argv[0]);

	heap_use_huge_pages();
	return p ? p->run(argc, argv) : run_vtrace(argc, argv);
}
