/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "image/images.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "image/addrspace.h"
#include "image/fileident.h"
#include "image/imagefile.h"
#include "image/lines.h"
#include "image/written.h"

/* One recording has some hundred; merged ones some thousand. */
#define MAX_IMAGES 1048576

/* An entry of the hash table, which moves its entries; images do not move. */
struct slot {
	uint32_t id;
	uint32_t unused;
	struct vti_image *image;
};

struct vt_images {
	struct vti_finder finder;
	struct vt_hash slots;
	struct vti_image *last;
	struct vt_hash jits; /* of struct vti_jit, by process */
	struct vti_idents idents;
	struct vti_written written;
	uint32_t nksymbols;
	uint32_t anon_pid; /* the only process with generated code; 0: none or several */
	bool anon_seen;
	struct vti_packed_left packed_left;
};

static const char *const unknown_texts[VT_NUNKNOWNS] = {
	[VT_KNOWN] = "known",
	[VT_UNKNOWN_NO_MAP] = "nothing known to be mapped there",
	[VT_UNKNOWN_NO_IMAGE] = "image not in the stream",
	[VT_UNKNOWN_NO_FILE] = "file not found",
	[VT_UNKNOWN_MISMATCH] = "file has another build-id",
	[VT_UNKNOWN_UNREADABLE] = "file cannot be read",
	[VT_UNKNOWN_ONLY_DEBUG] = "file has debug information only",
	[VT_UNKNOWN_CUT] = "file is cut off",
	[VT_UNKNOWN_STRIPPED] = "file is stripped of symbols",
	[VT_UNKNOWN_NO_SYMBOL] = "no symbol covers it",
	[VT_UNKNOWN_OUTSIDE] = "outside what the file loads",
	[VT_UNKNOWN_NO_JIT_MAP] = "generated code without a perf map",
	[VT_UNKNOWN_NO_KALLSYMS] = "no symbol list of that kernel",
	[VT_UNKNOWN_NO_VMLINUX] = "no vmlinux of that kernel, nor a readable /proc/kcore",
};

const char *vt_unknown_text(enum vt_unknown why)
{
	return (unsigned)why < VT_NUNKNOWNS ? unknown_texts[why] : "unknown";
}

struct vt_images *vt_images_new(const struct vt_images_options *opt, struct vt_error *err)
{
	struct vt_images *im;

	if (vt_find_check(&opt->find, err) < 0)
		return NULL;
	im = calloc(1, sizeof(*im));
	if (!im) {
		vt_error_set(err, VT_E_NOMEM, "out of memory for images");
		return NULL;
	}
	im->finder.opt = *opt;
	im->packed_left = (struct vti_packed_left){VTI_PACKED_BYTES, VTI_PACKED_ENTRIES};
	vt_hash_init(&im->slots, sizeof(struct slot), sizeof(uint32_t));
	vt_hash_init(&im->jits, sizeof(struct vti_jit), sizeof(int32_t));
	vti_idents_init(&im->idents);
	vti_written_init(&im->written);
	return im;
}

static struct vti_image *image_at_index(const struct vt_images *im, size_t i)
{
	return ((struct slot *)vt_hash_at(&im->slots, i))->image;
}

void vt_images_free(struct vt_images *im)
{
	size_t i;

	if (!im)
		return;
	for (i = 0; i < im->slots.count; i++)
		vti_image_free(image_at_index(im, i));
	for (i = 0; i < im->jits.count; i++)
		vt_symbols_free(((struct vti_jit *)vt_hash_at(&im->jits, i))->symbols);
	vt_hash_fini(&im->slots);
	vt_hash_fini(&im->jits);
	vti_idents_fini(&im->idents);
	vti_written_fini(&im->written);
	free(im->finder.release);
	free(im);
}

static struct vti_image *find_image(const struct vt_images *im, uint32_t id)
{
	const struct slot *s;

	if (im->last && im->last->pub.id == id)
		return im->last;
	s = vt_hash_find(&im->slots, &id);
	return s ? s->image : NULL;
}

/* The same, remembered: frames of a chain often lie in one image. */
static struct vti_image *find_image_again(struct vt_images *im, uint32_t id)
{
	struct vti_image *image = find_image(im, id);

