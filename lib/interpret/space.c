/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "image/imagedata.h"
#include "image/procdata.h"
#include "interpret/internal.h"

#define CAN_WRITE 2 /* PROT_WRITE of linux/mman.h */
#define PAGE	  4096
#define MODE_USER 2 /* PERF_RECORD_MISC_USER of linux/perf_event.h */

struct process {
	int64_t pid;
	uint64_t number; /* 0: not given yet */
	bool shared;	 /* with a parent or child: until either changes its maps */
};

/* Lines that were asked for lately, most often found unknown, are asked for again. */
#define LINES 2048

struct vti_line {
	uint64_t changes; /* when it was found; 0: never */
	int64_t pid;
	uint64_t addr;
	uint64_t known;
	enum vt_withheld why;
	uint8_t bytes[VT_KNOWN_LINE];
};

/* An image at its place in an address space, whose relocations that are relative are done. */
struct relocated {
	uint64_t space;
	uint64_t image;
	uint64_t bias;
};

bool vti_spaces_init(struct vti_spaces *s, const struct vt_context *context, unsigned trust)
{
	*s = (struct vti_spaces){.context = context,
				 .images = vt_context_images(context),
				 .maps = vt_context_space(context),
				 .trust = trust};
	vt_hash_init(&s->processes, sizeof(struct process), sizeof(int64_t));
	vt_hash_init(&s->relocated, sizeof(struct relocated), sizeof(struct relocated));
	vt_hash_init(&s->seen, sizeof(uint64_t), sizeof(uint64_t));
	s->changes = 1;
	s->lines = calloc(LINES, sizeof(*s->lines));
	return s->lines;
}

void vti_spaces_fini(struct vti_spaces *s)
{
	vt_hash_fini(&s->processes);
	vt_hash_fini(&s->relocated);
	vt_hash_fini(&s->seen);
	vti_lines_fini(&s->sample);
	free(s->lines);
}

static void renumber_space(struct vti_spaces *s, int64_t pid)
{
	struct process *p = vt_hash_find(&s->processes, &pid);

	if (p) {
		p->number = ++s->next;
		p->shared = false;
	}
}

static struct process *add_space_process(struct vti_spaces *s, int64_t pid, struct vt_error *err)
{
	struct process *p = vt_hash_add(&s->processes, &pid, NULL);

	if (!p)
		vt_error_set(err, VT_E_NOMEM, "out of memory for processes");
	else if (!p->number)
		p->number = ++s->next;
	return p;
}

uint64_t vti_spaces_number(struct vti_spaces *s, int64_t pid, struct vt_error *err)
{
	const struct process *p = add_space_process(s, pid, err);

	return p ? p->number : 0;
}

static void renumber_all_spaces(struct vti_spaces *s)
{
	size_t i;

	for (i = 0; i < s->processes.count; i++)
		renumber_space(s, ((const struct process *)vt_hash_at(&s->processes, i))->pid);
}

/* An image that is declared again may be another file. */
static int feed_image(struct vti_spaces *s, const struct vt_record *rec, struct vt_error *err)
{
	uint64_t id = vt_record_u64(rec, VT_IMAGE_ID);
	bool added;

	if (!vt_hash_add(&s->seen, &id, &added))
		return vt_error_set(err, VT_E_NOMEM, "out of memory for images");
	if (!added)
		renumber_all_spaces(s);
	return 0;
}

/* What was lifted stays good as long as maps only come where there was none. */
static void update_map_space(struct vti_spaces *s, const struct vt_record *rec)
{
	int64_t pid = vt_record_i64(rec, VT_MAP_PID);
	const struct process *p = vt_hash_find(&s->processes, &pid);

	if (p && (p->shared || !vt_context_only_added(s->context)))
		renumber_space(s, pid);
	if (s->code_changes != vt_images_code_changes(s->images)) {
		s->code_changes = vt_images_code_changes(s->images);
		renumber_all_spaces(s);
	}
}

static int share_fork_space(struct vti_spaces *s, const struct vt_record *rec, struct vt_error *err)
{
	int64_t pid = vt_record_i64(rec, VT_THREAD_PID), ppid = vt_record_i64(rec, VT_THREAD_PPID);
	struct process *parent, *child;
	uint64_t number;

	if (pid == ppid)
		return 0;
	parent = add_space_process(s, ppid, err);
	if (!parent)
		return -VT_E_NOMEM;
	parent->shared = true;
	number = parent->number;
	child = add_space_process(s, pid, err);
	if (!child)
		return -VT_E_NOMEM;
	child->shared = true;
	/* Without a time, the process was found running, and its mappings are recorded separately.
	 */
	child->number = vt_record_u64(rec, VT_THREAD_TIME) ? number : ++s->next;
	return 0;
}

static int update_thread_space(struct vti_spaces *s, const struct vt_record *rec,
			       struct vt_error *err)
{
	uint64_t op = vt_record_u64(rec, VT_THREAD_OP);

	if (op == VT_OP_FORK)
		return share_fork_space(s, rec, err);
	if (op == VT_OP_EXEC)
		renumber_space(s, vt_record_i64(rec, VT_THREAD_PID));
	return 0;
}

