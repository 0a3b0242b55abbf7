/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "image/internal.h"
#include "image/symbols.h"

/* A symbol section and its strings. */
struct symbol_source {
	struct vt_symbols *t;
	const struct vt_elf *elf;
	const struct vt_elf_info *info;
	Elf_Data *syms;
	const char *strings;
	size_t strings_size;
	size_t count;
};

/* Loads the string section.  Its last byte must be zero, so that each offset is a C string. */
static bool load_strings(struct symbol_source *s, size_t index)
{
	Elf_Data *d = vti_elf_section_data(s->elf, elf_getscn(vti_elf_handle(s->elf), index));

	if (!d || !d->d_buf || !d->d_size || ((const char *)d->d_buf)[d->d_size - 1])
		return false;
	s->strings = d->d_buf;
	s->strings_size = d->d_size;
	return true;
}

static bool load_symbol_source(struct symbol_source *s, Elf_Scn *scn, const GElf_Shdr *shdr)
{
	s->syms = vti_elf_section_data(s->elf, scn);
	if (!s->syms || !s->syms->d_buf || !load_strings(s, shdr->sh_link))
		return false;
	s->count = s->syms->d_size / (s->info->bits == 64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym));
	return true;
}

static const char *get_string(const struct symbol_source *s, uint32_t offset)
{
	return offset < s->strings_size ? s->strings + offset : "";
}

/* Returns true for ARM's mapping symbols, which mark code and data: $a $t $d $x, or with a suffix.
 */
static bool is_mapping_symbol(const struct symbol_source *s, const char *name)
{
	return (s->info->machine == EM_ARM || s->info->machine == EM_AARCH64) && name[0] == '$' &&
	       name[1] && strchr("adtx", name[1]) && (!name[2] || name[2] == '.');
}

/* Like perf, accepts labels only in sections with `text` or `data` in their names. */
static bool is_counted_label(const struct symbol_source *s, const GElf_Sym *sym,
			     const GElf_Shdr *shdr)
{
	unsigned char vis = GELF_ST_VISIBILITY(sym->st_other);
	const char *name;
	size_t strndx;

	if (vis == STV_HIDDEN || vis == STV_INTERNAL ||
	    elf_getshdrstrndx(vti_elf_handle(s->elf), &strndx) != 0)
		return false;
	name = elf_strptr(vti_elf_handle(s->elf), strndx, shdr->sh_name);
	return name && (strstr(name, "text") || strstr(name, "data"));
}

static int add_elf_symbol(struct symbol_source *s, const GElf_Sym *sym, struct vt_error *err)
{
	unsigned type = GELF_ST_TYPE(sym->st_info), bind = GELF_ST_BIND(sym->st_info);
	const char *name = get_string(s, sym->st_name);
	uint64_t start = sym->st_value;
	uint32_t flags = 0;
	GElf_Shdr shdr;
	Elf_Scn *scn;

	if (type != STT_NOTYPE && type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_OBJECT)
		return 0;
	if (!name[0] || sym->st_shndx == SHN_UNDEF || sym->st_shndx >= SHN_LORESERVE ||
	    is_mapping_symbol(s, name))
		return 0;
	scn = elf_getscn(vti_elf_handle(s->elf), sym->st_shndx);
	if (!scn || !gelf_getshdr(scn, &shdr) || !(shdr.sh_flags & SHF_ALLOC))
		return 0;
	if (type == STT_NOTYPE && !is_counted_label(s, sym, &shdr))
		return 0;
	if (s->info->machine == EM_ARM && type == STT_FUNC)
		start &= ~(uint64_t)1; /* bit 0 says Thumb */
	if (s->info->type == ET_REL)
		start += shdr.sh_offset;
	if (bind == STB_WEAK)
		flags |= VT_SYMBOL_WEAK;
	else if (bind == STB_GLOBAL)
		flags |= VT_SYMBOL_GLOBAL;
	if (type == STT_OBJECT)
		flags |= VT_SYMBOL_OBJECT;
	else if (type == STT_NOTYPE)
		flags |= VT_SYMBOL_LABEL;
	return vti_symbols_push(s->t, start, sym->st_size, flags, name, err);
}

