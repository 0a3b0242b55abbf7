/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "image/cfi.h"

#include <assert.h>
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "image/internal.h"

/* A large browser has some 1,000,000 procedures. */
#define MAX_PROCEDURES ((size_t)1 << 22)

/* Bytes of one procedure's program; the longest of a compiler have some thousands. */
#define MAX_PROGRAM 65536

/* States that are remembered at once: compilers need one, or a few. */
#define MAX_REMEMBERED 16

/* The System V ABI for AMD64, figure 3.36: the column of the return address. */
#define RETURN_ADDRESS 16

#define VERSION_EH  1 /* LSB; and gcc writes it into .debug_frame, too */
#define VERSION_3   3
#define VERSION_4   4
#define LONG_LENGTH 0xffffffff /* DWARF with 64 bits: nobody's but the very largest */

/* What several procedures have in common. */
struct common {
	uint64_t offset; /* first: the key */
	uint32_t number; /* in the table */
	bool good;
	bool augmented; /* procedures have augmentation data */
	uint8_t encoding;
	uint64_t code_align;
	uint64_t data_align;
	const uint8_t *program;
	size_t size;
};

struct procedure {
	uint64_t start;
	uint64_t end;
	uint64_t reach; /* the furthest end of those before it */
	const uint8_t *program;
	uint32_t size;
	uint32_t common;
};

struct vti_cfi {
	const uint8_t *data;
	size_t size;
	uint64_t vaddr;
	bool eh;
	struct vt_hash commons;
	struct procedure *procedures; /* by start */
	size_t count;
	size_t cap;
};

/* ---- what a section has ---- */

uint64_t vti_cfi_signed(struct vt_cursor *c)
{
	uint64_t v = 0;
	unsigned shift = 0;
	uint8_t b;

	do {
		b = vt_cursor_u8(c);
		if (shift < 64)
			v |= (uint64_t)(b & 0x7f) << shift;
		else if ((b & 0x7f) != (v >> 63 ? 0x7f : 0))
			c->bad = true;
		shift += 7;
	} while (b & 0x80 && !c->bad);
	if (b & 0x40 && shift < 64)
		v |= ~UINT64_C(0) << shift;
	return v;
}

/* An address in one of the encodings (LSB, Core, 10.5.1) that are used for code. */
static uint64_t take_address(const struct vti_cfi *f, struct vt_cursor *c, uint8_t encoding)
{
	uint64_t here = f->vaddr + (uint64_t)(c->p - f->data), v;

	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		v = vt_cursor_u64(c);
		break;
	case DW_EH_PE_udata4:
		v = vt_cursor_u32(c);
		break;
	case DW_EH_PE_sdata4:
		v = (uint64_t)(int32_t)vt_cursor_u32(c);
		break;
	case DW_EH_PE_udata2:
		v = vt_cursor_u16(c);
		break;
	case DW_EH_PE_sdata2:
		v = (uint64_t)(int16_t)vt_cursor_u16(c);
		break;
	default:
		c->bad = true;
		return 0;
	}
	if ((encoding & 0xf0) == DW_EH_PE_pcrel)
		return v + here;
	c->bad |= (encoding & 0xf0) != 0;
	return v;
}

/* Passes over a pointer to a personality routine, whatever it is relative to. */
static void pass_pointer(const struct vti_cfi *f, struct vt_cursor *c, uint8_t encoding)
{
	if (encoding != DW_EH_PE_omit)
		take_address(f, c, encoding & 0x0f);
}

/* False for what nobody knows the meaning of, and for signals' trampolines. */
static bool take_augmentation(const struct vti_cfi *f, struct vt_cursor *c, const char *text,
			      struct common *m)
{
	uint64_t size;
	struct vt_cursor a;

	m->encoding = DW_EH_PE_absptr;
	if (!*text)
		return true;
	if (*text++ != 'z')
		return false;
	m->augmented = true;
	size = vt_cursor_varint(c);
	a = vt_cursor_make(c->p, vt_cursor_left(c), false);
	if (!vt_cursor_take(c, size))
		return false;
	a.end = c->p;
	for (; *text; text++) {
		if (*text == 'R')
			m->encoding = vt_cursor_u8(&a);
		else if (*text == 'P')
			pass_pointer(f, &a, vt_cursor_u8(&a));
		else if (*text == 'L')
			vt_cursor_u8(&a);
		else
			return false;
	}
	return !a.bad;
}

/* The entry at an offset: from behind its length on; empty at the end, or where nobody knows how
 * it goes on. */
static struct vt_cursor entry_at(const struct vti_cfi *f, uint64_t offset, uint64_t *next)
{
	struct vt_cursor c = vt_cursor_make(f->data + offset, f->size - offset, false);
	uint32_t size = vt_cursor_u32(&c);

