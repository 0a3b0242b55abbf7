/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MEMORY_MEMORY_H
#define VT_MEMORY_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "image/symbols.h"
#include "memory/sharing.h"
#include "profile/context.h"
#include "stream/kinds.h"
#include "stream/profileme.h"
#include "stream/writer.h"
#include "value/hot_record.h"

/*
 * Memory profiles: the accesses of executed code by object, and within an object by location
 * (value profiling 6).  An object is a variable of an image, all that one call chain allocates, all
 * stack frames of a procedure, or a mapping.  A location is 8 bytes of it, or fewer, by their
 *offset.
 *
 *	m = vt_memory_new(&options, context, &err);	... a consumer of the context's records
 *	vt_context_feed(context, ...);			... for each run of records
 *	vt_memory_finish(m, &err);
 *	for (i = 0; i < vt_memory_nobjects(m); i++) ... vt_memory_object(m, i) ...
 *
 * Records of such profiles (memory/records.h) are read, too; then nothing else is counted.
 *
 * Samples of single accesses with addresses (PEBS, IBS, SPE, models) are counted in the same way,
 * without values, if the stream has no executed code.  Where it has all misses of a data cache,
 * they are counted with the accesses that missed.
 *
 * Memory: a cell of 24 bytes for each 8 bytes that the program touched, at most
 * VT_MEMORY_CHUNKS * 256 bytes of them, and `limit` locations; with `exact`, all values of each
 * location, and of those that were dropped.  For static loads, 48 bytes for each
 * of at most `limit` pairs of a load and an address, and 24 for those of a load and a location.
 */
struct vt_memory;

#define VT_MEMORY_DEPTH	  16	     /* most frames of a call chain */
#define VT_MEMORY_OBJECTS 1000000    /* further ones are counted as one, VT_OBJECT_OTHER */
#define VT_MEMORY_LOADS	  (1u << 20) /* static loads; the executions of further ones are left out */
#define VT_MEMORY_CHUNKS  (1u << 22)

/* A place in code or data; an address without image has the image VT_UNMAPPED_IMAGE. */
struct vt_memory_place {
	uint64_t offset; /* in its image */
	uint32_t image;	 /* id */
};

/*
 * Counts of accesses.  Of an object, an access counts once, where its first byte is; of locations,
 * once in each that it touches.
 */
struct vt_memory_counts {
	uint64_t loads;
	uint64_t stores;
	uint64_t loaded;    /* bytes */
	uint64_t stored;    /* bytes */
	uint64_t zero;	    /* loads of the value 0 */
	uint64_t redundant; /* loads of what was there when it was last loaded */
	uint64_t silent;    /* stores of what was there already */
	uint64_t dead;	    /* bytes that were overwritten or freed before they were loaded */
	uint64_t misses;    /* lines that accesses brought into the first data cache */
	uint64_t waits;	    /* for lines that were on their way there */
};

/* What samples tell of the accesses, or of executed code, its misses. */
struct vt_memory_sampled {
	uint64_t samples;
	uint64_t latency; /* cycles, of those that tell it */
	uint64_t latencies;
	uint64_t tlb_misses;
	uint64_t tlb_told;
	uint64_t sources[VT_NSOURCES]; /* enum vt_source */
};

struct vt_memory_object {
	enum vt_object_type type;
	uint32_t nplaces;
	struct vt_memory_place places[VT_MEMORY_DEPTH];
	const struct vt_symbol *symbol; /* of a variable or procedure, borrowed; or NULL */
	const char *section;		/* of an image, likewise; untrusted */
	const char *name; /* as a record names the symbol or section: raw, untrusted; or NULL */
	struct vt_memory_counts counts;
	uint64_t size;	    /* bytes of the largest instance; 0: not known */
	uint64_t instances; /* allocations */
	uint64_t freed;	    /* of these, freed */
	uint64_t lifetime;  /* executed instructions between allocation and free, of these in sum */
	uint64_t bytes;	    /* allocated in sum */
	uint64_t live;	    /* bytes that are allocated now */
	uint64_t peak;	    /* the most of `live` */
	uint64_t locations; /* that have counts */
	uint64_t left_out;  /* locations that were dropped at the limit, and their accesses */
	uint64_t left_out_accesses;
	uint64_t unread; /* bytes of locations that were stored and never loaded */
	/* Loads of the most frequent value of their location, and all loads with known values. */
	uint64_t top_loads;
	uint64_t valued_loads;
	struct vt_memory_sampled sampled;
};

