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
#include "formats/perfdata/abi.h"
#include "formats/perfdata/perfdata.h"
#include "stream/writer.h"

/* What the parts of the perf.data reader share.  One conversion is one session. */

#define PD_HEADER_SIZE 8     /* of each record: type u32, misc u16, size u16 */
#define PD_RECORD_MAX  65535 /* a record's size is 16 bits wide */
#define PD_PIECE_MAX   (1u << 20)
#define PD_ID_CACHE    64

/* ---- attr.c ---- */

/* What is used of a struct perf_event_attr; fields that a shorter one lacks are 0. */
struct pd_attr {
	uint32_t type;
	uint32_t size; /* as the file claims; 0 was replaced by the first published size */
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
 * Parses a perf_event_attr of any size, newer ones (136 bytes and more) included.  False when
 * fewer than 64 bytes are there.
 */
bool vti_pd_attr_parse(struct pd_attr *a, const uint8_t *data, size_t size, bool big);

/*
 * Puts a flag word of a big-endian file in the order of a little-endian one: there bit-fields are
 * given out from the top, but a field of several bits keeps its own order.
 */
uint64_t vti_pd_attr_flags(uint64_t word, bool big);

/* As above for the flag word of a struct perf_branch_entry. */
uint64_t vti_pd_branch_flags(uint64_t word, bool big);

static inline unsigned vti_pd_attr_precise(const struct pd_attr *a)
{
	return (unsigned)(a->flags >> PD_ATTR_PRECISE_SHIFT) & 3;
}

/* Words in the sample id that ends non-sample records. */
unsigned vti_pd_trailer_words(uint64_t sample_type);

/* The name that perf gives an event that the file does not name. */
void vti_pd_attr_name(struct vt_buf *out, const struct pd_attr *a);

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
	const uint8_t *aux;
	size_t aux_size;
	size_t size; /* bytes of the payload that all these took */
};

/*
 * Parses the payload (what follows the 8-byte header) of a PERF_RECORD_SAMPLE.  False when it is
 * too short for what it claims to hold; *s then has undefined content.
 */
bool vti_pd_sample_parse(struct pd_sample *s, const struct pd_attr *a, const uint8_t *payload,
			 size_t size, bool big);

/*
 * Parses the sample id at the end of the payload of any other record into *s, everything else 0.
 * *body is the size of what comes before it.  If the attribute has no sample_id_all nothing is
 * parsed.  False when the payload is too short.
 */
bool vti_pd_trailer_parse(struct pd_sample *s, const struct pd_attr *a, const uint8_t *payload,
			  size_t size, bool big, size_t *body);

/* Copies words into `out`, which has room for them, in this machine's order. */
void vti_pd_words_copy(uint64_t *out, const struct pd_words *w, bool big);

/* Words of a PERF_SAMPLE_READ value at `p`, at most `left` of them; 0 when it is cut. */
size_t vti_pd_read_words(const uint8_t *p, size_t left, uint64_t read_format, bool big);

/* ---- order.c ---- */

/*
 * The queue that puts records in the order of their times, as perf does.  Records are copied into
 * pieces of memory that are freed when all their records have left.
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

/* Receives a record (8-byte header included); a negative value stops the release. */
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
	size_t busy;	    /* pieces that hold records, or are being filled */
	bool sorted;
	uint64_t newest;  /* the latest time that was queued */
	uint64_t release; /* what the next round releases up to */
	uint64_t last;	  /* the time released last */
	uint64_t late;	  /* records queued after a later one was released */
	bool big;
	pd_deliver_fn *deliver;
	void *arg;
};

void vti_pd_order_init(struct pd_order *o, bool big, pd_deliver_fn *deliver, void *arg);
void vti_pd_order_fini(struct pd_order *o);

/*
 * Queues a copy of a record of at most 65535 bytes.  When the queue is full (VT_PERFDATA_QUEUE_*)
 * the older half is released first.  0, -VT_E_NOMEM, or what the deliver function returned.
 */
int vti_pd_order_add(struct pd_order *o, uint64_t time, const uint8_t *record, size_t size,
		     uint64_t offset);

/* A round ended: releases what the rules above say. */
int vti_pd_order_round(struct pd_order *o);

