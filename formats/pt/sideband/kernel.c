/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/pt/sideband/kernel.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "formats/pt/sideband/files.h"
#include "stream/kinds.h"

/* ELF-64 files: the gABI, "ELF Header" and "Program Header". */
#define EHDR_SIZE 64
#define PHDR_SIZE 56
#define ET_CORE	  4
#define PT_LOAD	  1
#define PF_X	  1

/* New bytes of code, copied from a TEXTPOKE record. */
struct poke {
	struct poke *other; /* the next one of the list */
	uint8_t bytes[];
};

struct vti_pt_kernel {
	struct vt_pt_code *code;
	struct vt_pt_file *files;
	size_t nfiles;
	struct poke *pokes;
};

static int report_bad_kernel(struct vt_error *err, const char *path)
{
	return vt_error_set(err, VT_E_FORMAT, "%s: not a 64-bit ELF file of a kernel", path);
}

static bool is_core(const struct vt_pt_file *file)
{
	return file->size >= EHDR_SIZE && vt_le16(file->bytes + 16) == ET_CORE;
}

/* Adds the executable segments of the file. */
static int add_kernel_segments(struct vti_pt_kernel *k, const struct vt_pt_file *file,
			       uint64_t text, struct vt_error *err)
{
	uint64_t at, n, i, shift = 0;
	bool first = !is_core(file);

	if (file->size < EHDR_SIZE || memcmp(file->bytes, "\177ELF\2\1", 6))
		return report_bad_kernel(err, file->path);
	at = vt_le64(file->bytes + 32);
	n = vt_le16(file->bytes + 56);
	if (vt_le16(file->bytes + 54) != PHDR_SIZE || at > file->size ||
	    n > (file->size - at) / PHDR_SIZE)
		return report_bad_kernel(err, file->path);
	for (i = 0; i < n; i++) {
		const uint8_t *p = file->bytes + at + i * PHDR_SIZE;
		struct vt_pt_section s = {.offset = vt_le64(p + 8), .start = vt_le64(p + 16)};
		int code;

		s.size = vt_le64(p + 32);
		if (vt_le32(p) != PT_LOAD || !(vt_le32(p + 4) & PF_X) || s.offset >= file->size)
			continue;
		if (first && text)
			shift = text - s.start;
		first = false;
		s.start += shift;
		if (s.size > file->size - s.offset)
			s.size = file->size - s.offset;
		s.bytes = file->bytes + s.offset;
		s.path = file->path;
		code = s.size ? vt_pt_code_add(k->code, &s, err) : 0;
		if (code < 0)
			return code;
	}
	return 0;
}

/* Adds the files, or the cores.  A core has the code that really ran, so it comes last. */
static int add_kernel_files(struct vti_pt_kernel *k, bool cores, uint64_t text,
			    struct vt_error *err)
{
	size_t i;
	int code = 0;

	for (i = 0; i < k->nfiles && code == 0; i++) {
		if (is_core(&k->files[i]) == cores)
			code = add_kernel_segments(k, &k->files[i], text, err);
	}
	return code;
}

struct vti_pt_kernel *vti_pt_kernel_new(const char *const *paths, size_t n, uint64_t text,
					struct vt_error *err)
{
	struct vti_pt_kernel *k = calloc(1, sizeof(*k));
	int code = 0;

	if (k) {
		k->code = vt_pt_code_new();
		k->files = calloc(n + 1, sizeof(*k->files));
	}
	if (!k || !k->code || !k->files)
		code = vt_error_nomem(err);
	for (; code == 0 && k->nfiles < n; k->nfiles++)
		code = vti_pt_file_map(&k->files[k->nfiles], paths[k->nfiles], err);
	if (code < 0 || add_kernel_files(k, false, text, err) < 0 ||
	    add_kernel_files(k, true, 0, err) < 0) {
		vti_pt_kernel_free(k);
		return NULL;
	}
	return k;
}

void vti_pt_kernel_free(struct vti_pt_kernel *k)
{
	struct poke *p, *other;
	size_t i;

	if (!k)
		return;
	vt_pt_code_free(k->code);
	for (i = 0; k->files && i < k->nfiles; i++)
		vti_pt_file_unmap(&k->files[i]);
	free(k->files);
	for (p = k->pokes; p; p = other) {
		other = p->other;
		free(p);
	}
	free(k);
}

struct vt_pt_code *vti_pt_kernel_code(struct vti_pt_kernel *k)
{
	return k->code;
}

int vti_pt_kernel_poke(struct vti_pt_kernel *k, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_bytes bytes = vt_record_bytes(rec, VT_TEXTPOKE_NEW);
	struct vt_bytes old = vt_record_bytes(rec, VT_TEXTPOKE_OLD);
	struct vt_pt_section s = {.start = vt_record_u64(rec, VT_TEXTPOKE_ADDR),
				  .size = bytes.size};
	struct poke *p;
	int code;

	if (!bytes.size) {
		code = old.size ? vt_pt_code_remove(k->code, s.start, old.size, err) : 0;
		return code == -VT_E_NOMEM ? code : 0;
	}
	p = malloc(sizeof(*p) + bytes.size);
	if (!p)
		return vt_error_nomem(err);
	memcpy(p->bytes, bytes.data, bytes.size);
	p->other = k->pokes;
	k->pokes = p;
	s.bytes = p->bytes;
	code = vt_pt_code_add(k->code, &s, err);
	return code == -VT_E_NOMEM ? code : 0;
}
