/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_COMMON_FORMAT_H
#define FORMATS_COMMON_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/input.h"
#include "stream/record.h"
#include "stream/writer.h"

/*
 * The contracts of formats.  A format is a folder of formats/ that fills one of these structs, and
 * a row in a table:
 *
 *	struct vt_input_format   an input file                     formats/formats.c
 *	struct vt_aux_decoder    what AUX areas of perf.data hold  formats/auxtrace.c
 *	struct vt_output_format  what `vtrace encode` writes       formats/formats.c
 *
 * A record stream (.vt) is no row: it has records already, and a reader of its own.  Neither is a
 * recording of `vtrace record --full`: it is no file but a live exchange (formats/recording).
 */

/* Bytes that vt_input_format.probe() sees, if the input has as many. */
#define VT_FORMAT_PROBE_SIZE 64

struct vt_pt_decode_options; /* formats/pt/options.h */
struct vt_pt_encode_options; /* formats/pt/encode/encode.h */
struct vt_pt_wrap_options;   /* formats/perfpt/encode.h */

/* A piece of an AUX area: the fields of an AUXTRACE record. */
struct vt_format_auxtrace {
	uint32_t index;
	int64_t cpu;
	int64_t tid;
	uint64_t offset;
	uint64_t reference;
	uint64_t position;
	uint64_t total;
	const uint8_t *bytes; /* borrowed */
	size_t size;
};

/* Options of all formats; all of it borrowed. */
struct vt_format_options {
	vt_warn_fn *warn; /* gets one line for each damaged place; may be NULL */
	void *warn_arg;
	/* Gets the number of bytes read, every now and then; may be NULL. */
	void (*progress)(void *arg, uint64_t bytes);
	void *progress_arg;
	/* Gets the bytes of AUX areas, which are then not written as records; may be NULL. */
	int (*auxtrace)(void *arg, const struct vt_format_auxtrace *piece, struct vt_error *err);
	void *auxtrace_arg;
	bool keep_aux;	  /* write AUX areas as AUXTRACE records, and count no loss */
	bool drop_stacks; /* leave out the copies of stacks, and do not read them where possible */
	bool keep_raw;	  /* of what hardware tells of an instruction, keep the raw bytes only */
	const char *tmpdir;		       /* for what is too large for memory; NULL: /tmp */
	const struct vt_pt_decode_options *pt; /* NULL: the defaults */
};

/* What was read, and what could not be read. */
struct vt_format_summary {
	uint64_t records;      /* records in the input */
	uint64_t samples;      /* samples that were delivered */
	bool traced;	       /* the input has a processor's trace, which was decoded */
	uint64_t insns;	       /* instructions of that trace */
	uint64_t lost;	       /* records that the recording side reports as lost */
	uint64_t damaged;      /* damaged places in the input; each is a GAP record, too */
	uint64_t unread;       /* bytes that could not be read because of damage */
	uint64_t aux_areas;    /* AUX areas without a decoder; each is a GAP, too */
	uint64_t aux_bytes;    /* bytes in them */
	uint32_t aux_type;     /* their type: vt_perfdata_auxtrace_name() */
	uint64_t unknown;      /* records of unknown kinds or events */
	uint64_t out_of_order; /* records delivered after a later one, for want of memory */
};

/*
 * Converts an input, which stands at its first byte, to records.  Returns 0 at its end; damage on
 * the way is in *sum and in GAP records.  Else a negative error.
 */
typedef int vt_decode_fn(struct vt_input *in, struct vt_writer *w,
			 const struct vt_format_options *opt, struct vt_format_summary *sum,
			 struct vt_error *err);

/* An input format. */
struct vt_input_format {
	const char *name;
	const char *description;
	/* True if an input that begins with these bytes is of this format. */
	bool (*probe)(const uint8_t *bytes, size_t size);
	vt_decode_fn *decode;
};

