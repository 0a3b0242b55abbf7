/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/vtrace/columns.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/escape.h"
#include "listing/json.h"
#include "profile/profile.h"

/* ---- choosing ---- */

static const struct {
	const char *unit;
	const char *(*word)(uint64_t value);
} words[] = {
	{"enum:policy", vt_policy_name},      {"enum:image", vt_image_type_name},
	{"enum:thread", vt_thread_op_name},   {"enum:blockend", vt_block_end_name},
	{"enum:what", vt_what_name},	      {"enum:algo", vt_algo_name},
	{"enum:state", vt_state_reason_name}, {"enum:trace", vt_trace_event_name},
	{"enum:conflict", vt_conflict_name},  {"enum:confidence", vt_confidence_name},
	{"enum:method", vt_method_name},      {"enum:stall", vt_stall_name},
};

static bool is_hex(const char *unit)
{
	return strcmp(unit, "addr") == 0 || strcmp(unit, "hex") == 0 || strcmp(unit, "flags") == 0;
}

struct column column_plain(const struct vt_kind_desc *kind, unsigned field)
{
	const struct vt_field_desc *f = &kind->fields[field];
	struct column c = {.name = f->name, .field = field};
	size_t i;

	switch (f->type) {
	case VT_TYPE_U:
		c.how = is_hex(f->unit) ? COLUMN_HEX : COLUMN_DECIMAL;
		for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
			if (strcmp(words[i].unit, f->unit) == 0)
				c.word = words[i].word;
		if (c.word)
			c.how = COLUMN_WORD;
		break;
	case VT_TYPE_I:
		c.how = COLUMN_SIGNED;
		break;
	case VT_TYPE_F:
		c.how = COLUMN_REAL;
		break;
	case VT_TYPE_S:
		c.how = COLUMN_TEXT;
		break;
	case VT_TYPE_B:
		c.how = COLUMN_BYTES;
		break;
	case VT_TYPE_A:
		c.how = is_hex(f->unit) ? COLUMN_ARRAY_HEX : COLUMN_ARRAY_DECIMAL;
		break;
	}
	return c;
}

struct column column_short(const struct vt_kind_desc *kind, uint32_t number, unsigned field)
{
	struct column c = column_plain(kind, field);

	if ((number == VT_EXEC && (field == VT_EXEC_IDS || field == VT_EXEC_DATA)) ||
	    (number == VT_MEMORY && field == VT_MEMORY_DATA))
		c.how = COLUMN_SIZE;
	return c;
}

bool column_find(const struct vt_kind_desc *kind, uint32_t number, const char *name,
		 struct column *c)
{
	int field;

	*c = (struct column){.name = name};
	if (strcmp(name, "kind") == 0) {
		c->how = COLUMN_KIND;
		return true;
	}
	if (number == VT_SAMPLE && strcmp(name, "brstack") == 0) {
		c->how = COLUMN_BRANCHES;
		return true;
	}
	field = vt_schema_find_field(kind, name);
	if (field < 0)
		return false;
	*c = column_plain(kind, (unsigned)field);
	if (number == VT_SAMPLE && (field == VT_SAMPLE_UREGS || field == VT_SAMPLE_IREGS))
		c->how = COLUMN_REGS;
	else if (strcmp(kind->fields[field].unit, "id:EVENT") == 0)
		c->how = COLUMN_EVENT;
	else if (strcmp(kind->fields[field].unit, "id:IMAGE") == 0)
		c->how = COLUMN_IMAGE;
	return true;
}

bool column_present(const struct column *c, const struct vt_record *rec)
{
	switch (c->how) {
	case COLUMN_TEXT:
	case COLUMN_BYTES:
	case COLUMN_SIZE:
		return vt_record_bytes(rec, c->field).size > 0;
	case COLUMN_ARRAY_DECIMAL:
	case COLUMN_ARRAY_HEX:
	case COLUMN_REGS:
		return vt_record_words(rec, c->field).count > 0;
	case COLUMN_BRANCHES:
		return vt_record_words(rec, VT_SAMPLE_BR_FROM).count > 0;
	case COLUMN_KIND:
	case COLUMN_WORD: /* the word for 0 says as much as any other */
		return true;
	default:
		return vt_record_u64(rec, c->field) != 0;
	}
}