int vti_spaces_feed(struct vti_spaces *s, const struct vt_record *rec, struct vt_error *err)
{
	switch (rec->kind) {
	case VT_IMAGE:
		s->changes++;
		return feed_image(s, rec, err);
	case VT_MAP:
		s->changes++;
		update_map_space(s, rec);
		return 0;
	case VT_THREAD:
		s->changes++;
		return update_thread_space(s, rec, err);
	default:
		return 0;
	}
}

/* ---- what is withheld ---- */

static bool is_file(const struct vt_map *m)
{
	return m && (m->type == VT_IMAGE_FILE || m->type == VT_IMAGE_VDSO);
}

static enum vt_withheld unless_verified(struct vti_spaces *s, uint32_t image)
{
	if (s->trust & VT_TRUST_IMAGES ||
	    (vt_images_verified(s->images, image) && !vt_images_changed(s->images, image)))
		return VT_WITHHELD_NOT;
	vt_images_withhold(s->images, image);
	return VT_WITHHELD_UNVERIFIED;
}

static enum vt_withheld image_withheld(struct vti_spaces *s, uint32_t image)
{
	if (!vt_images_data(s->images, image))
		return VT_WITHHELD_MISSING;
	return unless_verified(s, image);
}

/*
 * Could the program have written to the page of an address in a mapping?  The dynamic linker does,
 * once, to what it relocates; of a mapping that recording found there it did before.
 */
static bool is_patched(const struct vti_spaces *s, const struct vt_map *m,
		       const struct vt_imagedata *data, uint64_t addr, uint64_t vaddr)
{
	if (m->prot & CAN_WRITE ||
	    vt_images_is_written(s->images, m->image, vt_map_offset(m, addr)))
		return true;
	return m->writes > (!m->found && vt_imagedata_is_relocated(data, vaddr) ? 1 : 0);
}

/* Where code was mapped: what the image has there, or NULL. */
static const struct vt_imagedata *find_mapped_code(struct vti_spaces *s, const struct vt_map *m,
						   uint64_t *bias, enum vt_withheld *why)
{
	*why = is_file(m) ? image_withheld(s, m->image) : VT_WITHHELD_NOT;
	return is_file(m) && !*why ? vt_procdata_code(s->images, m, bias) : NULL;
}

enum vt_withheld vti_spaces_code_withheld(struct vti_spaces *s, int64_t pid, uint64_t addr)
{
	const struct vt_map *m = vt_addrspace_find(s->maps, (int32_t)pid, addr, MODE_USER);
	enum vt_withheld why;
	const struct vt_imagedata *data;
	uint64_t bias;

	data = find_mapped_code(s, m, &bias, &why);
	return data && is_patched(s, m, data, addr, addr - bias) ? VT_WITHHELD_PATCHED : why;
}

enum vt_withheld vti_spaces_decoded_withheld(struct vti_spaces *s, int64_t pid, uint64_t addr)
{
	const struct vt_map *m = vt_addrspace_find(s->maps, (int32_t)pid, addr, MODE_USER);
	const struct vt_image *image = is_file(m) ? vt_images_get(s->images, m->image) : NULL;

	if (!image || image->type != VT_IMAGE_FILE)
		return VT_WITHHELD_NOT;
	/* Whether the linker was allowed to write there, the decoder does not ask either. */
	if (m->writes || vt_images_is_written(s->images, m->image, vt_map_offset(m, addr)))
		return VT_WITHHELD_PATCHED;
	return image->buildid_size ? VT_WITHHELD_NOT : unless_verified(s, m->image);
}

/* Why a line of constants, which its image has, is not known. */
static enum vt_withheld line_withheld(struct vti_spaces *s, int64_t pid, uint64_t addr)
{
	const struct vt_map *m = vt_addrspace_find(s->maps, (int32_t)pid, addr, MODE_USER);
	const struct vt_imagedata *data;
	enum vt_withheld why;
	uint32_t image;
	uint64_t bias;

	if (!vt_procdata_find(s->images, s->maps, (int32_t)pid, addr, &image, &bias))
		return VT_WITHHELD_MISSING;
	why = image_withheld(s, image);
	if (why)
		return why;
	data = vt_images_data(s->images, image);
	if (m && is_patched(s, m, data, addr, addr - bias))
		return VT_WITHHELD_PATCHED;
	if (!(s->trust & VT_TRUST_CONSTANTS) &&
	    (!m || !vt_addrspace_reports_data(s->maps, (int32_t)pid)))
		return VT_WITHHELD_UNSEEN;
	return VT_WITHHELD_NOT;
}

/* Would a file that is not there have had constants? */
static bool is_missing(struct vti_spaces *s, int64_t pid, uint64_t addr)
{
	const struct vt_map *m = vt_addrspace_find(s->maps, (int32_t)pid, addr, MODE_USER);

	return is_file(m) && !m->writes && !vt_images_data(s->images, m->image);
}