/* Releases everything. */
int vti_pd_order_flush(struct pd_order *o);

/* ---- the session ---- */

/* Where in a sample's payload, in words, its first fields are; -1 for those that are not there. */
struct pd_layout {
	bool plain; /* there are no other fields */
	uint8_t words;
	int8_t ip, tid, time, addr, id, stream_id, cpu, period;
	int8_t key; /* the id that tells the event: IDENTIFIER or ID */
	/* In the sample id that ends other records, counted from its end; 0: not there. */
	uint8_t key_trailer, time_trailer;
};

struct pd_event {
	struct pd_attr attr;
	struct pd_layout layout;
	char *name; /* NULL while only the attribute names it */
	bool dirty; /* has changed since its EVENT was written */
};

/* An entry of `ids`: the key, then what is known of it. */
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

/* An image.  What the build-id table says of its path is not part of the key. */
struct pd_image {
	uint32_t path; /* in `strings` */
	uint32_t type; /* enum vt_image_type */
	struct pd_buildid own;
	uint32_t has_id; /* its IMAGE was written with a build-id; not part of the key */
};

/* What is counted of the records of an unknown type. */
struct pd_unknown {
	uint32_t type;
	uint32_t pad;
	uint64_t records;
	uint64_t bytes;
	uint64_t offset; /* of the first */
};

struct pd_inflate;

/* What a search for records behind damage keeps. */
struct pd_recover {
	size_t foreign; /* bytes of a sample that can look like anything, at most */
	size_t hint;	/* where the damaged record's contents lead to; 0: elsewhere */
	uint64_t seen[2 * 9 * (PD_RECORD_MAX + 1) / 64 + 1]; /* a bit a place in the view */
};

struct pd_session {
	struct vt_input *in;
	struct vt_writer *w;
	const struct vt_format_options *opt;
	struct vt_format_summary *sum;
	struct vt_error *err; /* where the functions below put what ends the conversion */
	bool big;
	bool pipe;
	bool ordered;

	struct pd_event *events;
	size_t nevents;
	size_t events_cap;
	bool events_full;   /* there were more events or ids than allowed */
	bool dirty;	    /* some event is */
	struct vt_hash ids; /* of struct pd_id */
	struct {
		uint64_t id;
		uint32_t event;
		bool valid;
	} id_cache[PD_ID_CACHE];
	bool same_layout; /* all events keep the time of a sample at the same place */

	struct vt_intern *strings;
	struct vt_hash pmus;	 /* u32 type, u32 name in `strings` */
	struct vt_hash buildids; /* struct pd_buildid_row */
	struct vt_hash images;	 /* struct pd_image */
	struct vt_hash unknown;	 /* struct pd_unknown */
	size_t name_bytes;	 /* in `strings`, about */
	bool names_full;	 /* and it was said */
	uint64_t bad_records;
	uint64_t bad_bytes;
	uint64_t bad_offset; /* of the first one that got no GAP of its own */
	uint64_t ring_lost;  /* by LOST records */
	uint64_t final_lost; /* by what perf read at the end: the same losses, and later ones */
	bool amd;
	uint32_t aux_type; /* of AUXTRACE_INFO */
	bool has_arch;	   /* the file says what machine it is of */
	uint32_t machine;  /* ELF machine, 0 while unknown */

	struct pd_order order;
	struct pd_recover recover;
	struct pd_inflate *inflate; /* NULL until the first compressed record */
	uint64_t words[PD_RECORD_MAX / 8 + 1];
};

/* A record while it is looked at. */
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

/* The length of a text that ends at its first zero byte, or with the field. */
static inline size_t vti_pd_text(const uint8_t *p, size_t size)
{
	const uint8_t *zero = size ? memchr(p, 0, size) : NULL;

	return zero ? (size_t)(zero - p) : size;
}

/* ---- evlist.c: events and their ids ---- */

/* Appends an event; 1 if there are too many already (which is told), -VT_E_NOMEM. */
int vti_pd_event_add(struct pd_session *s, const struct pd_attr *a);

/* Maps an id to an event; later calls with the same id win.  0 also when there are too many. */
int vti_pd_id_add(struct pd_session *s, uint64_t id, size_t event);