/* ---- text ---- */

/* printf() would take most of the time that a dump of a million samples needs. */
void column_put_decimal(struct vt_buf *b, uint64_t v)
{
	char text[20];
	char *p = text + sizeof(text);

	do
		*--p = (char)('0' + v % 10);
	while (v /= 10);
	vt_buf_put(b, p, (size_t)(text + sizeof(text) - p));
}

void column_put_hex(struct vt_buf *b, uint64_t v)
{
	char text[18];
	char *p = text + sizeof(text);

	do
		*--p = "0123456789abcdef"[v & 15];
	while (v >>= 4);
	*--p = 'x';
	*--p = '0';
	vt_buf_put(b, p, (size_t)(text + sizeof(text) - p));
}

static void put_signed(struct vt_buf *b, uint64_t v)
{
	if ((int64_t)v < 0) {
		vt_buf_put_u8(b, '-');
		v = 0 - v;
	}
	column_put_decimal(b, v);
}

static double as_double(uint64_t bits)
{
	double d;

	memcpy(&d, &bits, sizeof(d));
	return d;
}

static void put_digits(struct vt_buf *b, struct vt_bytes bytes)
{
	size_t i;

	for (i = 0; i < bytes.size; i++) {
		vt_buf_put_u8(b, (uint8_t) "0123456789abcdef"[bytes.data[i] >> 4]);
		vt_buf_put_u8(b, (uint8_t) "0123456789abcdef"[bytes.data[i] & 15]);
	}
}

static void put_array(struct vt_buf *b, struct vt_words w, bool hex)
{
	size_t i;

	for (i = 0; i < w.count; i++) {
		if (i)
			vt_buf_put_u8(b, ',');
		if (hex)
			column_put_hex(b, w.data[i]);
		else
			column_put_decimal(b, w.data[i]);
	}
}

static void put_string(struct vt_buf *b, const struct names *n, uint32_t string)
{
	vt_escape(b, vt_intern_get(n->strings, string), vt_intern_size(n->strings, string));
}

/* The bit number of the lowest register left in *mask, which is taken out; -1 for none. */
static int next_register(uint64_t *mask)
{
	int bit;

	for (bit = 0; bit < 64; bit++) {
		if (*mask >> bit & 1) {
			*mask &= ~((uint64_t)1 << bit);
			return bit;
		}
	}
	return -1;
}

struct registers {
	uint64_t abi;
	uint64_t mask;
	struct vt_words values;
	const char *arch;
};

static struct registers registers_of(const struct column *c, const struct vt_record *rec,
				     const struct names *n)
{
	const struct named_event *e = names_event(n, vt_record_u64(rec, VT_SAMPLE_EVENT));
	bool user = c->field == VT_SAMPLE_UREGS;
	struct registers r = {
		.abi = vt_record_u64(rec, user ? VT_SAMPLE_UREGS_ABI : VT_SAMPLE_IREGS_ABI),
		.values = vt_record_words(rec, c->field),
		.arch = vt_intern_get(n->strings, n->arch),
	};

	if (e)
		r.mask = user ? e->regs_user : e->regs_intr;
	return r;
}

/* "AX", or "r3" for one that is not known. */
static void put_register_name(struct vt_buf *b, const char *arch, int bit)
{
	const char *name = bit < 0 ? NULL : column_register(arch, (unsigned)bit);

	if (name)
		vt_buf_put(b, name, strlen(name));
	else if (bit < 0)
		vt_buf_put_u8(b, '?');
	else
		vt_buf_printf(b, "r%d", bit);
}

static void put_registers(struct vt_buf *b, struct registers r)
{
	size_t i;

	if (!r.values.count)
		return;
	vt_buf_put(b, "ABI:", 4);
	column_put_decimal(b, r.abi);
	for (i = 0; i < r.values.count; i++) {
		vt_buf_put_u8(b, ' ');
		put_register_name(b, r.arch, next_register(&r.mask));
		vt_buf_put_u8(b, ':');
		column_put_hex(b, r.values.data[i]);
	}
}

