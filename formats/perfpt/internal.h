/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PERFPT_INTERNAL_H
#define FORMATS_PERFPT_INTERNAL_H

#include "base/buf.h"
#include "base/hash.h"
#include "base/intern.h"
#include "formats/perfdata/write.h"
#include "formats/perfpt/encode.h"
#include "formats/pt/sideband/files.h"
#include "image/addrspace.h"

struct wrap_area;
struct wrap_image;
struct wrap_thread;

struct vt_pt_wrap {
	struct vt_pt_wrap_options opt;
	struct vt_output *out;
	struct vt_perfdata_writer *w; /* NULL until the first record that needs it */
	struct vt_pt_encode *enc;
	struct vt_pt_timeconv conv;
	struct vt_intern *strings;
	struct vt_hash images;	/* struct wrap_image by id */
	struct vt_hash threads; /* pid and tid to an index of `thread` */
	struct wrap_thread **thread;
	size_t nthreads;
	size_t threads_cap;
	struct wrap_area **area;
	size_t nareas;
	size_t areas_cap;
	struct vt_hash dumps; /* of generated code, by pid */
	struct vt_hash code;  /* the code last written to dumps, by pages */
	struct vt_addrspace *maps;
	struct vt_pt_files *files;
	bool patched; /* code of a file was patched */
	struct vt_buf cmdline;
	struct vt_buf arch;
	uint32_t next_cpu;
	bool timed;
	struct vt_pt_wrap_totals sum;
	char bad[VT_ERROR_SIZE];
};

/* The time now, in ns; 0 if nothing has a time. */
uint64_t vti_wrap_now(const struct vt_pt_wrap *p);

/* The event of records other than trace: the last event. */
unsigned vti_wrap_side_event(const struct vt_pt_wrap *p);

/* Opens p->w and writes the first records: formats/perfpt/info.c.  False with *err set. */
bool vti_wrap_begin(struct vt_pt_wrap *p, struct vt_error *err);

/* The writer, opened if it was not.  NULL with *err set. */
struct vt_perfdata_writer *vti_wrap_writer(struct vt_pt_wrap *p, struct vt_error *err);

/*
 * The thread, added if it is new.  A new one gets a COMM record, so that perf knows it, unless
 * `announced`: the caller writes a record of it.  NULL with *err set.
 */
struct wrap_thread *vti_wrap_thread(struct vt_pt_wrap *p, int64_t pid, int64_t tid, bool announced,
				    struct vt_error *err);

/*
 * Generated and patched code: formats/perfpt/jit.c.  vti_wrap_jit_feed() takes IMAGE, MAP and
 * THREAD records, vti_wrap_jit_block() BLOCK records after the encoder, and vti_wrap_jit_close()
 * closes the dumps.  vti_wrap_jit_init() leaves p->maps or p->files NULL when memory runs out.
 */
void vti_wrap_jit_init(struct vt_pt_wrap *p);
void vti_wrap_jit_free(struct vt_pt_wrap *p);
int vti_wrap_jit_feed(struct vt_pt_wrap *p, const struct vt_record *rec, struct vt_error *err);
void vti_wrap_jit_block(struct vt_pt_wrap *p, const struct vt_record *rec);
int vti_wrap_jit_close(struct vt_pt_wrap *p, struct vt_error *err);

#endif
