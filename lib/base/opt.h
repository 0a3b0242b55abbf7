/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_BASE_OPT_H
#define VT_BASE_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Command-line options.  One table per program drives both parsing and the help text.  Values are
 * checked strictly: none is rounded, truncated or guessed.
 */
enum vt_opt_type {
	VT_OPT_FLAG,   /* bool: set to true; no argument */
	VT_OPT_U64,    /* uint64_t: decimal or 0x hexadecimal, between min and max */
	VT_OPT_I64,    /* int64_t: the same with an optional minus sign; min and max are ignored */
	VT_OPT_F64,    /* double: finite, in decimal; min and max are ignored */
	VT_OPT_STRING, /* const char *: borrowed from argv */
	VT_OPT_CHOICE, /* int: the index of the word in `choices` */
	VT_OPT_CHOICE_OR_NOT, /* the same as --name=WORD or -nWORD; alone it keeps the default */
	/* F64, as --name=NUMBER, or --name NUMBER; --name before anything else keeps the default */
	VT_OPT_F64_OR_NOT,
	VT_OPT_LIST, /* struct vt_opt_list: each occurrence appends a string */
};

/* The strings of a repeated option, in order.  Free it with vt_opt_list_fini(). */
struct vt_opt_list {
	const char **items; /* borrowed from argv */
	size_t count;
	size_t cap;
};

/*
 * One option.  A table ends with an entry whose `letter` and `name` are both 0.  Every program has
 * -h, --help, -V and --version; tables do not contain them.
 */
struct vt_opt {
	char letter;	  /* 0: the option has only a long name */
	const char *name; /* the long name, without dashes; never NULL */
	enum vt_opt_type type;
	void *value;		    /* the variable to set, of the type above; holds the default */
	const char *arg;	    /* the argument's name in the help: "FILE" */
	const char *help;	    /* one line of the help, or several, separated by '\n' */
	const char *const *choices; /* words of a CHOICE, ending with NULL */
	uint64_t min;		    /* of a U64 */
	uint64_t max;		    /* of a U64; 0: UINT64_MAX */
	bool *given;		    /* set to true when the option occurs; may be NULL */
	bool unrecorded;	    /* does not affect results: see vt_opt_parse() */
	const char *other_choice;   /* said of a word that is no choice; may be NULL */
	const char *once; /* said of a STRING that is given again; NULL: the last counts */
	/* Refuses an argument of a STRING with VT_E_USAGE; `what` is "--name".  NULL: all pass. */
	int (*check)(const char *text, const char *what, struct vt_error *err);
};

/* An option of another program that does the same: what is said of it.  A table ends as options. */
struct vt_opt_hint {
	char letter;	  /* 0: none */
	const char *name; /* without dashes; NULL: none */
	const char *text; /* follows "-x: " or "--name: " */
};

/* A program's synopsis, options and limits on operands. */
struct vt_opt_page {
	const char *program; /* "vlist", or "vtrace dump" */
	const char *usage;   /* the usage line after the name; '\n' starts another usage line */
	const char *about;   /* a description of one or a few lines */
	const struct vt_opt *opts;
	const char *notes;     /* text after the options; may be NULL */
	bool stop_at_operand;  /* the first operand ends the options: a command to run follows */
	unsigned min_operands; /* fewer are a usage error */
	unsigned max_operands; /* more are a usage error; UINT_MAX for any number */
	const char *missing_operand;	 /* the message for too few operands; may be NULL */
	const struct vt_opt_hint *hints; /* may be NULL */
};

enum vt_opt_result {
	VT_OPT_RUN,	/* options are set, operands found */
	VT_OPT_HELP,	/* -h: print vt_opt_help() */
	VT_OPT_VERSION, /* -V */
};

/*
 * Parses argv[1] and what follows.  Options and operands may be mixed; "--" ends the options.
 * Reorders argv so that argv[*first] … argv[argc - 1] are the operands.  Appends the options,
 * except those marked unrecorded, to `record` (unless NULL) in their order, as "--name\0" and
 * "value\0". Returns an enum vt_opt_result, or -VT_E_USAGE with a line about the first error, which
 * quotes the user's text unescaped, or -VT_E_NOMEM.  Not thread-safe, because getopt_long(3) is
 * not.
 */
int vt_opt_parse(const struct vt_opt_page *page, int argc, char **argv, int *first,
		 struct vt_buf *record, struct vt_error *err);

/* Appends the help text: usage, description, one line per option, notes, exit statuses. */
void vt_opt_help(struct vt_buf *out, const struct vt_opt_page *page);

void vt_opt_list_fini(struct vt_opt_list *l);

/*
 * Strict number parsers, for arguments that are not options.  The whole text must be a number.
 * Error messages begin with `what`.  Errors: VT_E_USAGE.
 */
int vt_parse_u64(const char *text, const char *what, uint64_t *value, struct vt_error *err);
int vt_parse_i64(const char *text, const char *what, int64_t *value, struct vt_error *err);
int vt_parse_f64(const char *text, const char *what, double *value, struct vt_error *err);

#ifdef __cplusplus
}
#endif
#endif
