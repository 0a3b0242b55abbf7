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

/* Limit on procedures; a large browser has some 1,000,000. */
#define MAX_PROCEDURES ((size_t)1 << 22)

/* Limit on the bytes of a procedure's program; compilers write up to some thousands. */
#define MAX_PROGRAM 65536

/* Limit on remembered states; compilers need one or a few. */
#define MAX_REMEMBERED 16

/* The System V ABI for AMD64, figure 3.36: the column of the return address. */
#define RETURN_ADDRESS 16

#define VERSION_EH  1 /* of the LSB; gcc writes it into .debug_frame, too */
#define VERSION_3   3
#define VERSION_4   4
#define LONG_LENGTH 0xffffffff /* 64-bit DWARF, which is not supported */

/* A common information entry (CIE), shared by several procedures. */
struct cfi_common {
	uint64_t offset; /* first: the key */
	uint32_t number; /* in vti_cfi.commons */
	bool good;
	bool augmented; /* procedures have augmentation data */
	bool signal;	/* procedures are signal trampolines */
	uint8_t encoding;
	uint64_t code_align;
	uint64_t data_align;
	const uint8_t *program;
	size_t size;
};

struct cfi_procedure {
	uint64_t start; /* first: the key */
	uint64_t end;
	uint64_t reach; /* the highest end of the procedures before it */
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
	struct cfi_procedure *procedures; /* by start */
	size_t count;
	size_t cap;
};

/* ---- reading a section ---- */

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

/* Reads an address in one of the encodings (LSB, Core, 10.5.1) that are used for code. */
static uint64_t read_address(const struct vti_cfi *f, struct vt_cursor *c, uint8_t encoding)
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

/* Skips a pointer to a personality routine, whatever it is relative to. */
static void skip_pointer(const struct vti_cfi *f, struct vt_cursor *c, uint8_t encoding)
{
	if (encoding != DW_EH_PE_omit)
		read_address(f, c, encoding & 0x0f);
}

/* Returns false for unknown augmentations. */
static bool read_augmentation(const struct vti_cfi *f, struct vt_cursor *c, const char *text,
			      struct cfi_common *m)
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
			skip_pointer(f, &a, vt_cursor_u8(&a));
		else if (*text == 'L')
			vt_cursor_u8(&a);
		else if (*text == 'S')
			m->signal = true;
		else
			return false;
	}
	return !a.bad;
}

/* Returns the entry at an offset, without its length.  It is empty at the end, or if it is damaged;
 * then *next is the end. */
static struct vt_cursor open_entry(const struct vti_cfi *f, uint64_t offset, uint64_t *next)
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

static bool read_common(const struct vti_cfi *f, struct cfi_common *m)
{
	uint64_t next, column;
	struct vt_cursor c;
	const char *text;
	const uint8_t *zero;
	uint8_t version;

	if (m->offset >= f->size)
		return false;
	c = open_entry(f, m->offset, &next);
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
	/* The sizes of an address, 8, and of a segment selector, 0. */
	if (version == VERSION_4 && vt_cursor_u16(&c) != 8)
		return false;
	m->code_align = vt_cursor_varint(&c);
	m->data_align = vti_cfi_signed(&c);
	column = version == VERSION_EH ? vt_cursor_u8(&c) : vt_cursor_varint(&c);
	if (c.bad || column != RETURN_ADDRESS || !read_augmentation(f, &c, text, m) || c.bad)
		return false;
	m->program = c.p;
	m->size = vt_cursor_left(&c);
	return m->size <= MAX_PROGRAM;
}

/* Returns the number of the CIE at an offset, or -VT_E_NOMEM. */
static int64_t get_common(struct vti_cfi *f, uint64_t offset)
{
	bool added;
	struct cfi_common *m = vt_hash_add(&f->commons, &offset, &added);

	if (!m)
		return -VT_E_NOMEM;
	if (added) {
		m->good = read_common(f, m);
		m->number = (uint32_t)(f->commons.count - 1);
	}
	return m->number;
}

static int add_cfi_procedure(struct vti_cfi *f, struct vt_cursor c, uint64_t common_offset)
{
	int64_t number = get_common(f, common_offset);
	struct cfi_procedure p = {.common = (uint32_t)number};
	const struct cfi_common *m;

	if (number < 0)
		return -1;
	m = vt_hash_at(&f->commons, (size_t)number);
	if (!m->good)
		return 0;
	p.start = read_address(f, &c, m->encoding);
	p.end = p.start + read_address(f, &c, m->encoding & 0x0f);
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

static int compare_procedure_starts(const void *a, const void *b)
{
	const struct cfi_procedure *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->program > y->program) - (x->program < y->program);
}

