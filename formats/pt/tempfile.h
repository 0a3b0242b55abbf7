/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PT_TEMPFILE_H
#define FORMATS_PT_TEMPFILE_H

#include "base/error.h"

/* A file in `dir` without a name: it goes with its descriptor.  -VT_E_WRITE, -VT_E_NOMEM. */
int vti_pt_tempfile(const char *dir, struct vt_error *err);

#endif
