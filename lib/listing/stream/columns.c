/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listing/stream/columns.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "listing/json.h"
#include "profile/profile.h"
#include "stream/profileme.h"
#include "stream/units.h"

/* ---- choosing ---- */

static bool is_hex(const char *unit)
{
	return strcmp(unit, "addr") == 0 || strcmp(unit, "hex") == 0 || strcmp(unit, "flags") == 0;
}

static void choose_unsigned_form(struct vt_dump_column *c, const char *unit)
{
	c->form = is_hex(unit)			     ? VT_DUMP_HEX
		  : strcmp(unit, "flags:event") == 0 ? VT_DUMP_EVENTS
		  : strcmp(unit, "flags:pm") == 0    ? VT_DUMP_PM_FIELDS
						     : VT_DUMP_DECIMAL;
	c->word = vt_unit_words(unit);
	if (c->word)
		c->form = VT_DUMP_WORD;
}

static struct vt_dump_column plain_column(const struct vt_kind_desc *kind, uint32_t number,
					  unsigned field)
{
	const struct vt_field_desc *f = &kind->fields[field];
	struct vt_dump_column c = {.name = f->name, .field = field};

	if (number == VT_SAMPLE && vt_pm_is_field(field))
		c.pm_bit = VT_PM_BIT_OF(field);
	switch (f->type) {
	case VT_TYPE_U:
		choose_unsigned_form(&c, f->unit);
		break;
	case VT_TYPE_I:
		c.form = VT_DUMP_SIGNED;
		break;
	case VT_TYPE_F:
		c.form = VT_DUMP_REAL;
		break;
	case VT_TYPE_S:
		c.form = VT_DUMP_TEXT;
		break;
	case VT_TYPE_B:
		c.form = VT_DUMP_BYTES;
		break;
	case VT_TYPE_A:
		c.form = is_hex(f->unit) ? VT_DUMP_ARRAY_HEX : VT_DUMP_ARRAY_DECIMAL;
		break;
	}
	return c;
}

struct vt_dump_column vt_dump_column_of(const struct vt_kind_desc *kind, uint32_t number,
					unsigned field)
{
	struct vt_dump_column c = plain_column(kind, number, field);

	if ((number == VT_EXEC && (field == VT_EXEC_IDS || field == VT_EXEC_DATA)) ||
	    (number == VT_MEMORY && field == VT_MEMORY_DATA))
		c.form = VT_DUMP_SIZE;
	return c;
}

bool vt_dump_column_find(const struct vt_kind_desc *kind, uint32_t number, const char *name,
			 struct vt_dump_column *c)
{
	int field;

	*c = (struct vt_dump_column){.name = name};
	if (strcmp(name, "kind") == 0) {
		c->form = VT_DUMP_KIND;
		return true;
	}
	if (number == VT_SAMPLE && strcmp(name, "brstack") == 0) {
		c->form = VT_DUMP_BRANCHES;
		return true;
	}
	field = vt_schema_find_field(kind, name);
	if (field < 0)
		return false;
	*c = plain_column(kind, number, (unsigned)field);
	if (number == VT_SAMPLE && (field == VT_SAMPLE_UREGS || field == VT_SAMPLE_IREGS))
		c->form = VT_DUMP_REGISTERS;
	else if (strcmp(kind->fields[field].unit, "id:EVENT") == 0)
		c->form = VT_DUMP_EVENT;
	else if (strcmp(kind->fields[field].unit, "id:IMAGE") == 0)
		c->form = VT_DUMP_IMAGE;
	if (number == VT_SAMPLE)
		c->needs = vt_sample_has_bits((unsigned)field);
	return true;
}

static bool is_unrecorded(const struct vt_dump_column *c, const struct vt_record *rec)
{
	if (c->pm_bit)
		return !(vt_record_u64(rec, VT_SAMPLE_PM_HAS) & c->pm_bit);
	return c->needs && !vt_record_u64(rec, c->field) &&
	       !(vt_record_u64(rec, VT_SAMPLE_HAS) & c->needs);
}

bool vt_dump_column_present(const struct vt_dump_column *c, const struct vt_record *rec)
{
	if (c->pm_bit)
		return !is_unrecorded(c, rec);
	switch (c->form) {
	case VT_DUMP_TEXT:
	case VT_DUMP_BYTES:
	case VT_DUMP_SIZE:
		return vt_record_bytes(rec, c->field).size > 0;
	case VT_DUMP_ARRAY_DECIMAL:
	case VT_DUMP_ARRAY_HEX:
	case VT_DUMP_REGISTERS:
		return vt_record_words(rec, c->field).count > 0;
	case VT_DUMP_BRANCHES:
		return vt_record_words(rec, VT_SAMPLE_BR_FROM).count > 0;
	case VT_DUMP_KIND:
		return true;
	case VT_DUMP_WORD: /* the word for 0 says as much as any other, but for most samples */
		return c->word != vt_walk_stop_name || vt_record_u64(rec, c->field);
	default:
		return vt_record_u64(rec, c->field) != 0;
	}
}

