/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/perfdata/session.h"

#include <string.h>

#include "image/find.h"

#define KERNEL_NAME "[kernel.kallsyms]"

#define NAME_SIZE_MAX 4096 /* PATH_MAX of Linux */
#define NAME_OVERHEAD 64   /* about the bytes that the tables need for a name */

static void report_names_full(struct pd_session *s)
{
	if (!s->names_full)
		vti_pd_damage(s, s->in->offset, 0,
			      "too many names of images: further ones are left out");
	s->names_full = true;
}

uint32_t vti_pd_string(struct pd_session *s, const void *text, size_t size)
{
	uint32_t id;

	if (size > NAME_SIZE_MAX)
		size = NAME_SIZE_MAX;
	id = vt_intern_find(s->strings, text, size);
	if (id != UINT32_MAX)
		return id;
	if (s->name_bytes >= VT_PERFDATA_NAMES_MAX) {
		report_names_full(s);
		return 0;
	}
	s->name_bytes += size + NAME_OVERHEAD;
	return vt_intern_add(s->strings, text, size);
}

static bool starts_with(const uint8_t *p, size_t size, const char *with)
{
	size_t n = strlen(with);

	return size >= n && !memcmp(p, with, n);
}

static bool path_contains(const uint8_t *p, size_t size, const char *what)
{
	size_t n = strlen(what), i;

	for (i = 0; i + n <= size; i++) {
		if (!memcmp(p + i, what, n))
			return true;
	}
	return false;
}

static bool is_kernel_name(const uint8_t *p, size_t size)
{
	return starts_with(p, size, "[kernel.kallsyms") ||
	       starts_with(p, size, "[guest.kernel.kallsyms") ||
	       starts_with(p, size, "[kernel.vmlinux");
}

static enum vt_image_type classify_image(const uint8_t *p, size_t size, bool kernel)
{
	if (kernel) {
		if (is_kernel_name(p, size))
			return VT_IMAGE_KERNEL;
		return starts_with(p, size, "bpf_") || starts_with(p, size, "[bpf")
			       ? VT_IMAGE_BPF
			       : VT_IMAGE_MODULE;
	}
	return vt_find_type(p, size);
}

/* The name of a kernel's map ends in the symbol at its start: "[kernel.kallsyms]_text". */
static size_t get_image_name_size(const uint8_t *p, size_t size, enum vt_image_type type)
{
	const uint8_t *end;

	if (type != VT_IMAGE_KERNEL)
		return size;
	end = memchr(p, ']', size);
	return end ? (size_t)(end - p) + 1 : size;
}

/* The id of "[name]" for "/lib/modules/.../name.ko.xz"; module names have no '-'. */
static uint32_t make_module_alias(struct pd_session *s, const uint8_t *p, size_t size)
{
	char name[128] = "[";
	size_t n = 1, i, base = 0;

	for (i = 0; i < size; i++) {
		if (p[i] == '/')
			base = i + 1;
	}
	for (i = base; i < size && n + 2 < sizeof(name) && p[i] != '.'; i++)
		name[n++] = p[i] == '-' ? '_' : (char)p[i];
	name[n++] = ']';
	return vti_pd_string(s, name, n);
}

/* NULL: none, or an alias could not be made for want of memory. */
static const struct pd_buildid *find_table_id(struct pd_session *s, const struct pd_image *key)
{
	uint32_t path = key->path;
	const struct pd_buildid_row *row = vt_hash_find(&s->buildids, &path);

	if (!row && key->type == VT_IMAGE_MODULE) {
		path = make_module_alias(s, (const uint8_t *)vt_intern_get(s->strings, key->path),
					 vt_intern_size(s->strings, key->path));
		row = vt_hash_find(&s->buildids, &path);
	}
	return row ? &row->id : NULL;
}

static void put_image_row(struct pd_session *s, size_t index)
{
	struct pd_image *key = vt_hash_at(&s->images, index);
	const struct pd_buildid *id = key->own.size ? &key->own : find_table_id(s, key);
	uint64_t *row = vt_writer_row(s->w, VT_IMAGE);

	key->has_id = id != NULL;
	row[VT_IMAGE_ID] = index;
	row[VT_IMAGE_TYPE] = key->type;
	row[VT_IMAGE_MACHINE] = s->machine;
	vt_writer_bytes(s->w, VT_IMAGE_PATH, vt_intern_get(s->strings, key->path),
			vt_intern_size(s->strings, key->path));
	if (id)
		vt_writer_bytes(s->w, VT_IMAGE_BUILDID, id->bytes, id->size);
}