	im->last = image;
	return image;
}

/* A repeated record of an image does not lose what was packed of it. */
static void keep_packed(struct vti_image *image, struct vti_image *old)
{
	if (strcmp(image->path, old->path) != 0 || image->pub.type != old->pub.type)
		return;
	image->packed = old->packed;
	old->packed = NULL;
}

int vt_images_add(struct vt_images *im, uint32_t id, unsigned type, const char *path,
		  size_t path_size, const uint8_t *buildid, size_t buildid_size,
		  struct vt_error *err)
{
	struct vti_image *image = vti_image_new(id, type, path, path_size, buildid, buildid_size);
	struct slot *s;

	if (!image)
		return vt_error_set(err, VT_E_NOMEM, "out of memory for images");
	s = vt_hash_find(&im->slots, &id);
	if (!s && im->slots.count >= MAX_IMAGES) {
		vti_image_free(image);
		return vt_error_set(err, VT_E_LIMIT, "more than %d images", MAX_IMAGES);
	}
	if (!s)
		s = vt_hash_add(&im->slots, &id, NULL);
	if (!s) {
		vti_image_free(image);
		return vt_error_set(err, VT_E_NOMEM, "out of memory for images");
	}
	if (s->image == im->finder.kernel)
		im->finder.kernel = NULL;
	/* Replacing an image does not undo the program's changes of its code. */
	if (s->image) {
		keep_packed(image, s->image);
		image->patches = s->image->patches;
		s->image->patches = (struct vti_ranges){0};
	}
	vti_image_free(s->image);
	s->image = image;
	im->last = NULL;
	if (type == VT_IMAGE_KERNEL)
		im->finder.kernel = image;
	return 0;
}

void vt_images_set_base(struct vt_images *im, uint32_t id, uint64_t address)
{
	struct vti_image *image = find_image(im, id);

	if (image && !image->base)
		image->base = address;
}

/* linux/mman.h, PROT_EXEC.  Streams without protections have 0. */
#define PROT_EXEC 4

static void note_generated_code(struct vt_images *im, const struct vt_record *rec)
{
	uint64_t prot = vt_record_u64(rec, VT_MAP_PROT);
	uint32_t pid = (uint32_t)vt_record_u64(rec, VT_MAP_PID);

	if (prot && !(prot & PROT_EXEC))
		return;
	if (im->anon_seen && im->anon_pid != pid)
		pid = 0;
	im->anon_seen = true;
	im->anon_pid = pid;
}

static int feed_image_map(struct vt_images *im, const struct vt_record *rec, struct vt_error *err)
{
	struct vti_image *image = find_image(im, (uint32_t)vt_record_u64(rec, VT_MAP_IMAGE));
	uint64_t start = vt_record_u64(rec, VT_MAP_START);
	struct vti_inode inode;

	if (vti_idents_feed(&im->idents, rec, err) < 0)
		return -VT_E_NOMEM;
	if (!image)
		return 0;
	if (image->pub.type == VT_IMAGE_ANON)
		note_generated_code(im, rec);
	if (image->pub.type == VT_IMAGE_KERNEL) {
		image->text = vt_record_u64(rec, VT_MAP_OFFSET);
		image->etext = start + vt_record_u64(rec, VT_MAP_LENGTH);
	}
	vt_images_set_base(im, image->pub.id, start - vt_record_u64(rec, VT_MAP_OFFSET));
	inode = vti_idents_inode(&im->idents, image->pub.id);
	return vti_written_feed(&im->written, &image->pub, &inode, rec, err);
}

/* Takes the release of the recorded kernel. */
static int feed_image_meta(struct vt_images *im, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_bytes value = vt_record_bytes(rec, VT_META_VALUE);
	char *release;

	if (!vt_record_is_meta(rec, "osrelease"))
		return 0;
	release = strndup((const char *)value.data, value.size);
	if (!release)
		return vt_error_set(err, VT_E_NOMEM, "out of memory for images");
	free(im->finder.release);
	im->finder.release = release;
	return 0;
}

