/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PERFDATA_WRITE_INTERNAL_H
#define FORMATS_PERFDATA_WRITE_INTERNAL_H

#include "base/buf.h"
#include "base/hash.h"
#include "formats/perfdata/write.h"

/* An AUXTRACE record in the file, as the feature of that name lists them. */
struct pd_write_index {
	uint64_t offset;
	uint64_t size;
};

struct vt_perfdata_writer {
	struct vt_output *out;
	bool file;
	uint64_t offset;     /* bytes that were put */
	uint64_t data_start; /* of the records, in the file */
	struct vt_perfdata_event *events;
	struct vt_buf *names;
	size_t nevents;
	struct vt_buf arch;
	struct vt_buf version;
	struct vt_buf cmdline;
	uint32_t cpus;
	struct vt_buf rec;	/* the record that is being made */
	struct vt_buf buildids; /* the section so far */
	struct pd_write_index *index;
	size_t nindex;
	size_t index_cap;
	uint64_t first_time; /* of stamps; UINT64_MAX: none yet */
	uint64_t last_time;
};

void vti_pd_write_bytes(struct vt_perfdata_writer *w, const void *data, size_t size);

/* Starts a record in w->rec; ends it: sets its size and writes it. */
void vti_pd_write_begin(struct vt_perfdata_writer *w, uint32_t type, uint16_t misc);
int vti_pd_write_end(struct vt_perfdata_writer *w, struct vt_error *err);

/* Headers and attributes at the start; features and header at the end. */
int vti_pd_write_head(struct vt_perfdata_writer *w, struct vt_error *err);
int vti_pd_write_tail(struct vt_perfdata_writer *w, struct vt_error *err);

#endif
