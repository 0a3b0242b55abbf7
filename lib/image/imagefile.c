/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "image/imagefile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "image/imagedata.h"
#include "image/lines.h"
#include "image/unwind.h"

/* A long-lived runtime's perf map has some 10 MB. */
#define PERF_MAP_LIMIT ((size_t)256 << 20)

/* Addresses from here on are the kernel's on all 64-bit machines. */
#define KERNEL_HALF ((uint64_t)1 << 63)

static void warn_about_image(const struct vti_finder *f, const char *text)
{
	if (f->opt.warn)
		f->opt.warn(f->opt.warn_arg, text);
}

/* Returns a name for people: the file's; for the kernel, without its reference symbol. */
static char *make_short_name(unsigned type, const char *path)
{
	const char *slash = strrchr(path, '/'), *bracket = strchr(path, ']');

	if (type == VT_IMAGE_KERNEL && path[0] == '[' && bracket)
		return strndup(path, (size_t)(bracket - path) + 1);
	return strdup(type != VT_IMAGE_ANON && slash && slash[1] ? slash + 1 : path);
}

struct vti_image *vti_image_new(uint32_t id, unsigned type, const char *path, size_t path_size,
				const uint8_t *buildid, size_t buildid_size)
{
	struct vti_image *image = calloc(1, sizeof(*image));

	if (!image)
		return NULL;
	image->path = strndup(path_size ? path : "", path_size);
	image->name = image->path ? make_short_name(type, image->path) : NULL;
	if (!image->name) {
		vti_image_free(image);
		return NULL;
	}
	if (buildid_size > VT_BUILDID_MAX)
		buildid_size = VT_BUILDID_MAX;
	if (buildid_size)
		memcpy(image->buildid, buildid, buildid_size);
	image->pub = (struct vt_image){.id = id,
				       .type = type,
				       .path = image->path,
				       .name = image->name,
				       .buildid = image->buildid,
				       .buildid_size = buildid_size};
	return image;
}

void vti_image_free(struct vti_image *image)
{
	if (!image)
		return;
	if (image->kept)
		image->kept_free(image->kept);
	vt_lines_free(image->lines);
	vt_imagedata_free(image->data);
	vt_unwind_free(image->unwind);
	vt_symbols_free(image->symbols);
	vt_elf_close(image->debug);
	vt_elf_close(image->elf);
	vt_kcore_close(image->kcore);
	vti_packed_free(image->packed);
	vti_ranges_fini(&image->patches);
	free(image->path);
	free(image->name);
	free(image);
}

static enum vt_unknown unknown_of_error(const struct vt_error *err)
{
	switch (err->code) {
	case VT_E_NOTFOUND:
		return VT_UNKNOWN_NO_FILE;
	case VT_E_MISMATCH:
		return VT_UNKNOWN_MISMATCH;
	case VT_E_ABSENT:
		return VT_UNKNOWN_ONLY_DEBUG;
	default:
		return VT_UNKNOWN_UNREADABLE;
	}
}

/* Warns about a file that is used although its build-id could not be checked. */
static void warn_unverified(const struct vti_finder *f, const struct vti_image *image)
{
	const struct vt_elf_info *info = vt_elf_info(image->elf);
	char want[2 * VT_BUILDID_MAX + 1], found[2 * VT_BUILDID_MAX + 1];
	struct vt_buf b = VT_BUF_INIT;

	if (image->verified || !image->pub.buildid_size)
		return;
	vt_buildid_format(image->buildid, image->pub.buildid_size, want);
	vt_buildid_format(info->buildid, info->buildid_size, found);
	vt_buf_printf(&b, "%s is used although %s%s and %s was recorded", info->path,
		      found[0] ? "its build-id is " : "it has no build-id", found, want);
	warn_about_image(f, vt_buf_str(&b));
	vt_buf_free(&b);
}

