/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _DEFAULT_SOURCE /* madvise() */
#include "image/elf.h"

#include <assert.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "image/internal.h"

/* Limit on segments; images have about four, core files, which are not images, thousands. */
#define MAX_SEGMENTS 4096

/* Limit on the bytes of a file's notes, which have some hundred.  libelf walks through all. */
#define MAX_NOTES ((uint64_t)1 << 20)

#define PAGE 4096

struct vt_elf {
	Elf *elf;
	uint8_t *data;
	size_t size;
	bool mapped;
	char *path;
	uint64_t text_offset; /* of a relocatable file: where .text lies */
	struct vt_elf_info info;
	struct vt_elf_segment *segments;
	size_t nsegments;
	size_t segments_cap;
	const struct vt_file_range *held; /* what is known of the file; NULL: all */
	size_t nheld;
};

Elf *vti_elf_handle(const struct vt_elf *e)
{
	return e->elf;
}

Elf_Data *vti_elf_section_data(const struct vt_elf *e, Elf_Scn *scn)
{
	GElf_Shdr shdr;

	if (!gelf_getshdr(scn, &shdr) || shdr.sh_type == SHT_NOBITS || shdr.sh_offset > e->size ||
	    shdr.sh_size > e->size - shdr.sh_offset)
		return NULL;
	return elf_getdata(scn, NULL);
}

Elf_Scn *vti_elf_section(const struct vt_elf *e, const char *name, GElf_Shdr *shdr, Elf_Data **data)
{
	Elf_Scn *scn = NULL;
	size_t strndx;

	if (elf_getshdrstrndx(e->elf, &strndx) != 0)
		return NULL;
	while ((scn = elf_nextscn(e->elf, scn))) {
		const char *s =
			gelf_getshdr(scn, shdr) ? elf_strptr(e->elf, strndx, shdr->sh_name) : NULL;

		if (!s || strcmp(s, name) != 0)
			continue;
		if (data) {
			*data = vti_elf_section_data(e, scn);
			if (!*data)
				continue;
		}
		return scn;
	}
	return NULL;
}

static bool add_elf_segment(struct vt_elf *e, uint64_t vaddr, uint64_t offset, uint64_t filesz,
			    uint64_t memsz, bool exec, bool write)
{
	if (!vt_array_grow(&e->segments, &e->segments_cap, e->nsegments + 1, sizeof(*e->segments)))
		return false;
	if (filesz && (offset > e->size || filesz > e->size - offset)) {
		e->info.cut = true;
		filesz = offset > e->size ? 0 : e->size - offset;
	}
	if (memsz > UINT64_MAX - vaddr)
		memsz = UINT64_MAX - vaddr;
	if (filesz > memsz)
		filesz = memsz;
	assert(filesz == 0 || (offset <= e->size && filesz <= e->size - offset));
	e->segments[e->nsegments++] =
		(struct vt_elf_segment){vaddr, offset, filesz, memsz, exec, write};
	return true;
}

static bool read_elf_segments(struct vt_elf *e)
{
	size_t n, i;

	if (elf_getphdrnum(e->elf, &n) != 0)
		return true;
	for (i = 0; i < n && i < MAX_SEGMENTS; i++) {
		GElf_Phdr p;

		if (gelf_getphdr(e->elf, (int)i, &p) && p.p_type == PT_LOAD &&
		    !add_elf_segment(e, p.p_vaddr, p.p_offset, p.p_filesz, p.p_memsz,
				     (p.p_flags & PF_X) != 0, (p.p_flags & PF_W) != 0))
			return false;
	}
	return true;
}

/* Reads from the section headers which kinds of content the file has. */
static bool read_elf_sections(struct vt_elf *e)
{
	bool rel = e->info.type == ET_REL, code = false, code_elsewhere = false;
	Elf_Scn *scn = NULL;
	size_t strndx;

	if (elf_getshdrstrndx(e->elf, &strndx) != 0)
		return true;
	while ((scn = elf_nextscn(e->elf, scn))) {
		const char *name;
		GElf_Shdr s;

		if (!gelf_getshdr(scn, &s))
			continue;
		if (s.sh_flags & SHF_EXECINSTR && s.sh_size)
			*(s.sh_type == SHT_NOBITS ? &code_elsewhere : &code) = true;
		if (s.sh_type == SHT_NOBITS)
			continue;
		name = elf_strptr(e->elf, strndx, s.sh_name);
		if (!name)
			name = "";
		e->info.has_symtab |= s.sh_type == SHT_SYMTAB;
		e->info.has_dynsym |= s.sh_type == SHT_DYNSYM;
		if (s.sh_size && (!strcmp(name, ".debug_info") || !strcmp(name, ".zdebug_info")))
			e->info.has_dwarf = true;
		if (!rel || !(s.sh_flags & SHF_ALLOC))
			continue;
		if (!strcmp(name, ".text"))
			e->text_offset = s.sh_offset;
		if (e->nsegments < MAX_SEGMENTS &&
		    !add_elf_segment(e, s.sh_offset, s.sh_offset, s.sh_size, s.sh_size,
				     (s.sh_flags & SHF_EXECINSTR) != 0,
				     (s.sh_flags & SHF_WRITE) != 0))
			return false;
	}
	e->info.only_debug = code_elsewhere && !code;
	return true;
}