int64_t vti_pd_image(struct pd_session *s, const uint8_t *path, size_t size, bool kernel,
		     const struct pd_buildid *own)
{
	struct pd_image key, *e;
	bool added;
	size_t index;

	memset(&key, 0, sizeof(key));
	key.type = classify_image(path, size, kernel);
	key.path = vti_pd_string(s, path, get_image_name_size(path, size, key.type));
	if (own)
		key.own = *own;
	if (key.path == UINT32_MAX)
		return vti_pd_nomem(s);
	if (s->images.count >= VT_PERFDATA_IMAGES_MAX && !vt_hash_find(&s->images, &key)) {
		report_names_full(s);
		key.path = 0;
		memset(&key.own, 0, sizeof(key.own));
	}
	e = vt_hash_add(&s->images, &key, &added);
	if (!e)
		return vti_pd_nomem(s);
	index = vt_hash_index(&s->images, e);
	if (added)
		put_image_row(s, index);
	return (int64_t)index;
}

static int add_buildid_row(struct pd_session *s, uint32_t path, const struct pd_buildid *id)
{
	struct pd_buildid_row *row;

	if (path == UINT32_MAX)
		return vti_pd_nomem(s);
	row = vt_hash_add(&s->buildids, &path, NULL);
	if (!row)
		return vti_pd_nomem(s);
	row->id = *id;
	return 0;
}

int vti_pd_buildid_add(struct pd_session *s, const uint8_t *path, size_t size, bool kernel,
		       const struct pd_buildid *id)
{
	uint32_t alias;
	bool is_module;
	int r;

	if (s->buildids.count >= VT_PERFDATA_IMAGES_MAX) {
		report_names_full(s);
		return 0;
	}
	r = add_buildid_row(s, vti_pd_string(s, path, size), id);
	if (r < 0 || !kernel)
		return r;
	is_module = !is_kernel_name(path, size) &&
		    (starts_with(path, size, "[") || path_contains(path, size, ".ko"));
	/* A kernel image that perf found as a file is that of the running kernel. */
	alias = is_module ? make_module_alias(s, path, size)
			  : vti_pd_string(s, KERNEL_NAME, strlen(KERNEL_NAME));
	return add_buildid_row(s, alias, id);
}

void vti_pd_images_finish(struct pd_session *s)
{
	size_t i;

	for (i = 0; i < s->images.count; i++) {
		struct pd_image *image = vt_hash_at(&s->images, i);

		if (!image->has_id && find_table_id(s, image))
			put_image_row(s, i);
	}
}

int vti_pd_buildid_record(struct pd_session *s, const struct pd_rec *r, bool old_layout)
{
	struct vt_cursor c = vt_cursor_make(r->payload, r->left, s->big);
	unsigned mode = r->misc & PD_MISC_CPUMODE_MASK;
	struct pd_buildid id;
	const uint8_t *bytes;

	memset(&id, 0, sizeof(id));
	/* The first perfs with build-ids wrote no pid, see perf_header__read_build_ids(). */
	if (!old_layout)
		vt_cursor_u32(&c);
	bytes = vt_cursor_take(&c, 24);
	if (c.bad) {
		vti_pd_bad_record(s, r, "the build-id is cut");
		return 0;
	}
	memcpy(id.bytes, bytes, sizeof(id.bytes));
	id.size = sizeof(id.bytes);
	if (r->misc & PD_MISC_BUILD_ID_SIZE && bytes[20] <= sizeof(id.bytes))
		id.size = bytes[20];
	memset(id.bytes + id.size, 0, sizeof(id.bytes) - id.size);
	return vti_pd_buildid_add(s, c.p, vti_pd_text(c.p, vt_cursor_left(&c)),
				  mode == PD_MISC_KERNEL || mode == PD_MISC_GUEST_KERNEL, &id);
}
