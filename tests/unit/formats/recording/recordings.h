/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_UNIT_FORMATS_RECORDING_RECORDINGS_H
#define TESTS_UNIT_FORMATS_RECORDING_RECORDINGS_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "formats/recording/recording.h"
#include "stream/writer.h"
#include "tests/unit/formats/recording/rings.h"

/* A recording of a process that rings.h makes up, and what came of it as text. */

#define RECORDINGS_PID 500

struct recordings {
	char *dir;
	int fd;
	struct vt_writer *w;
	struct vt_recording *rec;
	struct rings ring;	/* of process RECORDINGS_PID, child of 40 */
	struct vt_buf warnings; /* a line each */
};

void recordings_open(struct recordings *s, const struct vt_recording_options *opt);

/* Ends the recording, whose records are to be these; the summary as it was. */
struct vt_recording_summary recordings_close(struct recordings *s, const char *want);

/* Whether a file of the directory whose name begins so is mapped into memory. */
bool recordings_mapped(const struct recordings *s, const char *name);

/* " NAME=" and the bytes in hexadecimal digits; of many the first 16 and how many there are. */
void recordings_put_bytes(struct vt_buf *b, const char *name, struct vt_bytes v);

#endif
