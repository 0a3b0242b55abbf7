/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PERFDATA_SESSION_H
#define FORMATS_PERFDATA_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/input.h"
#include "base/intern.h"
#include "formats/followed/ibs.h"
#include "formats/followed/pebs.h"
#include "formats/perfdata/abi.h"
#include "formats/perfdata/perfdata.h"
#include "machine/interp/lines.h"
#include "stream/writer.h"

/* Shared by the parts of the perf.data reader.  One conversion is one session. */

#define PD_HEADER_SIZE 8     /* of each record: type u32, misc u16, size u16 */
#define PD_RECORD_MAX  65535 /* a record's size is 16 bits wide */
#define PD_LINE_MIN    17    /* bytes of a line of memory: its address, its mask, and one byte */
#define PD_PIECE_MAX   (1u << 20)
#define PD_ID_CACHE    64

/* ---- attr.c ---- */

/* The used fields of a struct perf_event_attr; those that a shorter one lacks are 0. */
struct pd_attr {
	uint32_t type;
	uint32_t size; /* as in the file; 0 was replaced by the first published size */
	uint64_t config;
	uint64_t config1;
	uint64_t config2;
	uint64_t period; /* or the frequency, if PD_ATTR_FREQ */
	uint64_t sample_type;
	uint64_t read_format;
	uint64_t flags; /* bit n: the n-th declared flag, whatever the file's byte order */
	uint64_t branch_type;
	uint64_t regs_user;
	uint64_t regs_intr;
	uint32_t stack_user;
	uint32_t bp_type;
};

/*
 * Parses a perf_event_attr of any size, including newer ones (136 bytes and more).  False if there
 * are fewer than 64 bytes.
 */
bool vti_pd_attr_parse(struct pd_attr *a, const uint8_t *data, size_t size, bool big);

/*
 * Converts a flag word of a big-endian file to the order of a little-endian one.  In big-endian
 * words bit-fields begin at the top, but a field of several bits has the same order of bits.
 */
uint64_t vti_pd_attr_flags(uint64_t word, bool big);

/* The same for the flag word of a struct perf_branch_entry. */
uint64_t vti_pd_branch_flags(uint64_t word, bool big);

static inline unsigned vti_pd_attr_precise(const struct pd_attr *a)
{
	return (unsigned)(a->flags >> PD_ATTR_PRECISE_SHIFT) & 3;
}

/* The number of words in the sample id at the end of non-sample records. */
unsigned vti_pd_trailer_words(uint64_t sample_type);

/*
 * Puts the name that perf gives an event that the file does not name.  `pmu` is that of its type,
 * "" if it is not known.
 */
void vti_pd_attr_name(struct vt_buf *out, const struct pd_attr *a, const char *pmu);

/* ---- sample.c ---- */

/* An array of 64-bit words inside a record, in the file's byte order and at any alignment. */
struct pd_words {
	const uint8_t *p;
	size_t count;
};

/* One sample, or the sample id of another record.  Everything is borrowed from the record. */
struct pd_sample {
	uint64_t ip;
	uint64_t time;
	uint64_t addr;
	uint64_t id;
	uint64_t stream_id;
	uint64_t period;
	uint64_t weight;
	uint64_t data_src;
	uint64_t transaction;
	uint64_t phys_addr;
	uint64_t cgroup;
	uint64_t data_page_size;
	uint64_t code_page_size;
	uint64_t uregs_abi;
	uint64_t iregs_abi;
	uint64_t stack_dyn_size;
	uint64_t br_hw_idx;
	int32_t pid;
	int32_t tid;
	uint32_t cpu;
	uint32_t weight2;
	uint32_t weight3;
	struct pd_words read;
	struct pd_words callchain;
	struct pd_words branches; /* of 3 words each: from, to, flags */
	struct pd_words counters; /* one word for each branch */
	struct pd_words uregs;
	struct pd_words iregs;
	const uint8_t *raw;
	size_t raw_size;
	const uint8_t *stack;
	size_t stack_size;
	const uint8_t *stack_start; /* of all bytes of the copy, used or not; NULL: none */
	uint64_t stack_room; /* their number, as claimed, even of a sample that is cut there */
	const uint8_t *aux;
	size_t aux_size;
	size_t size; /* bytes of the payload that all these use */
};

