/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/pt/raw/code.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/opt.h"
#include "formats/common/wholefile.h"
#include "image/elf.h"
#include "stream/kinds.h"

/* A file with code. */
struct source {
	char *path; /* as the user named it */
	struct vt_wholefile file;
	unsigned type; /* enum vt_image_type */
	unsigned machine;
	size_t buildid_size;
	uint8_t buildid[VT_BUILDID_MAX];
};

struct mapping {
	size_t source;
	uint64_t start;
	uint64_t length;
	uint64_t offset; /* in the file */
};

struct vt_pt_rawcode {
	struct vt_pt_code *code;
	struct source *sources;
	size_t nsources;
	size_t sources_cap;
	struct mapping *mappings;
	size_t nmappings;
	size_t mappings_cap;
};

static int set_rawcode_nomem(struct vt_error *err)
{
	return vt_error_set(err, VT_E_NOMEM, "out of memory for code");
}

/* ---- both kinds ---- */

/* Reads a file; its number is r->nsources - 1. */
static int add_source(struct vt_pt_rawcode *r, const char *path, struct vt_error *err)
{
	struct source *s;
	int code;

	if (!vt_array_grow(&r->sources, &r->sources_cap, r->nsources + 1, sizeof(*r->sources)))
		return set_rawcode_nomem(err);
	s = &r->sources[r->nsources];
	*s = (struct source){.path = strdup(path), .type = VT_IMAGE_ANON};
	if (!s->path)
		return set_rawcode_nomem(err);
	code = vt_wholefile_open(&s->file, path, err);
	if (code < 0) {
		free(s->path);
		return code;
	}
	r->nsources++;
	return 0;
}

/* Maps `length` bytes of the newest file; they lie within it. */
static int add_mapping(struct vt_pt_rawcode *r, uint64_t start, uint64_t length, uint64_t offset,
		       struct vt_error *err)
{
	const struct source *s = &r->sources[r->nsources - 1];
	/* A compressed file, or a pipe, does not have these bytes at this offset. */
	const char *path = s->file.mapped ? s->path : NULL;
	struct vt_pt_section section = {start, length, s->file.bytes + offset, path, offset};
	int code = vt_pt_code_add(r->code, &section, err);

	if (code < 0)
		return vt_error_prefix(err, "%s", s->path);
	if (!vt_array_grow(&r->mappings, &r->mappings_cap, r->nmappings + 1, sizeof(*r->mappings)))
		return set_rawcode_nomem(err);
	r->mappings[r->nmappings++] = (struct mapping){r->nsources - 1, start, length, offset};
	return 0;
}

/* ---- images ---- */

/* An argument, split at colons from its end. */
struct image_arg {
	char *path;
	uint64_t addr;
	uint64_t offset;
	uint64_t size;
	bool part; /* offset and size were given */
};

/* Removes the last colon and the number after it from `text`.  False: there is none. */
static bool take_number(char *text, uint64_t *value)
{
	struct vt_error ignored = VT_ERROR_INIT;
	char *colon = strrchr(text, ':');

	if (!colon || colon == text || vt_parse_u64(colon + 1, "", value, &ignored) < 0)
		return false;
	*colon = '\0';
	return true;
}

static int parse_image(struct image_arg *a, const char *text, struct vt_error *err)
{
	uint64_t n[3] = {0};
	unsigned count = 0;
	char *path = strdup(text);

	*a = (struct image_arg){.path = path};
	if (!path)
		return set_rawcode_nomem(err);
	while (count < 3 && take_number(path, &n[count]))
		count++;
	/* FILE:1:2 is the file "FILE:1" at 2. */
	if (count == 2) {
		memcpy(path, text, strlen(text) + 1);
		take_number(path, &n[0]);
	}
	*a = (struct image_arg){.path = path, .addr = n[0]};
	if (count == 3)
		*a = (struct image_arg){path, n[2], n[1], n[0], true};
	if (count)
		return 0;
	free(path);
	vt_error_set(err, VT_E_USAGE, "--image: '%s' is not FILE:ADDR or FILE:ADDR:OFFSET:SIZE",
		     text);
	return -VT_E_USAGE;
}

/* Maps the executable segments of an ELF file, or all if none is executable. */
static int add_elf_segments(struct vt_pt_rawcode *r, const struct vt_elf *elf, uint64_t addr,
			    struct vt_error *err)
{
	const struct source *s = &r->sources[r->nsources - 1];
	const uint64_t mask = VT_PT_PAGE - 1;
	const struct vt_elf_segment *all;
	uint64_t lowest = UINT64_MAX;
	bool exec = false;
	size_t i, n;
	int code = 0;

