/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_INTERPRET_INTERNAL_H
#define VT_INTERPRET_INTERNAL_H

#include "base/hash.h"
#include "image/addrspace.h"
#include "image/imagedata.h"
#include "interpret/interpret.h"

/* Lifted code, and what is known of memory, of one interpreter; bytes. */
#define VTI_MAX_CODE   ((size_t)512 << 20)
#define VTI_MAX_MEMORY ((size_t)16 << 20)

static inline struct vt_word vti_assumed_mxcsr(const struct vt_interpret_options *o)
{
	return o->has_mxcsr ? vt_word_of(o->mxcsr) : vt_word_unknown(64);
}

/*
 * The address spaces of a stream's processes, each with a number that lifted code is kept under: a
 * number is never used again for other code.
 */
struct vti_spaces {
	const struct vt_context *context; /* borrowed, as are its images and maps */
	struct vt_images *images;
	struct vt_addrspace *maps;
	struct vt_hash processes; /* private */
	struct vt_hash seen;	  /* ids of images */
	struct vt_hash relocated; /* images of address spaces: private */
	uint64_t ran_space;	  /* where code ran last: there, in the mapping */
	uint64_t ran_start;	  /* that starts here */
	uint64_t next;
	uint64_t code_changes; /* vt_images_code_changes() that is accounted for */
	uint64_t changes;      /* records that may have changed what is mapped, and 1 */
	struct vti_line *lines;
	unsigned trust;				   /* VT_TRUST_ */
	uint64_t constants_withheld[VT_NWITHHELD]; /* lines that were asked for */
};

/* False when memory runs out; vti_spaces_fini() in either case. */
bool vti_spaces_init(struct vti_spaces *s, const struct vt_context *context, unsigned trust);
void vti_spaces_fini(struct vti_spaces *s);

/* Takes a record after the context has: IMAGE, MAP and THREAD count.  0 or -VT_E_NOMEM. */
int vti_spaces_feed(struct vti_spaces *s, const struct vt_record *rec, struct vt_error *err);

/* The number of a process's code as it is mapped now. */
uint64_t vti_spaces_number(struct vti_spaces *s, int64_t pid, struct vt_error *err);

/*
 * Copies at most `size` bytes of code at an address of a process, as its image has them, and says
 * how many there are: 0 where nothing is mapped that has a file, or where it is withheld.
 */
size_t vti_spaces_code(struct vti_spaces *s, int64_t pid, uint64_t addr, uint8_t *bytes,
		       size_t size);

/* Why there is no code of a file at an address; VT_WITHHELD_NOT where no file is mapped, too. */
enum vt_withheld vti_spaces_code_withheld(struct vti_spaces *s, int64_t pid, uint64_t addr);

/*
 * Whether code that a decoder of processor traces took from a file is what ran there: likewise, but
 * the file need not be here, for the decoder had it and compared the build-ids.
 */
enum vt_withheld vti_spaces_decoded_withheld(struct vti_spaces *s, int64_t pid, uint64_t addr);

/*
 * What images hold for good of a line at an address of a process, without what the dynamic linker
 * relocates unless `relro` says that it has.  Lines that are withheld are counted.
 */
uint64_t vti_spaces_constants(struct vti_spaces *s, int64_t pid, uint64_t addr, bool relro,
			      uint8_t bytes[VT_KNOWN_LINE]);

/*
 * What images hold for good of a line at an address of a process: vt_procdata_line(), with what the
 * dynamic linker relocates where vti_spaces_ran() has shown that it has.
 */
uint64_t vti_spaces_line(struct vti_spaces *s, int64_t pid, uint64_t addr,
			 uint8_t bytes[VT_KNOWN_LINE]);

/*
 * The process was seen to run code at this address.  The dynamic linker lets no code of an image
 * run before the image's own relative relocations are done: not constructors, and neither
 * procedures that choose others (R_X86_64_IRELATIVE), which come behind them in the tables that
 * linkers sort.  What these relocations fill in, and the linker then protects (PT_GNU_RELRO), stays
 * as it is from then on.  Of other images that is not known: the linker may be at work on them, and
 * call procedures of the C library while it is.  0 or -VT_E_NOMEM.
 */
int vti_spaces_ran(struct vti_spaces *s, int64_t pid, uint64_t addr, struct vt_error *err);

/* Follows the callers of the procedures that a run is in. */
struct vti_callers {
	struct vti_spaces *spaces; /* borrowed, as are the next two */
	struct vt_interp *machine;
	struct vt_known_memory *memory;
	int64_t pid;
	struct vt_run_caller *list;
	size_t count;
	size_t cap;
	bool in_stub; /* of a procedure linkage table, from a call on */
	bool no_memory;
};

void vti_callers_init(struct vti_callers *c, struct vti_spaces *spaces, struct vt_interp *machine,
		      struct vt_known_memory *memory);
void vti_callers_fini(struct vti_callers *c);

/* What counts begins at the machine's instruction pointer; the list is empty until then. */
void vti_callers_begin(struct vti_callers *c, int64_t pid);

/* For a path: from this instruction on, that is the caller. */
void vti_callers_note(struct vti_callers *c, uint32_t insn, uint64_t ip, uint64_t caller);

/* As vt_interp_options.turn: `arg` is the struct vti_callers. */
void vti_callers_turn(void *arg, uint32_t insn, bool call);

struct vti_samples;
struct vti_paths;

struct vt_interpret {
	struct vt_interpret_options o;
	vt_run_fn *fn;
	void *arg;
	struct vti_spaces spaces;
	struct vt_interpret_totals totals;
	struct vti_samples *samples; /* one of these two */
	struct vti_paths *paths;
};

/*
 * Counts a run (runs, insns, results, values, stops) and tells it.  `run->captures` holds what the
 * interpreter captured, those of whole instructions (VT_WHAT_UNKNOWN) included.
 */
int vti_interpret_deliver(struct vt_interpret *in, const struct vt_run *run, struct vt_error *err);

/* From samples.  `new` gives NULL on error; the others as those of vt_interpret. */
struct vti_samples *vti_samples_new(struct vt_interpret *in, struct vt_error *err);
void vti_samples_free(struct vti_samples *s);
int vti_samples_feed(struct vti_samples *s, const struct vt_record *rec, struct vt_error *err);
/* Instructions in lifted code that VEX does not know. */
uint64_t vti_samples_unlifted(const struct vti_samples *s);

/* Along a path, likewise; `end` completes the totals. */
struct vti_paths *vti_paths_new(struct vt_interpret *in, struct vt_error *err);
void vti_paths_free(struct vti_paths *p);
int vti_paths_feed(struct vti_paths *p, const struct vt_record *rec, struct vt_error *err);
void vti_paths_end(const struct vti_paths *p);

#endif
