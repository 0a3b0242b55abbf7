/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS and MAP_NORESERVE */

#include "cmd/record/frame_files.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/intern.h"
#include "image/elf.h"
#include "image/unwind.h"

/* Different paths of a recording, and sections of a file. */
#define PATHS_MAX    65536
#define SECTIONS_MAX 65280
#define FRAMES_MAX   (64u << 20) /* bytes of a file's information */

struct frame_file {
	uint32_t id; /* of the path; 0: none is kept here */
	uint64_t used;
	void *data;
	size_t size;
	struct vt_elf *elf;
	struct vt_unwind *unwind; /* NULL: there is nothing */
};

struct frame_files {
	struct vt_intern *paths;
	uint32_t npaths;
	uint64_t uses;
	struct frame_file files[FRAME_FILES];
};

struct frame_files *frame_files_new(void)
{
	struct frame_files *f = calloc(1, sizeof(*f));

	if (f)
		f->paths = vt_intern_new();
	if (f && f->paths)
		return f;
	free(f);
	return NULL;
}

static void forget_file(struct frame_file *file)
{
	vt_unwind_free(file->unwind);
	vt_elf_close(file->elf);
	if (file->data)
		munmap(file->data, file->size);
	*file = (struct frame_file){0};
}

void frame_files_free(struct frame_files *f)
{
	size_t i;

	for (i = 0; f && i < FRAME_FILES; i++)
		forget_file(&f->files[i]);
	if (f)
		vt_intern_free(f->paths);
	free(f);
}

uint32_t frame_files_add(struct frame_files *f, const char *path)
{
	uint32_t id = vt_intern_find(f->paths, path, strlen(path));

	if (id != UINT32_MAX || f->npaths == PATHS_MAX)
		return id;
	f->npaths++;
	return vt_intern_str(f->paths, path);
}

/* ---- copies of what is needed ---- */

static bool copy_part(int fd, const struct frame_file *file, uint64_t offset, uint64_t size)
{
	return offset <= file->size && size <= file->size - offset &&
	       pread(fd, (char *)file->data + offset, (size_t)size, (off_t)offset) == (ssize_t)size;
}

/* The names of sections, and the section .eh_frame. */
static bool copy_sections(int fd, const struct frame_file *file, const Elf64_Ehdr *e)
{
	const Elf64_Shdr *all = (const Elf64_Shdr *)((const char *)file->data + e->e_shoff);
	const Elf64_Shdr *names = &all[e->e_shstrndx];
	static const char wanted[] = ".eh_frame";
	unsigned i;

	if (names->sh_type != SHT_STRTAB || names->sh_size > FRAMES_MAX ||
	    !copy_part(fd, file, names->sh_offset, names->sh_size))
		return false;
	for (i = 0; i < e->e_shnum; i++) {
		const char *name = (const char *)file->data + names->sh_offset + all[i].sh_name;

		if (all[i].sh_name >= names->sh_size ||
		    names->sh_size - all[i].sh_name < sizeof(wanted) ||
		    memcmp(name, wanted, sizeof(wanted)) != 0)
			continue;
		return all[i].sh_type != SHT_NOBITS && all[i].sh_size <= FRAMES_MAX &&
		       copy_part(fd, file, all[i].sh_offset, all[i].sh_size);
	}
	return false;
}

/* The copy has the file's size; what is not read costs no memory. */
static bool copy_file(int fd, struct frame_file *file)
{
	const Elf64_Ehdr *e = file->data;

	return copy_part(fd, file, 0, sizeof(*e)) && memcmp(e->e_ident, ELFMAG, SELFMAG) == 0 &&
	       e->e_ident[EI_CLASS] == ELFCLASS64 && e->e_machine == EM_X86_64 &&
	       e->e_phentsize == sizeof(Elf64_Phdr) && e->e_shentsize == sizeof(Elf64_Shdr) &&
	       e->e_shoff % 8 == 0 && e->e_shnum <= SECTIONS_MAX && e->e_shstrndx < e->e_shnum &&
	       copy_part(fd, file, e->e_phoff, (uint64_t)e->e_phnum * sizeof(Elf64_Phdr)) &&
	       copy_part(fd, file, e->e_shoff, (uint64_t)e->e_shnum * sizeof(Elf64_Shdr)) &&
	       copy_sections(fd, file, e);
}

static bool map_copy(const char *path, struct frame_file *file)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	void *p = MAP_FAILED;
	bool ok = false;

	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > (off_t)sizeof(Elf64_Ehdr))
		p = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p != MAP_FAILED) {
		file->data = p;
		file->size = (size_t)st.st_size;
		ok = copy_file(fd, file);
	}
	close(fd);
	return ok;
}

static void open_frame_file(struct frame_file *file, const char *path)
{
	if (map_copy(path, file))
		file->elf = vt_elf_open_memory(file->data, file->size, path, NULL);
	if (file->elf)
		file->unwind = vt_unwind_new(file->elf, NULL);
}

/* ---- rules ---- */

static struct frame_file *get_file(struct frame_files *f, uint32_t id)
{
	struct frame_file *oldest = f->files;
	size_t i;

	for (i = 0; i < FRAME_FILES; i++) {
		if (f->files[i].id == id) {
			f->files[i].used = ++f->uses;
			return &f->files[i];
		}
		if (f->files[i].used < oldest->used)
			oldest = &f->files[i];
	}
	forget_file(oldest);
	oldest->id = id;
	oldest->used = ++f->uses;
	open_frame_file(oldest, vt_intern_get(f->paths, id));
	return oldest;
}

bool frame_files_find(struct frame_files *f, uint32_t file, uint64_t first, struct frame_rule *rule)
{
	const struct frame_file *of = file && file != UINT32_MAX ? get_file(f, file) : NULL;
	uint64_t vaddr, end;
	bool known;

	rule->end = UINT64_MAX;
	if (!of || !of->unwind)
		return false;
	rule->end = first + 1;
	if (!vt_elf_offset_to_vaddr(of->elf, first, &vaddr))
		return false;
	known = vt_unwind_slot(of->unwind, vaddr, &end, &rule->reg, &rule->offset);
	rule->end = first + (end - vaddr);
	return known;
}
