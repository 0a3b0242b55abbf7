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
 * Customisation plugins (value sampling 2.4): gives them the runs of the interpreter and writes
 * what they make of them.
 *
 *	m = vt_plugins_new();
 *	vt_plugins_load(m, arg, &path, &err);			... for each
 *	vt_plugins_declare(m, w);				MODULE records
 *	vt_plugins_run(m, &run, code, arg, w, &err);		... for each run: VALUE records
 *	vt_plugins_sample(m, &rec, code, arg, w, &err);		... for each sample
 *	vt_plugins_finish(m, &err);
 *	vt_plugins_copy(m, &rec, w, &err);	... for each VALUE written, where values are settled
 *	vt_plugins_label(m, w, &err);				LABEL records
 *
 * A plugin is code of the user's choice in this process.  What it returns is checked as far as can
 * be: what contradicts <vtrace/plugin.h> is an error, -VT_E_FORMAT, that names the plugin.
 */
struct vt_plugins;

/* Distinct values of one plugin that are asked for their text. */
#define VT_PLUGINS_MAX_LABELS 65536

/* NULL when memory runs out. */
struct vt_plugins *vt_plugins_new(void);
void vt_plugins_free(struct vt_plugins *m);

/*
 * Adds a plugin, which must stay loaded; `name` is for messages, `options` for the plugin.
 * -VT_E_VERSION: it was made for another interface; -VT_E_FORMAT: something is missing in it, or
 * makes no sense; -VT_E_USAGE: it does not like its options; -VT_E_NOMEM.
 */
int vt_plugins_add(struct vt_plugins *m, const struct vtrace_plugin *plugin, const char *name,
		   const char *options, struct vt_error *err);

/* Where plugins are looked for by name. */
struct vt_plugin_path {
	const char *dirs; /* directories with colons between them; or NULL */
	const char *own;  /* a directory that comes last; or NULL */
};

/*
 * Loads a plugin, FILE[:OPTIONS], and adds it; a FILE with a slash is a path.  It stays loaded
 * until vt_plugins_free().  Plugins run in this process: one that crashes takes the program with
 * it. Errors of vt_plugins_add(); -VT_E_NOTFOUND, -VT_E_READ, -VT_E_FORMAT or -VT_E_TRUNC: the file
 * is missing, or is no shared object of this machine.
 */
int vt_plugins_load(struct vt_plugins *m, const char *arg, const struct vt_plugin_path *where,
		    struct vt_error *err);

size_t vt_plugins_count(const struct vt_plugins *m);

/*
 * What they want: bits 1 << VT_WHAT_… for vt_interpret_options.capture; the registers that a run
 * begins with.  Callers count where they are told.
 */
uint32_t vt_plugins_capture(const struct vt_plugins *m);
bool vt_plugins_want_registers(const struct vt_plugins *m);

/* Some plugin settles values when all were seen: until then those written are provisional. */
bool vt_plugins_settle(const struct vt_plugins *m);

/* Writes their MODULE records: each kind of value of each plugin has one. */
void vt_plugins_declare(const struct vt_plugins *m, struct vt_writer *w);

/* The bytes of an instruction, at most `size` of them: vt_interpret_code(). */
typedef size_t vt_plugins_code_fn(void *arg, int64_t pid, uint64_t ip, uint8_t *bytes, size_t size);

/*
 * Gives a run to all of them and writes what they make of it.  What the run says of a latency does
 * not count: it belongs to the instruction that was sampled, which need not be in the run.
 */
int vt_plugins_run(struct vt_plugins *m, const struct vt_run *run, vt_plugins_code_fn *code,
		   void *arg, struct vt_writer *w, struct vt_error *err);

/*
 * Gives a SAMPLE record with a latency to all of them, as a run of the sampled instruction alone,
 * with the address of its access where that was recorded.  Other records do nothing.
 */
int vt_plugins_sample(struct vt_plugins *m, const struct vt_record *rec, vt_plugins_code_fn *code,
		      void *arg, struct vt_writer *w, struct vt_error *err);

/* Code may have changed: what is remembered of instructions is forgotten. */
void vt_plugins_forget_code(struct vt_plugins *m);

/* All runs were given. */
int vt_plugins_finish(struct vt_plugins *m, struct vt_error *err);

/*
 * The name of the i-th plugin if it has written no value, and in *why the reason as far as it is
 * known: both are the plugin's or constant.  NULL if it has written some.
 */
const char *vt_plugins_silent(const struct vt_plugins *m, size_t i, const char **why);

/* Writes a VALUE record of theirs, which vt_plugins_run() wrote elsewhere, as it is to be. */
int vt_plugins_copy(struct vt_plugins *m, const struct vt_record *rec, struct vt_writer *w,
		    struct vt_error *err);

/* Writes the LABEL records of all values, in the order in which they first came. */
int vt_plugins_label(struct vt_plugins *m, struct vt_writer *w, struct vt_error *err);

struct vt_plugins_totals {
	uint64_t runs;
	uint64_t tuples;
	uint64_t values;    /* written */
	uint64_t unlabeled; /* values, with repetitions, beyond VT_PLUGINS_MAX_LABELS */
};

const struct vt_plugins_totals *vt_plugins_totals(const struct vt_plugins *m);

#endif
