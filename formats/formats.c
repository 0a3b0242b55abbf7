/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/formats.h"

#include <string.h>

#include "formats/auxtrace.h"
#include "formats/db/decode.h"
#include "formats/perfdata/perfdata.h"
#include "formats/perfpt/encode.h"
#include "formats/pt/encode/encode.h"
#include "formats/pt/raw/decode.h"

/* A new input format is a folder of its own and a row here. */
const struct vt_input_format vt_formats[] = {
	{"perf", "perf.data of Linux perf record, file or pipe", vt_perfdata_probe,
	 vt_auxtrace_decode},
	{"pt", "raw packets of Intel PT; the code comes from --image and --pages", vt_pt_probe,
	 vt_pt_decode},
	{"db", "a profile database, as vdb add keeps it: all of it; vdb cat selects", vt_db_probe,
	 vt_db_decode},
	{NULL, NULL, NULL, NULL},
};

/*
 * A new output format is a folder of its own and a row here, before the last: in --help, options
 * that only a perf.data has follow its row.
 */
const struct vt_output_format *const vt_output_formats[VT_OUTPUT_FORMATS + 1] = {
	&vt_pt_output,
	&vt_perfpt_output,
};

const struct vt_input_format *vt_format_by_name(const char *name)
{
	const struct vt_input_format *f;

	for (f = vt_formats; f->name; f++) {
		if (!strcmp(f->name, name))
			return f;
	}
	return NULL;
}

const struct vt_input_format *vt_format_find(struct vt_input *in, struct vt_error *err)
{
	const struct vt_input_format *f;
	size_t have;

	if (vt_input_fill(in, VT_FORMAT_PROBE_SIZE, &have, err) < 0)
		return NULL;
	for (f = vt_formats; f->name; f++) {
		if (f->probe(vt_input_data(in), have))
			return f;
	}
	vt_error_set(err, VT_E_FORMAT, "%s: %s", in->name,
		     have ? "neither a stream nor a trace of a known format" : "the file is empty");
	return NULL;
}