/* The event of an id as perf chooses it: 0 is the first event's.  -1: none. */
int vti_pd_event_of_id(struct pd_session *s, uint64_t id);

/* The event of a record, from the id inside it; -1: unknown. */
int vti_pd_event_of(struct pd_session *s, const struct pd_rec *r);

/* Works out the layout of samples when all attributes of a file are known, or one came. */
void vti_pd_layout(struct pd_session *s);

/* Names an event; `only_if_unnamed` leaves an existing name.  Bytes need no final zero. */
int vti_pd_event_name(struct pd_session *s, size_t event, const uint8_t *name, size_t size,
		      bool only_if_unnamed);

/* Something that EVENT records depend on has changed. */
void vti_pd_events_changed(struct pd_session *s);

/* Writes the EVENT records that changed. */
int vti_pd_events_emit(struct pd_session *s);

void vti_pd_events_fini(struct pd_session *s);

/* ---- images.c: what is mapped, and build-ids ---- */

/*
 * Keeps a name, cut to PATH_MAX, in `strings` and gives its id; 0, that of the empty name, when all
 * names together would take more than VT_PERFDATA_NAMES_MAX.  UINT32_MAX when memory runs out.
 */
uint32_t vti_pd_string(struct pd_session *s, const void *text, size_t size);

/* The id of the image; writes its IMAGE on first use.  -1 and s->err on failure. */
int64_t vti_pd_image(struct pd_session *s, const uint8_t *path, size_t size, bool kernel,
		     const struct pd_buildid *own);

/* Writes again the images whose build-id came after their first use. */
void vti_pd_images_finish(struct pd_session *s);

/* Enters a row of the build-id table. */
int vti_pd_buildid_add(struct pd_session *s, const uint8_t *path, size_t size, bool kernel,
		       const struct pd_buildid *id);

/* The payload of a build-id row: a record of the feature section, or HEADER_BUILD_ID. */
int vti_pd_buildid_record(struct pd_session *s, const struct pd_rec *r, bool old_layout);

/* ---- extent.c: the size that a record's own contents ask for ---- */

#define PD_EXTENT_UNKNOWN 0	       /* nothing in it says how long it is */
#define PD_EXTENT_CUT	  ((size_t)-1) /* it goes on behind the bytes that are there, or is none */

/*
 * The size, header included, that follows from what is in the record at `p`, whatever its header
 * claims; `have` bytes are there.  The trailing sample id is taken to be that of the first event.
 */
size_t vti_pd_extent(struct pd_session *s, const uint8_t *p, size_t have);

/* The same if the record is a sample. */
size_t vti_pd_extent_sample(struct pd_session *s, const uint8_t *p, size_t have);

/* Whether the contents of an event's samples tell their size. */
bool vti_pd_extent_known(const struct pd_attr *a);

/*
 * The end of the zstd block at `at`, before which a frame may begin, in the COMPRESSED record at
 * `p`; `have` bytes are there, the end may lie behind them.  0: there is none.  perf flushes after
 * each record, so that records end where blocks do.
 */
size_t vti_pd_block_end(const uint8_t *p, size_t have, size_t at);

/* ---- recover.c: the way back to records behind damage ---- */

/* Bytes behind a place that are enough to tell whether records begin there. */
#define PD_LOOK	    ((size_t)9 * (PD_RECORD_MAX + 1))
#define PD_VIEW_MAX (2 * PD_LOOK)

/* Bytes in which records are looked for, at most PD_VIEW_MAX. */
struct pd_view {
	const uint8_t *p;
	size_t have;
	uint64_t left; /* bytes from p to the end of all records; UINT64_MAX: not known */
	bool ends;     /* with the last byte that is here a record can end */
	bool whole;    /* nothing comes behind it */
	bool inner;    /* the bytes come out of compressed records */
};

/*
 * Whether the record at the view's start, all of whose size is in it, can be one: its size is what
 * its contents ask for or, where they do not say, that of a record that others follow.  And what
 * follows it is not wrecked, which would leave its own last bytes in doubt.  It is undecided only
 * where the view is not whole and ends too soon.
 */
enum pd_fit { PD_DAMAGED, PD_FITS, PD_UNDECIDED };
enum pd_fit vti_pd_fits(struct pd_session *s, const struct pd_view *v);