/* Takes what was packed of the file for the file. */
static void load_packed_elf(struct vti_finder *f, struct vti_image *image)
{
	uint64_t flags = vti_packed_flags(image->packed);
	struct vt_error err = VT_ERROR_INIT;

	image->elf = vti_packed_elf(image->packed, image->path, &err);
	image->elf_why = image->elf			      ? VT_KNOWN
			 : image->pub.type == VT_IMAGE_KERNEL ? VT_UNKNOWN_NO_VMLINUX
							      : unknown_of_error(&err);
	if (image->elf)
		image->pub.machine = vt_elf_info(image->elf)->machine;
	else if (err.code != VT_E_NOTFOUND)
		warn_about_image(f, err.text);
	image->verified = (flags & VT_FILE_VERIFIED) != 0;
	image->changed = (flags & VT_FILE_CHANGED) != 0;
	image->ident_tried = image->changed_tried = image->kcore_tried = image->debug_tried = true;
}

static void load_elf(struct vti_finder *f, struct vti_image *image)
{
	const struct vt_image *pub = &image->pub;
	struct vt_error err = VT_ERROR_INIT;

	if (image->packed) {
		load_packed_elf(f, image);
		return;
	}
	image->elf_why = VT_UNKNOWN_NO_FILE;
	if (pub->type == VT_IMAGE_KERNEL)
		image->elf = vt_find_vmlinux(&f->opt.find, pub->buildid, pub->buildid_size, &err);
	else if (pub->type != VT_IMAGE_ANON && pub->type != VT_IMAGE_BPF)
		image->elf = vt_find_image(&f->opt.find, pub->path, pub->buildid, pub->buildid_size,
					   &image->verified, &err);
	else
		return;
	if (image->elf) {
		image->elf_why = VT_KNOWN;
		image->verified |= pub->type == VT_IMAGE_KERNEL;
		image->pub.machine = vt_elf_info(image->elf)->machine;
		warn_unverified(f, image);
	} else {
		image->elf_why = unknown_of_error(&err);
		/* Do not warn about mapped data, which has no recorded build-id. */
		if (image->elf_why != VT_UNKNOWN_NO_FILE &&
		    (err.code != VT_E_FORMAT || pub->buildid_size))
			warn_about_image(f, err.text);
	}
}

/*
 * What is asked for every frame of a chain is one test once it is loaded: an error is large, and
 * only the functions that load have one.
 */
void vti_image_load_elf(struct vti_finder *f, struct vti_image *image)
{
	if (image->elf_tried)
		return;
	image->elf_tried = true;
	load_elf(f, image);
}

static void load_kcore(struct vti_finder *f, struct vti_image *image)
{
	const struct vt_image *pub = &image->pub;
	struct vt_error err = VT_ERROR_INIT;
	uint64_t etext;

	vti_image_load_symbols(f, image);
	if (image->elf_why == VT_UNKNOWN_NO_FILE)
		image->elf_why = VT_UNKNOWN_NO_VMLINUX;
	if (!image->symbols || !vt_symbols_address_of(image->symbols, "_etext", &etext))
		return;
	image->kcore = vt_find_kcore(&f->opt.find, pub->buildid, pub->buildid_size, image->delta,
				     etext, &err);
	if (image->kcore)
		image->pub.machine = vt_elf_info(vt_kcore_elf(image->kcore))->machine;
	else if (err.code != VT_E_NOTFOUND)
		warn_about_image(f, err.text);
}

void vti_image_load_kcore(struct vti_finder *f, struct vti_image *image)
{
	if (image->kcore_tried || image->pub.type != VT_IMAGE_KERNEL || image->elf)
		return;
	image->kcore_tried = true;
	load_kcore(f, image);
}

static void load_debug_file(struct vti_finder *f, struct vti_image *image)
{
	const struct vt_elf_info *info;
	struct vt_error err = VT_ERROR_INIT;

	if (image->debug_tried || !image->elf)
		return;
	image->debug_tried = true;
	info = vt_elf_info(image->elf);
	if (!info->has_symtab || !info->has_dwarf)
		image->debug = vt_find_debug(&f->opt.find, image->elf, info->buildid,
					     info->buildid_size, &err);
}

/*
 * Finishes a table and makes it the image's, or frees it and sets the reason why there is none.
 * `rc` is the result of filling it; `t` may be NULL for want of memory.
 */
static void set_image_symbols(struct vti_image *image, struct vt_symbols *t, int rc)
{
	struct vt_error err = VT_ERROR_INIT;

	if (rc == 0 && t && vt_symbols_finish(t, &err) == 0 && vt_symbols_count(t)) {
		image->symbols = t;
		image->why = VT_KNOWN;
		return;
	}
	image->why = rc == 0 && t ? VT_UNKNOWN_STRIPPED : VT_UNKNOWN_UNREADABLE;
	vt_symbols_free(t);
}