/* struct perf_branch_entry of linux/perf_event.h: the bits after the two addresses. */
#define BR_MISPRED   1
#define BR_PREDICTED 2
#define BR_IN_TX     4
#define BR_ABORT     8
#define BR_CYCLES(f) ((f) >> 4 & 0xffff)
#define BR_TYPE(f)   ((f) >> 20 & 15)
#define BR_NEW(f)    ((f) >> 26 & 15)
#define BR_EXTEND    15 /* the type is in the BR_NEW bits */

static const char *branch_type(uint64_t flags)
{
	static const char *const types[16] = {
		"",	  "COND",      "UNCOND",   "IND",  "CALL", "IND_CALL", "RET",	"SYSCALL",
		"SYSRET", "COND_CALL", "COND_RET", "ERET", "IRQ",  "SERROR",   "NO_TX", "",
	};
	static const char *const more[16] = {
		"FAULT_ALGN", "FAULT_DATA", "FAULT_INST", "ARCH_1",
		"ARCH_2",     "ARCH_3",	    "ARCH_4",	  "ARCH_5",
	};
	const char *name;

	if (BR_TYPE(flags) != BR_EXTEND)
		return types[BR_TYPE(flags)];
	name = more[BR_NEW(flags)];
	return name ? name : "?";
}

static void put_branch_flags(struct vt_buf *b, uint64_t f)
{
	char prediction = f & BR_MISPRED ? 'M' : f & BR_PREDICTED ? 'P' : '-';

	vt_buf_printf(b, "/%c/%c/%c/%u/%s", prediction, f & BR_IN_TX ? 'X' : '-',
		      f & BR_ABORT ? 'A' : '-', (unsigned)BR_CYCLES(f), branch_type(f));
}

/* A stream whose three arrays differ in length is odd, but harmless. */
static void put_branches(struct vt_buf *b, const struct vt_record *rec)
{
	struct vt_words from = vt_record_words(rec, VT_SAMPLE_BR_FROM);
	struct vt_words to = vt_record_words(rec, VT_SAMPLE_BR_TO);
	struct vt_words flags = vt_record_words(rec, VT_SAMPLE_BR_FLAGS);
	size_t i;

	for (i = 0; i < from.count; i++) {
		if (i)
			vt_buf_put_u8(b, ' ');
		column_put_hex(b, from.data[i]);
		vt_buf_put_u8(b, '/');
		column_put_hex(b, i < to.count ? to.data[i] : 0);
		put_branch_flags(b, i < flags.count ? flags.data[i] : 0);
	}
}

static void put_event(struct vt_buf *b, uint64_t id, const struct names *n)
{
	const struct named_event *e = names_event(n, id);

	if (e && e->name)
		put_string(b, n, e->name);
	else
		vt_buf_printf(b, "event%" PRIu64, id);
}

static void put_image(struct vt_buf *b, uint64_t id, const struct names *n)
{
	const struct named_image *i = names_image(n, id);

	if (i && i->path)
		put_string(b, n, i->path);
	else if (id == VT_UNMAPPED_IMAGE)
		vt_buf_printf(b, "[unmapped]");
	else
		vt_buf_printf(b, "image%" PRIu64, id);
}

/* A value that has no name, which a later version may have given out, stays a number. */
static void put_word(struct vt_buf *b, const struct column *c, uint64_t value)
{
	const char *word = c->word(value);

	if (strcmp(word, "?") == 0)
		vt_buf_printf(b, "%" PRIu64, value);
	else
		vt_buf_printf(b, "%s", word);
}

/* A NaN may have a sign, of which nobody wants to know. */
static void put_real(struct vt_buf *b, double d)
{
	if (isnan(d))
		vt_buf_printf(b, "nan");
	else
		vt_buf_printf(b, "%.17g", d);
}

