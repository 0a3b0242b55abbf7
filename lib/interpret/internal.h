/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_INTERPRET_INTERNAL_H
#define VT_INTERPRET_INTERNAL_H

#include "base/hash.h"
#include "image/addrspace.h"
#include "image/imagedata.h"
#include "interpret/interpret.h"
#include "machine/interp/lines.h"

/* Maximum bytes of lifted code and of known memory of one interpreter. */
#define VTI_MAX_CODE   ((size_t)512 << 20)
#define VTI_MAX_MEMORY ((size_t)16 << 20)

static inline struct vt_word vti_assumed_mxcsr(const struct vt_interpret_options *o)
{
	return o->has_mxcsr ? vt_word_of(o->mxcsr) : vt_word_unknown(64);
}

/* The lines of memory of the sample at hand: lines.c. */
struct vti_lines {
	struct vt_line *line; /* by address */
	size_t count;	      /* 0: it has none */
	size_t cap;
	int64_t pid;
	struct vt_interpret_totals *totals;
};

void vti_lines_fini(struct vti_lines *l);

/*
 * Takes the lines of a SAMPLE, which is borrowed until the next call, and counts what is wrong with
 * them.  Returns 0 or -VT_E_NOMEM.
 */
int vti_lines_take(struct vti_lines *l, const struct vt_record *rec, struct vt_error *err);

/* As a vt_known_fill_fn of what the process `pid` has at `addr`. */
uint64_t vti_lines_fill(const struct vti_lines *l, int64_t pid, uint64_t addr,
			uint8_t bytes[VT_KNOWN_LINE]);

/*
 * Copies up to `size` bytes from `addr` on and returns their number.  Where that is 0, *gap is the
 * number of bytes, at most `size`, that no line has.
 */
size_t vti_lines_copy(const struct vti_lines *l, int64_t pid, uint64_t addr, uint8_t *bytes,
		      size_t size, size_t *gap);

/*
 * The address spaces of a stream's processes.  Each has a number, by which lifted code is kept; it
 * gets a new number when its code changes.
 */
struct vti_spaces {
	const struct vt_context *context; /* borrowed, as are its images and maps */
	struct vt_images *images;
	struct vt_addrspace *maps;
	struct vt_hash processes; /* private */
	struct vt_hash seen;	  /* ids of images */
	struct vt_hash relocated; /* images of address spaces: private */
	uint64_t ran_space;	  /* the address space in which code ran last, */
	uint64_t ran_start;	  /* and the start of its mapping */
	uint64_t next;
	uint64_t code_changes; /* the last vt_images_code_changes() */
	uint64_t changes;      /* 1 + number of records that may have changed mappings */
	struct vti_line *lines;
	struct vti_lines sample;		   /* code comes from these first */
	unsigned trust;				   /* VT_TRUST_ */
	uint64_t constants_withheld[VT_NWITHHELD]; /* lines that were read */
};

/* Returns false when memory runs out; call vti_spaces_fini() in either case. */
bool vti_spaces_init(struct vti_spaces *s, const struct vt_context *context, unsigned trust);
void vti_spaces_fini(struct vti_spaces *s);

/*
 * Reads a record after the context has read it.  Uses IMAGE, MAP and THREAD records.  Returns 0 or
 * -VT_E_NOMEM.
 */
int vti_spaces_feed(struct vti_spaces *s, const struct vt_record *rec, struct vt_error *err);

/* Returns the current number of a process's address space, or 0 when memory runs out. */
uint64_t vti_spaces_number(struct vti_spaces *s, int64_t pid, struct vt_error *err);

/*
 * Copies up to `size` bytes of code at an address of a process from the lines of the sample at hand
 * or, where it has none, from its image's file, and returns their number.  It is 0 if there is no
 * line and no file is mapped there, or its code is withheld.
 */
size_t vti_spaces_code(struct vti_spaces *s, int64_t pid, uint64_t addr, uint8_t *bytes,
		       size_t size);

/* Returns why a file's code at an address is withheld; VT_WITHHELD_NOT also if no file is mapped.
 */
enum vt_withheld vti_spaces_code_withheld(struct vti_spaces *s, int64_t pid, uint64_t addr);

