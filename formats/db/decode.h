/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_DB_DECODE_H
#define FORMATS_DB_DECODE_H

#include "formats/common/format.h"

/* True for what a file of SQLite begins with. */
bool vt_db_probe(const uint8_t *bytes, size_t size);

/* A vt_decode_fn: writes the sum of all that is in a database, which has to be a file. */
int vt_db_decode(struct vt_input *in, struct vt_writer *w, const struct vt_format_options *opt,
		 struct vt_format_summary *sum, struct vt_error *err);

#endif
