/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_VALUE_PLUGIN_NAMES_H
#define VT_VALUE_PLUGIN_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "stream/record.h"
#include "stream/writer.h"

/*
 * The plugins of one stream or several, from MODULE and LABEL records: two of the
 * same name and format are one.  They are numbered from 0 in the order in which they came.
 */
struct vt_plugin_names;

/* More labels than these are left out. */
#define VT_PLUGIN_NAMES_MAX_LABELS 1000000
#define VT_PLUGIN_NAMES_MAX_TEXT   250

/* NULL when memory runs out. */
struct vt_plugin_names *vt_plugin_names_new(void);
void vt_plugin_names_free(struct vt_plugin_names *n);

/* Another stream begins, with ids of its own. */
void vt_plugin_names_begin(struct vt_plugin_names *n);

/*
 * Takes a MODULE or LABEL record; others do nothing.  Where streams call one value of a plugin
 * differently, as when bins are found from the data, it is called "this or that", up to
 * VT_PLUGIN_NAMES_MAX_TEXT bytes.  0 or -VT_E_NOMEM.
 */
int vt_plugin_names_feed(struct vt_plugin_names *n, const struct vt_record *rec,
			 struct vt_error *err);

/*
 * The number of the plugin that the stream at hand calls `id`; one that was not declared gets a
 * made-up name.  UINT32_MAX when memory runs out.
 */
uint32_t vt_plugin_names_number(struct vt_plugin_names *n, uint64_t id);

size_t vt_plugin_names_count(const struct vt_plugin_names *n);

/* The number that `n` gives to plugin `number` of `of`; UINT32_MAX: it does not have it. */
uint32_t vt_plugin_names_same(const struct vt_plugin_names *n, const struct vt_plugin_names *of,
			      uint32_t number);

/* Untrusted text, borrowed; "?" for a number that there is not. */
const char *vt_plugin_name(const struct vt_plugin_names *n, uint32_t number);
const char *vt_plugin_format(const struct vt_plugin_names *n, uint32_t number);

/* What a value is called: untrusted text, borrowed; NULL: it has no label. */
const char *vt_plugin_label(const struct vt_plugin_names *n, uint32_t number, uint64_t value);

/* Writes them with their numbers as ids: MODULE records, then LABELs. */
void vt_plugin_names_write(const struct vt_plugin_names *n, struct vt_writer *w);

#endif