static int add_all_symbols(struct symbol_source *s, struct vt_error *err)
{
	size_t i;
	int rc = 0;

	if (s->count > VT_MAX_SYMBOLS)
		return vt_error_set(err, VT_E_LIMIT, "%s: %zu symbols", s->info->path, s->count);
	for (i = 1; i < s->count && rc == 0; i++) {
		GElf_Sym sym;

		if (gelf_getsym(s->syms, (int)i, &sym))
			rc = add_elf_symbol(s, &sym, err);
	}
	return rc;
}

static int add_symbol_section(struct vt_symbols *t, const struct vt_elf *elf, uint32_t type,
			      struct vt_error *err)
{
	struct symbol_source s = {.t = t, .elf = elf, .info = vt_elf_info(elf)};
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;

	while ((scn = elf_nextscn(vti_elf_handle(elf), scn)))
		if (gelf_getshdr(scn, &shdr) && shdr.sh_type == type &&
		    load_symbol_source(&s, scn, &shdr))
			return add_all_symbols(&s, err);
	return 0;
}

int vt_symbols_add_elf(struct vt_symbols *t, const struct vt_elf *elf, const struct vt_elf *runtime,
		       struct vt_error *err)
{
	int rc = add_symbol_section(t, elf, SHT_SYMTAB, err);

	if (rc == 0)
		rc = add_symbol_section(t, runtime ? runtime : elf, SHT_DYNSYM, err);
	return rc;
}

/* ---- procedure linkage tables ------------------------------------------------ */

struct plt {
	struct symbol_source dyn; /* .dynsym */
	Elf_Data *rels;		  /* .rela.plt or .rel.plt */
	GElf_Shdr rels_shdr;
	bool rela;
};

static size_t count_rels(const struct plt *p)
{
	bool wide = p->dyn.info->bits == 64;
	size_t size = p->rela ? (wide ? sizeof(Elf64_Rela) : sizeof(Elf32_Rela))
			      : (wide ? sizeof(Elf64_Rel) : sizeof(Elf32_Rel));

	return p->rels->d_size / size;
}

/* A relocation: the slot that it fills, the name of its symbol ("" if none), its addend. */
struct plt_rel {
	uint64_t slot;
	const char *name;
	uint64_t addend;
};

static bool read_rel(const struct plt *p, size_t i, struct plt_rel *r)
{
	GElf_Rela rela = {0};
	GElf_Rel rel;
	GElf_Sym sym;

	if (p->rela) {
		if (!gelf_getrela(p->rels, (int)i, &rela))
			return false;
	} else {
		if (!gelf_getrel(p->rels, (int)i, &rel))
			return false;
		rela.r_offset = rel.r_offset;
		rela.r_info = rel.r_info;
	}
	if (!gelf_getsym(p->dyn.syms, (int)GELF_R_SYM(rela.r_info), &sym))
		return false;
	*r = (struct plt_rel){rela.r_offset, get_string(&p->dyn, sym.st_name),
			      (uint64_t)rela.r_addend};
	return true;
}

static bool load_plt_rels(struct plt *p, const char *rela, const char *rel)
{
	p->rela = true;
	if (vti_elf_section(p->dyn.elf, rela, &p->rels_shdr, &p->rels) && p->rels->d_buf)
		return true;
	p->rela = false;
	return vti_elf_section(p->dyn.elf, rel, &p->rels_shdr, &p->rels) && p->rels->d_buf;
}

/* Adds a PLT entry.  Without a name (an IFUNC of the file), it is named as by objdump: *ABS*+... */
static int add_plt_entry(struct vt_symbols *t, uint64_t start, uint64_t size,
			 const struct plt_rel *r, struct vt_error *err)
{
	struct vt_buf b = VT_BUF_INIT;
	int rc;

	if (r->name[0])
		vt_buf_printf(&b, "%s@plt", r->name);
	else
		vt_buf_printf(&b, "*ABS*+0x%llx@plt", (unsigned long long)r->addend);
	rc = vt_symbols_add(t, start, size, VT_SYMBOL_GLOBAL | VT_SYMBOL_PLT, vt_buf_str(&b), err);
	vt_buf_free(&b);
	return rc;
}

/*
 * Adds a PLT whose entries are in the order of the relocations.  As in perf, the code before them,
 * which calls the dynamic linker, is named by the section.
 */