/*
 * Does the same for code that a decoder of processor traces took from a file.  The file may be
 * missing here, because the decoder had it and compared the build-ids.
 */
enum vt_withheld vti_spaces_decoded_withheld(struct vti_spaces *s, int64_t pid, uint64_t addr);

/*
 * Returns the constant bytes of images in the line at an address of a process, as a
 * vt_known_fill_fn.  Data that the dynamic linker relocates is constant only if `relro` is set.
 * Counts withheld lines.
 */
uint64_t vti_spaces_constants(struct vti_spaces *s, int64_t pid, uint64_t addr, bool relro,
			      uint8_t bytes[VT_KNOWN_LINE]);

/*
 * Does the same with vt_procdata_line().  Relocated data is constant where vti_spaces_ran() has
 * shown that the dynamic linker has relocated it.
 */
uint64_t vti_spaces_line(struct vti_spaces *s, int64_t pid, uint64_t addr,
			 uint8_t bytes[VT_KNOWN_LINE]);

/*
 * Notes that the process runs code at this address, which shows that relocations of its image are
 * done.  The dynamic linker runs no code of an image before the image's own relative relocations
 * are done: neither constructors, nor procedures that select others (R_X86_64_IRELATIVE), which are
 * behind them in the tables that linkers sort.  The relocated data that the linker then protects
 * (PT_GNU_RELRO) is constant from then on.  Other images may still be relocated: the linker may
 * call procedures of the C library meanwhile.  Returns 0 or -VT_E_NOMEM.
 */
int vti_spaces_ran(struct vti_spaces *s, int64_t pid, uint64_t addr, struct vt_error *err);

/* Finds the return addresses of a run's procedures. */
struct vti_callers {
	struct vti_spaces *spaces; /* borrowed, as are the next two */
	struct vt_interp *machine;
	struct vt_known_memory *memory;
	int64_t pid;
	struct vt_run_caller *list;
	size_t count;
	size_t cap;
	bool in_stub; /* a call has led to a stub of a procedure linkage table */
	bool no_memory;
};

void vti_callers_init(struct vti_callers *c, struct vti_spaces *spaces, struct vt_interp *machine,
		      struct vt_known_memory *memory);
void vti_callers_fini(struct vti_callers *c);

/*
 * Begins the list at the machine's instruction pointer, after instructions that were skipped.  The
 * list is empty until then.
 */
void vti_callers_begin(struct vti_callers *c, int64_t pid);

/* Adds a caller that holds from this instruction of a path on. */
void vti_callers_note(struct vti_callers *c, uint32_t insn, uint64_t ip, uint64_t caller);

/* A function for vt_interp_options.transfer with the struct vti_callers as `arg`. */
void vti_callers_transfer(void *arg, uint32_t insn, bool call);

struct vti_samples;
struct vti_paths;

struct vt_interpret {
	struct vt_interpret_options o;
	vt_run_fn *fn;
	void *arg;
	struct vti_spaces spaces;
	struct vt_interpret_totals totals;
	struct vti_samples *samples; /* one of these two is NULL */
	struct vti_paths *paths;
};

/*
 * Counts a run (runs, insns, results, values, stops) and passes it to in->fn.  `run->captures` are
 * all captures of the interpreter, including those of whole instructions (VT_WHAT_UNKNOWN).
 */
int vti_interpret_deliver(struct vt_interpret *in, const struct vt_run *run, struct vt_error *err);

/* Interpretation from samples, with the results of the functions of vt_interpret. */
struct vti_samples *vti_samples_new(struct vt_interpret *in, struct vt_error *err);
void vti_samples_free(struct vti_samples *s);
int vti_samples_feed(struct vti_samples *s, const struct vt_record *rec, struct vt_error *err);
/* Returns the number of instructions in lifted code that VEX does not support. */
uint64_t vti_samples_unlifted(const struct vti_samples *s);

/* Interpretation along a path.  vti_paths_end() completes the totals. */
struct vti_paths *vti_paths_new(struct vt_interpret *in, struct vt_error *err);
void vti_paths_free(struct vti_paths *p);
int vti_paths_feed(struct vti_paths *p, const struct vt_record *rec, struct vt_error *err);
void vti_paths_end(const struct vti_paths *p);

#endif
