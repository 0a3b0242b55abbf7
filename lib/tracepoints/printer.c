/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tracepoints/printer.h"

#include <stdlib.h>
#include <string.h>
#include <traceevent/event-parse.h>
#include <traceevent/trace-seq.h>

#include "tracepoints/printfmt.h"

/* Longer than a record of perf. */
#define RAW_MAX (128u << 10)

/*
 * Zeros behind the record.  The offset and the size of a dynamic array have 16 bits each, an index
 * of an element of 8 bytes is at most 9,999, and lengths are checked: nothing reads so far.
 */
#define ZEROS (512u << 10)

#define DECLARATION_MAX 256

struct vt_trace_printer {
	struct tep_handle *tep; /* has this one event */
	struct tep_event *event;
	int id;
	const struct vt_trace_symbols *symbols;
};

/* ---- what the library parses ---- */

static bool is_word(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* Skips a type: words and asterisks, a word first.  Returns its end, without blanks. */
static const uint8_t *skip_type(const uint8_t *p, const uint8_t *end)
{
	const uint8_t *last = p;

	if (p == end || !is_word(*p))
		return NULL;
	for (; p < end && (is_word(*p) || *p == '*' || *p == ' '); p++)
		if (*p != ' ')
			last = p + 1;
	return last;
}

/*
 * TYPE NAME, TYPE NAME[LENGTH], where the length is a word, or, of a dynamic array, TYPE[] NAME.
 * For others the library's parser may fail, and it leaks then.
 */
static bool is_plain(const struct vt_trace_field *f)
{
	const uint8_t *p = f->declaration.data, *end = p + f->declaration.size;
	const uint8_t *name = f->name.data;

	if (f->declaration.size > DECLARATION_MAX || f->offset > RAW_MAX || f->size > RAW_MAX ||
	    (*name >= '0' && *name <= '9'))
		return false;
	p = skip_type(p, name);
	if (!p)
		return false;
	if (f->place != VT_FIELD_FIXED) {
		if (name - p < 2 || p[0] != '[' || p[1] != ']')
			return false;
		p += 2;
	}
	for (; p < name && *p == ' '; p++)
		;
	if (p < name)
		return false;
	p = name + f->name.size;
	if (f->place != VT_FIELD_FIXED || p == end)
		return p == end;
	if (*p++ != '[' || p == end || !is_word(*p))
		return false;
	for (; p < end && is_word(*p); p++)
		;
	return end - p == 1 && *p == ']';
}

/* The format file in a form of ours.  False: a part of it is not safe. */
static bool write_format(struct vt_buf *b, const struct vt_trace_format *f, struct vt_bytes text,
			 int id)
{
	struct vt_bytes printfmt = vt_printfmt_of(text);
	bool common = true;
	size_t i;

	if (!f->whole || !f->nfields || !f->fields[0].common || !vt_printfmt_is_safe(printfmt, f))
		return false;
	vt_buf_printf(b, "name: event\nID: %d\nformat:\n", id);
	for (i = 0; i < f->nfields; i++) {
		const struct vt_trace_field *field = &f->fields[i];

		if (!is_plain(field))
			return false;
		/* Those that all tracepoints have stand first, and an empty line is behind them. */
		if (field->common && !common)
			return false;
		if (common && !field->common)
			vt_buf_put_u8(b, '\n');
		common = field->common;
		vt_buf_printf(b, "\tfield:");
		vt_buf_put(b, field->declaration.data, field->declaration.size);
		vt_buf_printf(b, ";\toffset:%u;\tsize:%u;\tsigned:%d;\n", field->offset,
			      field->size, field->is_signed);
	}
	if (common)
		vt_buf_put_u8(b, '\n');
	vt_buf_printf(b, "\nprint fmt: ");
	vt_buf_put(b, printfmt.data, printfmt.size);
	vt_buf_put_u8(b, '\n');
	return !b->failed;
}

static bool is_evaluable(const struct tep_print_arg *arg);

/* What is divided by is a number, and of a condition both branches are there. */
static bool is_evaluable_op(const struct tep_print_arg_op *op)
{
	if (!op->op || !is_evaluable(op->left) || !is_evaluable(op->right))
		return false;
	if (op->op[0] == '/' || op->op[0] == '%')
		return op->right->type == TEP_PRINT_ATOM && strtoull(op->right->atom.atom, NULL, 0);
	return op->op[0] != '?' || (op->right->type == TEP_PRINT_OP && op->right->op.op[0] == ':');
}

static bool has_elements(const struct tep_print_arg *field)
{
	if (!field)
		return false;
	return field->type == TEP_PRINT_DYNAMIC_ARRAY ? field->dynarray.field != NULL
						      : field->type == TEP_PRINT_FIELD;
}

/*
 * Whether an argument and those behind it have the forms that their evaluation takes for granted.
 * Not so a dynamic array itself, which would be an address in this process.
 */
static bool is_evaluable(const struct tep_print_arg *arg)
{
	bool good = arg != NULL;

	for (; arg && good; arg = arg->next) {
		switch (arg->type) {
		case TEP_PRINT_OP:
			good = is_evaluable_op(&arg->op);
			break;
		case TEP_PRINT_TYPE:
			good = is_evaluable(arg->typecast.item);
			break;
		case TEP_PRINT_FLAGS:
			good = is_evaluable(arg->flags.field);
			break;
		case TEP_PRINT_SYMBOL:
			good = is_evaluable(arg->symbol.field);
			break;
		case TEP_PRINT_HEX:
		case TEP_PRINT_HEX_STR:
			good = has_elements(arg->hex.field) && is_evaluable(arg->hex.size);
			break;
		case TEP_PRINT_INT_ARRAY:
			good = has_elements(arg->int_array.field) &&
			       is_evaluable(arg->int_array.count) &&
			       is_evaluable(arg->int_array.el_size);
			break;
		case TEP_PRINT_DYNAMIC_ARRAY_LEN:
			/* The library has no place for the offset of a relative one. */
			good = arg->dynarray.field &&
			       !(arg->dynarray.field->flags & TEP_FIELD_IS_RELATIVE);
			break;
		case TEP_PRINT_DYNAMIC_ARRAY:
		case TEP_PRINT_FUNC:
		case TEP_PRINT_BSTRING:
			good = false;
			break;
		default:
			break;
		}
	}
	return good;
}

static bool parse_format(struct vt_trace_printer *p, const struct vt_buf *b)
{
	enum tep_errno code = tep_parse_event(p->tep, (const char *)b->data, b->size, "system");

	p->event = code == 0 ? tep_find_event(p->tep, p->id) : NULL;
	return p->event && !(p->event->flags & (int)TEP_EVENT_FL_FAILED) &&
	       (!p->event->print_fmt.args || is_evaluable(p->event->print_fmt.args));
}

/* A tep_func_resolver_t.  The library changes no name, whatever its types say. */
static char *find_function(void *printer, unsigned long long *address, char **module)
{
	struct vt_trace_printer *p = printer;
	uint64_t at = *address;
	const char *name = p->symbols->find(p->symbols->arg, &at);
	union {
		const char *name;
		char *result;
	} u = {name};

	*module = NULL;
	*address = at;
	return u.result;
}

struct vt_trace_printer *vt_trace_printer_new(const struct vt_trace_format *f, struct vt_bytes text,
					      const struct vt_tracing *machine,
					      const struct vt_trace_symbols *symbols)
{
	struct vt_trace_printer *p = calloc(1, sizeof(*p));
	struct vt_buf b = VT_BUF_INIT;
	bool good = false;
	struct vt_bytes name;
	uint64_t id;

	if (p)
		p->tep = tep_alloc();
	if (p && p->tep && vt_format_file_ident(text, &name, &id) && id <= UINT16_MAX &&
	    (machine->long_size == 4 || machine->long_size == 8)) {
		tep_set_loglevel(TEP_LOG_NONE);
		tep_set_long_size(p->tep, (int)machine->long_size);
		tep_set_page_size(p->tep, (int)(machine->page_size & INT32_MAX));
		tep_set_file_bigendian(p->tep, machine->big ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
		p->symbols = symbols;
		if (symbols->find)
			tep_set_function_resolver(p->tep, find_function, p);
		p->id = (int)id;
		good = write_format(&b, f, text, p->id) && parse_format(p, &b);
	}
	vt_buf_free(&b);
	if (good)
		return p;
	vt_trace_printer_free(p);
	return NULL;
}

void vt_trace_printer_free(struct vt_trace_printer *p)
{
	if (!p)
		return;
	if (p->tep)
		tep_free(p->tep);
	free(p);
}

/* ---- what it reads ---- */

static bool lies_inside(uint64_t at, uint64_t size, size_t end)
{
	return at <= end && size <= end - at;
}

/* Where the bytes of a dynamic array lie, whose field lies in the record.  False: it is none. */
static bool find_array(const struct vt_trace_printer *p, const struct tep_format_field *f,
		       const uint8_t *raw, uint64_t *at, uint64_t *size)
{
	uint64_t where;

	if (f->size != 4)
		return false;
	where = tep_read_number(p->tep, raw + f->offset, 4);
	*at = where & 0xffff;
	*size = where >> 16;
	if (f->flags & TEP_FIELD_IS_RELATIVE)
		*at += (uint64_t)f->offset + (uint64_t)f->size;
	return true;
}

static bool check_fields(const struct vt_trace_printer *p, const struct tep_format_field *f,
			 const uint8_t *raw, size_t end)
{
	uint64_t at, size;

	for (; f; f = f->next) {
		if (f->offset < 0 || f->size < 0 ||
		    !lies_inside((uint64_t)f->offset, (uint64_t)f->size, end))
			return false;
		if (!(f->flags & TEP_FIELD_IS_DYNAMIC))
			continue;
		if (!find_array(p, f, raw, &at, &size) || !lies_inside(at, size, end))
			return false;
	}
	return true;
}

static bool combine_lengths(const char *op, uint64_t left, uint64_t right, uint64_t *value)
{
	if (left > UINT32_MAX || right > UINT32_MAX)
		return false;
	if (!strcmp(op, "*"))
		*value = left * right;
	else if (!strcmp(op, "/") && right)
		*value = left / right;
	else
		return false;
	return true;
}

/* The value of a length, for the forms that lengths have.  False: it has another. */
static bool evaluate_length(const struct vt_trace_printer *p, const struct tep_print_arg *arg,
			    const uint8_t *raw, uint64_t *value)
{
	uint64_t at, left, right;
	const struct tep_format_field *f;

	while (arg->type == TEP_PRINT_TYPE)
		arg = arg->typecast.item;
	switch (arg->type) {
	case TEP_PRINT_ATOM:
		*value = strtoull(arg->atom.atom, NULL, 0);
		return true;
	case TEP_PRINT_FIELD:
		f = tep_find_any_field(p->event, arg->field.name);
		if (!f || f->size > 8)
			return false;
		*value = tep_read_number(p->tep, raw + f->offset, f->size);
		return true;
	case TEP_PRINT_DYNAMIC_ARRAY_LEN:
		return find_array(p, arg->dynarray.field, raw, &at, value);
	case TEP_PRINT_OP:
		return evaluate_length(p, arg->op.left, raw, &left) &&
		       evaluate_length(p, arg->op.right, raw, &right) &&
		       combine_lengths(arg->op.op, left, right, value);
	default:
		return false;
	}
}

/* The bytes of elements that a length asks for are no more than the record has. */
static bool check_elements(const struct vt_trace_printer *p, const struct tep_print_arg *count,
			   const struct tep_print_arg *size, struct vt_bytes raw)
{
	uint64_t n, bytes = 1;

	if (!evaluate_length(p, count, raw.data, &n) ||
	    (size && !evaluate_length(p, size, raw.data, &bytes)))
		return false;
	return n <= raw.size && bytes <= 8 && n * bytes <= raw.size;
}

static bool check_mask(const struct vt_trace_printer *p, const char *name, const uint8_t *raw)
{
	const struct tep_format_field *f = tep_find_any_field(p->event, name);
	uint64_t at, size;

	return f && find_array(p, f, raw, &at, &size) && size > 0;
}

/* Whether the lengths in arguments are in proportion. */
static bool check_lengths(const struct vt_trace_printer *p, const struct tep_print_arg *arg,
			  struct vt_bytes raw)
{
	bool good = true;

	for (; arg && good; arg = arg->next) {
		switch (arg->type) {
		case TEP_PRINT_OP:
			good = check_lengths(p, arg->op.left, raw) &&
			       check_lengths(p, arg->op.right, raw);
			break;
		case TEP_PRINT_TYPE:
			good = check_lengths(p, arg->typecast.item, raw);
			break;
		case TEP_PRINT_HEX:
		case TEP_PRINT_HEX_STR:
			good = check_elements(p, arg->hex.size, NULL, raw);
			break;
		case TEP_PRINT_INT_ARRAY:
			/* The library prints their bytes in the order of this machine. */
			good = !tep_is_file_bigendian(p->tep) &&
			       check_elements(p, arg->int_array.count, arg->int_array.el_size, raw);
			break;
		case TEP_PRINT_BITMASK:
		case TEP_PRINT_CPUMASK:
			good = check_mask(p, arg->bitmask.bitmask, raw.data);
			break;
		default:
			break;
		}
	}
	return good;
}

/* Whether the lengths of "%.*s" are not negative, and no more than a record has. */
static bool check_precisions(const struct vt_trace_printer *p, const uint8_t *raw)
{
	const struct tep_print_arg *arg = p->event->print_fmt.args;
	const char *c = p->event->print_fmt.format;
	uint64_t length;

	while (*c) {
		if (*c++ == '\\') {
			c += *c != '\0';
			continue;
		}
		if (c[-1] != '%')
			continue;
		if (*c == '%') {
			c++;
			continue;
		}
		if (strncmp(c, ".*s", 3) == 0) {
			if (!arg || !evaluate_length(p, arg, raw, &length) || length > RAW_MAX)
				return false;
			arg = arg->next;
		}
		if (!arg)
			return false;
		arg = arg->next;
	}
	return true;
}

/* Copies the record, which must be of the only event. */
static bool copy_record(const struct vt_trace_printer *p, struct vt_bytes raw, struct vt_buf *copy)
{
	const struct tep_format_field *type = tep_find_common_field(p->event, "common_type");

	if (!type || type->size != 2 || type->offset < 0 ||
	    !lies_inside((uint64_t)type->offset, 2, raw.size) ||
	    tep_read_number(p->tep, raw.data + type->offset, 2) != (unsigned)p->id)
		return false;
	if (!copy->size) {
		uint8_t *room = vt_buf_reserve(copy, RAW_MAX + ZEROS);

		if (!room)
			return false;
		memset(room, 0, RAW_MAX + ZEROS);
		copy->size = RAW_MAX + ZEROS;
	}
	memcpy(copy->data, raw.data, raw.size);
	return true;
}

bool vt_trace_printer_print(struct vt_trace_printer *p, struct vt_bytes raw, struct vt_buf *copy,
			    struct vt_buf *b)
{
	struct tep_record rec = {.size = (int)raw.size, .record_size = (int)raw.size};
	struct trace_seq seq;
	bool good;

	if (raw.size > RAW_MAX ||
	    !check_fields(p, p->event->format.common_fields, raw.data, raw.size) ||
	    !check_fields(p, p->event->format.fields, raw.data, raw.size) ||
	    !check_lengths(p, p->event->print_fmt.args, raw) || !check_precisions(p, raw.data) ||
	    !copy_record(p, raw, copy))
		return false;
	rec.data = copy->data;
	trace_seq_init(&seq);
	tep_print_event(p->tep, &seq, &rec, "%s", TEP_PRINT_INFO);
	good = seq.state == TRACE_SEQ__GOOD && !(p->event->flags & (int)TEP_EVENT_FL_FAILED);
	if (good)
		vt_buf_put(b, seq.buffer, strnlen(seq.buffer, seq.len));
	trace_seq_destroy(&seq);
	memset(copy->data, 0, raw.size);
	return good;
}
