/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_INTERPRET_PLUGINS_INTERNAL_H
#define VT_INTERPRET_PLUGINS_INTERNAL_H

#include "base/hash.h"
#include "interpret/plugins.h"
#include "machine/insn/insn.h"

/*
 * Checks that a plugin's structure is complete and within the limits of <vtrace/plugin.h>.  Returns
 * 0, -VT_E_VERSION if it was built for another version of the interface, or -VT_E_FORMAT.
 */
int vti_plugin_check(const struct vtrace_plugin *p, struct vt_error *err);

/*
 * Finds and loads the plugin with a file name; *handle becomes its handle for dlclose().  Returns
 * 0, -VT_E_NOTFOUND, -VT_E_READ, -VT_E_FORMAT, -VT_E_TRUNC or -VT_E_NOMEM.
 */
int vti_plugin_load(const char *name, const struct vt_plugin_path *where, void **handle,
		    const struct vtrace_plugin **plugin, struct vt_error *err);

/* Conversion of a run's captures to the tuples that a plugin's rules select. */

/* A decoded instruction. */
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

/* Sets t->list to the tuples of a run.  Returns 0 or -VT_E_NOMEM. */
int vti_plugin_tuples_make(struct vti_plugin_tuples *t, const struct vtrace_plugin *plugin,
			   const struct vt_run *run, vt_plugins_code_fn *code, void *arg,
			   struct vt_error *err);

/* Returns the captures (bits 1 << VT_WHAT_…) that a rule's `what`, VTRACE_BIT(…), requires. */
uint32_t vti_plugin_wants(uint32_t what);

#endif