/*
 * Parses the payload (after the 8-byte header) of a PERF_RECORD_SAMPLE.  False if it is too short
 * for its fields; *s is then undefined.
 */
bool vti_pd_sample_parse(struct pd_sample *s, const struct pd_attr *a, const uint8_t *payload,
			 size_t size, bool big);

/*
 * Parses the sample id at the end of the payload of any other record into *s; other fields are 0.
 * *body is the size of the payload before it.  Without sample_id_all nothing is parsed.  False if
 * the payload is too short.
 */
bool vti_pd_trailer_parse(struct pd_sample *s, const struct pd_attr *a, const uint8_t *payload,
			  size_t size, bool big, size_t *body);

/* Copies words to `out`, which has room for them, in this machine's byte order. */
void vti_pd_words_copy(uint64_t *out, const struct pd_words *w, bool big);

/* The number of words of a PERF_SAMPLE_READ value at `p`, at most `left`; 0 if it is cut. */
size_t vti_pd_read_words(const uint8_t *p, size_t left, uint64_t read_format, bool big);

/* ---- order.c ---- */

/*
 * The queue that orders records by time, as perf does.  Records are copied to pieces of memory,
 * which are reused when all their records have left.
 */
struct pd_entry {
	uint64_t time;
	uint64_t offset; /* of the record in the file, for messages */
	uint32_t piece;
	uint32_t at; /* position in the piece */
};

struct pd_piece {
	uint8_t *data;
	uint32_t used;
	uint32_t live; /* records in it that are still queued */
};

/* Receives a record (with its 8-byte header); a negative value stops the release. */
typedef int pd_deliver_fn(void *arg, const uint8_t *record, size_t size, uint64_t offset);

struct pd_order {
	struct pd_entry *entries;
	size_t count;
	size_t cap;
	struct pd_entry *spare; /* for merging */
	size_t spare_cap;
	size_t *runs; /* starts of ascending runs */
	size_t runs_cap;
	struct pd_piece *pieces;
	size_t npieces;
	size_t pieces_cap;
	uint32_t current;   /* the piece that is being filled, or UINT32_MAX */
	uint32_t free_head; /* an empty piece, or UINT32_MAX */
	size_t busy;	    /* pieces that have records, or are being filled */
	bool sorted;
	uint64_t newest;  /* the latest time that was queued */
	uint64_t release; /* the time up to which the next round releases */
	uint64_t last;	  /* the time released last */
	uint64_t late;	  /* records queued after a later one was released */
	bool big;
	pd_deliver_fn *deliver;
	void *arg;
};

void vti_pd_order_init(struct pd_order *o, bool big, pd_deliver_fn *deliver, void *arg);
void vti_pd_order_fini(struct pd_order *o);

/*
 * Queues a copy of a record of at most 65535 bytes.  If the queue is full (VT_PERFDATA_QUEUE_*) the
 * older half is released first.  0, -VT_E_NOMEM, or what the deliver function returned.
 */
int vti_pd_order_add(struct pd_order *o, uint64_t time, const uint8_t *record, size_t size,
		     uint64_t offset);

/* Ends a round: releases records up to the latest time at the previous round. */
int vti_pd_order_round(struct pd_order *o);

/* Releases all records. */
int vti_pd_order_flush(struct pd_order *o);

/* ---- the session ---- */

/* The positions of the first fields in a sample's payload, in words; -1: it has no such field. */
struct pd_layout {
	bool plain; /* there are no other fields */
	uint8_t words;
	int8_t ip, tid, time, addr, id, stream_id, cpu, period;
	int8_t key; /* the id of the event: IDENTIFIER or ID */
	/* In the sample id at the end of other records, counted from its end; 0: none. */
	uint8_t key_trailer, time_trailer;
};

/* What tells of one instruction in an event's samples: see followed.c. */
enum pd_followed {
	PD_FOLLOWED_NOT,
	PD_FOLLOWED_IBS_OP,
	PD_FOLLOWED_IBS_FETCH,
	PD_FOLLOWED_MEMORY, /* a data source or weights */
	PD_FOLLOWED_VALUES, /* the memory that the next instructions read: see values.c */
};