	all = vt_elf_segments(elf, &n);
	for (i = 0; i < n; i++) {
		if ((all[i].vaddr & ~mask) < lowest)
			lowest = all[i].vaddr & ~mask;
		exec = exec || (all[i].exec && all[i].filesz);
	}
	for (i = 0; i < n && code >= 0; i++) {
		const uint64_t head = all[i].vaddr & mask;
		uint64_t offset = all[i].offset, size = all[i].filesz;

		if (!size || (exec && !all[i].exec))
			continue;
		/* Whole pages are mapped, with some bytes of the neighbouring segments. */
		if ((offset & mask) == head) {
			offset -= head;
			size += head;
			size += -size & mask;
		}
		if (size > s->file.size - offset)
			size = s->file.size - offset;
		code = add_mapping(r, addr + (all[i].vaddr - (all[i].offset - offset) - lowest),
				   size, offset, err);
	}
	if (code >= 0 && (!n || lowest == UINT64_MAX))
		return vt_error_set(err, VT_E_FORMAT, "%s: an ELF file without loadable segments",
				    s->path);
	return code;
}

/* Opens the newest file if it is an ELF file, and keeps what its IMAGE record needs. */
static struct vt_elf *open_elf(struct vt_pt_rawcode *r, struct vt_error *err)
{
	struct source *s = &r->sources[r->nsources - 1];
	const struct vt_elf_info *info;
	struct vt_elf *elf;

	if (s->file.size < 4 || memcmp(s->file.bytes, "\177ELF", 4) != 0)
		return NULL;
	elf = vt_elf_open_memory(s->file.bytes, s->file.size, s->path, err);
	if (!elf)
		return NULL;
	info = vt_elf_info(elf);
	s->type = VT_IMAGE_FILE;
	s->machine = info->machine;
	s->buildid_size = info->buildid_size;
	memcpy(s->buildid, info->buildid, info->buildid_size);
	return elf;
}

static int add_part(struct vt_pt_rawcode *r, const struct image_arg *a, struct vt_error *err)
{
	const uint64_t size = r->sources[r->nsources - 1].file.size;

	if (!a->size || a->offset > size || a->size > size - a->offset)
		return vt_error_set(err, VT_E_USAGE,
				    "--image: %s: %" PRIu64 " bytes from offset %" PRIu64
				    " are not within its %" PRIu64 " bytes",
				    a->path, a->size, a->offset, size);
	return add_mapping(r, a->addr, a->size, a->offset, err);
}

static int add_raw_image(struct vt_pt_rawcode *r, const char *text, struct vt_error *err)
{
	struct image_arg a;
	struct vt_elf *elf = NULL;
	int code = parse_image(&a, text, err);

	if (code < 0)
		return code;
	code = add_source(r, a.path, err);
	if (code >= 0) {
		elf = open_elf(r, err);
		if (!elf && err->code != VT_OK)
			code = -(int)err->code;
	}
	if (code >= 0 && a.part)
		code = add_part(r, &a, err);
	else if (code >= 0 && elf)
		code = add_elf_segments(r, elf, a.addr, err);
	else if (code >= 0 && !r->sources[r->nsources - 1].file.size)
		code = vt_error_set(err, VT_E_FORMAT, "%s: the file is empty", a.path);
	else if (code >= 0)
		code = add_mapping(r, a.addr, r->sources[r->nsources - 1].file.size, 0, err);
	vt_elf_close(elf);
	free(a.path);
	return code;
}

/* ---- pages ---- */

struct page {
	uint64_t addr;
	uint64_t index; /* in the dump */
};

static int compare_pages(const void *a, const void *b)
{
	const struct page *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->index < y->index ? -1 : 1;
}

/* Maps pages; those contiguous both in memory and in the dump are one mapping. */
static int add_sorted_pages(struct vt_pt_rawcode *r, const struct page *pages, size_t n,
			    struct vt_error *err)
{
	size_t i, first = 0;
	int code = 0;

	for (i = 1; i <= n && code >= 0; i++) {
		const uint64_t run = i - first;

		if (i < n && pages[i].addr == pages[first].addr + run * VT_PT_PAGE &&
		    pages[i].index == pages[first].index + run)
			continue;
		code = add_mapping(r, pages[first].addr, run * VT_PT_PAGE,
				   pages[first].index * VT_PT_PAGE, err);
		first = i;
	}
	return code;
}

static int check_page_list(const char *dump, uint64_t dumped, const char *list, uint64_t listed,
			   struct vt_error *err)
{
	if (listed % 8)
		return vt_error_set(err, VT_E_FORMAT,
				    "%s: %" PRIu64 " bytes are no list of 8-byte addresses", list,
				    listed);
	if (dumped % VT_PT_PAGE || dumped / VT_PT_PAGE != listed / 8)
		return vt_error_set(err, VT_E_FORMAT,
				    "%s: %" PRIu64 " bytes are not the %" PRIu64
				    " pages of %d bytes that %s lists",
				    dump, dumped, listed / 8, VT_PT_PAGE, list);
	if (!listed)
		return vt_error_set(err, VT_E_FORMAT, "%s: the list is empty", list);
	return 0;
}