static void load_elf_symbols(struct vti_finder *f, struct vti_image *image)
{
	const struct vt_elf_info *info;
	struct vt_error err = VT_ERROR_INIT;
	struct vt_symbols *t;
	int rc = 0;

	vti_image_load_elf(f, image);
	if (!image->elf) {
		image->why = image->elf_why;
		return;
	}
	info = vt_elf_info(image->elf);
	if (!info->has_symtab)
		load_debug_file(f, image);
	image->stripped =
		!info->has_symtab && !(image->debug && vt_elf_info(image->debug)->has_symtab);
	t = vt_symbols_new();
	if (t && image->debug && vt_elf_info(image->debug)->has_symtab && !info->has_symtab)
		rc = vt_symbols_add_elf(t, image->debug, image->elf, &err);
	else if (t)
		rc = vt_symbols_add_elf(t, image->elf, NULL, &err);
	if (t && rc == 0)
		rc = vt_symbols_add_plt(t, image->elf, &err);
	if (t && rc == 0 && image->stripped)
		rc = vt_symbols_add_frames(t, image->elf, &err);
	if (rc < 0)
		warn_about_image(f, err.text);
	set_image_symbols(image, t, rc);
}

static void load_packed_symbols(struct vti_finder *f, struct vti_image *image)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_symbols *t = vt_symbols_new();
	int rc = t ? vti_packed_symbols(image->packed, 0, t, &err) : 0;

	vti_image_load_elf(f, image);
	image->stripped = (vti_packed_flags(image->packed) & VT_FILE_STRIPPED) != 0;
	image->delta = vti_packed_base(image->packed);
	if (rc < 0)
		warn_about_image(f, err.text);
	set_image_symbols(image, t, rc);
}

/* ---- the kernel and its modules ---------------------------------------------------- */

/* Returns the symbol at the end of the kernel's recorded name: `[kernel.kallsyms]_text`. */
static const char *reference_symbol(const struct vti_image *image)
{
	const char *bracket = strchr(image->path, ']');

	return bracket && bracket[1] ? bracket + 1 : "_text";
}

/*
 * A kernel recorded without a build-id, as in perf's pipe mode, may be the running one.  Then the
 * release is the same, and so are the addresses at which its code begins and ends, which differ
 * between builds of a release and between boots with randomised addresses.
 */
static char *read_running_kallsyms(const struct vti_finder *f, const struct vti_image *image,
				   size_t *size, struct vt_error *err)
{
	char *release;
	bool same;

	if (image->pub.buildid_size || f->opt.find.symfs || !f->release || !image->etext)
		return NULL;
	release = vt_find_read("/proc/sys/kernel/osrelease", 4096, size, err);
	if (!release)
		return NULL;
	release[strcspn(release, "\n")] = 0;
	same = strcmp(release, f->release) == 0;
	free(release);
	return same ? vt_find_read("/proc/kallsyms", VT_KALLSYMS_LIMIT, size, err) : NULL;
}

static bool has_recorded_addresses(const struct vti_image *image)
{
	uint64_t text, etext;

	return vt_symbols_address_of(image->symbols, reference_symbol(image), &text) &&
	       vt_symbols_address_of(image->symbols, "_etext", &etext) && text == image->text &&
	       etext == image->etext;
}

/* Sets the symbols of a module, or of the kernel for NULL, from a kallsyms text, and frees that. */
static void set_kallsyms(struct vti_image *image, char *text, size_t size, const char *module)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_symbols *t = vt_symbols_new();
	int rc = t ? vt_symbols_add_kallsyms(t, text, size, module, &err) : 0;

	free(text);
	set_image_symbols(image, t, rc);
}

