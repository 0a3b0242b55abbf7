/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_COMMON_PLUGIN_H
#define CMD_COMMON_PLUGIN_H

#include <stdbool.h>
#include <stdio.h>

#include "base/opt.h"
#include "cmd/common/app.h"
#include "interpret/plugins.h"
#include "stream/writer.h"

/*
 * Customisation modules by name: found, loaded, and run beside a stream that is written.
 *
 *	app_plugins_open(&p, a, &names)
 *	w = app_plugins_begin(&p, out, readers, n)	... everything goes to w, as by
 *	vt_modules_run(p.modules, ..., w, &err)
 *	app_plugins_end(&p, out)			... from here on to `out` again
 *	app_plugins_close(&p)
 *
 * Modules run in this process: one that crashes takes the program with it.
 */
struct app_plugins {
	struct app *app;
	struct vt_modules *modules; /* never NULL once open; perhaps without any */
	void **handles;
	size_t nhandles;
	FILE *spool; /* what is written while values are provisional */
	struct vt_writer *writer;
};

/* The key of the META records that say which module made no value, and why. */
#define APP_SILENT_MODULE "module.no_values"

/* For a LIST option -p. */
#define APP_OPT_PLUGIN(variable)                                                                   \
	{                                                                                          \
		.letter = 'p', .name = "plugin", .type = VT_OPT_LIST, .value = &(variable),        \
		.arg = "MODULE[:OPTIONS]",                                                         \
		.help = "load a customisation module: vtrace-plugin(5); repeat for more"           \
	}

/*
 * Loads modules: a name with a slash is a path; others are looked for in the directories of
 * VTRACE_PLUGINS and where vtrace's own are installed.  False after app_fail().
 */
bool app_plugins_open(struct app_plugins *p, struct app *a, const struct vt_opt_list *names);

/*
 * Writes the MODULE records to `out` and returns the writer for what follows: `out`, or one into a
 * temporary file when values must be settled.  NULL after app_fail().
 */
struct vt_writer *app_plugins_begin(struct app_plugins *p, struct vt_writer *out,
				    struct vt_reader *const *inputs, size_t ninputs);

/*
 * Brings all that went elsewhere to `out`, and the LABEL records.  Says which modules made no
 * value, and why, there and on standard error.  False after app_fail().
 */
bool app_plugins_end(struct app_plugins *p, struct vt_writer *out);

/* Whatever was done before; zeros are fine. */
void app_plugins_close(struct app_plugins *p);

#endif