/*
 * What samples tell of a location with a grain of 0: which instruction accesses it, and how.  Of
 * each instruction there is a location of its own; of objects without types, it has no offset.
 */
struct vt_memory_sampled_code {
	struct vt_memory_place place;
	bool exact; /* it is this instruction, not one near it */
	bool loads;
	bool stores;
	struct vt_memory_sampled of;
};

struct vt_memory_location {
	struct vt_memory_counts counts;
	int64_t offset;	 /* in the object; of a stack frame, from the frame's top (CFA): negative */
	uint32_t object; /* as vt_memory_object() numbers it */
	uint8_t read;	 /* a bit for each of its bytes, the lowest for the first */
	uint8_t written;
	uint8_t size;		   /* bytes of the largest access */
	struct vt_hotlist *values; /* of its loads; NULL: none */
	struct vt_hot *known;	   /* instead, of a record: owned; NULL: none */
	uint64_t code;		   /* of a stack frame: offset in its image of an instruction of the
				    * procedure that accesses it; 0: not known */
	uint64_t latency;	   /* of samples or misses that tell it, in sum */
	uint64_t latencies;
	struct vt_memory_sampled_code *sampled; /* NULL: no samples, or another grain */
};

/*
 * With a grain of 0, a location is where accesses begin: each counts once, with all its bytes and
 * its value.  That is what finds the members of types (typed.h).
 */
struct vt_memory_options {
	unsigned depth;		  /* frames of a call chain, 1 to VT_MEMORY_DEPTH */
	unsigned grain;		  /* bytes of a location: 1, 2, 4 or 8; 0: see below */
	bool sharing;		  /* look at cache lines, too */
	bool loads;		  /* look at static loads, too; not with a grain of 0 */
	bool exact;		  /* keep all values of each location: memory has no bound */
	bool recorded;		  /* take records of a profile alone: what follows has no meaning */
	uint64_t limit;		  /* locations, at least 1000 */
	struct vt_images *images; /* borrowed; the context's */
	vt_warn_fn *warn;	  /* called for each record that contradicts itself; may be NULL */
	void *warn_arg;
};

struct vt_memory_totals {
	struct vt_memory_counts counts;
	uint64_t insns;
	uint64_t incomplete; /* accesses whose address or value was not recorded: not counted */
	uint64_t
		samples; /* of all kinds; in `sampled`, those of loads and stores with an address */
	struct vt_memory_sampled sampled;
	uint64_t heap_events;	/* HEAP records */
	uint64_t unknown_frees; /* of what was not allocated */
	uint64_t overlaps; /* allocations where something was allocated, which counts as freed */
	uint64_t left_out; /* locations dropped at the limit, and their accesses */
	uint64_t left_out_accesses;
	uint64_t forgotten;	   /* times that all contents of memory were dropped at the limit */
	uint64_t damaged;	   /* records that contradict themselves */
	bool raised;		   /* of records: vt_memrecords_mend() */
	uint64_t lines_left_out;   /* accesses to cache lines beyond the limit */
	uint64_t unread;	   /* bytes stored that nobody loaded until the end */
	uint64_t objects_left_out; /* of a profile that was read: those that were not written */
	bool misses_told;	   /* the stream has all misses of a data cache */
	uint64_t misses_unplaced;  /* those whose access is not in the executed code */
	uint64_t loads_left_out;   /* executions of static loads beyond VT_MEMORY_LOADS */
};

/* What static loads load from. */
enum vt_distinct {
	/* Where an access begins; in a stack frame, the offset from its top. */
	VT_DISTINCT_ADDRESSES,
	/* The location where it begins: one for all objects of a call chain. */
	VT_DISTINCT_LOCATIONS,
	VT_NDISTINCT
};

struct vt_memory_distinct {
	uint64_t count;
	bool at_least; /* it may be more: they were too many to tell */
};

/* An instruction that loads, of which all loads count as one. */
struct vt_memory_load {
	uint64_t offset;    /* in its image; without image, its address */
	uint32_t image;	    /* id, or VT_UNMAPPED_IMAGE */
	uint32_t size;	    /* bytes of the largest load */
	uint64_t loads;	    /* executed */
	uint64_t zero;	    /* of the value 0 */
	uint64_t same;	    /* of the value that this one gave the last time */
	uint64_t top;	    /* of the most frequent value: at least so many */
	uint64_t value;	    /* which that is; of more than 8 bytes, a hash */
	uint64_t redundant; /* of what was there when anyone last loaded it */
	/* Of the value that this one last gave at this address, of `followed` whose are known. */
	uint64_t repeated;
	uint64_t followed;
	uint64_t types[VT_NOBJECTTYPES]; /* from objects of these types */
	struct vt_memory_distinct distinct[VT_NDISTINCT];
	struct vt_hotlist *values; /* after vt_memory_finish(), of no use */
};