static int read_procedures(struct vti_cfi *f)
{
	uint64_t at = 0, next, reach = 0;
	size_t i;

	for (; at < f->size; at = next) {
		struct vt_cursor c = open_entry(f, at, &next);
		uint64_t here = (uint64_t)(c.p - f->data), id = vt_cursor_u32(&c);

		if (c.bad || id == (f->eh ? 0 : UINT32_MAX))
			continue;
		/* In .eh_frame, the CIE's offset is relative. */
		if (f->eh)
			id = here - id;
		if (add_cfi_procedure(f, c, id) < 0)
			return -1;
	}
	if (f->count)
		qsort(f->procedures, f->count, sizeof(*f->procedures), compare_procedure_starts);
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
	vt_hash_init(&f->commons, sizeof(struct cfi_common), sizeof(uint64_t));
	if (read_procedures(f) < 0) {
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

struct cfi_rules {
	struct vti_cfi_rule cfa;
	struct vti_cfi_rule ra;
	struct vti_cfi_rule preserved[VTI_CFI_PRESERVED];
};

struct cfi_program {
	const struct vti_cfi *cfi;
	const struct cfi_common *common;
	struct vt_cursor c;
	uint64_t pc;
	struct vti_cfi_row *row; /* NULL while the CIE's initial instructions run */
	struct cfi_rules rules;
	struct cfi_rules initial;
	struct cfi_rules remembered[MAX_REMEMBERED];
	unsigned nremembered;
};

static uint64_t read_factored_offset(struct cfi_program *p, bool is_signed)
{
	uint64_t v = is_signed ? vti_cfi_signed(&p->c) : vt_cursor_varint(&p->c);

	return v * p->common->data_align;
}

/* The rule of a DWARF register (System V ABI for AMD64, figure 3.36); NULL: nobody wants it. */
static struct vti_cfi_rule *get_rule(struct cfi_rules *r, uint64_t reg)
{
	if (reg == RETURN_ADDRESS)
		return &r->ra;
	if (reg >= 12 && reg <= 15)
		return &r->preserved[reg - 10];
	return reg == 3 ? &r->preserved[0] : reg == 6 ? &r->preserved[1] : NULL;
}

static void set_rule(struct cfi_program *p, uint64_t reg, enum vti_cfi_how how, uint64_t offset)
{
	struct vti_cfi_rule *rule = get_rule(&p->rules, reg);

	if (rule)
		*rule = (struct vti_cfi_rule){.how = how, .offset = offset, .reg = offset};
}

static void read_expression(struct cfi_program *p, struct vti_cfi_rule *rule, enum vti_cfi_how how)
{
	uint64_t size = vt_cursor_varint(&p->c);
	const uint8_t *expr = vt_cursor_take(&p->c, size);

	*rule = (struct vti_cfi_rule){.how = how, .expr = expr, .size = (size_t)size};
}

static void set_expression_rule(struct cfi_program *p, enum vti_cfi_how how)
{
	uint64_t reg = vt_cursor_varint(&p->c);
	struct vti_cfi_rule other, *rule = get_rule(&p->rules, reg);

	read_expression(p, rule ? rule : &other, how);
}

static void restore_rule(struct cfi_program *p, uint64_t reg)
{
	struct vti_cfi_rule *rule = get_rule(&p->rules, reg);

	if (!p->row)
		p->c.bad = true;
	else if (rule)
		*rule = *get_rule(&p->initial, reg);
}

static void remember_rules(struct cfi_program *p)
{
	if (p->nremembered == MAX_REMEMBERED)
		p->c.bad = true;
	else
		p->remembered[p->nremembered++] = p->rules;
}

static void recall_rules(struct cfi_program *p)
{
	if (!p->nremembered)
		p->c.bad = true;
	else
		p->rules = p->remembered[--p->nremembered];
}

/* Starts a new row.  Returns true if the wanted instruction is in the row before it. */
static bool advance_row_to(struct cfi_program *p, uint64_t loc)
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

static bool advance_row_by(struct cfi_program *p, uint64_t delta)
{
	return advance_row_to(p, p->row ? p->row->start + delta * p->common->code_align : 0);
}

static void define_cfa(struct cfi_program *p, bool has_reg, bool has_offset, bool is_signed)
{
	struct vti_cfi_rule *r = &p->rules.cfa;

	/* A register or offset alone requires an existing rule. */
	if (!(has_reg && has_offset) && r->how != VTI_CFI_OFFSET)
		p->c.bad = true;
	r->how = VTI_CFI_OFFSET;
	if (has_reg)
		r->reg = vt_cursor_varint(&p->c);
	if (has_offset)
		r->offset = is_signed ? read_factored_offset(p, true) : vt_cursor_varint(&p->c);
}

/* Applies an operation on a register's rule.  Returns false for other operations. */
static bool apply_rule_op(struct cfi_program *p, uint8_t op)
{
	uint64_t reg;

	switch (op) {
	case DW_CFA_offset_extended:
	case DW_CFA_offset_extended_sf:
		reg = vt_cursor_varint(&p->c);
		set_rule(p, reg, VTI_CFI_OFFSET,
			 read_factored_offset(p, op == DW_CFA_offset_extended_sf));
		return true;
	case DW_CFA_GNU_negative_offset_extended:
		reg = vt_cursor_varint(&p->c);
		set_rule(p, reg, VTI_CFI_OFFSET, 0 - read_factored_offset(p, false));
		return true;
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
		reg = vt_cursor_varint(&p->c);
		set_rule(p, reg, VTI_CFI_VALUE,
			 read_factored_offset(p, op == DW_CFA_val_offset_sf));
		return true;
	case DW_CFA_register:
		reg = vt_cursor_varint(&p->c);
		set_rule(p, reg, VTI_CFI_REGISTER, vt_cursor_varint(&p->c));
		return true;
	case DW_CFA_undefined:
		reg = vt_cursor_varint(&p->c);
		set_rule(p, reg, reg == RETURN_ADDRESS ? VTI_CFI_UNKNOWN : VTI_CFI_LOST, 0);
		return true;
	case DW_CFA_same_value:
		set_rule(p, vt_cursor_varint(&p->c), VTI_CFI_UNKNOWN, 0);
		return true;
	case DW_CFA_restore_extended:
		restore_rule(p, vt_cursor_varint(&p->c));
		return true;
	case DW_CFA_expression:
		set_expression_rule(p, VTI_CFI_PLACE);
		return true;
	case DW_CFA_val_expression:
		set_expression_rule(p, VTI_CFI_EXPRESSION);
		return true;
	default:
		return false;
	}
}

/* Applies an operation on the whole state or on the CFA.  Returns false for other operations. */
static bool apply_state_op(struct cfi_program *p, uint8_t op)
{
	switch (op) {
	case DW_CFA_nop:
		return true;
	case DW_CFA_remember_state:
		remember_rules(p);
		return true;
	case DW_CFA_restore_state:
		recall_rules(p);
		return true;
	case DW_CFA_def_cfa:
	case DW_CFA_def_cfa_sf:
		define_cfa(p, true, true, op == DW_CFA_def_cfa_sf);
		return true;
	case DW_CFA_def_cfa_register:
		define_cfa(p, true, false, false);
		return true;
	case DW_CFA_def_cfa_offset:
	case DW_CFA_def_cfa_offset_sf:
		define_cfa(p, false, true, op == DW_CFA_def_cfa_offset_sf);
		return true;
	case DW_CFA_def_cfa_expression:
		read_expression(p, &p->rules.cfa, VTI_CFI_PLACE);
		return true;
	case DW_CFA_GNU_args_size:
		vt_cursor_varint(&p->c);
		return true;
	default:
		return false;
	}
}

/* Applies the next operation.  Returns true when the row is found. */
static bool apply_operation(struct cfi_program *p)
{
	uint8_t op = vt_cursor_u8(&p->c), low = op & 0x3f;

	switch (op & 0xc0) {
	case DW_CFA_advance_loc:
		return advance_row_by(p, low);
	case DW_CFA_offset:
		set_rule(p, low, VTI_CFI_OFFSET, read_factored_offset(p, false));
		return false;
	case DW_CFA_restore:
		restore_rule(p, low);
		return false;
	default:
		break;
	}
	switch (op) {
	case DW_CFA_advance_loc1:
		return advance_row_by(p, vt_cursor_u8(&p->c));
	case DW_CFA_advance_loc2:
		return advance_row_by(p, vt_cursor_u16(&p->c));
	case DW_CFA_advance_loc4:
		return advance_row_by(p, vt_cursor_u32(&p->c));
	case DW_CFA_set_loc:
		return advance_row_to(p, read_address(p->cfi, &p->c, p->common->encoding));
	default:
		if (!apply_rule_op(p, op) && !apply_state_op(p, op))
			p->c.bad = true;
		return false;
	}
}

static bool run_cfi_program(struct cfi_program *p, const uint8_t *program, size_t size)
{
	p->c = vt_cursor_make(program, size, false);
	while (vt_cursor_left(&p->c))
		if (apply_operation(p))
			break;
	return !p->c.bad;
}

/* Returns the procedure with the instruction, or NULL if there is none or it overlaps another. */
static const struct cfi_procedure *find_cfi_procedure(const struct vti_cfi *f, uint64_t vaddr)
{
	size_t n = vt_array_up_to(f->procedures, f->count, sizeof(*f->procedures), vaddr);
	const struct cfi_procedure *p;

	if (!n)
		return NULL;
	p = &f->procedures[n - 1];
	if (vaddr >= p->end || p->start < p->reach || (n < f->count && p[1].start < p->end))
		return NULL;
	return p;
}

bool vti_cfi_find(const struct vti_cfi *f, uint64_t vaddr, struct vti_cfi_row *row)
{
	const struct cfi_procedure *p = find_cfi_procedure(f, vaddr);
	struct cfi_program run = {.cfi = f, .pc = vaddr};

	if (!p)
		return false;
	run.common = vt_hash_at(&f->commons, p->common);
	assert(vaddr >= p->start && vaddr < p->end);
	*row = (struct vti_cfi_row){.start = p->start, .end = p->end, .entry = p->start};
	if (!run_cfi_program(&run, run.common->program, run.common->size))
		return false;
	run.initial = run.rules;
	run.row = row;
	if (!run_cfi_program(&run, p->program, p->size))
		return false;
	assert(row->start <= vaddr && vaddr < row->end);
	row->cfa = run.rules.cfa;
	row->ra = run.rules.ra;
	row->signal = run.common->signal;
	memcpy(row->preserved, run.rules.preserved, sizeof(row->preserved));
	return true;
}
