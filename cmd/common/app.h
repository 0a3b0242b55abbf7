/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_COMMON_APP_H
#define CMD_COMMON_APP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/opt.h"
#include "base/output.h"
#include "profile/losses.h"
#include "stream/reader.h"

/*
 * The frame of a program: options, messages, exit status.
 *
 *	struct app app;
 *	const struct vt_opt opts[] = { ..., {0} };
 *	const struct vt_opt_page page = { .program = "vlist", ... };
 *
 *	if (app_start(&app, &page, argc, argv)) {
 *		... app.argc, app.argv are the operands ...
 *	}
 *	return app_finish(&app);
 */

/* What a program returns to its caller; a later, graver one replaces a milder one. */
enum app_status {
	APP_DONE,
	APP_LOSSY,  /* done, but some input was lost or damaged; standard error has the counts */
	APP_USAGE,  /* the command line asks for nonsense */
	APP_INPUT,  /* the input could not be read at all */
	APP_OUTPUT, /* the output could not be written */
	APP_FOUND,  /* done, and a check that was asked for failed */
	APP_UNSURE, /* done, but what there is does not allow a check that was asked for */
};

/* A file that is read, or already written: nothing else is written to it. */
struct app_file {
	uint64_t dev;
	uint64_t ino;
	bool written;
};

struct app_trace;      /* cmd/common/trace.h */
struct app_slice;      /* cmd/common/slice.h */
struct app_where;      /* cmd/common/where.h */
struct app_archive;    /* cmd/common/symfs.h */
struct app_debuginfod; /* cmd/common/debuginfod.h */
struct vt_pt_decode_options;

struct app {
	const char *name; /* as messages begin: "vtrace dump" */
	const struct vt_opt_page *page;
	int argc; /* the operands */
	char **argv;
	struct vt_buf record; /* the options given, as vt_opt_parse() records them */
	uint64_t seed;	      /* of the provenance; a program that has -s sets it */
	unsigned threads;     /* that compress what is written, besides the program's own */
	enum app_status status;
	bool missing_told;	   /* how images without their files can be found has been said */
	const char *input_name;	   /* what messages call the next input; NULL: by its path */
	struct vt_losses losses;   /* of all streams that were read to their ends */
	struct vt_failure failure; /* the first that is known, of this program or upstream of it */
	bool incomplete;	   /* an input was */
	bool upstream_tells;	   /* why, a program above in the pipeline: what lacks is no news */
	bool source_tells;	   /* of inputs that are converted, why they are cut */
	const char *cut_means; /* what follows from a cut input, for the line about it; or NULL */
	void (*write_failure)(struct app *); /* of app_make_stream(), until app_open_writer() */
	uint64_t bad_records;		     /* of the stream being read: see app_bad_record() */
	char bad_record[VT_ERROR_SIZE];	     /* the first */
	uint64_t kinds;			     /* of records in the stream read last: see app_saw() */
	struct app_trace *traces;	     /* inputs that are being decoded */
	const struct vt_pt_decode_options *pt; /* how; NULL: as without options */
	bool drop_stacks;		   /* of recordings that are decoded: no copies of stacks */
	struct app_slice *slice;	   /* of the streams that are read; NULL: all of them */
	struct app_where *where;	   /* picks records of them; NULL: all */
	struct app_debuginfod *debuginfod; /* is asked for files of images; NULL: none is */
	struct app_archive *archives;	   /* of images' files, unpacked */
	struct app_file *files;
	size_t nfiles;
	size_t files_cap;
	bool stdout_taken; /* an output goes there */
	bool text_open;
	struct vt_output text; /* see app_text() */
};

/*
 * Parses the command line.  True: go on.  False: --help or --version was served, or usage was
 * wrong and said so; only app_finish() is left to do.
 */
bool app_start(struct app *a, const struct vt_opt_page *page, int argc, char **argv);

/* Prints the help text to standard output. */
void app_help(struct app *a);

/* Closes what is open, writes what is buffered, and returns the exit status. */
int app_finish(struct app *a);

/* Frees what app_start() allocated, for a program that hands over to another's app_start(). */
void app_release(struct app *a);

/* One line "name: text" on standard error; control characters are escaped. */
void app_say(const struct app *a, const char *fmt, ...) VT_PRINTF(2, 3);

/* The same of lost or damaged input: makes the status at least APP_LOSSY. */
void app_say_lossy(struct app *a, const char *fmt, ...) VT_PRINTF(2, 3);

/* As app_say() with a text, as a warn function: `app` is the struct app. */
void app_note(void *app, const char *text);

/*
 * Says the error and sets the status that belongs to its code; returns false.  What an input lacks
 * (VT_E_ABSENT) is not said where a program upstream has said why.
 */
bool app_fail(struct app *a, const struct vt_error *err);

/* Says that memory ran out, as app_fail() does. */
bool app_no_memory(struct app *a);

/* Says what is wrong with the command line and sets APP_USAGE; returns false. */
bool app_usage(struct app *a, const char *fmt, ...) VT_PRINTF(2, 3);

/* Makes the status at least this grave. */
void app_raise(struct app *a, enum app_status status);

/*
 * Warnings of one sort about one thing, of which only the first ten are shown: app_warn() has the
 * type of the libraries' warn functions, `arg` is the struct app_warnings; app_warnings_end() says
 * how many more there were.
 */
struct app_warnings {
	struct app *app;
	const char *what; /* "damaged places", for "12 more damaged places" */
	uint64_t count;
};

void app_warn(void *arg, const char *text);
void app_warnings_end(struct app_warnings *w);

/*
 * A record was left out, as it contradicts itself or exceeds a limit: a warn function, `arg` is the
 * struct app.  Call it while a stream is read: app_each_run() reports at its end how many
 * there were, where the first was and why, and makes the status APP_LOSSY.
 */
void app_bad_record(void *arg, const char *text);

/* The `value` of the row that has this name in the program's table of options; NULL: none has. */
const void *app_option(const struct app *a, const char *name);

/*
 * Standard output, or the file named by `path` if that is not NULL or "-", for text.  Opened by the
 * first call, closed and checked by app_finish().  NULL after app_fail().  Rows of tables fit it if
 * it is a terminal, unless the program has an option --full-names and that is given.
 */
struct vt_output *app_text(struct app *a, const char *path);

/*
 * Notes an input by path, "-" or NULL being standard input, so that app_may_write() knows it.  All
 * operands and what app_open_reader() opens are noted; a file that an option names is to be noted
 * if it is opened behind the output.
 */
void app_note_input(struct app *a, const char *path);

/* Whether the input of this name is not a terminal; otherwise says what is wanted. */
bool app_is_no_terminal(struct app *a, const char *path);

/*
 * False after app_usage() when the path names a file that is being read, or another output.  NULL
 * and "-", standard output, are one file of the process.  Once the file is open,
 * app_note_output() is to be called.
 */
bool app_may_write(struct app *a, const char *path);
void app_note_output(struct app *a, const char *path);

#endif
