/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/recording/images.h"

#include <string.h>
#include <sys/stat.h>

#include "image/elf.h"
#include "image/find.h"

struct image {
	uint64_t dev;
	uint64_t ino;
	uint32_t path;
	uint32_t type;
};

int vti_rc_images_init(struct rc_images *t, struct vt_error *err)
{
	vt_hash_init(&t->table, sizeof(struct image), sizeof(struct image));
	t->paths = vt_intern_new();
	return t->paths ? 0 : vt_error_nomem(err);
}

void vti_rc_images_fini(struct rc_images *t)
{
	vt_hash_fini(&t->table);
	vt_intern_free(t->paths);
	t->paths = NULL;
}

/* The file's build-id, unless another file has taken the name since it was mapped. */
static void put_buildid(struct vt_writer *w, uint64_t *row, const struct image *key,
			const char *path)
{
	struct vt_error ignored = VT_ERROR_INIT;
	const struct vt_elf_info *info;
	struct vt_elf *elf;
	struct stat st;

	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode) || (key->ino && st.st_ino != key->ino))
		return;
	elf = vt_elf_open(path, &ignored);
	if (!elf)
		return;
	info = vt_elf_info(elf);
	row[VT_IMAGE_MACHINE] = info->machine;
	if (info->buildid_size)
		vt_writer_bytes(w, VT_IMAGE_BUILDID, info->buildid, info->buildid_size);
	vt_elf_close(elf);
}

static void put_image(struct vt_writer *w, uint32_t id, const struct image *key, const char *path)
{
	uint64_t *row = vt_writer_row(w, VT_IMAGE);

	row[VT_IMAGE_ID] = id;
	row[VT_IMAGE_TYPE] = key->type;
	row[VT_IMAGE_MACHINE] = VT_MACHINE_X86_64;
	vt_writer_text(w, VT_IMAGE_PATH, *path ? path : "//anon");
	if (key->type == VT_IMAGE_FILE)
		put_buildid(w, row, key, path);
}

uint32_t vti_rc_image(struct rc_images *t, struct vt_writer *w, const char *path, size_t size,
		      uint64_t dev, uint64_t ino)
{
	struct image key = {.dev = dev, .ino = ino}, *e;
	const char *text;
	bool added;
	uint32_t id;

	if (t->table.count >= RC_MAX_IMAGES)
		size = key.dev = key.ino = 0;
	key.path = vt_intern_add(t->paths, path, size);
	if (key.path == UINT32_MAX)
		return UINT32_MAX;
	text = vt_intern_get(t->paths, key.path);
	key.type = vt_find_type(text, strlen(text));
	e = vt_hash_add(&t->table, &key, &added);
	if (!e)
		return UINT32_MAX;
	id = (uint32_t)vt_hash_index(&t->table, e);
	if (added)
		put_image(w, id, &key, text);
	return id;
}
