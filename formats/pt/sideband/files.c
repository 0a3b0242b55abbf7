/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/pt/sideband/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "base/intern.h"
#include "stream/kinds.h"

#define VDSO_MAX 65536 /* bytes of a vdso's ELF image: 8 KB are usual */

struct image {
	uint64_t id;
	uint32_t path; /* in `paths` */
	uint32_t type; /* enum vt_image_type */
	uint8_t buildid[VT_BUILDID_MAX];
	size_t buildid_size;
	bool tried;
	struct vt_pt_file file; /* no bytes: there is none */
};

struct vt_pt_files {
	struct vt_find_options find;
	vt_warn_fn *warn;
	void *warn_arg;
	struct vt_hash images;
	struct vt_intern *paths;
};

/* ---- mapping ---- */

int vti_pt_file_map(struct vt_pt_file *file, const char *path, struct vt_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), failed = 0;
	struct stat st;
	void *p = MAP_FAILED;
	char *name;

	if (fd < 0)
		return vt_error_errno(err, VT_E_READ, errno, "%s", path);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size <= 0)
		failed = EINVAL;
	else
		p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED && !failed)
		failed = errno;
	close(fd);
	if (failed)
		return vt_error_errno(err, VT_E_READ, failed, "%s: cannot be mapped", path);
	name = strdup(path);
	if (!name) {
		munmap(p, (size_t)st.st_size);
		return vt_error_nomem(err);
	}
	*file = (struct vt_pt_file){.bytes = p, .size = (uint64_t)st.st_size, .path = name};
	return 0;
}

void vti_pt_file_unmap(struct vt_pt_file *file)
{
	union {
		const void *from;
		void *to;
	} p = {file->bytes}, path = {file->path};

	if (file->bytes && file->memory)
		free(p.to);
	else if (file->bytes)
		munmap(p.to, (size_t)file->size);
	free(path.to);
	*file = (struct vt_pt_file){NULL, 0, NULL, false};
}

/* ---- the table ---- */

struct vt_pt_files *vt_pt_files_new(const struct vt_find_options *find, vt_warn_fn *warn,
				    void *warn_arg)
{
	struct vt_pt_files *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->find = *find;
	f->warn = warn;
	f->warn_arg = warn_arg;
	vt_hash_init(&f->images, sizeof(struct image), sizeof(uint64_t));
	f->paths = vt_intern_new();
	if (!f->paths) {
		vt_pt_files_free(f);
		return NULL;
	}
	return f;
}

void vt_pt_files_free(struct vt_pt_files *f)
{
	size_t i;

	if (!f)
		return;
	for (i = 0; i < f->images.count; i++) {
		struct image *image = vt_hash_at(&f->images, i);

		vti_pt_file_unmap(&image->file);
	}
	vt_hash_fini(&f->images);
	vt_intern_free(f->paths);
	free(f);
}

int vt_pt_files_image(struct vt_pt_files *f, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_bytes path = vt_record_bytes(rec, VT_IMAGE_PATH);
	struct vt_bytes id = vt_record_bytes(rec, VT_IMAGE_BUILDID);
	uint64_t key = vt_record_u64(rec, VT_IMAGE_ID);
	struct image *image = vt_hash_add(&f->images, &key, NULL);

	if (!image)
		return vt_error_nomem(err);
	if (image->tried)
		return 0;
	image->path = vt_intern_add(f->paths, path.data, path.size);
	if (image->path == UINT32_MAX)
		return vt_error_nomem(err);
	image->type = (uint32_t)vt_record_u64(rec, VT_IMAGE_TYPE);
	image->buildid_size = id.size < sizeof(image->buildid) ? id.size : sizeof(image->buildid);
	if (image->buildid_size)
		memcpy(image->buildid, id.data, image->buildid_size);
	return 0;
}