struct pd_event {
	struct pd_attr attr;
	enum pd_followed followed;
	struct pd_layout layout;
	char *name; /* NULL: the name comes from the attribute */
	bool dirty; /* it has changed since its EVENT was written */
};

/* An entry of `ids`: the key, then the value. */
struct pd_id {
	uint64_t id;
	uint64_t value; /* the count at the last group read */
	uint32_t event;
};

struct pd_buildid {
	uint8_t bytes[20];
	uint8_t size;
	uint8_t pad[3];
};

/* A row of the build-id table. */
struct pd_buildid_row {
	uint32_t path; /* in `strings` */
	struct pd_buildid id;
};

/* An image.  Its build-id in the build-id table is not part of the key. */
struct pd_image {
	uint32_t path; /* in `strings` */
	uint32_t type; /* enum vt_image_type */
	struct pd_buildid own;
	uint32_t has_id; /* its IMAGE was written with a build-id; not part of the key */
};

/* Counts of the records of an unknown type. */
struct pd_unknown {
	uint32_t type;
	uint32_t pad;
	uint64_t records;
	uint64_t bytes;
	uint64_t offset; /* of the first */
};

struct pd_inflate;

/* The state of a search for records after damage. */
struct pd_recover {
	size_t foreign; /* the most foreign bytes of a sample, which may look like anything */
	size_t hint;	/* the end of the damaged record by its contents; 0: not tried */
	uint64_t seen[2 * 9 * (PD_RECORD_MAX + 1) / 64 + 1]; /* a bit for each byte of the view */
};

struct pd_session {
	struct vt_input *in;
	struct vt_writer *w;
	const struct vt_format_options *opt;
	struct vt_format_summary *sum;
	struct vt_error *err; /* the error that ends the conversion */
	bool big;
	bool pipe;
	bool ordered;

	struct pd_event *events;
	size_t nevents;
	size_t events_cap;
	bool events_full;   /* there were more events or ids than allowed */
	bool dirty;	    /* an event is dirty */
	struct vt_hash ids; /* of struct pd_id */
	struct {
		uint64_t id;
		uint32_t event;
		bool valid;
	} id_cache[PD_ID_CACHE];
	bool same_layout; /* all events have the time of a sample at the same position */

	struct vt_intern *strings;
	struct vt_hash pmus;	 /* u32 type, u32 name in `strings` */
	struct vt_hash buildids; /* struct pd_buildid_row */
	struct vt_hash images;	 /* struct pd_image */
	struct vt_hash unknown;	 /* struct pd_unknown */
	size_t name_bytes;	 /* in `strings`, about */
	bool names_full;	 /* there were too many, which was reported */
	uint64_t bad_records;
	uint64_t bad_bytes;
	uint64_t bad_offset; /* of the first one without its own GAP */
	uint64_t ring_lost;  /* by LOST records */
	uint64_t final_lost; /* by perf's final counts: the same losses, and later ones */
	bool amd;
	struct vt_ibs_cpu cpu;	   /* of AMD */
	enum vt_cpu_vendor vendor; /* of x86 */
	/* Samples whose IBS registers are cut, hold no sample, have no address; the first one. */
	uint64_t ibs_cut, ibs_invalid, ibs_no_rip;
	uint64_t ibs_offset;
	struct {
		uint64_t damaged, contradictory; /* samples */
		uint64_t offset;		 /* of the first one */
		struct vt_line lines[PD_RECORD_MAX / PD_LINE_MIN];
		uint8_t bytes[PD_RECORD_MAX];
	} values;
	uint32_t aux_type; /* of AUXTRACE_INFO */
	bool has_arch;	   /* the file names its machine */
	uint32_t machine;  /* ELF machine, 0 while unknown */

	struct pd_order order;
	struct pd_recover recover;
	struct pd_inflate *inflate; /* NULL until the first compressed record */
	uint64_t words[PD_RECORD_MAX / 8 + 1];
	uint8_t dropped[PD_RECORD_MAX + 1]; /* a sample without its stack */
};

/* A record that is being parsed. */
struct pd_rec {
	uint32_t type;
	uint16_t misc;
	uint16_t size;
	const uint8_t *payload;
	size_t left; /* size of the payload */
	uint64_t offset;
};

