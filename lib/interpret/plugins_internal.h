/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_INTERPRET_PLUGINS_INTERNAL_H
#define VT_INTERPRET_PLUGINS_INTERNAL_H

#include "base/hash.h"
#include "interpret/plugins.h"
#include "machine/insn/insn.h"

/*
 * Whether a plugin is one that this program can use: what its structure says is complete and within
 * the bounds of <vtrace/plugin.h>.  0; -VT_E_VERSION: made for another version; -VT_E_FORMAT.
 */
int vti_plugin_check(const struct vtrace_plugin *p, struct vt_error *err);

/*
 * Finds and loads the plugin with a file name.  *handle is for dlclose().  -VT_E_NOTFOUND,
 * -VT_E_READ, -VT_E_FORMAT, -VT_E_TRUNC, -VT_E_NOMEM.
 */
int vti_plugin_load(const char *name, const struct vt_plugin_path *where, void **handle,
		    const struct vtrace_plugin **plugin, struct vt_error *err);

/* From the captures of a run to the tuples that a plugin asked for. */

/* What is remembered of an instruction. */
struct vti_plugin_insn {
	int64_t pid; /* the key: pid and ip */
	uint64_t ip;
	uint64_t code;
	uint32_t classes;
	bool known; /* `facts` is set */
	struct vt_facts facts;
};

struct vti_plugin_tuples {
	struct vt_hash insns;
	struct vtrace_tuple *list;
	size_t count;
	size_t cap;
};

void vti_plugin_tuples_init(struct vti_plugin_tuples *t);
void vti_plugin_tuples_fini(struct vti_plugin_tuples *t);

/* Fills t->list as the plugin's rules say.  -VT_E_NOMEM. */
int vti_plugin_tuples_make(struct vti_plugin_tuples *t, const struct vtrace_plugin *plugin,
			   const struct vt_run *run, vt_plugins_code_fn *code, void *arg,
			   struct vt_error *err);

/* The bits 1 << VT_WHAT_… that make what a rule wants, VTRACE_BIT(…). */
uint32_t vti_plugin_wants(uint32_t what);

#endif
