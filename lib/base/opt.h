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
 * A program's options: one table drives parsing and the help text.  Every value is checked
 * strictly; nothing is rounded, cut or guessed.
 */
enum vt_opt_type {
	VT_OPT_FLAG,   /* bool: set to true; no argument */
	VT_OPT_U64,    /* uint64_t: decimal or 0x hexadecimal, between min and max */
	VT_OPT_I64,    /* int64_t: the same with an optional minus sign; min and max do not count */
	VT_OPT_F64,    /* double: finite, in decimal; min and max do not count */
	VT_OPT_STRING, /* const char *: borrowed from argv */
	VT_OPT_CHOICE, /* int: the index of the word in `choices` */
	VT_OPT_CHOICE_OR_NOT, /* the same as --name=WORD; --name alone leaves the default */
	VT_OPT_LIST,	      /* struct vt_opt_list: one more string each time it is given */
};

/* The strings of a repeated option in the order given; free with vt_opt_list_fini(). */
struct vt_opt_list {
	const char **items; /* borrowed from argv */
	size_t count;
	size_t cap;
};

/*
 * One option; a table ends with an entry whose `letter` and `name` are both 0.  -h, --help, -V and
 * --version are always there and stand in no table.
 */
struct vt_opt {
	char letter;	  /* 0: it has only a long name */
	const char *name; /* the long name, without dashes; never NULL */
	enum vt_opt_type type;
	void *value;		    /* what is set, of the type above; its content is the default */
	const char *arg;	    /* what the help calls the argument: "FILE" */
	const char *help;	    /* one line of the help, or several with '\n' between */
	const char *const *choices; /* of a CHOICE, ending with NULL */
	uint64_t min;		    /* of a U64 */
	uint64_t max;		    /* of a U64; 0: UINT64_MAX */
	bool *given;		    /* set to true when the option appears; may be NULL */
	bool unrecorded;	    /* it does not shape what is computed: see vt_opt_parse() */
};

/* How a program is called, and its options. */
struct vt_opt_page {
	const char *program; /* as in "vlist" or "vtrace dump" */
	const char *usage;   /* what follows the name in the usage line; '\n' starts another line */
	const char *about;   /* what it does, a line or a few */
	const struct vt_opt *opts;
	const char *notes;     /* text after the options; may be NULL */
	bool stop_at_operand;  /* the first operand ends the options: it is a command to run */
	unsigned min_operands; /* fewer are a usage error */
	unsigned max_operands; /* more are a usage error; UINT_MAX for any number */
	const char *missing_operand; /* the message when there are too few; may be NULL */
};

enum vt_opt_result {
	VT_OPT_RUN,	/* options are set, operands found */
	VT_OPT_HELP,	/* -h: print vt_opt_help() */
	VT_OPT_VERSION, /* -V */
};

/*
 * Parses argv[1] …; options and operands may be mixed, "--" ends the options.  argv is reordered so
 * that argv[*first] … argv[argc - 1] are the operands.  If `record` is not NULL, the options are
 * appended to it in the order given, as "--name\0" and "value\0", except those marked unrecorded.
 * Returns an enum vt_opt_result, or -VT_E_USAGE with one line about the first thing wrong (it
 * quotes the user's text as it is), or -VT_E_NOMEM.  Not for two threads at a time: getopt_long(3)
 * keeps its place in variables of its own.
 */
int vt_opt_parse(const struct vt_opt_page *page, int argc, char **argv, int *first,
		 struct vt_buf *record, struct vt_error *err);

/* Appends the help text: usage, about, one line for each option, notes, exit statuses. */
void vt_opt_help(struct vt_buf *out, const struct vt_opt_page *page);

void vt_opt_list_fini(struct vt_opt_list *l);

/*
 * The strict number parsers, for arguments that options do not cover; `what` begins the message.
 * The whole text must be the number.  VT_E_USAGE.
 */
int vt_parse_u64(const char *text, const char *what, uint64_t *value, struct vt_error *err);
int vt_parse_i64(const char *text, const char *what, int64_t *value, struct vt_error *err);
int vt_parse_f64(const char *text, const char *what, double *value, struct vt_error *err);

#ifdef __cplusplus
}
#endif
#endif
