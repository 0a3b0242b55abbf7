/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_STREAM_META_H
#define VT_STREAM_META_H

#include <stdbool.h>

#include "stream/record.h"

/* Reads the number of a META record with this key; NAN: it is no number.  False: not with it. */
bool vt_meta_f64(const struct vt_record *rec, const char *key, double *v);

#endif