/* Words of a file whose byte order is `big`, at any alignment. */
static inline uint64_t vti_pd_u64(const uint8_t *p, bool big)
{
	return big ? vt_be64(p) : vt_le64(p);
}

static inline uint32_t vti_pd_u32(const uint8_t *p, bool big)
{
	return big ? vt_be32(p) : vt_le32(p);
}

static inline uint16_t vti_pd_u16(const uint8_t *p, bool big)
{
	return big ? vt_be16(p) : vt_le16(p);
}

static inline struct pd_rec vti_pd_rec(const struct pd_session *s, const uint8_t *p,
				       uint64_t offset)
{
	struct pd_rec r = {
		.type = vti_pd_u32(p, s->big),
		.misc = vti_pd_u16(p + 4, s->big),
		.size = vti_pd_u16(p + 6, s->big),
		.payload = p + PD_HEADER_SIZE,
		.offset = offset,
	};

	r.left = r.size - PD_HEADER_SIZE;
	return r;
}

/* The length of a text that ends at its first zero byte, or at the end of the field. */
static inline size_t vti_pd_text(const uint8_t *p, size_t size)
{
	const uint8_t *zero = size ? memchr(p, 0, size) : NULL;

	return zero ? (size_t)(zero - p) : size;
}

/* ---- evlist.c: events and their ids ---- */

/* Appends an event.  0; 1: there are too many already, which is reported; -VT_E_NOMEM. */
int vti_pd_event_add(struct pd_session *s, const struct pd_attr *a);

/* Maps an id to an event; a later call with the same id wins.  0 also if there are too many. */
int vti_pd_id_add(struct pd_session *s, uint64_t id, size_t event);

/* The event of an id, as perf finds it: id 0 is that of the first event.  -1: none. */
int vti_pd_event_of_id(struct pd_session *s, uint64_t id);

/* The event of a record, from the id inside it; -1: unknown. */
int vti_pd_event_of(struct pd_session *s, const struct pd_rec *r);

/* Computes the layouts of samples, when all attributes of a file are known, or after a new one. */
void vti_pd_layout(struct pd_session *s);

/* Names an event; `only_if_unnamed` keeps an existing name.  The name needs no final zero. */
int vti_pd_event_name(struct pd_session *s, size_t event, const uint8_t *name, size_t size,
		      bool only_if_unnamed);

/* Marks all events dirty: something that EVENT records depend on has changed. */
void vti_pd_events_changed(struct pd_session *s);

/* Writes the EVENT records that changed. */
int vti_pd_events_emit(struct pd_session *s);

void vti_pd_events_fini(struct pd_session *s);

/* The name of the PMU with this type, "" if it is unknown. */
const char *vti_pd_pmu_name(const struct pd_session *s, uint32_t type);

/* ---- followed.c: samples of one instruction that hardware followed ---- */

/* Decides what tells of an instruction in the samples of an event. */
enum pd_followed vti_pd_choose_followed(const struct pd_session *s, const struct pd_event *e);

/* Sets the fields of one instruction in a row of SAMPLE that has all others. */
void vti_pd_put_followed(struct pd_session *s, const struct pd_rec *r, enum pd_followed followed,
			 const struct pd_sample *smp, uint64_t *row);

/* Reports what could not be read. */
void vti_pd_followed_emit(struct pd_session *s);

/* ---- values.c: the memory that the instructions behind a sample read ---- */

/* Whether a sample's raw bytes are said to be a struct vt_value_sample. */
bool vti_pd_are_values(const struct pd_sample *smp);

/* Sets what they hold in a row of SAMPLE. */
void vti_pd_put_values(struct pd_session *s, const struct pd_rec *r, const struct pd_sample *smp,
		       uint64_t *row);

/* Reports what was damaged. */
void vti_pd_values_emit(struct pd_session *s);

/* ---- images.c: mapped images, and build-ids ---- */

/*
 * Adds a name, cut to PATH_MAX, to `strings` and returns its id.  0, that of the empty name, if all
 * names would take more than VT_PERFDATA_NAMES_MAX; UINT32_MAX: no memory.
 */