static int feed_image_ksymbol(struct vt_images *im, const struct vt_record *rec,
			      struct vt_error *err)
{
	struct vt_bytes name = vt_record_bytes(rec, VT_KSYMBOL_NAME);
	uint32_t id = VT_KSYMBOL_IMAGE + im->nksymbols;
	struct vti_image *image;
	int rc;

	if (vt_record_u64(rec, VT_KSYMBOL_FLAGS) & VT_KSYMBOL_GOES)
		return 0;
	im->nksymbols++;
	rc = vt_images_add(im, id, VT_IMAGE_BPF, (const char *)name.data, name.size, NULL, 0, err);
	image = find_image(im, id);
	if (rc == 0 && image)
		image->length = vt_record_u64(rec, VT_KSYMBOL_LENGTH);
	return rc;
}

static int feed_image_packed(struct vt_images *im, const struct vt_record *rec,
			     struct vt_error *err)
{
	const unsigned field = vti_packed_image_field(rec->kind);
	struct vti_image *image = find_image(im, (uint32_t)vt_record_u64(rec, field));

	if (!image)
		return vt_error_set(err, VT_E_FORMAT, "a packed image that was not declared");
	if (image->elf_tried || image->symbols_tried)
		return vt_error_set(err, VT_E_FORMAT, "%s: packed again after its use",
				    image->path);
	if (!image->packed)
		image->packed = vti_packed_new();
	if (!image->packed)
		return vt_error_nomem(err);
	return vti_packed_feed(image->packed, rec, &im->packed_left, err);
}

int vt_images_feed(struct vt_images *im, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_bytes path, buildid;

	switch (rec->kind) {
	case VT_IMAGE:
		path = vt_record_bytes(rec, VT_IMAGE_PATH);
		buildid = vt_record_bytes(rec, VT_IMAGE_BUILDID);
		return vt_images_add(im, (uint32_t)vt_record_u64(rec, VT_IMAGE_ID),
				     (unsigned)vt_record_u64(rec, VT_IMAGE_TYPE),
				     (const char *)path.data, path.size, buildid.data, buildid.size,
				     err);
	case VT_MAP:
		return feed_image_map(im, rec, err);
	case VT_META:
		return feed_image_meta(im, rec, err) < 0 ? -VT_E_NOMEM
							 : vti_idents_feed(&im->idents, rec, err);
	case VT_KSYMBOL:
		return feed_image_ksymbol(im, rec, err);
	case VT_FILE:
	case VT_SYMBOL:
	case VT_LINE:
		return feed_image_packed(im, rec, err);
	default:
		return 0;
	}
}

unsigned vt_images_threads(const struct vt_images *im)
{
	return im->finder.opt.threads ? im->finder.opt.threads : 1;
}

size_t vt_images_count(const struct vt_images *im)
{
	return im->slots.count;
}

const struct vt_image *vt_images_get(const struct vt_images *im, uint32_t id)
{
	struct vti_image *image = find_image(im, id);

	return image ? &image->pub : NULL;
}

const struct vt_image *vt_images_at(const struct vt_images *im, size_t i)
{
	return &((const struct slot *)vt_hash_at(&im->slots, i))->image->pub;
}

/* Returns the packed image of generated code with symbols of a process, or NULL. */
static const struct vt_packed *find_packed_jit(const struct vt_images *im, int32_t pid)
{
	size_t i;

	for (i = 0; i < im->slots.count; i++) {
		const struct vti_image *image = image_at_index(im, i);

		if (image->packed && image->pub.type == VT_IMAGE_ANON &&
		    vti_packed_has_process(image->packed, pid))
			return image->packed;
	}
	return NULL;
}

/* Returns the symbols of a process's generated code. */
static struct vt_symbols *load_jit_symbols(struct vt_images *im, int32_t pid, enum vt_unknown *why)
{
	const struct vt_packed *packed;
	struct vti_jit *j;

	/* COUNT records have no process, but often only one has generated code. */
	if (pid <= 0)
		pid = (int32_t)im->anon_pid;
	j = vt_hash_find(&im->jits, &pid);
	if (!j) {
		j = vt_hash_add(&im->jits, &pid, NULL);
		if (!j) {
			*why = VT_UNKNOWN_UNREADABLE;
			return NULL;
		}
		packed = find_packed_jit(im, pid);
		if (packed)
			vti_jit_load_packed(j, packed);
		else
			vti_jit_load(&im->finder, j);
	}
	*why = j->why;
	return j->symbols;
}