void column_print(struct vt_buf *b, const struct column *c, const struct vt_record *rec,
		  const struct names *names)
{
	struct vt_bytes bytes;

	switch (c->how) {
	case COLUMN_KIND:
		vt_escape_str(b, rec->block->desc->name);
		break;
	case COLUMN_DECIMAL:
		column_put_decimal(b, vt_record_u64(rec, c->field));
		break;
	case COLUMN_SIGNED:
		put_signed(b, vt_record_u64(rec, c->field));
		break;
	case COLUMN_HEX:
		column_put_hex(b, vt_record_u64(rec, c->field));
		break;
	case COLUMN_REAL:
		put_real(b, as_double(vt_record_u64(rec, c->field)));
		break;
	case COLUMN_WORD:
		put_word(b, c, vt_record_u64(rec, c->field));
		break;
	case COLUMN_TEXT:
		bytes = vt_record_bytes(rec, c->field);
		vt_escape(b, bytes.data, bytes.size);
		break;
	case COLUMN_BYTES:
		put_digits(b, vt_record_bytes(rec, c->field));
		break;
	case COLUMN_SIZE:
		column_put_decimal(b, vt_record_bytes(rec, c->field).size);
		vt_buf_printf(b, " bytes");
		break;
	case COLUMN_ARRAY_DECIMAL:
	case COLUMN_ARRAY_HEX:
		put_array(b, vt_record_words(rec, c->field), c->how == COLUMN_ARRAY_HEX);
		break;
	case COLUMN_EVENT:
		put_event(b, vt_record_u64(rec, c->field), names);
		break;
	case COLUMN_IMAGE:
		put_image(b, vt_record_u64(rec, c->field), names);
		break;
	case COLUMN_REGS:
		put_registers(b, registers_of(c, rec, names));
		break;
	case COLUMN_BRANCHES:
		put_branches(b, rec);
		break;
	}
}

/* ---- JSON ---- */

static json_t *json_array_of(struct vt_words w, bool hex)
{
	json_t *a = json_array();
	size_t i;

	for (i = 0; i < w.count; i++)
		json_array_append_new(a, hex ? vt_json_hex(w.data[i]) : vt_json_u64(w.data[i]));
	return a;
}

static json_t *json_registers(struct registers r)
{
	json_t *o = json_pack("{s:o}", "abi", vt_json_u64(r.abi));
	struct vt_buf name = VT_BUF_INIT;
	size_t i;

	for (i = 0; i < r.values.count; i++) {
		name.size = 0;
		put_register_name(&name, r.arch, next_register(&r.mask));
		json_object_set_new(o, vt_buf_str(&name), vt_json_hex(r.values.data[i]));
	}
	vt_buf_free(&name);
	return o;
}

/* What has no better JSON than its text. */
static json_t *json_printed(const struct column *c, const struct vt_record *rec,
			    const struct names *names)
{
	struct vt_buf b = VT_BUF_INIT;
	json_t *v;

	column_print(&b, c, rec, names);
	v = json_string(vt_buf_str(&b));
	vt_buf_free(&b);
	return v;
}

json_t *column_json(const struct column *c, const struct vt_record *rec, const struct names *names)
{
	struct vt_bytes bytes;
	double d;

	switch (c->how) {
	case COLUMN_DECIMAL:
		return vt_json_u64(vt_record_u64(rec, c->field));
	case COLUMN_SIGNED:
		return json_integer(vt_record_i64(rec, c->field));
	case COLUMN_HEX:
		return vt_json_hex(vt_record_u64(rec, c->field));
	case COLUMN_REAL:
		d = as_double(vt_record_u64(rec, c->field));
		return isfinite(d) ? json_real(d) : json_printed(c, rec, names);
	case COLUMN_TEXT:
		bytes = vt_record_bytes(rec, c->field);
		return vt_json_text(bytes.data, bytes.size);
	case COLUMN_BYTES:
		bytes = vt_record_bytes(rec, c->field);
		return vt_json_bytes(bytes.data, bytes.size);
	case COLUMN_ARRAY_DECIMAL:
	case COLUMN_ARRAY_HEX:
		return json_array_of(vt_record_words(rec, c->field), c->how == COLUMN_ARRAY_HEX);
	case COLUMN_REGS:
		return json_registers(registers_of(c, rec, names));
	default:
		return json_printed(c, rec, names);
	}
}
