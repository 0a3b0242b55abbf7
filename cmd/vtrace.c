/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <limits.h>
#include <string.h>

#include "cmd/common/app.h"
#include "cmd/vtrace/subcommands.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} subcommands[] = {
	{"decode", cmd_decode}, {"dump", cmd_dump},	{"encode", cmd_encode}, {"info", cmd_info},
	{"merge", cmd_merge},	{"record", cmd_record}, {NULL, NULL},
};

int main(int argc, char **argv)
{
	static const struct vt_opt opts[] = {{0}};
	static const struct vt_opt_page page = {
		.program = "vtrace",
		.usage = "SUBCOMMAND [options] [FILE]...",
		.about = "Records, converts and shows traces.  Subcommands:\n\n"
			 "  decode  make a record stream from a recorded trace\n"
			 "  dump    print the records of a stream\n"
			 "  encode  make an Intel PT trace of executed blocks\n"
			 "  info    say what is in a stream\n"
			 "  merge   add up the profiles of several runs\n"
			 "  record  run a program and record it\n\n"
			 "vtrace SUBCOMMAND --help tells more.",
		.opts = opts,
		.stop_at_operand = true,
		.min_operands = 1,
		.max_operands = UINT_MAX,
		.missing_operand = "which subcommand? see vtrace --help",
	};
	struct app app;
	int i;

	if (!app_start(&app, &page, argc, argv))
		return app_finish(&app);
	for (i = 0; subcommands[i].name; i++) {
		if (strcmp(subcommands[i].name, app.argv[0]) == 0) {
			app_release(&app);
			return subcommands[i].run(app.argc, app.argv);
		}
	}
	app_usage(&app, "%s: no such subcommand; see vtrace --help", app.argv[0]);
	return app_finish(&app);
}