/* Replaces a reason by VT_UNKNOWN_CUT if the file is truncated and may have had the symbol. */
static enum vt_unknown explain_unknown(const struct vti_image *image, enum vt_unknown why)
{
	bool lacks = why == VT_UNKNOWN_STRIPPED || why == VT_UNKNOWN_NO_SYMBOL ||
		     why == VT_UNKNOWN_OUTSIDE;

	return lacks && image->elf && vt_elf_info(image->elf)->cut ? VT_UNKNOWN_CUT : why;
}

struct vt_symbols *vt_images_symbols(struct vt_images *im, uint32_t id, int32_t pid,
				     enum vt_unknown *why)
{
	struct vti_image *image = find_image(im, id);

	if (!image) {
		*why = VT_UNKNOWN_NO_IMAGE;
		return NULL;
	}
	if (image->pub.type == VT_IMAGE_ANON)
		return load_jit_symbols(im, pid, why);
	vti_image_load_symbols(&im->finder, image);
	*why = explain_unknown(image, image->why);
	return image->symbols;
}

enum vt_unknown vt_images_symbol(struct vt_images *im, uint32_t id, int32_t pid, uint64_t offset,
				 struct vt_location *loc)
{
	struct vti_image *image = find_image_again(im, id);
	struct vt_symbols *symbols;

	*loc = (struct vt_location){VT_UNKNOWN_NO_IMAGE, offset, NULL};
	if (!image)
		return loc->why;
	symbols = vt_images_symbols(im, id, pid, &loc->why);
	if (image->pub.type != VT_IMAGE_ANON && !vti_image_vaddr(image, offset, &loc->vaddr)) {
		if (loc->why == VT_KNOWN || loc->why == VT_UNKNOWN_STRIPPED)
			loc->why = explain_unknown(image, VT_UNKNOWN_OUTSIDE);
		return loc->why;
	}
	if (!symbols)
		return loc->why;
	loc->symbol = image->last;
	if (!loc->symbol || loc->vaddr < loc->symbol->start || loc->vaddr >= image->last_end) {
		loc->symbol = vt_symbols_find(symbols, loc->vaddr);
		if (loc->symbol && image->pub.type != VT_IMAGE_ANON)
			vti_image_remember(image, loc->symbol);
	}
	loc->why = loc->symbol	     ? VT_KNOWN
		   : image->stripped ? explain_unknown(image, VT_UNKNOWN_STRIPPED)
				     : explain_unknown(image, VT_UNKNOWN_NO_SYMBOL);
	return loc->why;
}

const char *vt_images_display(struct vt_images *im, uint32_t id, int32_t pid,
			      const struct vt_symbol *sym)
{
	enum vt_unknown why;
	struct vt_symbols *symbols = vt_images_symbols(im, id, pid, &why);

	return symbols ? vt_symbols_display(symbols, sym) : sym->name;
}

const struct vt_elf *vt_images_elf(struct vt_images *im, uint32_t id, enum vt_unknown *why)
{
	struct vti_image *image = find_image_again(im, id);

	*why = VT_UNKNOWN_NO_IMAGE;
	if (!image)
		return NULL;
	vti_image_load_elf(&im->finder, image);
	vti_image_load_kcore(&im->finder, image);
	*why = image->elf || image->kcore ? VT_KNOWN : image->elf_why;
	return image->kcore ? vt_kcore_elf(image->kcore) : image->elf;
}

bool vt_images_offset(struct vt_images *im, uint32_t id, uint64_t vaddr, uint64_t *offset)
{
	struct vti_image *image = find_image(im, id);

	if (!image)
		return false;
	if (image->pub.type == VT_IMAGE_ANON) {
		*offset = vaddr;
		return true;
	}
	vti_image_load_symbols(&im->finder, image);
	return vti_image_offset(image, vaddr, offset);
}

const struct vt_imagedata *vt_images_data(struct vt_images *im, uint32_t id)
{
	struct vti_image *image = find_image_again(im, id);

	return image ? vti_image_load_data(&im->finder, image) : NULL;
}

