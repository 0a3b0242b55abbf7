/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/export/export.h"

const struct vt_export_format *const vt_export_formats[VT_EXPORT_FORMATS] = {
	&vti_export_pprof,
	&vti_export_folded,
	&vti_export_speedscope,
};

const char *const vt_export_words[VT_EXPORT_FORMATS + 1] = {"pprof", "folded", "speedscope", NULL};