uint32_t vti_pd_string(struct pd_session *s, const void *text, size_t size);

/* The id of the image; writes its IMAGE on first use.  -1 and s->err on failure. */
int64_t vti_pd_image(struct pd_session *s, const uint8_t *path, size_t size, bool kernel,
		     const struct pd_buildid *own);

/* Writes again the IMAGE of images whose build-id came after their first use. */
void vti_pd_images_finish(struct pd_session *s);

/* Adds a row to the build-id table. */
int vti_pd_buildid_add(struct pd_session *s, const uint8_t *path, size_t size, bool kernel,
		       const struct pd_buildid *id);

/* Takes a row of build-ids: a record of the feature section, or HEADER_BUILD_ID. */
int vti_pd_buildid_record(struct pd_session *s, const struct pd_rec *r, bool old_layout);

/* ---- extent.c: the size of a record by its contents ---- */

#define PD_EXTENT_UNKNOWN 0	       /* the contents do not show the size */
#define PD_EXTENT_CUT	  ((size_t)-1) /* it ends after the available bytes, or is damaged */

/*
 * The size, with the header, of the record at `p` by its contents, whatever its header says; `have`
 * bytes are available.  The sample id at its end is taken to be that of the first event.
 */
size_t vti_pd_extent(struct pd_session *s, const uint8_t *p, size_t have);

/* The same if the record is a sample. */
size_t vti_pd_extent_sample(struct pd_session *s, const uint8_t *p, size_t have);

/* True if the contents of an event's samples show their size. */
bool vti_pd_extent_known(const struct pd_attr *a);

/*
 * The end of the zstd block at `at`, where a frame may begin, in the COMPRESSED record at `p`;
 * `have` bytes are available, the end may be after them.  0: there is no block.  perf flushes after
 * each record, so records end at ends of blocks.
 */
size_t vti_pd_block_end(const uint8_t *p, size_t have, size_t at);

/* ---- recover.c: resynchronisation after damage ---- */

/* So many bytes are enough to decide if records begin at a position. */
#define PD_LOOK	    ((size_t)9 * (PD_RECORD_MAX + 1))
#define PD_VIEW_MAX (2 * PD_LOOK)

/* The bytes in which records are searched for, at most PD_VIEW_MAX. */
struct pd_view {
	const uint8_t *p;
	size_t have;
	uint64_t left; /* bytes from p to the end of all records; UINT64_MAX: not known */
	bool ends;     /* a record can end at the end of the view */
	bool whole;    /* no bytes come after the view */
	bool inner;    /* the bytes are those of decompressed records */
};

/*
 * Checks the record at the view's start, which is completely in the view.  It fits if its contents
 * show its size or, if they show none, if records continue after it.  The next record must not be
 * damaged, because then the last bytes of this one could be, too.  PD_UNDECIDED: more bytes are
 * needed; not if the view is whole.
 */
enum pd_fit { PD_DAMAGED, PD_FITS, PD_UNDECIDED };
enum pd_fit vti_pd_fits(struct pd_session *s, const struct pd_view *v);

/*
 * Searches for the next chain of records after the damaged record at the view's start, at least
 * `from` bytes on; 0: it continues the search after an earlier view.  True: the chain begins at
 * *at, which may be after the view.  False: no chain begins before *at; if the view is not whole,
 * more bytes are needed.
 */
bool vti_pd_search(struct pd_session *s, const struct pd_view *v, size_t from, uint64_t *at);

/*
 * The end of the attribute's record at `p`, whose header has `size`, if records continue `next`
 * bytes on, all of which are available.  It is `next`, unless the words between `size` and `next`
 * cannot be ids of its event; then it is `size`.  0: it is no attribute.
 */
uint64_t vti_pd_attr_end(const struct pd_session *s, const uint8_t *p, uint64_t size,
			 uint64_t next);

/* ---- drop.c: stacks that nobody asked for ---- */

/*
 * Finds the bytes of a stack in a sample of which `have` bytes are available, its header and what
 * follows: they begin *from bytes after the header's start and end at *to, which may lie behind
 * what is available.  False: there is none, or it lies further on.
 */
bool vti_pd_stack_find(struct pd_session *s, const uint8_t *record, size_t have, size_t *from,
		       size_t *to);