/*
 * Looks for the next chain of records behind the damaged record at the view's start, `from` bytes
 * on at the earliest; 0 as the search goes on behind an earlier view, which had none.  True and its
 * distance, which may lie behind the view, in *at; false: there is none before *at, and none at all
 * in a whole view, else more bytes are needed to tell.
 */
bool vti_pd_search(struct pd_session *s, const struct pd_view *v, size_t from, uint64_t *at);

/*
 * Where the attribute's record at `p` ends that claims `size` and behind which records go on `next`
 * bytes on, all of which are there: there, unless what is between its size and them cannot be ids
 * of its event, but is left of another record.  0: it is no attribute.
 */
uint64_t vti_pd_attr_end(const struct pd_session *s, const uint8_t *p, uint64_t size,
			 uint64_t next);

/* ---- records.c, samples.c: a record on its way in, and the kernel's, in order ---- */

/* The time that a record is ordered by; 0 if it has none. */
uint64_t vti_pd_order_time(struct pd_session *s, const struct pd_rec *r);

/* Queues or delivers one complete record that is not followed by foreign bytes. */
int vti_pd_record(struct pd_session *s, const uint8_t *record, uint64_t offset);

int vti_pd_deliver(void *session, const uint8_t *record, size_t size, uint64_t offset);
/* Writes what the final counts of losses tell beyond LOST records. */
void vti_pd_lost_emit(struct pd_session *s);

int vti_pd_deliver_sample(struct pd_session *s, const struct pd_rec *r, size_t event);

/*
 * A record that is complete by itself.  Records that are followed by bytes outside of them
 * (AUXTRACE, TRACING_DATA in a pipe) are not for here.
 */
int vti_pd_user(struct pd_session *s, const struct pd_rec *r);

/* ---- auxtrace.c ---- */

/* An AUXTRACE record, at which the input stands, and the bytes that follow it: both are consumed.
 */
int vti_pd_auxtrace(struct pd_session *s, const struct pd_rec *r);

/* ---- features.c ---- */

int vti_pd_feature(struct pd_session *s, unsigned feature, const uint8_t *data, size_t size,
		   uint64_t offset);

/* ---- gaps.c: META, GAP and what is counted ---- */

void vti_pd_meta(struct pd_session *s, const char *key, const uint8_t *text, size_t text_size,
		 const uint8_t *data, size_t size);
void vti_pd_meta_str(struct pd_session *s, const char *key, const char *text);

/* A place where reading could not go on or left something out: a GAP, a warning, a count. */
void vti_pd_damage(struct pd_session *s, uint64_t offset, uint64_t bytes, const char *fmt, ...)
	VT_PRINTF(4, 5);

/*
 * A damaged record and `bytes` from it on were passed over, up to the next record (`found`) or the
 * end: a GAP and a line.  `inner`: it came out of compressed
 * records, and so did the bytes; the offset is that of the compressed record.
 */
void vti_pd_passed_over(struct pd_session *s, const struct pd_rec *r, uint64_t bytes, bool found,
			bool inner);

/* A single record that could not be used; the first ones are told, all are counted. */
void vti_pd_bad_record(struct pd_session *s, const struct pd_rec *r, const char *why);

/* An AUX area, at its record, that nothing decodes: a GAP and a count. */
void vti_pd_aux_area(struct pd_session *s, const struct pd_rec *r, uint64_t bytes);

/* A record of an unknown type, or (type PD_SAMPLE) of an unknown event. */
int vti_pd_unknown(struct pd_session *s, const struct pd_rec *r);

/* Writes the GAP records of what was only counted. */
void vti_pd_gaps_emit(struct pd_session *s);

/* "out of memory", with the input's name: sets s->err and returns -VT_E_NOMEM. */
int vti_pd_nomem(struct pd_session *s);

/* ---- inflate.c: compressed records ---- */

/* The payload of a COMPRESSED(2) record: its records are given to vti_pd_record(). */
int vti_pd_inflate(struct pd_session *s, const struct pd_rec *r);
/* At the end: hands on what still waits, and says so if the last record inside is cut. */
int vti_pd_inflate_end(struct pd_session *s);
void vti_pd_inflate_fini(struct pd_session *s);

#endif