/* ---- text ---- */

/* printf() would take most of the time of a dump of a million samples. */
void vt_dump_decimal(struct vt_buf *b, uint64_t v)
{
	char text[20];
	char *p = text + sizeof(text);

	do
		*--p = (char)('0' + v % 10);
	while (v /= 10);
	vt_buf_put(b, p, (size_t)(text + sizeof(text) - p));
}

void vt_dump_hex(struct vt_buf *b, uint64_t v)
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

void vt_dump_seconds(struct vt_buf *b, uint64_t ns)
{
	vt_buf_printf(b, "%" PRIu64 ".%09" PRIu64, ns / 1000000000, ns % 1000000000);
}

void vt_dump_signed(struct vt_buf *b, uint64_t v)
{
	if ((int64_t)v < 0) {
		vt_buf_put_u8(b, '-');
		v = 0 - v;
	}
	vt_dump_decimal(b, v);
}

static void put_hex_bytes(struct vt_buf *b, struct vt_bytes bytes)
{
	size_t i;

	for (i = 0; i < bytes.size; i++) {
		vt_buf_put_u8(b, (uint8_t) "0123456789abcdef"[bytes.data[i] >> 4]);
		vt_buf_put_u8(b, (uint8_t) "0123456789abcdef"[bytes.data[i] & 15]);
	}
}

static void put_word_array(struct vt_buf *b, struct vt_words w, bool hex)
{
	size_t i;

	for (i = 0; i < w.count; i++) {
		if (i)
			vt_buf_put_u8(b, ',');
		if (hex)
			vt_dump_hex(b, w.data[i]);
		else
			vt_dump_decimal(b, w.data[i]);
	}
}

static void put_interned(struct vt_buf *b, const struct vt_names *n, uint32_t string)
{
	vt_escape(b, vt_intern_get(n->strings, string), vt_intern_size(n->strings, string));
}

/* Source: enum perf_event_x86_regs of arch/x86/include/uapi/asm/perf_regs.h. */
static const char *const x86_registers[64] = {
	"AX",	 "BX",	  "CX",	   "DX",    "SI",    "DI",    "BP",    "SP",	"IP",	 "FLAGS",
	"CS",	 "SS",	  "DS",	   "ES",    "FS",    "GS",    "R8",    "R9",	"R10",	 "R11",
	"R12",	 "R13",	  "R14",   "R15",   NULL,    NULL,    NULL,    NULL,	NULL,	 NULL,
	NULL,	 NULL,	  "XMM0",  "XMM0",  "XMM1",  "XMM1",  "XMM2",  "XMM2",	"XMM3",	 "XMM3",
	"XMM4",	 "XMM4",  "XMM5",  "XMM5",  "XMM6",  "XMM6",  "XMM7",  "XMM7",	"XMM8",	 "XMM8",
	"XMM9",	 "XMM9",  "XMM10", "XMM10", "XMM11", "XMM11", "XMM12", "XMM12", "XMM13", "XMM13",
	"XMM14", "XMM14", "XMM15", "XMM15",
};

/* Source: enum perf_event_arm64_regs of arch/arm64/include/uapi/asm/perf_regs.h. */
static const char *const arm64_registers[64] = {
	"x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",	 "x7",	"x8",  "x9",  "x10", "x11",
	"x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23",
	"x24", "x25", "x26", "x27", "x28", "x29", "lr",	 "sp",	"pc",  NULL,  NULL,  NULL,
	NULL,  NULL,  NULL,  NULL,  NULL,  NULL,  NULL,	 NULL,	NULL,  NULL,  "vg",
};

static const char *register_name(const char *arch, unsigned bit)
{
	if (bit >= 64)
		return NULL;
	if (strcmp(arch, "x86_64") == 0 || (arch[0] == 'i' && strcmp(arch + 2, "86") == 0))
		return x86_registers[bit];
	if (strcmp(arch, "aarch64") == 0)
		return arm64_registers[bit];
	return NULL;
}

/* Removes the lowest register from *mask and returns its bit number; -1 if there is none. */
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