/* The static loads with from..to distinct addresses or locations. */
#define VT_LOAD_CLASSES 8
struct vt_load_class {
	uint64_t from;
	uint64_t to; /* of the last class UINT64_MAX */
	uint64_t static_loads;
	uint64_t loads;	   /* executed */
	uint64_t at_least; /* of the static loads, those that may have more */
};

/* Adds itself to the context, which is borrowed.  Owned by the caller; NULL with VT_E_NOMEM. */
struct vt_memory *vt_memory_new(const struct vt_memory_options *o, struct vt_context *context,
				struct vt_error *err);
void vt_memory_free(struct vt_memory *m);

/*
 * After the last record: sums up and sorts the objects.  0; -VT_E_MISMATCH: there are both records
 * of a profile and accesses to be counted; -VT_E_NOMEM.
 */
int vt_memory_finish(struct vt_memory *m, struct vt_error *err);

const struct vt_memory_totals *vt_memory_totals(const struct vt_memory *m);

/* Bytes of a location: those of the options, or of the profile that was read. */
unsigned vt_memory_grain(const struct vt_memory *m);
unsigned vt_memory_depth(const struct vt_memory *m); /* callers that tell allocations apart */

/*
 * After vt_memory_finish(): objects, those with most misses, then accesses first, and locations in
 * the order of their objects, by offset.  Borrowed.
 */
size_t vt_memory_nobjects(const struct vt_memory *m);
const struct vt_memory_object *vt_memory_object(const struct vt_memory *m, size_t i);
size_t vt_memory_nlocations(const struct vt_memory *m);
const struct vt_memory_location *vt_memory_location(const struct vt_memory *m, size_t i);

/*
 * Lines that several threads accessed, one of them with stores, most accesses that could miss
 * first; and the thread after `t` of a line, or its first for NULL.  Borrowed.
 */
size_t vt_memory_nshared(const struct vt_memory *m);
const struct vt_shared_line *vt_memory_shared_line(const struct vt_memory *m, size_t i);
const struct vt_shared_thread *vt_memory_shared_thread(const struct vt_memory *m,
						       const struct vt_shared_line *l,
						       const struct vt_shared_thread *t);

/* The name of an object's symbol or section, as the image has it; "" if there is none.  Borrowed.
 */
const char *vt_memory_raw_name(const struct vt_memory_object *o);

/* Sorts pointers to locations: those with most misses, then accesses first; of equal ones, in their
 * order. */
void vt_memory_sort_locations(const struct vt_memory_location **list, size_t n);

/* What vt_memory_write() writes. */
struct vt_memory_written {
	uint64_t top;	/* the first so many objects, or locations; 0: all */
	bool locations; /* single locations, those with most accesses, with their objects */
	bool (*wanted)(void *arg, const struct vt_memory_object *o); /* NULL: all objects */
	void *arg;
};

/*
 * After vt_memory_finish(): writes ACCESSES, OBJECT and LOCATION records (memory/records.h), with
 * the image numbers of the context.  The grain is not 0.  -VT_E_NOMEM; the writer keeps its errors.
 */
int vt_memory_write(struct vt_memory *m, const struct vt_memory_written *o, struct vt_writer *w,
		    struct vt_error *err);

/*
 * Static loads, the most executed first; borrowed.  And how many have 1 address or location, 2 to
 * 10, 11 to 100, and so on (value profiling, table 5).
 */
size_t vt_memory_nloads(const struct vt_memory *m);
const struct vt_memory_load *vt_memory_load(const struct vt_memory *m, size_t i);
void vt_memory_load_classes(const struct vt_memory *m, enum vt_distinct distinct,
			    struct vt_load_class classes[VT_LOAD_CLASSES]);

/*
 * How many loads of a location had one of its n most frequent values, by its values: at least so
 * many, and just so many if these are exact.
 */
uint64_t vt_memory_top_loads(const struct vt_memory_location *l, const struct vt_hot *values,
			     unsigned n);

/*
 * Reads the most frequent values that were loaded from a location, as vt_hotlist_read() does; first
 * the one with the highest lower bound (vt_hot_sort()).  Returns 0 or -VT_E_NOMEM.
 */
int vt_memory_values(struct vt_memory *m, const struct vt_memory_location *l, struct vt_hot *found,
		     struct vt_error *err);

#endif