	if (c.bad || size == LONG_LENGTH || size < 4 || size > vt_cursor_left(&c)) {
		c.end = c.p;
		*next = f->size;
		return c;
	}
	c.end = c.p + size;
	*next = offset + 4 + size;
	return c;
}

static bool read_common(const struct vti_cfi *f, struct common *m)
{
	uint64_t next, column;
	struct vt_cursor c;
	const char *text;
	const uint8_t *zero;
	uint8_t version;

	if (m->offset >= f->size)
		return false;
	c = entry_at(f, m->offset, &next);
	if (vt_cursor_u32(&c) != (f->eh ? 0 : UINT32_MAX) || c.bad)
		return false;
	version = vt_cursor_u8(&c);
	if (version != VERSION_EH && version != VERSION_3 && version != VERSION_4)
		return false;
	zero = memchr(c.p, 0, vt_cursor_left(&c));
	if (!zero)
		return false;
	text = (const char *)c.p;
	c.p = zero + 1;
	/* Then come the sizes of an address and of a segment's selector. */
	if (version == VERSION_4 && vt_cursor_u16(&c) != 8)
		return false;
	m->code_align = vt_cursor_varint(&c);
	m->data_align = vti_cfi_signed(&c);
	column = version == VERSION_EH ? vt_cursor_u8(&c) : vt_cursor_varint(&c);
	if (c.bad || column != RETURN_ADDRESS || !take_augmentation(f, &c, text, m) || c.bad)
		return false;
	m->program = c.p;
	m->size = vt_cursor_left(&c);
	return m->size <= MAX_PROGRAM;
}

/* The number of what is at an offset; -VT_E_NOMEM. */
static int64_t common_at(struct vti_cfi *f, uint64_t offset)
{
	bool added;
	struct common *m = vt_hash_add(&f->commons, &offset, &added);

	if (!m)
		return -VT_E_NOMEM;
	if (added) {
		m->good = read_common(f, m);
		m->number = (uint32_t)(f->commons.count - 1);
	}
	return m->number;
}

static int add_procedure(struct vti_cfi *f, struct vt_cursor c, uint64_t common_offset)
{
	int64_t number = common_at(f, common_offset);
	struct procedure p = {.common = (uint32_t)number};
	const struct common *m;

	if (number < 0)
		return -1;
	m = vt_hash_at(&f->commons, (size_t)number);
	if (!m->good)
		return 0;
	p.start = take_address(f, &c, m->encoding);
	p.end = p.start + take_address(f, &c, m->encoding & 0x0f);
	if (m->augmented)
		vt_cursor_take(&c, vt_cursor_varint(&c));
	if (c.bad || p.end <= p.start || vt_cursor_left(&c) > MAX_PROGRAM ||
	    f->count == MAX_PROCEDURES)
		return 0;
	p.program = c.p;
	p.size = (uint32_t)vt_cursor_left(&c);
	if (!vt_array_grow(&f->procedures, &f->cap, f->count + 1, sizeof(p)))
		return -1;
	f->procedures[f->count++] = p;
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct procedure *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->program > y->program) - (x->program < y->program);
}

static int read_section(struct vti_cfi *f)
{
	uint64_t at = 0, next, reach = 0;
	size_t i;

	for (; at < f->size; at = next) {
		struct vt_cursor c = entry_at(f, at, &next);
		uint64_t here = (uint64_t)(c.p - f->data), id = vt_cursor_u32(&c);

		if (c.bad || id == (f->eh ? 0 : UINT32_MAX))
			continue;
		/* In .eh_frame, the distance back. */
		if (f->eh)
			id = here - id;
		if (add_procedure(f, c, id) < 0)
			return -1;
	}
	if (f->count)
		qsort(f->procedures, f->count, sizeof(*f->procedures), by_start);
	for (i = 0; i < f->count; i++) {
		f->procedures[i].reach = reach;
		if (f->procedures[i].end > reach)
			reach = f->procedures[i].end;
	}
	return 0;
}

int vti_cfi_open(const struct vt_elf *e, const char *section, struct vti_cfi **cfi,
		 struct vt_error *err)
{
	const struct vt_elf_info *info = vt_elf_info(e);
	Elf_Data *data = NULL;
	struct vti_cfi *f;
	GElf_Shdr shdr;