static int add_plt_section(struct vt_symbols *t, const struct plt *p, const char *section,
			   uint64_t header, uint64_t entry, struct vt_error *err)
{
	size_t i, n = count_rels(p);
	GElf_Shdr shdr;
	int rc = 0;

	if (!vti_elf_section(p->dyn.elf, section, &shdr, NULL))
		return 0;
	/* With branch protection, AArch64's header and entries are larger. */
	if (p->dyn.info->machine == EM_AARCH64 && n && shdr.sh_size > header &&
	    (shdr.sh_size - header) % n == 0 && (shdr.sh_size - header) / n == 24)
		entry = 24;
	if (header && header <= shdr.sh_size)
		rc = vt_symbols_add(t, shdr.sh_addr, header, VT_SYMBOL_GLOBAL | VT_SYMBOL_PLT,
				    section, err);
	for (i = 0; i < n && rc == 0; i++) {
		uint64_t at = header + i * entry;
		struct plt_rel r;

		if (at > shdr.sh_size || shdr.sh_size - at < entry)
			break;
		if (read_rel(p, i, &r))
			rc = add_plt_entry(t, shdr.sh_addr + at, entry, &r, err);
	}
	return rc;
}

/*
 * Adds .plt.got, with entries `[endbr64] [bnd] jmp *slot(%rip)` in any order.  The relocation of
 * the slot in .rela.dyn names the function.
 */
static int add_plt_got(struct vt_symbols *t, struct plt *p, struct vt_error *err)
{
	struct plt_rel *e, r;
	struct vt_hash slots;
	GElf_Shdr shdr;
	Elf_Data *d;
	size_t i, n, entry;
	uint64_t slot;
	int rc = 0;

	if (p->dyn.info->machine != EM_X86_64 ||
	    !vti_elf_section(p->dyn.elf, ".plt.got", &shdr, &d) || !d->d_buf ||
	    !load_plt_rels(p, ".rela.dyn", ".rel.dyn"))
		return 0;
	vt_hash_init(&slots, sizeof(r), sizeof(r.slot));
	for (i = 0, n = count_rels(p); i < n; i++) {
		if (!read_rel(p, i, &r) || !r.name[0])
			continue;
		e = vt_hash_add(&slots, &r.slot, NULL);
		if (e)
			*e = r;
	}
	entry = shdr.sh_entsize == 16 ? 16 : 8;
	for (i = 0; i + entry <= d->d_size && rc == 0; i += entry) {
		const uint8_t *code = (const uint8_t *)d->d_buf + i;
		size_t j;

		for (j = 0; j + 6 <= entry && !(code[j] == 0xff && code[j + 1] == 0x25);)
			j++;
		if (j + 6 > entry)
			continue;
		slot = shdr.sh_addr + i + j + 6 + (uint64_t)(int32_t)vt_le32(code + j + 2);
		e = vt_hash_find(&slots, &slot);
		if (e)
			rc = add_plt_entry(t, shdr.sh_addr + i, entry, e, err);
	}
	vt_hash_fini(&slots);
	return rc;
}

int vt_symbols_add_plt(struct vt_symbols *t, const struct vt_elf *elf, struct vt_error *err)
{
	struct plt p = {.dyn = {.t = t, .elf = elf, .info = vt_elf_info(elf)}};
	uint64_t header = 16, entry = 16;
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	int rc = 0;

	while ((scn = elf_nextscn(vti_elf_handle(elf), scn)))
		if (gelf_getshdr(scn, &shdr) && shdr.sh_type == SHT_DYNSYM)
			break;
	if (!scn || !load_symbol_source(&p.dyn, scn, &shdr))
		return 0;
	if (p.dyn.info->machine == EM_ARM) {
		header = 20;
		entry = 12;
	} else if (p.dyn.info->machine == EM_AARCH64) {
		header = 32;
	}
	if (load_plt_rels(&p, ".rela.plt", ".rel.plt")) {
		rc = add_plt_section(t, &p, ".plt", header, entry, err);
		if (rc == 0)
			rc = add_plt_section(t, &p, ".plt.sec", 0, 16, err);
	}
	return rc < 0 ? rc : add_plt_got(t, &p, err);
}
