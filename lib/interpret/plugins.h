/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_INTERPRET_PLUGINS_H
#define VT_INTERPRET_PLUGINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "interpret/interpret.h"
#include "stream/record.h"
#include "stream/writer.h"
#include "vtrace/plugin.h"

/*
 * Plugins of vinterp(1), "customisation modules" in value sampling 2.4.  Passes the interpreter's
 * runs to plugins and writes the values that they emit.
 *
 *	m = vt_plugins_new();
 *	vt_plugins_load(m, arg, &path, &err);			... for each
 *	vt_plugins_declare(m, w);				MODULE records
 *	vt_plugins_run(m, &run, code, arg, w, &err);		... for each run: VALUE records
 *	vt_plugins_sample(m, &rec, code, arg, w, &err);		... for each sample
 *	vt_plugins_finish(m, &err);
 *	vt_plugins_copy(m, &rec, w, &err);	... for each VALUE, if values are replaced
 *	vt_plugins_label(m, w, &err);				LABEL records
 *
 * A plugin is code of the user's choice that runs in this process.  Its results are checked as far
 * as possible: a result that <vtrace/plugin.h> does not allow is the error -VT_E_SYSTEM, whose text
 * names the plugin.
 */
struct vt_plugins;

/* Maximum number of distinct values of a plugin that get a label. */
#define VT_PLUGINS_MAX_LABELS 65536

/* Returns an empty set of plugins, owned by the caller, or NULL when memory runs out. */
struct vt_plugins *vt_plugins_new(void);
void vt_plugins_free(struct vt_plugins *m);

/*
 * Adds a plugin, which must stay loaded.  `name` is used in messages; `options` is passed to the
 * plugin.  Returns 0; -VT_E_VERSION if it was built for another version of the interface;
 * -VT_E_FORMAT if its description is incomplete or invalid; -VT_E_USAGE if it rejects its options;
 * or -VT_E_NOMEM.
 */
int vt_plugins_add(struct vt_plugins *m, const struct vtrace_plugin *plugin, const char *name,
		   const char *options, struct vt_error *err);

/* Directories in which plugins are searched by name. */
struct vt_plugin_path {
	const char *dirs; /* directories with colons between them; or NULL */
	const char *own;  /* a directory that is searched last; or NULL */
};

/*
 * Loads the plugin FILE[:OPTIONS] and adds it.  A FILE with a slash is a path; others are searched
 * in `where`.  The plugin stays loaded until vt_plugins_free().  A plugin that crashes ends the
 * program.  Returns the errors of vt_plugins_add(), or -VT_E_NOTFOUND, -VT_E_READ, -VT_E_FORMAT or
 * -VT_E_TRUNC if the file is missing or is no shared object for this machine.
 */
int vt_plugins_load(struct vt_plugins *m, const char *arg, const struct vt_plugin_path *where,
		    struct vt_error *err);

size_t vt_plugins_count(const struct vt_plugins *m);

/*
 * What the plugins need: bits 1 << VT_WHAT_… for vt_interpret_options.capture, and whether
 * vt_interpret_options.registers must be set.  They use callers if the runs have them.
 */
uint32_t vt_plugins_capture(const struct vt_plugins *m);
bool vt_plugins_want_registers(const struct vt_plugins *m);

/* Whether a plugin replaces values at the end, so that the values written before are provisional.
 */
bool vt_plugins_settle(const struct vt_plugins *m);

/* Writes a MODULE record for each kind of value of each plugin. */
void vt_plugins_declare(const struct vt_plugins *m, struct vt_writer *w);

/* Copies up to `size` bytes of code to `bytes` and returns their number, as vt_interpret_code(). */
typedef size_t vt_plugins_code_fn(void *arg, int64_t pid, uint64_t ip, uint8_t *bytes, size_t size);

/*
 * Passes a run to all plugins and writes their values as VALUE records.  Does not pass the run's
 * latency, because the sampled instruction may be outside of the run.  Returns 0 or a negative
 * error.
 */
int vt_plugins_run(struct vt_plugins *m, const struct vt_run *run, vt_plugins_code_fn *code,
		   void *arg, struct vt_writer *w, struct vt_error *err);

/*
 * Passes a SAMPLE record with a latency to all plugins, as a run of only the sampled instruction,
 * with the address of its access if that was recorded.  Ignores other records.  Returns 0 or a
 * negative error.
 */
int vt_plugins_sample(struct vt_plugins *m, const struct vt_record *rec, vt_plugins_code_fn *code,
		      void *arg, struct vt_writer *w, struct vt_error *err);

/* Tells all plugins the fact of a META record; does nothing with other records. */
void vt_plugins_fact(struct vt_plugins *m, const struct vt_record *rec);

/* Discards decoded instructions, because code may have changed. */
void vt_plugins_forget_code(struct vt_plugins *m);

/* Calls finish() of all plugins after the last run.  Returns 0 or -VT_E_SYSTEM. */
int vt_plugins_finish(struct vt_plugins *m, struct vt_error *err);

/*
 * Returns the name of the i-th plugin if it has emitted no value, and sets *why to the reason, as
 * far as it is known.  Both strings belong to the plugin or are constant.  Returns NULL if the
 * plugin has emitted a value.
 */
const char *vt_plugins_silent(const struct vt_plugins *m, size_t i, const char **why);

/* Copies a provisional VALUE record to `w` with its final value.  Returns 0 or a negative error. */
int vt_plugins_copy(struct vt_plugins *m, const struct vt_record *rec, struct vt_writer *w,
		    struct vt_error *err);

/* Writes LABEL records of all values, in the order in which they first occurred. */
int vt_plugins_label(struct vt_plugins *m, struct vt_writer *w, struct vt_error *err);

struct vt_plugins_totals {
	uint64_t runs;
	uint64_t tuples;
	uint64_t values;    /* written */
	uint64_t unlabeled; /* occurrences of values beyond VT_PLUGINS_MAX_LABELS */
};

const struct vt_plugins_totals *vt_plugins_totals(const struct vt_plugins *m);

#endif