static void load_kernel_symbols(struct vti_finder *f, struct vti_image *image)
{
	const struct vt_image *pub = &image->pub;
	struct vt_error err = VT_ERROR_INIT;
	bool running = false;
	uint64_t ref = 0;
	size_t size;
	char *text;

	vti_image_load_elf(f, image);
	if (image->elf && vt_elf_info(image->elf)->has_symtab)
		load_elf_symbols(f, image);
	if (!image->symbols) {
		text = vt_find_kallsyms(&f->opt.find, pub->buildid, pub->buildid_size, &size, &err);
		if (!text) {
			text = read_running_kallsyms(f, image, &size, &err);
			running = text != NULL;
		}
		image->why = VT_UNKNOWN_NO_KALLSYMS;
		if (!text)
			return;
		set_kallsyms(image, text, size, NULL);
	}
	if (!image->symbols)
		return;
	if (vt_symbols_address_of(image->symbols, reference_symbol(image), &ref) && ref &&
	    (!running || has_recorded_addresses(image))) {
		image->delta = ref;
		return;
	}
	/* Addresses are hidden (kptr_restrict), or the list is another kernel's. */
	vt_symbols_free(image->symbols);
	image->symbols = NULL;
	image->why = VT_UNKNOWN_NO_KALLSYMS;
}

/* Makes kallsyms' name, `nf_tables`, of `[nf_tables]` or `/lib/modules/…/nf-tables.ko.xz`. */
static void make_module_name(const struct vti_image *image, char *out, size_t room)
{
	const char *s = image->name + (image->name[0] == '[');
	size_t i;

	for (i = 0; i + 1 < room && s[i] && s[i] != ']' && s[i] != '.'; i++)
		out[i] = s[i] == '-' ? '_' : s[i];
	out[i] = 0;
}

static void load_module_symbols(struct vti_finder *f, struct vti_image *image)
{
	const struct vt_image *kernel = f->kernel ? &f->kernel->pub : NULL;
	struct vt_error err = VT_ERROR_INIT;
	char module[128];
	size_t size;
	char *text;

	load_elf_symbols(f, image);
	if (image->symbols || !kernel)
		return;
	text = vt_find_kallsyms(&f->opt.find, kernel->buildid, kernel->buildid_size, &size, &err);
	if (!text) {
		image->why = VT_UNKNOWN_NO_KALLSYMS;
		return;
	}
	make_module_name(image, module, sizeof(module));
	set_kallsyms(image, text, size, module);
	image->stripped = false;
	image->delta = image->base;
}

/* ---- generated code -------------------------------------------------------------- */

/* Makes the one symbol of code generated by the kernel, with the image's name. */
static void make_ksymbol(struct vti_image *image)
{
	uint64_t size = image->length ? image->length : UINT64_MAX;
	struct vt_error err = VT_ERROR_INIT;
	struct vt_symbols *t = vt_symbols_new();

	set_image_symbols(image, t,
			  t ? vt_symbols_add(t, 0, size, VT_SYMBOL_GLOBAL, image->path, &err) : 0);
}

/* Makes the symbols of a process; `rc` is the result of filling the table. */
static void set_jit_symbols(struct vti_jit *jit, struct vt_symbols *t, int rc)
{
	struct vt_error err = VT_ERROR_INIT;

	if (rc < 0 || !t || vt_symbols_finish(t, &err) < 0) {
		vt_symbols_free(t);
		jit->why = VT_UNKNOWN_UNREADABLE;
		return;
	}
	jit->symbols = t;
	jit->why = VT_KNOWN;
}

void vti_jit_load_packed(struct vti_jit *jit, const struct vt_packed *packed)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_symbols *t = vt_symbols_new();

	set_jit_symbols(jit, t, t ? vti_packed_symbols(packed, jit->pid, t, &err) : 0);
}

void vti_jit_load(struct vti_finder *f, struct vti_jit *jit)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_buf path = VT_BUF_INIT;
	struct vt_symbols *t;
	char *text = NULL;
	size_t size = 0;

	jit->why = VT_UNKNOWN_NO_JIT_MAP;
	if (!f->opt.perf_map_dir)
		return;
	vt_buf_printf(&path, "%s/perf-%d.map", f->opt.perf_map_dir, (int)jit->pid);
	text = vt_find_read(vt_buf_str(&path), PERF_MAP_LIMIT, &size, &err);
	if (!text && err.code != VT_E_NOTFOUND) {
		jit->why = VT_UNKNOWN_UNREADABLE;
		warn_about_image(f, err.text);
	}
	vt_buf_free(&path);
	if (!text)
		return;
	t = vt_symbols_new();
	set_jit_symbols(jit, t, t ? vt_symbols_add_perf_map(t, text, size, &err) : 0);
	free(text);
}

