/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "image/imagedata.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "image/internal.h"

#define PAGE 4096

/* Images have about five segments; each hole in protected data adds a piece. */
#define MAX_PIECES 64

/* Limit on relocations; a large browser has some 1,000,000. */
#define MAX_RELOCS ((size_t)1 << 22)

/* The most that one relocation writes: a TLS descriptor's two words. */
#define MAX_WIDTH 16

/* End of user space; sums of addresses below do not overflow. */
#define USER_END (UINT64_C(1) << 47)

/* ELF gABI and GNU: entries that <elf.h> of an older C library may lack. */
#define TAG_RELRSZ	 35
#define TAG_RELR	 36
#define TAG_RELRENT	 37
#define TAG_ANDROID_REL	 0x6000000f
#define TAG_ANDROID_RELA 0x60000011

/* Bytes at the start of the global offset table that the linker uses: the address of _DYNAMIC, its
 * own structure and its resolver (System V ABI for AMD64, 5.2). */
#define GOT_RESERVED 24

/* Bytes of the file that do not change, except by relocations. */
struct data_piece {
	uint64_t first;
	uint64_t end;
	const uint8_t *bytes;
	bool relro;
	bool exec;
};

/* A relocation: it writes bias + value if `relative`, otherwise an unknown value. */
struct reloc {
	uint64_t place; /* first: the key */
	uint64_t value;
	uint32_t width;
	bool relative;
};

struct vt_imagedata {
	const struct vt_elf *elf;
	uint64_t first;
	uint64_t end;
	bool textrel;	/* there are relocations of text */
	bool resolvers; /* code of the image runs before the linker protects data */
	size_t npieces;
	struct data_piece pieces[MAX_PIECES]; /* in order, and apart */
	size_t nrelocs;
	size_t relocs_cap;
	struct reloc *relocs; /* in order; those that are relative do not overlap any other */
};

/* The entries of PT_DYNAMIC that concern relocations. */
struct dynamic_info {
	bool there;
	bool bad; /* there are relocations that cannot be read */
	bool textrel;
	bool linked; /* loaded by a dynamic linker */
	uint64_t rela, rela_size;
	uint64_t jmprel, jmprel_size;
	uint64_t relr, relr_size;
	uint64_t got;
	uint64_t symtab;
	bool resolvers;
};

static bool find_phdr(const struct vt_imagedata *d, uint32_t type, GElf_Phdr *out, size_t *count)
{
	size_t n, i;

	*count = 0;
	if (elf_getphdrnum(vti_elf_handle(d->elf), &n) != 0)
		return false;
	for (i = 0; i < n; i++) {
		GElf_Phdr p;

		if (!gelf_getphdr(vti_elf_handle(d->elf), (int)i, &p) || p.p_type != type)
			continue;
		if (!(*count)++)
			*out = p;
	}
	return *count != 0;
}

static void read_dynamic_entry(struct dynamic_info *y, uint64_t tag, uint64_t value)
{
	switch (tag) {
	case DT_NEEDED:
		y->linked = true;
		break;
	case DT_RELA:
		y->rela = value;
		break;
	case DT_RELASZ:
		y->rela_size = value;
		break;
	case DT_JMPREL:
		y->jmprel = value;
		break;
	case DT_PLTRELSZ:
		y->jmprel_size = value;
		break;
	case TAG_RELR:
		y->relr = value;
		break;
	case TAG_RELRSZ:
		y->relr_size = value;
		break;
	case DT_SYMTAB:
		y->symtab = value;
		break;
	case DT_PLTGOT:
		y->got = value;
		break;
	case DT_TEXTREL:
		y->textrel = true;
		break;
	case DT_FLAGS:
		y->textrel |= (value & DF_TEXTREL) != 0;
		break;
	case DT_RELAENT:
		y->bad |= value != sizeof(Elf64_Rela);
		break;
	case TAG_RELRENT:
		y->bad |= value != 8;
		break;
	case DT_PLTREL:
		y->bad |= value != DT_RELA;
		break;
	case DT_REL:
	case DT_RELSZ:
	case TAG_ANDROID_REL:
	case TAG_ANDROID_RELA:
		y->bad = true;
		break;
	default:
		break;
	}
}

