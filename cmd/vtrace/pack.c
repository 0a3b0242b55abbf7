/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/common/pack.h"

#include "cmd/common/find.h"
#include "cmd/common/stream.h"
#include "cmd/programs.h"

int cmd_pack(int argc, char **argv)
{
	struct app app;
	struct app_pack o = {0};
	const struct vt_opt opts[] = {
		APP_OPT_OUTPUT(o.output),
		APP_OPT_COMPRESS(o.compress),
		APP_OPT_SYMFS(o.symfs),
		{0},
	};
	const struct vt_opt_page page = {
		.program = "vtrace pack",
		.usage = "[-o FILE] [-z HOW] [--symfs DIR] [FILE|-]",
		.about = "Adds to a stream or a recording the names, source lines and code of the\n"
			 "procedures that were hit, so that it can be listed anywhere.",
		.opts = opts,
		.max_operands = 1,
	};

	if (app_start(&app, &page, argc, argv))
		app_pack(&app, &o, app.argc ? app.argv[0] : NULL);
	return app_finish(&app);
}