static bool has_few_notes(const struct vt_elf *e)
{
	uint64_t size = 0;
	Elf_Scn *scn = NULL;
	GElf_Phdr p;
	GElf_Shdr s;
	size_t n, i;

	if (elf_getphdrnum(e->elf, &n) != 0)
		return false;
	for (i = 0; i < n && size <= MAX_NOTES; i++)
		if (gelf_getphdr(e->elf, (int)i, &p) && p.p_type == PT_NOTE)
			size = p.p_filesz > MAX_NOTES ? p.p_filesz : size + p.p_filesz;
	while (size <= MAX_NOTES && (scn = elf_nextscn(e->elf, scn)))
		if (gelf_getshdr(scn, &s) && s.sh_type == SHT_NOTE)
			size = s.sh_size > MAX_NOTES ? s.sh_size : size + s.sh_size;
	return size <= MAX_NOTES;
}

static int read_elf_headers(struct vt_elf *e, struct vt_error *err)
{
	const void *id = NULL;
	GElf_Ehdr ehdr;
	ssize_t n;

	if (elf_kind(e->elf) != ELF_K_ELF || !gelf_getehdr(e->elf, &ehdr))
		return vt_error_set(err, VT_E_FORMAT, "%s: not an ELF file", e->path);
	e->info.path = e->path;
	e->info.type = ehdr.e_type;
	e->info.machine = ehdr.e_machine;
	e->info.bits = ehdr.e_ident[EI_CLASS] == ELFCLASS64 ? 64 : 32;
	e->info.big = ehdr.e_ident[EI_DATA] == ELFDATA2MSB;
	e->info.entry = ehdr.e_entry;
	e->info.cut = ehdr.e_shoff > e->size ||
		      (uint64_t)ehdr.e_shnum * ehdr.e_shentsize > e->size - ehdr.e_shoff;
	if (!read_elf_segments(e) || !read_elf_sections(e))
		return vt_error_set(err, VT_E_NOMEM, "%s: out of memory", e->path);
	n = has_few_notes(e) ? dwelf_elf_gnu_build_id(e->elf, &id) : 0;
	if (n > 0 && id) {
		e->info.buildid_size = (size_t)n < VT_BUILDID_MAX ? (size_t)n : VT_BUILDID_MAX;
		memcpy(e->info.buildid, id, e->info.buildid_size);
	}
	e->info.debuglink = dwelf_elf_gnu_debuglink(e->elf, &e->info.debuglink_crc);
	return 0;
}

static struct vt_elf *open_elf_data(uint8_t *data, size_t size, bool mapped, const char *name,
				    struct vt_error *err)
{
	struct vt_elf *e = calloc(1, sizeof(*e));

	if (e)
		e->path = strdup(name);
	if (!e || !e->path) {
		free(e);
		if (mapped)
			munmap(data, size);
		vt_error_set(err, VT_E_NOMEM, "%s: out of memory", name);
		return NULL;
	}
	e->data = data;
	e->size = size;
	e->mapped = mapped;
	elf_version(EV_CURRENT);
	e->elf = elf_memory((char *)data, size);
	if (!e->elf) {
		vt_error_set(err, VT_E_FORMAT, "%s: not an ELF file", name);
		vt_elf_close(e);
		return NULL;
	}
	if (read_elf_headers(e, err) < 0) {
		vt_elf_close(e);
		return NULL;
	}
	return e;
}

struct vt_elf *vt_elf_open_held(void *data, size_t size, const struct vt_file_range *held, size_t n,
				const char *name, struct vt_error *err)
{
	struct vt_elf *e = open_elf_data(data, size, false, name, err);

	if (e) {
		e->held = held;
		e->nheld = n;
	}
	return e;
}

