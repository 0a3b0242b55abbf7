/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_VALUE_PLUGIN_NAMES_H
#define VT_VALUE_PLUGIN_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "stream/record.h"
#include "stream/writer.h"

/*
 * The names of plugins and the labels of their values, from MODULE and LABEL records of one stream
 * or several.  A MODULE record declares one kind of value; here this is called a plugin.  Two with
 * the same name and format are the same plugin.  Plugins are numbered from 0 in the order in which
 * they were declared.
 */
struct vt_plugin_names;

/* Maximum number of labels; further ones are ignored. */
#define VT_PLUGIN_NAMES_MAX_LABELS 1000000
#define VT_PLUGIN_NAMES_MAX_TEXT   250

/* Returns an empty set of names, owned by the caller, or NULL when memory runs out. */
struct vt_plugin_names *vt_plugin_names_new(void);
void vt_plugin_names_free(struct vt_plugin_names *n);

/* Begins another stream, which has its own ids of plugins. */
void vt_plugin_names_begin(struct vt_plugin_names *n);

/*
 * Reads a MODULE or LABEL record and ignores others.  If streams have different labels for a value
 * of a plugin (as for bins that depend on the data), its label is "this or that", up to
 * VT_PLUGIN_NAMES_MAX_TEXT bytes.  Returns 0 or -VT_E_NOMEM.
 */
int vt_plugin_names_feed(struct vt_plugin_names *n, const struct vt_record *rec,
			 struct vt_error *err);

/*
 * Returns the number of the plugin with this id in the current stream.  A plugin that was not
 * declared gets the name "plugin ID".  Returns UINT32_MAX when memory runs out.
 */
uint32_t vt_plugin_names_number(struct vt_plugin_names *n, uint64_t id);

/* Returns the number in `n` of the plugin `number` of `of`, or UINT32_MAX if `n` does not have it.
 */
uint32_t vt_plugin_names_same(const struct vt_plugin_names *n, const struct vt_plugin_names *of,
			      uint32_t number);

/* Return untrusted text, borrowed; "?" for a number that does not exist. */
const char *vt_plugin_name(const struct vt_plugin_names *n, uint32_t number);
const char *vt_plugin_format(const struct vt_plugin_names *n, uint32_t number);

/* Returns the label of a value (untrusted text, borrowed), or NULL if it has none. */
const char *vt_plugin_label(const struct vt_plugin_names *n, uint32_t number, uint64_t value);

/* Writes MODULE records and then LABEL records, with the plugins' numbers as ids. */
void vt_plugin_names_write(const struct vt_plugin_names *n, struct vt_writer *w);

#endif