/* ---------------------------------------------------------------------------------- */

void vti_image_load_symbols(struct vti_finder *f, struct vti_image *image)
{
	if (image->symbols_tried)
		return;
	image->symbols_tried = true;
	if (image->packed) {
		load_packed_symbols(f, image);
		return;
	}
	switch (image->pub.type) {
	case VT_IMAGE_KERNEL:
		load_kernel_symbols(f, image);
		break;
	case VT_IMAGE_MODULE:
		load_module_symbols(f, image);
		break;
	case VT_IMAGE_BPF:
		make_ksymbol(image);
		break;
	default:
		load_elf_symbols(f, image);
	}
}

struct vt_lines *vti_image_load_lines(struct vti_finder *f, struct vti_image *image)
{
	struct vt_error err = VT_ERROR_INIT;

	if (image->lines_tried)
		return image->lines;
	image->lines_tried = true;
	vti_image_load_elf(f, image);
	if (image->packed && vti_packed_flags(image->packed) & VT_FILE_LINES)
		image->lines = vti_lines_new_packed(image->packed, &err);
	if (!image->elf || image->packed)
		return image->lines;
	if (vt_elf_info(image->elf)->has_dwarf) {
		image->lines = vt_lines_new(image->elf, &err);
	} else {
		load_debug_file(f, image);
		if (image->debug && vt_elf_info(image->debug)->has_dwarf)
			image->lines = vt_lines_new(image->debug, &err);
	}
	if (!image->lines && err.code != VT_OK && err.code != VT_E_NOTFOUND)
		warn_about_image(f, err.text);
	return image->lines;
}

/* True for the kernel, modules known from kallsyms only, and code generated by the kernel. */
static bool has_no_file_offsets(const struct vti_image *image)
{
	return image->pub.type == VT_IMAGE_KERNEL || image->pub.type == VT_IMAGE_BPF ||
	       (image->pub.type == VT_IMAGE_MODULE && image->delta);
}

bool vti_image_vaddr(const struct vti_image *image, uint64_t offset, uint64_t *vaddr)
{
	if (has_no_file_offsets(image)) {
		/* Recordings without the reference symbol's address have offsets from 0. */
		*vaddr = offset >= KERNEL_HALF && image->delta >= KERNEL_HALF
				 ? offset
				 : offset + image->delta;
		return true;
	}
	*vaddr = offset;
	return image->elf && vt_elf_offset_to_vaddr(image->elf, offset, vaddr);
}

bool vti_image_offset(const struct vti_image *image, uint64_t vaddr, uint64_t *offset)
{
	if (has_no_file_offsets(image)) {
		*offset = vaddr - image->delta;
		return true;
	}
	return image->elf && vt_elf_vaddr_to_offset(image->elf, vaddr, offset);
}

void vti_image_remember(struct vti_image *image, const struct vt_symbol *sym)
{
	const struct vt_symbol *first = vt_symbols_at(image->symbols, 0);
	size_t next = (size_t)(sym - first) + 1;

	image->last = sym;
	image->last_end = sym->end;
	if (next < vt_symbols_count(image->symbols) && sym[1].start < sym->end)
		image->last_end = sym[1].start;
}

static void load_data(struct vti_finder *f, struct vti_image *image)
{
	struct vt_error err = VT_ERROR_INIT;

	vti_image_load_elf(f, image);
	if (image->elf)
		image->data = vt_imagedata_new(image->elf, &err);
}

struct vt_imagedata *vti_image_load_data(struct vti_finder *f, struct vti_image *image)
{
	if (!image->data_tried)
		load_data(f, image);
	image->data_tried = true;
	return image->data;
}

static void load_unwind(struct vti_finder *f, struct vti_image *image)
{
	struct vt_error err = VT_ERROR_INIT;

	vti_image_load_elf(f, image);
	if (image->elf)
		image->unwind = vt_unwind_new(image->elf, &err);
}

struct vt_unwind *vti_image_load_unwind(struct vti_finder *f, struct vti_image *image)
{
	if (!image->unwind_tried)
		load_unwind(f, image);
	image->unwind_tried = true;
	return image->unwind;
}