struct vt_elf *vt_elf_open_memory(void *data, size_t size, const char *name, struct vt_error *err)
{
	return open_elf_data(data, size, false, name, err);
}

struct vt_elf *vt_elf_open(const char *path, struct vt_error *err)
{
	struct stat st;
	void *data;
	int fd;

	/* O_NONBLOCK: opening a FIFO in a hostile symfs must not block. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) != 0) {
		vt_error_errno(err, VT_E_READ, errno, "%s", path);
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	if (!S_ISREG(st.st_mode) || !st.st_size) {
		close(fd);
		vt_error_set(err, VT_E_FORMAT, "%s: not an ELF file", path);
		return NULL;
	}
	/* Private and writable, because libelf and libdw may convert in place. */
	data = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED)
		vt_error_errno(err, VT_E_READ, errno, "%s", path);
	close(fd);
	return data == MAP_FAILED ? NULL : open_elf_data(data, (size_t)st.st_size, true, path, err);
}

void vt_elf_close(struct vt_elf *e)
{
	if (!e)
		return;
	elf_end(e->elf);
	if (e->mapped)
		munmap(e->data, e->size);
	free(e->segments);
	free(e->path);
	free(e);
}

const struct vt_elf_info *vt_elf_info(const struct vt_elf *e)
{
	return &e->info;
}

const struct vt_elf_segment *vt_elf_segments(const struct vt_elf *e, size_t *n)
{
	*n = e->nsegments;
	return e->segments;
}

bool vt_elf_offset_to_vaddr(const struct vt_elf *e, uint64_t offset, uint64_t *vaddr)
{
	const struct vt_elf_segment *s;
	size_t i;

	if (e->info.type == ET_REL)
		offset += e->text_offset;
	for (i = 0; i < e->nsegments; i++) {
		s = &e->segments[i];
		if (offset >= s->offset && offset - s->offset < s->filesz) {
			*vaddr = s->vaddr + (offset - s->offset);
			return true;
		}
	}
	/* The kernel maps whole pages, so code may extend a little beyond both ends. */
	for (i = 0; i < e->nsegments; i++) {
		uint64_t first, end;

		s = &e->segments[i];
		first = s->offset & ~(uint64_t)(PAGE - 1);
		end = s->offset + s->filesz;
		end += -end & (PAGE - 1);
		if (s->exec && offset >= first && offset < end) {
			*vaddr = s->vaddr + (offset - s->offset);
			return true;
		}
	}
	/* The part of a segment without bytes in the file, .bss, continues after those. */
	for (i = 0; i < e->nsegments; i++) {
		s = &e->segments[i];
		if (!s->exec && s->filesz && offset >= s->offset && offset - s->offset < s->memsz) {
			*vaddr = s->vaddr + (offset - s->offset);
			return true;
		}
	}
	return false;
}

bool vt_elf_vaddr_to_offset(const struct vt_elf *e, uint64_t vaddr, uint64_t *offset)
{
	size_t i;

	for (i = 0; i < e->nsegments; i++) {
		const struct vt_elf_segment *s = &e->segments[i];

		if (vaddr >= s->vaddr && vaddr - s->vaddr < s->memsz) {
			*offset = s->offset + (vaddr - s->vaddr) - e->text_offset;
			return true;
		}
	}
	return false;
}

const uint8_t *vt_elf_bytes_or_zero(const struct vt_elf *e, uint64_t vaddr, size_t *avail)
{
	size_t i;

	for (i = 0; i < e->nsegments; i++) {
		const struct vt_elf_segment *s = &e->segments[i];

		if (vaddr >= s->vaddr && vaddr - s->vaddr < s->filesz) {
			*avail = (size_t)(s->filesz - (vaddr - s->vaddr));
			return e->data + s->offset + (vaddr - s->vaddr);
		}
	}
	*avail = 0;
	return NULL;
}

/* As vt_elf_holds(), for bytes at a position of the file. */
static size_t find_held(const struct vt_elf *e, uint64_t at, size_t size, bool *known)
{
	size_t n = vt_array_up_to(e->held, e->nheld, sizeof(*e->held), at);
	uint64_t left = UINT64_MAX;

	*known = n && at < e->held[n - 1].end;
	if (*known)
		left = e->held[n - 1].end - at;
	else if (n < e->nheld)
		left = e->held[n].first - at;
	return left < size ? (size_t)left : size;
}