const char *vt_pt_files_path(const struct vt_pt_files *f, uint64_t id, unsigned *type)
{
	const struct image *image = vt_hash_find(&f->images, &id);

	if (!image)
		return NULL;
	*type = image->type;
	return vt_intern_get(f->paths, image->path);
}

/* ---- finding ---- */

/* Maps the file at the recorded path, whatever its format. */
static void map_plain(struct vt_pt_files *f, struct image *image, const char *path)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_buf name = VT_BUF_INIT;

	if (image->buildid_size || path[0] != '/')
		return;
	vt_buf_printf(&name, "%s%s", f->find.symfs ? f->find.symfs : "", path);
	if (!name.failed)
		vti_pt_file_map(&image->file, vt_buf_str(&name), &err);
	vt_buf_free(&name);
}

/*
 * Uses the vdso of this process if it has the recorded build-id.  Its address is in the auxiliary
 * vector; it ends with its section headers.
 */
static void map_vdso(struct image *image)
{
	union {
		unsigned long number;
		const uint8_t *bytes;
	} at = {getauxval(AT_SYSINFO_EHDR)};
	const uint8_t *p = at.bytes;
	struct vt_error err = VT_ERROR_INIT;
	const struct vt_elf_info *info;
	struct vt_elf *elf;
	uint8_t *copy;
	size_t size;
	bool same;

	if (!p || !image->buildid_size)
		return;
	size = (size_t)(vt_le64(p + 40) + (uint64_t)vt_le16(p + 58) * vt_le16(p + 60));
	if (size > VDSO_MAX)
		return;
	copy = malloc(size);
	if (!copy)
		return;
	memcpy(copy, p, size);
	elf = vt_elf_open_memory(copy, size, "[vdso]", &err);
	info = elf ? vt_elf_info(elf) : NULL;
	same = info && info->buildid_size &&
	       vt_buildid_equal(info->buildid, info->buildid_size, image->buildid,
				image->buildid_size);
	vt_elf_close(elf);
	if (same)
		image->file = (struct vt_pt_file){.bytes = copy, .size = size, .memory = true};
	else
		free(copy);
}

static void find_image_file(struct vt_pt_files *f, struct image *image)
{
	const char *path = vt_intern_get(f->paths, image->path);
	struct vt_error err = VT_ERROR_INIT;
	struct vt_elf *elf;
	bool verified;

	elf = vt_find_image(&f->find, path, image->buildid, image->buildid_size, &verified, &err);
	if (elf) {
		vti_pt_file_map(&image->file, vt_elf_info(elf)->path, &err);
		vt_elf_close(elf);
	} else if (image->type == VT_IMAGE_VDSO) {
		map_vdso(image);
	} else if (err.code == VT_E_FORMAT || err.code == VT_E_DAMAGED) {
		map_plain(f, image, path);
	}
	if (!image->file.bytes && f->warn) {
		struct vt_buf line = VT_BUF_INIT;

		vt_buf_printf(&line, "%s: no code: %s", path, err.text);
		f->warn(f->warn_arg, vt_buf_str(&line));
		vt_buf_free(&line);
	}
}

const struct vt_pt_file *vt_pt_files_get(struct vt_pt_files *f, uint64_t id)
{
	struct image *image = vt_hash_find(&f->images, &id);

	if (!image)
		return NULL;
	if (!image->tried) {
		image->tried = true;
		if (image->type == VT_IMAGE_FILE || image->type == VT_IMAGE_VDSO)
			find_image_file(f, image);
	}
	return image->file.bytes ? &image->file : NULL;
}

bool vt_pt_files_differ(struct vt_pt_files *f, const struct vt_map *m, uint64_t address,
			const uint8_t *code, size_t size)
{
	const struct vt_pt_file *file =
		m->type == VT_IMAGE_FILE ? vt_pt_files_get(f, m->image) : NULL;
	uint64_t offset = vt_map_offset(m, address);

	return file && (offset > file->size || size > file->size - offset ||
			memcmp(file->bytes + offset, code, size) != 0);
}