static void read_dynamic(const struct vt_imagedata *d, const GElf_Phdr *p, struct dynamic_info *y)
{
	size_t avail, i;
	const uint8_t *bytes = vt_elf_bytes(d->elf, p->p_vaddr, &avail);

	y->there = true;
	if (avail > p->p_memsz)
		avail = p->p_memsz;
	for (i = 0; bytes && avail - i >= 16; i += 16) {
		uint64_t tag = vt_le64(bytes + i);

		if (tag == DT_NULL)
			return;
		read_dynamic_entry(y, tag, vt_le64(bytes + i + 8));
	}
	y->bad = true;
}

/* Returns the piece that holds a place, or NULL. */
static const struct data_piece *find_piece(const struct vt_imagedata *d, uint64_t place)
{
	size_t i;

	for (i = 0; i < d->npieces; i++)
		if (place >= d->pieces[i].first && place < d->pieces[i].end)
			return &d->pieces[i];
	return NULL;
}

static bool touches_piece(const struct vt_imagedata *d, uint64_t place, uint64_t width)
{
	size_t i;

	for (i = 0; i < d->npieces; i++)
		if (place < d->pieces[i].end && d->pieces[i].first < place + width)
			return true;
	return false;
}

/* Returns 0, or -1 when memory runs out.  Too many relocations count as unreadable. */
static int add_reloc(struct vt_imagedata *d, struct dynamic_info *y, struct reloc r)
{
	const struct data_piece *p;

	if (!touches_piece(d, r.place, r.width))
		return 0;
	if (d->nrelocs == MAX_RELOCS) {
		y->bad = true;
		return 0;
	}
	if (!vt_array_grow(&d->relocs, &d->relocs_cap, d->nrelocs + 1, sizeof(r)))
		return -1;
	/* Relocated text is unknown: other threads may run it at that time. */
	p = find_piece(d, r.place);
	r.relative &= p && p->relro;
	d->relocs[d->nrelocs++] = r;
	return 0;
}

/*
 * Returns true if a relocation makes the linker call an IFUNC resolver of this image: by its
 * address, or by a symbol that the image defines.
 */
static bool needs_resolver(const struct vt_imagedata *d, const struct dynamic_info *y,
			   uint64_t info)
{
	const uint8_t *bytes;
	size_t avail;

	if (ELF64_R_TYPE(info) == R_X86_64_IRELATIVE)
		return true;
	if (!y->symtab || !ELF64_R_SYM(info))
		return false;
	bytes = vt_elf_bytes(d->elf, y->symtab + ELF64_R_SYM(info) * sizeof(Elf64_Sym), &avail);
	return bytes && avail >= sizeof(Elf64_Sym) &&
	       ELF64_ST_TYPE(bytes[offsetof(Elf64_Sym, st_info)]) == STT_GNU_IFUNC &&
	       vt_le16(bytes + offsetof(Elf64_Sym, st_shndx)) != SHN_UNDEF;
}

static int read_rela(struct vt_imagedata *d, struct dynamic_info *y, uint64_t vaddr, uint64_t size)
{
	size_t avail, i;
	const uint8_t *bytes;

	if (!size)
		return 0;
	bytes = vt_elf_bytes(d->elf, vaddr, &avail);
	if (!bytes || size > avail || size % sizeof(Elf64_Rela)) {
		y->bad = true;
		return 0;
	}
	for (i = 0; i < size; i += sizeof(Elf64_Rela)) {
		uint32_t type = (uint32_t)vt_le64(bytes + i + 8);
		struct reloc r = {.place = vt_le64(bytes + i), .width = MAX_WIDTH};

		if (type == R_X86_64_NONE)
			continue;
		y->resolvers |= needs_resolver(d, y, vt_le64(bytes + i + 8));
		if (type == R_X86_64_RELATIVE) {
			r.value = vt_le64(bytes + i + 16);
			r.relative = true;
		}
		/* A copy is as long as its symbol.  It must be in .bss, which the file lacks. */
		if (type == R_X86_64_COPY)
			y->bad |= touches_piece(d, r.place, 1);
		else if (type != R_X86_64_TLSDESC && type <= R_X86_64_RELATIVE64)
			r.width = 8;
		if (add_reloc(d, y, r) < 0)
			return -1;
	}
	return 0;
}

static int add_relr_place(struct vt_imagedata *d, struct dynamic_info *y, uint64_t place)
{
	struct reloc r = {.place = place, .width = 8, .relative = true};
	size_t avail;
	const uint8_t *bytes = vt_elf_bytes(d->elf, place, &avail);

	if (bytes && avail >= 8)
		r.value = vt_le64(bytes);
	else
		r.relative = false;
	return add_reloc(d, y, r);
}

