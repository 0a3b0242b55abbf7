/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "image/kcore.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Offset of the code in the ELF file made of it. */
#define CODE_OFFSET 4096

struct vt_kcore {
	struct vt_elf *elf;
	uint8_t data[];
};

/* Reads all `size` bytes at an offset.  Returns 0 or -VT_E_READ. */
static int read_at(int fd, const char *path, uint64_t offset, void *to, size_t size,
		   struct vt_error *err)
{
	uint8_t *at = to;

	while (size) {
		ssize_t n = pread(fd, at, size, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return vt_error_errno(err, VT_E_READ, errno, "%s", path);
		if (n == 0)
			return vt_error_set(err, VT_E_READ, "%s: it ends at %#llx", path,
					    (unsigned long long)offset);
		at += n;
		offset += (uint64_t)n;
		size -= (size_t)n;
	}
	return 0;
}

static bool is_core_header(const Elf64_Ehdr *h)
{
	const uint16_t one = 1;
	uint8_t order = *(const uint8_t *)&one ? ELFDATA2LSB : ELFDATA2MSB;

	return memcmp(h->e_ident, ELFMAG, SELFMAG) == 0 && h->e_ident[EI_CLASS] == ELFCLASS64 &&
	       h->e_ident[EI_DATA] == order && h->e_type == ET_CORE &&
	       h->e_phentsize == sizeof(Elf64_Phdr);
}

/* Finds the offset of the range's first byte.  Returns 0 or an error. */
static int find_code_offset(int fd, const char *path, const Elf64_Ehdr *h, uint64_t text,
			    uint64_t size, uint64_t *offset, struct vt_error *err)
{
	unsigned i;

	for (i = 0; i < h->e_phnum; i++) {
		Elf64_Phdr p;
		int rc = read_at(fd, path, h->e_phoff + i * sizeof(p), &p, sizeof(p), err);

		if (rc < 0)
			return rc;
		if (p.p_type != PT_LOAD || text < p.p_vaddr || size > p.p_filesz ||
		    text - p.p_vaddr > p.p_filesz - size)
			continue;
		*offset = p.p_offset + (text - p.p_vaddr);
		return 0;
	}
	return vt_error_set(err, VT_E_DAMAGED, "%s: no segment has the kernel's code", path);
}

static void write_elf_headers(uint8_t *data, const Elf64_Ehdr *core, uint64_t text, uint64_t size)
{
	Elf64_Ehdr h = {.e_type = ET_EXEC,
			.e_machine = core->e_machine,
			.e_version = EV_CURRENT,
			.e_phoff = sizeof(h),
			.e_ehsize = sizeof(h),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 1};
	Elf64_Phdr p = {.p_type = PT_LOAD,
			.p_flags = PF_R | PF_X,
			.p_offset = CODE_OFFSET,
			.p_vaddr = text,
			.p_filesz = size,
			.p_memsz = size};

	memcpy(h.e_ident, core->e_ident, EI_NIDENT);
	memcpy(data, &h, sizeof(h));
	memcpy(data + sizeof(h), &p, sizeof(p));
}

static struct vt_kcore *read_kernel_code(int fd, const char *path, uint64_t text, uint64_t size,
					 struct vt_error *err)
{
	struct vt_kcore *k;
	uint64_t offset = 0;
	Elf64_Ehdr h;

	if (read_at(fd, path, 0, &h, sizeof(h), err) < 0)
		return NULL;
	if (!is_core_header(&h)) {
		vt_error_set(err, VT_E_FORMAT, "%s: no core file of this kind of machine", path);
		return NULL;
	}
	if (find_code_offset(fd, path, &h, text, size, &offset, err) < 0)
		return NULL;
	k = calloc(1, sizeof(*k) + CODE_OFFSET + size);
	if (!k) {
		vt_error_nomem(err);
		return NULL;
	}
	write_elf_headers(k->data, &h, text, size);
	if (read_at(fd, path, offset, k->data + CODE_OFFSET, size, err) == 0)
		k->elf = vt_elf_open_memory(k->data, CODE_OFFSET + size, path, err);
	if (k->elf)
		return k;
	free(k);
	return NULL;
}

struct vt_kcore *vt_kcore_open(const char *path, uint64_t text, uint64_t etext,
			       struct vt_error *err)
{
	struct vt_kcore *k;
	int fd;

	if (etext <= text || etext - text > VT_KCORE_LIMIT) {
		vt_error_set(err, VT_E_LIMIT, "%s: a kernel's code of %#llx bytes", path,
			     (unsigned long long)(etext - text));
		return NULL;
	}
	/* O_NONBLOCK: opening a FIFO in a hostile symfs must not block. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0) {
		vt_error_errno(err, errno == ENOENT || errno == ENOTDIR ? VT_E_NOTFOUND : VT_E_READ,
			       errno, "%s", path);
		return NULL;
	}
	k = read_kernel_code(fd, path, text, etext - text, err);
	close(fd);
	return k;
}

void vt_kcore_close(struct vt_kcore *k)
{
	if (k)
		vt_elf_close(k->elf);
	free(k);
}

const struct vt_elf *vt_kcore_elf(const struct vt_kcore *k)
{
	return k->elf;
}