	*cfi = NULL;
	if (info->machine != VT_MACHINE_X86_64 || info->bits != 64 || info->big ||
	    (info->type != ET_EXEC && info->type != ET_DYN) ||
	    !vti_elf_section(e, section, &shdr, &data) || shdr.sh_flags & SHF_COMPRESSED ||
	    !data->d_buf)
		return 0;
	f = calloc(1, sizeof(*f));
	if (!f)
		return vt_error_set(err, VT_E_NOMEM, "%s: out of memory", info->path);
	f->data = data->d_buf;
	f->size = data->d_size;
	f->vaddr = shdr.sh_addr;
	f->eh = strcmp(section, ".eh_frame") == 0;
	vt_hash_init(&f->commons, sizeof(struct common), sizeof(uint64_t));
	if (read_section(f) < 0) {
		vti_cfi_close(f);
		return vt_error_set(err, VT_E_NOMEM, "%s: out of memory", info->path);
	}
	*cfi = f;
	return 0;
}

void vti_cfi_close(struct vti_cfi *f)
{
	if (!f)
		return;
	vt_hash_fini(&f->commons);
	free(f->procedures);
	free(f);
}

/* ---- the rules at an instruction ---- */

struct rules {
	struct vti_cfi_rule cfa;
	struct vti_cfi_rule ra;
};

struct program {
	const struct vti_cfi *cfi;
	const struct common *common;
	struct vt_cursor c;
	uint64_t pc;
	struct vti_cfi_row *row; /* NULL: instructions that all procedures start with */
	struct rules rules;
	struct rules initial;
	struct rules remembered[MAX_REMEMBERED];
	unsigned nremembered;
};

static uint64_t take_offset(struct program *p, bool is_signed)
{
	uint64_t v = is_signed ? vti_cfi_signed(&p->c) : vt_cursor_varint(&p->c);

	return v * p->common->data_align;
}

static void set_rule(struct program *p, uint64_t reg, enum vti_cfi_how how, uint64_t offset)
{
	if (reg == RETURN_ADDRESS)
		p->rules.ra = (struct vti_cfi_rule){.how = how, .offset = offset, .reg = offset};
}

static void take_expression(struct program *p, struct vti_cfi_rule *rule, enum vti_cfi_how how)
{
	uint64_t size = vt_cursor_varint(&p->c);
	const uint8_t *expr = vt_cursor_take(&p->c, size);

	*rule = (struct vti_cfi_rule){.how = how, .expr = expr, .size = (size_t)size};
}

static void rule_expression(struct program *p, enum vti_cfi_how how)
{
	uint64_t reg = vt_cursor_varint(&p->c);
	struct vti_cfi_rule other;

	take_expression(p, reg == RETURN_ADDRESS ? &p->rules.ra : &other, how);
}

static void restore(struct program *p, uint64_t reg)
{
	if (!p->row)
		p->c.bad = true;
	else if (reg == RETURN_ADDRESS)
		p->rules.ra = p->initial.ra;
}

static void remember(struct program *p)
{
	if (p->nremembered == MAX_REMEMBERED)
		p->c.bad = true;
	else
		p->remembered[p->nremembered++] = p->rules;
}

static void recall(struct program *p)
{
	if (!p->nremembered)
		p->c.bad = true;
	else
		p->rules = p->remembered[--p->nremembered];
}

/* A new row begins: true when the instruction is in the one that ends. */
static bool advance(struct program *p, uint64_t loc)
{
	if (!p->row || loc < p->row->start || loc > p->row->end) {
		p->c.bad = true;
		return true;
	}
	if (loc > p->pc) {
		p->row->end = loc;
		return true;
	}
	p->row->start = loc;
	return false;
}

static bool advance_by(struct program *p, uint64_t delta)
{
	return advance(p, p->row ? p->row->start + delta * p->common->code_align : 0);
}

static void def_cfa(struct program *p, bool has_reg, bool has_offset, bool is_signed)
{
	struct vti_cfi_rule *r = &p->rules.cfa;

	/* A register or offset alone changes a rule that has both. */
	if (!(has_reg && has_offset) && r->how != VTI_CFI_OFFSET)
		p->c.bad = true;
	r->how = VTI_CFI_OFFSET;
	if (has_reg)
		r->reg = vt_cursor_varint(&p->c);
	if (has_offset)
		r->offset = is_signed ? take_offset(p, true) : vt_cursor_varint(&p->c);
}