/* ELF gABI, "Relative Relocation Table": an even entry is a place; an odd one is a bitmap of places
 * among the next 63 words. */
static int read_relr(struct vt_imagedata *d, struct dynamic_info *y)
{
	size_t avail, i;
	const uint8_t *bytes;
	uint64_t next = 0;
	unsigned bit;

	if (!y->relr_size)
		return 0;
	bytes = vt_elf_bytes(d->elf, y->relr, &avail);
	if (!bytes || y->relr_size > avail || y->relr_size % 8) {
		y->bad = true;
		return 0;
	}
	for (i = 0; i < y->relr_size; i += 8) {
		uint64_t word = vt_le64(bytes + i);

		if (!(word & 1)) {
			if (add_relr_place(d, y, word) < 0)
				return -1;
			next = word + 8;
			continue;
		}
		for (bit = 0; bit < 63; bit++)
			if (word >> (bit + 1) & 1 &&
			    add_relr_place(d, y, next + 8 * (uint64_t)bit) < 0)
				return -1;
		next += 63 * 8;
	}
	return 0;
}

static int compare_reloc_places(const void *a, const void *b)
{
	const struct reloc *x = a, *y = b;

	return x->place < y->place ? -1 : x->place > y->place;
}

static void sort_relocs(struct vt_imagedata *d)
{
	size_t i;

	if (d->nrelocs)
		qsort(d->relocs, d->nrelocs, sizeof(*d->relocs), compare_reloc_places);
	/* The order of overlapping relocations depends on the linker: their values are unknown. */
	for (i = 0; i + 1 < d->nrelocs; i++)
		if (d->relocs[i + 1].place - d->relocs[i].place < d->relocs[i].width)
			d->relocs[i].relative = d->relocs[i + 1].relative = false;
}

static void add_data_piece(struct vt_imagedata *d, const struct vt_elf_segment *s, uint64_t first,
			   uint64_t end, bool relro)
{
	size_t avail;
	const uint8_t *bytes = vt_elf_bytes_or_zero(d->elf, s->vaddr, &avail);

	if (end > s->vaddr + avail)
		end = s->vaddr + avail;
	if (!bytes || first >= end)
		return;
	assert(d->npieces < MAX_PIECES);
	d->pieces[d->npieces++] =
		(struct data_piece){first, end, bytes + (first - s->vaddr), relro, s->exec};
}

/* Removes a range from the protected pieces. */
static void cut_relro(struct vt_imagedata *d, uint64_t first, uint64_t size)
{
	uint64_t end = size > UINT64_MAX - first ? UINT64_MAX : first + size;
	size_t i;

	for (i = 0; i < d->npieces; i++) {
		struct data_piece *p = &d->pieces[i], rest = *p;

		if (!p->relro || end <= p->first || first >= p->end)
			continue;
		rest.first = end < p->end ? end : p->end;
		rest.bytes += rest.first - p->first;
		p->end = first > p->first ? first : p->first;
		if (rest.first < rest.end) {
			assert(d->npieces < MAX_PIECES);
			memmove(p + 2, p + 1, (d->npieces - i - 1) * sizeof(*p));
			p[1] = rest;
			d->npieces++;
		}
	}
}

/* Drops the protected pieces, or all others. */
static void drop_pieces(struct vt_imagedata *d, bool relro)
{
	size_t i, n = 0;

	for (i = 0; i < d->npieces; i++)
		if (d->pieces[i].relro != relro)
			d->pieces[n++] = d->pieces[i];
	d->npieces = n;
}

/* Returns false for segments that a loader rejects: out of order, or sharing pages. */
static bool check_layout(struct vt_imagedata *d, const struct vt_elf_segment *s, size_t n)
{
	size_t headers, i;

	if (elf_getphdrnum(vti_elf_handle(d->elf), &headers) != 0 || headers > MAX_PIECES || !n ||
	    n > MAX_PIECES / 2)
		return false;
	for (i = 0; i < n; i++) {
		if (s[i].vaddr >= USER_END || s[i].memsz >= USER_END ||
		    s[i].vaddr % PAGE != s[i].offset % PAGE)
			return false;
		if (i && s[i].vaddr / PAGE * PAGE < d->end)
			return false;
		if (!i)
			d->first = s[i].vaddr / PAGE * PAGE;
		d->end = (s[i].vaddr + s[i].memsz + PAGE - 1) / PAGE * PAGE;
	}
	return true;
}