/*
 * Returns a sample without the copy of its stack, as the kernel writes it without room for one: in
 * s->dropped, valid until the next call.  Returns the record as it is if it has none, or is
 * damaged.
 */
const uint8_t *vti_pd_stack_drop(struct pd_session *s, const uint8_t *record);

/* ---- records.c, samples.c: queueing records, and converting them in order ---- */

/* The time by which a record is ordered; 0: it has none. */
uint64_t vti_pd_order_time(struct pd_session *s, const struct pd_rec *r);

/* Queues or delivers a complete record without bytes after it. */
int vti_pd_record(struct pd_session *s, const uint8_t *record, uint64_t offset);

/* Converts a kernel record: the function of the queue. */
int vti_pd_deliver(void *session, const uint8_t *record, size_t size, uint64_t offset);

/* Writes the losses of the final counts that are not in LOST records. */
void vti_pd_lost_emit(struct pd_session *s);

int vti_pd_deliver_sample(struct pd_session *s, const struct pd_rec *r, size_t event);

/*
 * Converts a record of perf itself.  Not for records with bytes after them (AUXTRACE, and
 * TRACING_DATA in a pipe).
 */
int vti_pd_user(struct pd_session *s, const struct pd_rec *r);

/* ---- auxtrace.c ---- */

/* Converts the AUXTRACE record at the input's position and its area, and consumes both. */
int vti_pd_auxtrace(struct pd_session *s, const struct pd_rec *r);

/* ---- features.c ---- */

/* Converts the bytes of a feature section. */
int vti_pd_feature(struct pd_session *s, unsigned feature, const uint8_t *data, size_t size,
		   uint64_t offset);

/* ---- gaps.c: META, GAP and counts ---- */

/* Writes META records of a key, with a text or with bytes. */
void vti_pd_meta(struct pd_session *s, const char *key, const uint8_t *text, size_t text_size,
		 const uint8_t *data, size_t size);
void vti_pd_meta_str(struct pd_session *s, const char *key, const char *text);

/* Reports that the input ends at its position, so many bytes before it should: a GAP, a warning. */
void vti_pd_missing(struct pd_session *s, uint64_t bytes);

/* Reports damage, or something left out, at a place: a GAP, a warning, a count. */
void vti_pd_damage(struct pd_session *s, uint64_t offset, uint64_t bytes, const char *fmt, ...)
	VT_PRINTF(4, 5);

/*
 * Reports a damaged record and `bytes` from its start on that were skipped, up to the next record
 * (`found`) or the end: a GAP and a warning.  inner: they are decompressed bytes, and the offset is
 * that of the compressed record.
 */
void vti_pd_passed_over(struct pd_session *s, const struct pd_rec *r, uint64_t bytes, bool found,
			bool inner);

/* Counts a record that could not be used, and reports the first ones. */
void vti_pd_bad_record(struct pd_session *s, const struct pd_rec *r, const char *why);

/* Reports an AUX area without a decoder, by its record: a GAP and a count. */
void vti_pd_aux_area(struct pd_session *s, const struct pd_rec *r, uint64_t bytes);

/* Counts a record of an unknown type, or (type PD_SAMPLE) of an unknown event. */
int vti_pd_unknown(struct pd_session *s, const struct pd_rec *r);

/* Writes a GAP: a place in the input, and how much is missing, as far as it is known. */
void vti_pd_gap(struct pd_session *s, const char *reason, uint64_t offset, uint64_t bytes,
		uint64_t records);

/* Writes GAP records of what was only counted. */
void vti_pd_gaps_emit(struct pd_session *s);

/* Sets s->err to "out of memory", with the input's name; returns -VT_E_NOMEM. */
int vti_pd_nomem(struct pd_session *s);

/* ---- inflate.c: compressed records ---- */

/* Decompresses the payload of a COMPRESSED or COMPRESSED2 record for vti_pd_record(). */
int vti_pd_inflate(struct pd_session *s, const struct pd_rec *r);

/* Delivers the remaining records at the end, and reports if the last one is cut. */
int vti_pd_inflate_end(struct pd_session *s);
void vti_pd_inflate_fini(struct pd_session *s);

#endif