/* One input in the hands of a decoder of AUX areas; each decoder defines its own. */
struct vt_aux_session;

/*
 * A decoder of AUX areas of one type.  It sees every record of the input twice: scan_record() of
 * each record, begin_output(), decode_record() of each record again, end_output().  So it can
 * gather the areas and the sideband data of the whole input before it writes anything.  Functions
 * that return int return 0 or a negative error.
 */
struct vt_aux_decoder {
	uint32_t type; /* AUXINFO.type: PERF_AUXTRACE_* of perf's tools/perf/util/auxtrace.h */

	/* Checks the options of this decoder.  Called for every input, whatever it holds. */
	int (*check_options)(const struct vt_format_options *opt, struct vt_error *err);

	/* The strings of the options and `input`, its name, are borrowed.  NULL: no memory. */
	struct vt_aux_session *(*open)(const struct vt_format_options *opt, const char *input,
				       struct vt_error *err);
	void (*close)(struct vt_aux_session *s);

	/* First pass: a record; a piece of an area that was not made an AUXTRACE record. */
	int (*scan_record)(struct vt_aux_session *s, const struct vt_record *rec,
			   struct vt_error *err);
	int (*scan_piece)(struct vt_aux_session *s, const struct vt_format_auxtrace *piece,
			  struct vt_error *err);

	/*
	 * Second pass: decode_record() writes what was executed up to the record's time, then the
	 * record itself, unless the decoder replaces it.  end_output() adds to *sum.
	 */
	int (*begin_output)(struct vt_aux_session *s, struct vt_writer *w, struct vt_error *err);
	int (*decode_record)(struct vt_aux_session *s, const struct vt_record *rec,
			     struct vt_error *err);
	int (*end_output)(struct vt_aux_session *s, struct vt_format_summary *sum,
			  struct vt_error *err);
};

/* Options of all output formats; all of it borrowed until the output is closed. */
struct vt_output_options {
	const char *path; /* NULL or "-": standard output */
	/* Files for the pages of the code and for their addresses; NULL: not wanted. */
	const char *dump;
	const char *addr;
	const struct vt_pt_encode_options *pt;
	const struct vt_pt_wrap_options *perf;
};

/* One output in the hands of its format; each format defines its own. */
struct vt_output_session;

/* Takes one line of a report.  `lossy`: the output lacks something that the input has. */
typedef void vt_output_report(void *arg, bool lossy, const char *fmt, ...) VT_PRINTF(3, 4);

/*
 * An output format.  The caller opens a session, gives it every record of one stream in order, and
 * finishes it; if all of that went well, it asks for the report; then, and after any error, it
 * closes the session.  Functions that return int return 0 or a negative error.  The format opens
 * and closes its files; none may be a terminal (VT_E_USAGE).
 */
struct vt_output_format {
	const char *name;	 /* `vtrace encode --NAME` chooses it, if it is not the default */
	const char *description; /* the help text of that option */

	/* Checks the options and allocates the session.  NULL: *err, and nothing is left open. */
	struct vt_output_session *(*open)(const struct vt_output_options *opt,
					  struct vt_error *err);

	/* Takes a record of any kind, borrowed for the call.  It counts what it cannot write. */
	int (*record)(struct vt_output_session *s, const struct vt_record *rec,
		      struct vt_error *err);

	/*
	 * Takes the end of the stream.  VT_E_ABSENT: the stream had nothing that the format can
	 * write; the text says what it lacks and does not name the stream.
	 */
	int (*finish)(struct vt_output_session *s, struct vt_error *err);

	/* Reports what was left out, changed or damaged, a line for each sort; nothing: no line. */
	void (*report)(const struct vt_output_session *s, vt_output_report *fn, void *arg);

	/* Writes what is buffered, closes the files and frees the session.  VT_E_WRITE. */
	int (*close)(struct vt_output_session *s, struct vt_error *err);
};

#endif