/* The operations that say something of registers.  False: none of them. */
static bool take_rule(struct program *p, uint8_t op)
{
	uint64_t reg;

	switch (op) {
	case DW_CFA_offset_extended:
	case DW_CFA_offset_extended_sf:
		reg = vt_cursor_varint(&p->c);
		set_rule(p, reg, VTI_CFI_OFFSET, take_offset(p, op == DW_CFA_offset_extended_sf));
		return true;
	case DW_CFA_GNU_negative_offset_extended:
		reg = vt_cursor_varint(&p->c);
		set_rule(p, reg, VTI_CFI_OFFSET, 0 - take_offset(p, false));
		return true;
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
		reg = vt_cursor_varint(&p->c);
		set_rule(p, reg, VTI_CFI_VALUE, take_offset(p, op == DW_CFA_val_offset_sf));
		return true;
	case DW_CFA_register:
		reg = vt_cursor_varint(&p->c);
		set_rule(p, reg, VTI_CFI_REGISTER, vt_cursor_varint(&p->c));
		return true;
	case DW_CFA_undefined:
	case DW_CFA_same_value:
		set_rule(p, vt_cursor_varint(&p->c), VTI_CFI_UNKNOWN, 0);
		return true;
	case DW_CFA_restore_extended:
		restore(p, vt_cursor_varint(&p->c));
		return true;
	case DW_CFA_expression:
		rule_expression(p, VTI_CFI_PLACE);
		return true;
	case DW_CFA_val_expression:
		rule_expression(p, VTI_CFI_EXPRESSION);
		return true;
	default:
		return false;
	}
}

/* The operations on the state as a whole, and on the canonical frame address. */
static bool take_state(struct program *p, uint8_t op)
{
	switch (op) {
	case DW_CFA_nop:
		return true;
	case DW_CFA_remember_state:
		remember(p);
		return true;
	case DW_CFA_restore_state:
		recall(p);
		return true;
	case DW_CFA_def_cfa:
	case DW_CFA_def_cfa_sf:
		def_cfa(p, true, true, op == DW_CFA_def_cfa_sf);
		return true;
	case DW_CFA_def_cfa_register:
		def_cfa(p, true, false, false);
		return true;
	case DW_CFA_def_cfa_offset:
	case DW_CFA_def_cfa_offset_sf:
		def_cfa(p, false, true, op == DW_CFA_def_cfa_offset_sf);
		return true;
	case DW_CFA_def_cfa_expression:
		take_expression(p, &p->rules.cfa, VTI_CFI_PLACE);
		return true;
	case DW_CFA_GNU_args_size:
		vt_cursor_varint(&p->c);
		return true;
	default:
		return false;
	}
}

/* One operation: true when the row is found. */
static bool take_operation(struct program *p)
{
	uint8_t op = vt_cursor_u8(&p->c), low = op & 0x3f;

	switch (op & 0xc0) {
	case DW_CFA_advance_loc:
		return advance_by(p, low);
	case DW_CFA_offset:
		set_rule(p, low, VTI_CFI_OFFSET, take_offset(p, false));
		return false;
	case DW_CFA_restore:
		restore(p, low);
		return false;
	default:
		break;
	}
	switch (op) {
	case DW_CFA_advance_loc1:
		return advance_by(p, vt_cursor_u8(&p->c));
	case DW_CFA_advance_loc2:
		return advance_by(p, vt_cursor_u16(&p->c));
	case DW_CFA_advance_loc4:
		return advance_by(p, vt_cursor_u32(&p->c));
	case DW_CFA_set_loc:
		return advance(p, take_address(p->cfi, &p->c, p->common->encoding));
	default:
		if (!take_rule(p, op) && !take_state(p, op))
			p->c.bad = true;
		return false;
	}
}

static bool execute(struct program *p, const uint8_t *program, size_t size)
{
	p->c = vt_cursor_make(program, size, false);
	while (vt_cursor_left(&p->c))
		if (take_operation(p))
			break;
	return !p->c.bad;
}

/* The procedure that has the instruction, if it shares none with another. */
static const struct procedure *procedure_at(const struct vti_cfi *f, uint64_t vaddr)
{
	size_t low = 0, high = f->count;
	const struct procedure *p;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (f->procedures[mid].start <= vaddr)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low)
		return NULL;
	p = &f->procedures[low - 1];
	if (vaddr >= p->end || p->start < p->reach || (low < f->count && p[1].start < p->end))
		return NULL;
	return p;
}

bool vti_cfi_find(const struct vti_cfi *f, uint64_t vaddr, struct vti_cfi_row *row)
{
	const struct procedure *p = procedure_at(f, vaddr);
	struct program run = {.cfi = f, .pc = vaddr};

	if (!p)
		return false;
	run.common = vt_hash_at(&f->commons, p->common);
	assert(vaddr >= p->start && vaddr < p->end);
	*row = (struct vti_cfi_row){.start = p->start, .end = p->end, .entry = p->start};
	if (!execute(&run, run.common->program, run.common->size))
		return false;
	run.initial = run.rules;
	run.row = row;
	if (!execute(&run, p->program, p->size))
		return false;
	assert(row->start <= vaddr && vaddr < row->end);
	row->cfa = run.rules.cfa;
	row->ra = run.rules.ra;
	return true;
}