static void add_data_pieces(struct vt_imagedata *d, const struct vt_elf_segment *s, size_t n)
{
	GElf_Phdr p = {0};
	uint64_t end = 0;
	size_t count, i;

	/* The linker protects whole pages, and the last one only if the range fills it. */
	if (find_phdr(d, PT_GNU_RELRO, &p, &count) && count == 1)
		end = (p.p_vaddr + p.p_memsz) / PAGE * PAGE;
	for (i = 0; i < n; i++) {
		if (!s[i].write)
			add_data_piece(d, &s[i], s[i].vaddr, s[i].vaddr + s[i].filesz, false);
		else if (p.p_vaddr >= s[i].vaddr && p.p_vaddr - s[i].vaddr < s[i].memsz)
			add_data_piece(d, &s[i], p.p_vaddr, end, true);
	}
}

static int read_image_data(struct vt_imagedata *d, const struct vt_elf_segment *s, size_t n)
{
	struct dynamic_info y = {.there = false};
	GElf_Phdr p, interp;
	size_t count, ninterp;

	add_data_pieces(d, s, n);
	if (find_phdr(d, PT_DYNAMIC, &p, &count))
		read_dynamic(d, &p, &y);
	y.linked |= find_phdr(d, PT_INTERP, &interp, &ninterp);
	if (!y.there || !y.linked || count != 1)
		drop_pieces(d, true);
	if (y.there) {
		cut_relro(d, p.p_vaddr, p.p_memsz);
		cut_relro(d, y.got, GOT_RESERVED);
	}
	if (read_rela(d, &y, y.rela, y.rela_size) < 0 ||
	    read_rela(d, &y, y.jmprel, y.jmprel_size) < 0 || read_relr(d, &y) < 0)
		return -1;
	if (y.bad)
		drop_pieces(d, true);
	d->resolvers = y.resolvers;
	d->textrel = y.textrel && !y.resolvers;
	/* Without DT_TEXTREL, a relocation of text would have crashed the program. */
	if (y.bad && y.textrel)
		drop_pieces(d, false);
	sort_relocs(d);
	return 0;
}

struct vt_imagedata *vt_imagedata_new(const struct vt_elf *e, struct vt_error *err)
{
	const struct vt_elf_info *info = vt_elf_info(e);
	struct vt_imagedata *d = calloc(1, sizeof(*d));
	const struct vt_elf_segment *s;
	size_t n;

	if (!d) {
		vt_error_set(err, VT_E_NOMEM, "%s: out of memory", info->path);
		return NULL;
	}
	d->elf = e;
	s = vt_elf_segments(e, &n);
	if (info->machine != VT_MACHINE_X86_64 || info->bits != 64 || info->big ||
	    (info->type != ET_EXEC && info->type != ET_DYN) || !check_layout(d, s, n)) {
		d->first = d->end = 0;
		return d;
	}
	if (read_image_data(d, s, n) < 0) {
		vt_error_set(err, VT_E_NOMEM, "%s: out of memory", info->path);
		vt_imagedata_free(d);
		return NULL;
	}
	return d;
}

void vt_imagedata_free(struct vt_imagedata *d)
{
	if (!d)
		return;
	free(d->relocs);
	free(d);
}

bool vt_imagedata_bias(const struct vt_imagedata *d, uint64_t address, uint64_t offset,
		       uint64_t *bias)
{
	const struct vt_elf_segment *s;
	bool found = false;
	size_t n, i;

	s = vt_elf_segments(d->elf, &n);
	for (i = 0; d->end && i < n; i++) {
		uint64_t first = s[i].offset / PAGE * PAGE;

		if (!s[i].exec || offset < first ||
		    offset - first >= (s[i].offset - first + s[i].filesz + PAGE - 1) / PAGE * PAGE)
			continue;
		/* If two segments share a page of the file, either may be mapped there. */
		if (found)
			return false;
		found = true;
		*bias = address - (s[i].vaddr + (offset - s[i].offset));
	}
	return found && !(*bias % PAGE) && (vt_elf_info(d->elf)->type != ET_EXEC || !*bias);
}

void vt_imagedata_span(const struct vt_imagedata *d, uint64_t *first, uint64_t *end)
{
	*first = d->first;
	*end = d->end;
}

bool vt_imagedata_is_relocated(const struct vt_imagedata *d, uint64_t vaddr)
{
	uint64_t page = vaddr / PAGE * PAGE;
	size_t i;

	for (i = 0; i < d->npieces; i++)
		if (d->pieces[i].first < page + PAGE && d->pieces[i].end > page &&
		    (d->pieces[i].relro || d->textrel))
			return true;
	return false;
}

