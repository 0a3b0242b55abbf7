/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_UNIT_FORMATS_PERFDATA_PDSESSION_H
#define TESTS_UNIT_FORMATS_PERFDATA_PDSESSION_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "formats/perfdata/session.h"

/* A session of the perf.data reader with one event, whose records carry sample ids. */
struct pdsession {
	struct pd_session s;
	struct vt_error err;
	struct vt_format_summary sum;
	struct vt_format_options opt;
	struct vt_input in;
	int fd; /* of the stream that it writes */
};

void pdsession_init(struct pdsession *p, uint64_t sample_type);
void pdsession_fini(struct pdsession *p);

/* Adds another event. */
void pdsession_event(struct pdsession *p, const struct pd_attr *a);

/* What it has written since the last time, a line for each record, as pdfile_expect() has them. */
void pdsession_expect(struct pdsession *p, const char *lines);

/* A little-endian record of a payload of n words. */
void pdsession_put(struct vt_buf *b, uint32_t type, uint16_t misc, const uint64_t *words, size_t n);

/* Bytes that begin no record: their size is more than there are. */
void pdsession_junk(struct vt_buf *b, size_t n);

#endif