static uint64_t read_constants(struct vti_spaces *s, int64_t pid, uint64_t addr, bool relro,
			       uint8_t bytes[VT_KNOWN_LINE], enum vt_withheld *why)
{
	uint64_t known = vt_procdata_line(s->images, s->maps, (int32_t)pid, addr, relro, bytes);

	if (known)
		*why = line_withheld(s, pid, addr);
	else
		*why = is_missing(s, pid, addr) ? VT_WITHHELD_MISSING : VT_WITHHELD_NOT;
	if (*why)
		memset(bytes, 0, VT_KNOWN_LINE);
	return *why ? 0 : known;
}

uint64_t vti_spaces_constants(struct vti_spaces *s, int64_t pid, uint64_t addr, bool relro,
			      uint8_t bytes[VT_KNOWN_LINE])
{
	enum vt_withheld why;
	uint64_t known = read_constants(s, pid, addr, relro, bytes, &why);

	s->constants_withheld[why] += why != VT_WITHHELD_NOT;
	return known;
}

/* ---- what does not change ---- */

int vti_spaces_ran(struct vti_spaces *s, int64_t pid, uint64_t addr, struct vt_error *err)
{
	const struct vt_map *m = vt_addrspace_find(s->maps, (int32_t)pid, addr, MODE_USER);
	struct relocated key = {.space = vti_spaces_number(s, pid, err)};
	uint32_t image;
	bool added;

	if (!key.space)
		return -VT_E_NOMEM;
	if (!m || (s->ran_space == key.space && s->ran_start == m->start))
		return 0;
	s->ran_space = key.space;
	s->ran_start = m->start;
	if (!vt_procdata_find(s->images, s->maps, (int32_t)pid, addr, &image, &key.bias))
		return 0;
	key.image = image;
	if (!vt_hash_add(&s->relocated, &key, &added))
		return vt_error_set(err, VT_E_NOMEM, "out of memory for images");
	s->changes += added;
	return 0;
}

/* Has the linker done its work on the image at an address? */
static bool is_relocated(struct vti_spaces *s, int64_t pid, uint64_t addr)
{
	const struct process *p = vt_hash_find(&s->processes, &pid);
	struct relocated key = {.space = p ? p->number : 0};
	uint32_t image;

	if (!vt_procdata_find(s->images, s->maps, (int32_t)pid, addr, &image, &key.bias))
		return false;
	key.image = image;
	return vt_hash_find(&s->relocated, &key) != NULL;
}

/* ---- code ---- */

/* The bytes of one page of a mapping. */
static size_t map_code(struct vti_spaces *s, const struct vt_map *m, uint64_t addr, uint8_t *bytes,
		       size_t size)
{
	const struct vt_imagedata *data;
	enum vt_withheld why;
	uint64_t bias;

	data = find_mapped_code(s, m, &bias, &why);
	if (!data || is_patched(s, m, data, addr, addr - bias))
		return 0;
	if (size > PAGE - addr % PAGE)
		size = PAGE - addr % PAGE;
	if (size > m->end - addr)
		size = (size_t)(m->end - addr);
	return vt_imagedata_code(data, addr - bias, bytes, size);
}

static size_t image_code(struct vti_spaces *s, int64_t pid, uint64_t addr, uint8_t *bytes,
			 size_t size)
{
	size_t done = 0;

	while (done < size) {
		const struct vt_map *m =
			vt_addrspace_find(s->maps, (int32_t)pid, addr + done, MODE_USER);
		size_t n;

		if (!m || addr + done < addr)
			break;
		n = map_code(s, m, addr + done, bytes + done, size - done);
		if (!n)
			break;
		done += n;
	}
	return done;
}

size_t vti_spaces_code(struct vti_spaces *s, int64_t pid, uint64_t addr, uint8_t *bytes,
		       size_t size)
{
	size_t done = 0, n, gap;

	if (!s->sample.count)
		return image_code(s, pid, addr, bytes, size);
	while (done < size && addr + done >= addr) {
		n = vti_lines_copy(&s->sample, pid, addr + done, bytes + done, size - done, &gap);
		done += n;
		if (n)
			continue;
		n = image_code(s, pid, addr + done, bytes + done, gap);
		done += n;
		if (n < gap)
			break;
	}
	return done;
}

uint64_t vti_spaces_line(struct vti_spaces *s, int64_t pid, uint64_t addr,
			 uint8_t bytes[VT_KNOWN_LINE])
{
	uint64_t number = addr / VT_KNOWN_LINE ^ (uint64_t)pid << 5;
	struct vti_line *line = &s->lines[(number ^ number >> 11) % LINES];

	if (line->changes != s->changes || line->pid != pid || line->addr != addr) {
		line->known = read_constants(s, pid, addr, is_relocated(s, pid, addr), line->bytes,
					     &line->why);
		line->changes = s->changes;
		line->pid = pid;
		line->addr = addr;
	}
	if (line->known)
		memcpy(bytes, line->bytes, VT_KNOWN_LINE);
	s->constants_withheld[line->why] += line->why != VT_WITHHELD_NOT;
	return line->known;
}