static struct registers registers_of(const struct vt_dump_column *c, const struct vt_record *rec,
				     const struct vt_names *n)
{
	const struct vt_named_event *e = vt_names_event(n, vt_record_u64(rec, VT_SAMPLE_EVENT));
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

/* "AX", or "r3" for an unknown register, or "?" for one that the mask does not have. */
static void put_register_name(struct vt_buf *b, const char *arch, int bit)
{
	const char *name = bit < 0 ? NULL : register_name(arch, (unsigned)bit);

	if (name)
		vt_buf_put(b, name, strlen(name));
	else if (bit < 0)
		vt_buf_put_u8(b, '?');
	else
		vt_buf_printf(b, "r%d", bit);
}

static void put_register_values(struct vt_buf *b, struct registers r)
{
	size_t i;

	if (!r.values.count)
		return;
	vt_buf_put(b, "ABI:", 4);
	vt_dump_decimal(b, r.abi);
	for (i = 0; i < r.values.count; i++) {
		vt_buf_put_u8(b, ' ');
		put_register_name(b, r.arch, next_register(&r.mask));
		vt_buf_put_u8(b, ':');
		vt_dump_hex(b, r.values.data[i]);
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

/* The three arrays may differ in length in a hostile stream. */
static void put_branch_stack(struct vt_buf *b, const struct vt_record *rec)
{
	struct vt_words from = vt_record_words(rec, VT_SAMPLE_BR_FROM);
	struct vt_words to = vt_record_words(rec, VT_SAMPLE_BR_TO);
	struct vt_words flags = vt_record_words(rec, VT_SAMPLE_BR_FLAGS);
	size_t i;

	for (i = 0; i < from.count; i++) {
		if (i)
			vt_buf_put_u8(b, ' ');
		vt_dump_hex(b, from.data[i]);
		vt_buf_put_u8(b, '/');
		vt_dump_hex(b, i < to.count ? to.data[i] : 0);
		put_branch_flags(b, i < flags.count ? flags.data[i] : 0);
	}
}

static void put_event_name(struct vt_buf *b, uint64_t id, const struct vt_names *n)
{
	const struct vt_named_event *e = vt_names_event(n, id);

	if (e && e->name)
		put_interned(b, n, e->name);
	else
		vt_buf_printf(b, "event%" PRIu64, id);
}

static void put_image_name(struct vt_buf *b, uint64_t id, const struct vt_names *n)
{
	const struct vt_named_image *i = vt_names_image(n, id);

	if (i && i->path)
		put_interned(b, n, i->path);
	else if (id == VT_UNMAPPED_IMAGE)
		vt_buf_printf(b, "[unmapped]");
	else
		vt_buf_printf(b, "image%" PRIu64, id);
}

/* A value without a name stays a number: a later version may have defined it. */
static void put_word(struct vt_buf *b, const struct vt_dump_column *c, uint64_t value)
{
	const char *word = c->word(value);

	if (strcmp(word, "?") == 0)
		vt_buf_printf(b, "%" PRIu64, value);
	else
		vt_buf_printf(b, "%s", word);
}

/* Calls `put` with the name of each bit; bits without one have numbers. */
static void each_bit(const struct vt_dump_column *c, const struct vt_record *rec,
		     void (*put)(void *arg, const char *name), void *arg)
{
	uint64_t bits = vt_record_u64(rec, c->field);
	char number[16];
	unsigned bit;

	for (bit = 0; bits; bit++, bits >>= 1) {
		const char *name = c->form == VT_DUMP_EVENTS ? vt_pm_event_name(bit)
				   : bit < VT_PM_NBITS
					   ? rec->block->desc->fields[VT_SAMPLE_EVENTS + bit].name
					   : "?";

		snprintf(number, sizeof(number), "%u", bit);
		if (bits & 1)
			put(arg, strcmp(name, "?") == 0 ? number : name);
	}
}

struct bit_text {
	struct vt_buf *b;
	bool any;
};

static void put_bit_text(void *arg, const char *name)
{
	struct bit_text *t = arg;

	vt_buf_printf(t->b, "%s%s", t->any ? "|" : "", name);
	t->any = true;
}

/* The sign of a NaN is meaningless, but printf() would show it. */
static void put_double(struct vt_buf *b, double d)
{
	if (isnan(d))
		vt_buf_printf(b, "nan");
	else
		vt_buf_printf(b, "%.17g", d);
}

void vt_dump_column_text(struct vt_buf *b, const struct vt_dump_column *c,
			 const struct vt_record *rec, const struct vt_names *names)
{
	struct vt_bytes bytes;

	if (is_unrecorded(c, rec))
		return;
	switch (c->form) {
	case VT_DUMP_KIND:
		vt_escape_str(b, rec->block->desc->name);
		break;
	case VT_DUMP_DECIMAL:
		vt_dump_decimal(b, vt_record_u64(rec, c->field));
		break;
	case VT_DUMP_SIGNED:
		vt_dump_signed(b, vt_record_u64(rec, c->field));
		break;
	case VT_DUMP_HEX:
		vt_dump_hex(b, vt_record_u64(rec, c->field));
		break;
	case VT_DUMP_REAL:
		put_double(b, vt_record_f64(rec, c->field));
		break;
	case VT_DUMP_WORD:
		put_word(b, c, vt_record_u64(rec, c->field));
		break;
	case VT_DUMP_EVENTS:
	case VT_DUMP_PM_FIELDS:
		each_bit(c, rec, put_bit_text, &(struct bit_text){.b = b});
		break;
	case VT_DUMP_TEXT:
		bytes = vt_record_bytes(rec, c->field);
		vt_escape(b, bytes.data, bytes.size);
		break;
	case VT_DUMP_BYTES:
		put_hex_bytes(b, vt_record_bytes(rec, c->field));
		break;
	case VT_DUMP_SIZE:
		vt_dump_decimal(b, vt_record_bytes(rec, c->field).size);
		vt_buf_printf(b, " bytes");
		break;
	case VT_DUMP_ARRAY_DECIMAL:
	case VT_DUMP_ARRAY_HEX:
		put_word_array(b, vt_record_words(rec, c->field), c->form == VT_DUMP_ARRAY_HEX);
		break;
	case VT_DUMP_EVENT:
		put_event_name(b, vt_record_u64(rec, c->field), names);
		break;
	case VT_DUMP_IMAGE:
		put_image_name(b, vt_record_u64(rec, c->field), names);
		break;
	case VT_DUMP_REGISTERS:
		put_register_values(b, registers_of(c, rec, names));
		break;
	case VT_DUMP_BRANCHES:
		put_branch_stack(b, rec);
		break;
	}
}

/* ---- JSON ---- */

static json_t *words_json(struct vt_words w, bool hex)
{
	json_t *a = json_array();
	size_t i;

	for (i = 0; i < w.count; i++)
		json_array_append_new(a, hex ? vt_json_hex(w.data[i]) : vt_json_u64(w.data[i]));
	return a;
}

static void put_bit_json(void *arg, const char *name)
{
	json_array_append_new(arg, json_string(name));
}

static json_t *bits_json(const struct vt_dump_column *c, const struct vt_record *rec)
{
	json_t *a = json_array();

	each_bit(c, rec, put_bit_json, a);
	return a;
}

static json_t *registers_json(struct registers r)
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

/* For values whose JSON is their text. */
static json_t *text_json(const struct vt_dump_column *c, const struct vt_record *rec,
			 const struct vt_names *names)
{
	struct vt_buf b = VT_BUF_INIT;
	json_t *v;

	vt_dump_column_text(&b, c, rec, names);
	v = json_string(vt_buf_str(&b));
	vt_buf_free(&b);
	return v;
}

json_t *vt_dump_column_json(const struct vt_dump_column *c, const struct vt_record *rec,
			    const struct vt_names *names)
{
	struct vt_bytes bytes;
	double d;

	if (is_unrecorded(c, rec))
		return json_null();
	switch (c->form) {
	case VT_DUMP_DECIMAL:
		return vt_json_u64(vt_record_u64(rec, c->field));
	case VT_DUMP_SIGNED:
		return json_integer(vt_record_i64(rec, c->field));
	case VT_DUMP_HEX:
		return vt_json_hex(vt_record_u64(rec, c->field));
	case VT_DUMP_REAL:
		d = vt_record_f64(rec, c->field);
		return isfinite(d) ? json_real(d) : text_json(c, rec, names);
	case VT_DUMP_TEXT:
		bytes = vt_record_bytes(rec, c->field);
		return vt_json_text(bytes.data, bytes.size);
	case VT_DUMP_BYTES:
		bytes = vt_record_bytes(rec, c->field);
		return vt_json_bytes(bytes.data, bytes.size);
	case VT_DUMP_ARRAY_DECIMAL:
	case VT_DUMP_ARRAY_HEX:
		return words_json(vt_record_words(rec, c->field), c->form == VT_DUMP_ARRAY_HEX);
	case VT_DUMP_EVENTS:
	case VT_DUMP_PM_FIELDS:
		return bits_json(c, rec);
	case VT_DUMP_REGISTERS:
		return registers_json(registers_of(c, rec, names));
	default:
		return text_json(c, rec, names);
	}
}