static int place_pages(struct vt_pt_rawcode *r, const char *list, const struct vt_wholefile *addrs,
		       struct vt_error *err)
{
	const struct source *s = &r->sources[r->nsources - 1];
	const size_t n = addrs->size / 8;
	struct page *pages;
	size_t i;
	int code = check_page_list(s->path, s->file.size, list, addrs->size, err);

	if (code < 0)
		return code;
	pages = malloc(n * sizeof(*pages));
	if (!pages)
		return set_rawcode_nomem(err);
	for (i = 0; i < n; i++)
		pages[i] = (struct page){
			vt_le64(addrs->bytes + i * 8) & ~(uint64_t)(VT_PT_PAGE - 1), i};
	qsort(pages, n, sizeof(*pages), compare_pages);
	code = add_sorted_pages(r, pages, n, err);
	free(pages);
	return code;
}

static int add_pages(struct vt_pt_rawcode *r, const char *text, struct vt_error *err)
{
	struct vt_wholefile addrs;
	const char *comma = strrchr(text, ',');
	char *dump;
	int code;

	if (!comma || comma == text || !comma[1])
		return vt_error_set(err, VT_E_USAGE, "--pages: '%s' is not DUMP,ADDRS", text);
	dump = strndup(text, (size_t)(comma - text));
	if (!dump)
		return set_rawcode_nomem(err);
	code = add_source(r, dump, err);
	free(dump);
	if (code < 0)
		return code;
	code = vt_wholefile_open(&addrs, comma + 1, err);
	if (code < 0)
		return code;
	code = place_pages(r, comma + 1, &addrs, err);
	vt_wholefile_fini(&addrs);
	return code;
}

/* ---- all files ---- */

struct vt_pt_rawcode *vt_pt_rawcode_new(const struct vt_pt_decode_options *opt,
					struct vt_error *err)
{
	struct vt_pt_rawcode *r = calloc(1, sizeof(*r));
	int code = 0;
	size_t i;

	if (r)
		r->code = vt_pt_code_new();
	if (!r || !r->code) {
		set_rawcode_nomem(err);
		free(r);
		return NULL;
	}
	for (i = 0; i < opt->nimages && code >= 0; i++)
		code = add_raw_image(r, opt->images[i], err);
	for (i = 0; i < opt->npages && code >= 0; i++)
		code = add_pages(r, opt->pages[i], err);
	if (code < 0) {
		vt_pt_rawcode_free(r);
		return NULL;
	}
	return r;
}

void vt_pt_rawcode_free(struct vt_pt_rawcode *r)
{
	size_t i;

	if (!r)
		return;
	vt_pt_code_free(r->code);
	for (i = 0; i < r->nsources; i++) {
		vt_wholefile_fini(&r->sources[i].file);
		free(r->sources[i].path);
	}
	free(r->sources);
	free(r->mappings);
	free(r);
}

const struct vt_pt_code *vt_pt_rawcode_code(const struct vt_pt_rawcode *r)
{
	return r->code;
}

/* Writes the absolute path: other programs may run in another directory. */
static void write_path(struct vt_writer *w, const char *path)
{
	char here[PATH_MAX];
	struct vt_buf full = VT_BUF_INIT;

	if (path[0] != '/' && getcwd(here, sizeof(here)))
		vt_buf_printf(&full, "%s/", strcmp(here, "/") == 0 ? "" : here);
	vt_buf_printf(&full, "%s", path);
	vt_writer_text(w, VT_IMAGE_PATH, full.failed ? path : vt_buf_str(&full));
	vt_buf_free(&full);
}

void vt_pt_rawcode_write(const struct vt_pt_rawcode *r, struct vt_writer *w, int64_t pid)
{
	uint64_t *row;
	size_t i;

	for (i = 0; i < r->nsources; i++) {
		const struct source *s = &r->sources[i];

		row = vt_writer_row(w, VT_IMAGE);
		row[VT_IMAGE_ID] = i;
		row[VT_IMAGE_TYPE] = s->type;
		row[VT_IMAGE_MACHINE] = s->machine ? s->machine : VT_MACHINE_X86_64;
		if (s->type == VT_IMAGE_FILE)
			write_path(w, s->path);
		else
			vt_writer_text(w, VT_IMAGE_PATH, "//anon");
		vt_writer_bytes(w, VT_IMAGE_BUILDID, s->buildid, s->buildid_size);
	}
	for (i = 0; i < r->nmappings; i++) {
		const struct mapping *m = &r->mappings[i];
		const bool file = r->sources[m->source].type == VT_IMAGE_FILE;

		row = vt_writer_row(w, VT_MAP);
		row[VT_MAP_PID] = (uint64_t)pid;
		row[VT_MAP_TID] = (uint64_t)pid;
		row[VT_MAP_START] = m->start;
		row[VT_MAP_LENGTH] = m->length;
		row[VT_MAP_OFFSET] = file ? m->offset : m->start;
		row[VT_MAP_IMAGE] = m->source;
		row[VT_MAP_PROT] = PROT_READ | PROT_EXEC;
	}
}