struct vt_unwind *vt_images_unwind(struct vt_images *im, uint32_t id)
{
	struct vti_image *image = find_image_again(im, id);

	return image ? vti_image_load_unwind(&im->finder, image) : NULL;
}

struct vt_lines *vt_images_lines(struct vt_images *im, uint32_t id)
{
	struct vti_image *image = find_image(im, id);

	return image ? vti_image_load_lines(&im->finder, image) : NULL;
}

uint64_t vt_images_base(struct vt_images *im, uint32_t id)
{
	struct vti_image *image = find_image(im, id);

	if (!image || image->pub.type == VT_IMAGE_ANON)
		return 0;
	vti_image_load_symbols(&im->finder, image);
	return image->delta;
}

const struct vt_packed *vt_images_packed(const struct vt_images *im, uint32_t id)
{
	const struct vti_image *image = find_image(im, id);

	return image ? image->packed : NULL;
}

void *vt_images_kept(const struct vt_images *im, uint32_t id)
{
	const struct vti_image *image = find_image(im, id);

	return image ? image->kept : NULL;
}

bool vt_images_keep(struct vt_images *im, uint32_t id, void *what, void (*free_fn)(void *what))
{
	struct vti_image *image = find_image(im, id);

	if (!image)
		return false;
	if (image->kept)
		image->kept_free(image->kept);
	image->kept = what;
	image->kept_free = free_fn;
	return true;
}

enum vt_unknown vt_images_missing(const struct vt_images *im, size_t i)
{
	const struct vti_image *image = image_at_index(im, i);

	if (image->pub.type != VT_IMAGE_FILE || !image->elf_tried || image->elf || image->packed)
		return VT_KNOWN;
	return image->elf_why;
}

bool vt_images_stripped(struct vt_images *im, uint32_t id)
{
	const struct vti_image *image = find_image(im, id);

	return image && image->stripped;
}

bool vt_images_verified(struct vt_images *im, uint32_t id)
{
	struct vti_image *image = find_image(im, id);

	if (!image)
		return false;
	vti_image_load_elf(&im->finder, image);
	/* The recorded build-id may be that of any file mapped under this name. */
	if (!image->elf || vti_idents_several(&im->idents, id))
		return false;
	if (!image->ident_tried) {
		image->ident_tried = true;
		if (!image->verified && !image->pub.buildid_size)
			image->verified =
				vti_idents_same(&im->idents, id, vt_elf_info(image->elf)->path);
	}
	return image->verified;
}

bool vt_images_changed(struct vt_images *im, uint32_t id)
{
	struct vti_image *image = find_image(im, id);

	if (!image)
		return false;
	vti_image_load_elf(&im->finder, image);
	if (image->elf && !image->changed_tried) {
		image->changed_tried = true;
		image->changed =
			vti_idents_changed(&im->idents, id, vt_elf_info(image->elf)->path) ||
			vti_idents_changed(&im->idents, id, image->path);
	}
	return image->changed;
}

void vt_images_withhold(struct vt_images *im, uint32_t id)
{
	struct vti_image *image = find_image(im, id);

	if (image)
		image->withheld = true;
}

bool vt_images_withheld(const struct vt_images *im, size_t i)
{
	return image_at_index(im, i)->withheld;
}

void vt_images_patch(struct vt_images *im, uint32_t id, uint64_t offset, uint64_t length)
{
	struct vti_image *image = find_image(im, id);

	if (image)
		vti_ranges_add(&image->patches, offset, length);
}

bool vt_images_is_patched(const struct vt_images *im, uint32_t id, uint64_t offset)
{
	const struct vti_image *image = find_image(im, id);

	return image &&
	       (vti_ranges_has(&image->patches, offset) || vt_images_is_written(im, id, offset));
}

bool vt_images_is_written(const struct vt_images *im, uint32_t id, uint64_t offset)
{
	const struct vti_image *image = im->written.any ? find_image(im, id) : NULL;
	struct vti_inode inode = vti_idents_inode(&im->idents, id);

	return image && vti_written_has(&im->written, &image->pub, &inode, offset);
}

uint64_t vt_images_code_changes(const struct vt_images *im)
{
	return im->written.code_changes;
}