/* Returns the first relocation that can extend beyond `vaddr`. */
static size_t first_reloc(const struct vt_imagedata *d, uint64_t vaddr)
{
	uint64_t from = vaddr < MAX_WIDTH ? 0 : vaddr - (MAX_WIDTH - 1);

	return vt_array_below(d->relocs, d->nrelocs, sizeof(*d->relocs), from);
}

/* Applies a relocation to the line at `vaddr`.  Returns the bits of the bytes that it writes. */
static uint64_t apply_reloc(const struct reloc *r, uint64_t bias, uint64_t vaddr, uint64_t *known,
			    uint8_t bytes[VT_IMAGEDATA_LINE])
{
	uint64_t done = 0;
	uint8_t value[8];
	unsigned i;

	vt_put_le64(value, bias + r->value);
	for (i = 0; i < r->width; i++) {
		uint64_t at = r->place + i - vaddr;

		if (at >= VT_IMAGEDATA_LINE)
			continue;
		if (!r->relative)
			*known &= ~(UINT64_C(1) << at);
		bytes[at] = r->relative && *known >> at & 1 ? value[i] : 0;
		done |= UINT64_C(1) << at;
	}
	return done;
}

/* Clears the bits of bytes that are unknown of a file known in part, of those from `first` on. */
static uint64_t drop_unheld(const struct vt_imagedata *d, uint64_t vaddr, uint64_t first,
			    uint64_t end, uint64_t mask)
{
	uint64_t at = first;
	bool known;

	while (at < end) {
		size_t n = vt_elf_holds(d->elf, at, (size_t)(end - at), &known);

		for (; n; n--, at++)
			if (!known)
				mask &= ~(UINT64_C(1) << (at - vaddr));
	}
	return mask;
}

uint64_t vt_imagedata_line(const struct vt_imagedata *d, uint64_t bias, uint64_t address,
			   bool relro, uint8_t bytes[VT_IMAGEDATA_LINE])
{
	uint64_t vaddr = address - bias, known = 0, open = 0, mask;
	size_t i;

	memset(bytes, 0, VT_IMAGEDATA_LINE);
	for (i = 0; i < d->npieces; i++) {
		const struct data_piece *p = &d->pieces[i];
		uint64_t first = p->first > vaddr ? p->first : vaddr;
		uint64_t end =
			p->end < vaddr + VT_IMAGEDATA_LINE ? p->end : vaddr + VT_IMAGEDATA_LINE;

		if (first >= end || (p->relro && !relro))
			continue;
		memcpy(bytes + (first - vaddr), p->bytes + (first - p->first), end - first);
		mask = ~UINT64_C(0) >> (VT_IMAGEDATA_LINE - (end - first))
					       << first % VT_IMAGEDATA_LINE;
		mask = drop_unheld(d, vaddr, first, end, mask);
		known |= mask;
		open |= p->relro && d->resolvers ? mask : 0;
	}
	for (i = known ? first_reloc(d, vaddr) : d->nrelocs;
	     i < d->nrelocs && d->relocs[i].place < vaddr + VT_IMAGEDATA_LINE; i++)
		open &= ~apply_reloc(&d->relocs[i], bias, vaddr, &known, bytes);
	known &= ~open;
	for (i = 0; open && i < VT_IMAGEDATA_LINE; i++)
		if (open >> i & 1)
			bytes[i] = 0;
	return known;
}

size_t vt_imagedata_code(const struct vt_imagedata *d, uint64_t vaddr, uint8_t *bytes, size_t size)
{
	const struct data_piece *p = find_piece(d, vaddr);
	bool known;
	size_t i;

	if (!p || !p->exec)
		return 0;
	if (size > p->end - vaddr)
		size = (size_t)(p->end - vaddr);
	size = vt_elf_holds(d->elf, vaddr, size, &known);
	if (!known)
		return 0;
	for (i = first_reloc(d, vaddr); i < d->nrelocs && d->relocs[i].place < vaddr + size; i++) {
		if (d->relocs[i].place + d->relocs[i].width <= vaddr)
			continue;
		size = d->relocs[i].place > vaddr ? (size_t)(d->relocs[i].place - vaddr) : 0;
		break;
	}
	memcpy(bytes, p->bytes + (vaddr - p->first), size);
	return size;
}