size_t vt_elf_holds(const struct vt_elf *e, uint64_t vaddr, size_t size, bool *known)
{
	size_t avail;
	const uint8_t *bytes = vt_elf_bytes_or_zero(e, vaddr, &avail);

	*known = bytes != NULL;
	if (bytes && avail < size)
		size = avail;
	return bytes && e->held ? find_held(e, (uint64_t)(bytes - e->data), size, known) : size;
}

const uint8_t *vt_elf_bytes(const struct vt_elf *e, uint64_t vaddr, size_t *avail)
{
	const uint8_t *bytes = vt_elf_bytes_or_zero(e, vaddr, avail);
	bool known = true;

	if (bytes && e->held)
		*avail = find_held(e, (uint64_t)(bytes - e->data), *avail, &known);
	if (known)
		return bytes;
	*avail = 0;
	return NULL;
}

void vt_elf_rest(const struct vt_elf *e)
{
	size_t i;

	for (i = 0; i < e->nsegments && e->mapped; i++) {
		const struct vt_elf_segment *s = &e->segments[i];
		uint64_t first = (s->offset + PAGE - 1) / PAGE * PAGE;
		uint64_t end = (s->offset + s->filesz) / PAGE * PAGE;

		/* Nobody writes to it, not even in memory.  Larger pages are no error, but stay. */
		if (s->exec && !s->write && first < end)
			madvise(e->data + first, (size_t)(end - first), MADV_DONTNEED);
	}
}

/* ---- what is needed to open a file ---- */

struct needed_ranges {
	const struct vt_elf *elf;
	void (*fn)(void *arg, uint64_t offset, uint64_t size);
	void *arg;
};

static void call_needed(const struct needed_ranges *n, uint64_t offset, uint64_t size)
{
	if (offset < n->elf->size && size)
		n->fn(n->arg, offset, size < n->elf->size - offset ? size : n->elf->size - offset);
}

/* ELF gABI; <elf.h> of an older C library may lack it. */
#define TYPE_RELR 19

static bool is_needed_section(const char *name, const GElf_Shdr *shdr, unsigned what)
{
	switch (shdr->sh_type) {
	case SHT_NOTE:
	case SHT_DYNAMIC:
		return true;
	case SHT_RELA:
	case TYPE_RELR:
	case SHT_DYNSYM:
		return shdr->sh_flags & SHF_ALLOC && what & VT_ELF_RELOCATIONS;
	default:
		return what & VT_ELF_FRAMES &&
		       (!strcmp(name, ".eh_frame") || !strcmp(name, ".eh_frame_hdr") ||
			!strcmp(name, ".debug_frame"));
	}
}

static void call_needed_sections(const struct needed_ranges *n, unsigned what)
{
	Elf *elf = n->elf->elf;
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	size_t strndx;

	if (elf_getshdrstrndx(elf, &strndx) != 0)
		return;
	while ((scn = elf_nextscn(elf, scn))) {
		const char *name =
			gelf_getshdr(scn, &shdr) ? elf_strptr(elf, strndx, shdr.sh_name) : NULL;

		if (name && shdr.sh_type != SHT_NOBITS &&
		    (elf_ndxscn(scn) == strndx || is_needed_section(name, &shdr, what)))
			call_needed(n, shdr.sh_offset, shdr.sh_size);
	}
}

static void call_needed_segments(const struct needed_ranges *n)
{
	size_t count, i;
	GElf_Phdr p;

	if (elf_getphdrnum(n->elf->elf, &count) != 0)
		return;
	for (i = 0; i < count && i < MAX_SEGMENTS; i++)
		if (gelf_getphdr(n->elf->elf, (int)i, &p) &&
		    (p.p_type == PT_NOTE || p.p_type == PT_DYNAMIC || p.p_type == PT_INTERP))
			call_needed(n, p.p_offset, p.p_filesz);
}

void vt_elf_each_needed(const struct vt_elf *e, unsigned what,
			void (*fn)(void *arg, uint64_t offset, uint64_t size), void *arg)
{
	const struct needed_ranges n = {e, fn, arg};
	GElf_Ehdr ehdr;
	size_t count;

	if (!gelf_getehdr(e->elf, &ehdr))
		return;
	call_needed(&n, 0, ehdr.e_ehsize);
	if (elf_getphdrnum(e->elf, &count) == 0)
		call_needed(&n, ehdr.e_phoff, (uint64_t)count * ehdr.e_phentsize);
	if (elf_getshdrnum(e->elf, &count) == 0)
		call_needed(&n, ehdr.e_shoff, (uint64_t)count * ehdr.e_shentsize);
	call_needed_segments(&n);
	call_needed_sections(&n, what);
}

bool vt_elf_is_code(const struct vt_elf *e, uint64_t vaddr)
{
	size_t i;

	for (i = 0; i < e->nsegments; i++) {
		const struct vt_elf_segment *s = &e->segments[i];

		if (s->exec && vaddr >= s->vaddr && vaddr - s->vaddr < s->filesz)
			return true;
	}
	return false;
}

bool vt_elf_is_constant(const struct vt_elf *e, uint64_t vaddr)
{
	bool constant = false;
	size_t n, i;

	if (elf_getphdrnum(e->elf, &n) != 0)
		return false;
	for (i = 0; i < n && i < MAX_SEGMENTS; i++) {
		GElf_Phdr p;

		if (!gelf_getphdr(e->elf, (int)i, &p) || vaddr < p.p_vaddr ||
		    vaddr - p.p_vaddr >= p.p_memsz)
			continue;
		if (p.p_type == PT_GNU_RELRO)
			return true;
		if (p.p_type == PT_LOAD)
			constant = !(p.p_flags & PF_W);
	}
	return constant;
}

const char *vt_elf_section_at(const struct vt_elf *e, uint64_t vaddr, uint64_t *start,
			      uint64_t *end)
{
	Elf_Scn *scn = NULL;
	size_t strndx;
	GElf_Shdr s;

	*start = 0;
	*end = UINT64_MAX;
	if (elf_getshdrstrndx(e->elf, &strndx) != 0)
		return NULL;
	while ((scn = elf_nextscn(e->elf, scn))) {
		/* The .tbss has no place of its own in memory. */
		if (!gelf_getshdr(scn, &s) || !(s.sh_flags & SHF_ALLOC) ||
		    s.sh_addr + s.sh_size < s.sh_addr ||
		    (s.sh_type == SHT_NOBITS && s.sh_flags & SHF_TLS))
			continue;
		if (vaddr < s.sh_addr) {
			*end = s.sh_addr < *end ? s.sh_addr : *end;
		} else if (vaddr - s.sh_addr >= s.sh_size) {
			*start = s.sh_addr + s.sh_size > *start ? s.sh_addr + s.sh_size : *start;
		} else {
			*start = s.sh_addr;
			*end = s.sh_addr + s.sh_size;
			return elf_strptr(e->elf, strndx, s.sh_name);
		}
	}
	return NULL;
}

const uint8_t *vt_elf_file(const struct vt_elf *e, uint64_t *size)
{
	*size = e->size;
	return e->data;
}

uint32_t vt_elf_crc(const struct vt_elf *e)
{
	return (uint32_t)crc32_z(0, e->data, e->size);
}

void vt_buildid_format(const uint8_t *id, size_t size, char *out)
{
	static const char digits[] = "0123456789abcdef";
	size_t i;

	if (size > VT_BUILDID_MAX)
		size = VT_BUILDID_MAX;
	for (i = 0; i < size; i++) {
		out[2 * i] = digits[id[i] >> 4];
		out[2 * i + 1] = digits[id[i] & 15];
	}
	out[2 * i] = 0;
}

bool vt_buildid_equal(const uint8_t *a, size_t asize, const uint8_t *b, size_t bsize)
{
	const size_t perf_size = 20;
	size_t i;

	if (asize > bsize)
		return vt_buildid_equal(b, bsize, a, asize);
	if (asize == 0 || memcmp(a, b, asize) != 0)
		return bsize == 0;
	for (i = asize; i < bsize && i < perf_size; i++)
		if (b[i])
			return false;
	return true;
}

bool vt_buildid_in_notes(const void *notes, size_t size, const uint8_t *id, size_t id_size)
{
	struct vt_cursor c = vt_cursor_make(notes, size, false);

	while (vt_cursor_left(&c)) {
		uint32_t name_size = vt_cursor_u32(&c), desc_size = vt_cursor_u32(&c);
		uint32_t type = vt_cursor_u32(&c);
		const uint8_t *name = vt_cursor_take(&c, ((uint64_t)name_size + 3) & ~3ull);
		const uint8_t *desc = vt_cursor_take(&c, ((uint64_t)desc_size + 3) & ~3ull);

		if (name && desc && type == NT_GNU_BUILD_ID && name_size == 4 &&
		    !memcmp(name, "GNU", 4) && vt_buildid_equal(desc, desc_size, id, id_size))
			return true;
	}
	return false;
}
