/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/slice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "profile/slice_internal.h"
#include "profile/threads.h"
#include "stream/units.h"

/* Whether an image passes: asked for each sample, found once. */
struct verdict {
	uint32_t image; /* the key */
	bool passes;
};

struct vt_slice {
	struct vti_slice_filter filters[VT_NSLICES];
	struct vt_slice_counts counts;
	struct vt_threads *threads;
	struct vt_context *context;
	struct vt_hash images; /* struct verdict */
	uint64_t zero;	       /* the time of the first sample */
	bool has_zero;
};

struct vt_slice *vt_slice_new(void)
{
	struct vt_slice *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	vt_hash_init(&s->images, sizeof(struct verdict), sizeof(uint32_t));
	s->threads = vt_threads_new();
	if (s->threads)
		return s;
	vt_slice_free(s);
	return NULL;
}

void vt_slice_free(struct vt_slice *s)
{
	int by;

	if (!s)
		return;
	for (by = 0; by < VT_NSLICES; by++)
		vti_slice_filter_fini(&s->filters[by]);
	vt_threads_free(s->threads);
	vt_hash_fini(&s->images);
	free(s);
}

int vt_slice_add(struct vt_slice *s, enum vt_slice_by by, const char *text, struct vt_error *err)
{
	struct vti_slice_filter *f = &s->filters[by];

	switch (by) {
	case VT_SLICE_TIME:
		return vti_slice_add_time(f, text, err);
	case VT_SLICE_COMM:
	case VT_SLICE_IMAGE:
	case VT_SLICE_SYMBOL:
		return vti_slice_add_patterns(f, text, by == VT_SLICE_SYMBOL, err);
	default:
		return vti_slice_add_numbers(f, text, err);
	}
}

bool vt_slice_has(const struct vt_slice *s, enum vt_slice_by by)
{
	return s->filters[by].count > 0;
}

void vt_slice_set_context(struct vt_slice *s, struct vt_context *context)
{
	s->context = context;
}

int vt_slice_restart(struct vt_slice *s, struct vt_error *err)
{
	struct vt_threads *threads = vt_threads_new();

	if (!threads)
		return vt_error_nomem(err);
	vt_threads_free(s->threads);
	s->threads = threads;
	vt_hash_clear(&s->images);
	s->has_zero = false;
	s->zero = 0;
	memset(&s->counts, 0, sizeof(s->counts));
	return 0;
}

const struct vt_slice_counts *vt_slice_counted(const struct vt_slice *s)
{
	return &s->counts;
}

/* ---- filters ---- */

/* What a filter says of a record. */
enum answer {
	PASSES,
	FAILS,
	LACKS, /* the record does not have what is asked for */
};

static enum answer answer_of(bool passes)
{
	return passes ? PASSES : FAILS;
}

static enum answer ask_comm(const struct vt_slice *s, const struct vt_record *rec)
{
	char buf[VT_COMM_SIZE];
	const char *comm =
		vt_threads_comm(s->threads, (int32_t)vt_record_i64(rec, VT_SAMPLE_TID), buf);

	return answer_of(vti_slice_matches(&s->filters[VT_SLICE_COMM], comm));
}

/* What is known of where a record's sample was taken. */
struct spot {
	bool mapped;
	uint32_t image;
	int32_t pid;
	uint64_t offset;
};

static struct spot find_spot(const struct vt_slice *s, const struct vt_record *rec)
{
	struct spot at = {.mapped = true};
	const struct vt_map *m;
	uint64_t ip;
	int32_t pid;

	if (rec->kind == VT_COUNT) {
		at.image = (uint32_t)vt_record_u64(rec, VT_COUNT_IMAGE);
		at.mapped = at.image != VT_UNMAPPED_IMAGE;
		at.offset = vt_record_u64(rec, VT_COUNT_OFFSET);
		return at;
	}
	ip = vt_record_u64(rec, VT_SAMPLE_IP);
	pid = (int32_t)vt_record_i64(rec, VT_SAMPLE_PID);
	m = vt_addrspace_find(vt_context_space(s->context), pid, ip,
			      vt_record_u64(rec, VT_SAMPLE_MISC) & VT_MISC_CPUMODE);
	at.mapped = m != NULL;
	if (m) {
		at.image = m->image;
		at.offset = vt_map_offset(m, ip);
		at.pid = m->type == VT_IMAGE_ANON ? pid : 0;
	}
	return at;
}

/* As the kernel and perf call a module: "[snd_pcm]" for ".../snd-pcm.ko.xz". */
static bool is_module_named(const struct vti_slice_filter *f, const struct vt_image *image)
{
	const char *suffix = strstr(image->name, ".ko");
	char name[80];
	int size = suffix ? (int)(suffix - image->name) : 0;
	char *at;

	/* Names of modules have at most 55 bytes. */
	if (image->type != VT_IMAGE_MODULE || size <= 0 || size > 64)
		return false;
	snprintf(name, sizeof(name), "[%.*s]", size, image->name);
	for (at = name; *at; at++)
		if (*at == '-')
			*at = '_';
	return vti_slice_matches(f, name);
}

static bool is_image_named(const struct vt_slice *s, uint32_t id)
{
	const struct vti_slice_filter *f = &s->filters[VT_SLICE_IMAGE];
	const struct vt_image *image = vt_images_get(vt_context_images(s->context), id);

	if (!image)
		return vti_slice_matches(f, "[unknown image]");
	return vti_slice_matches(f, image->path) || vti_slice_matches(f, image->name) ||
	       is_module_named(f, image);
}

static int ask_image(struct vt_slice *s, const struct spot *at, enum answer *answer,
		     struct vt_error *err)
{
	struct verdict *v;
	bool added;

	if (!at->mapped) {
		*answer = answer_of(vti_slice_matches(&s->filters[VT_SLICE_IMAGE], "[unknown]"));
		return 0;
	}
	v = vt_hash_add(&s->images, &at->image, &added);
	if (!v)
		return vt_error_nomem(err);
	if (added)
		v->passes = is_image_named(s, at->image);
	*answer = answer_of(v->passes);
	return 0;
}

static enum answer ask_symbol(const struct vt_slice *s, const struct spot *at)
{
	const struct vti_slice_filter *f = &s->filters[VT_SLICE_SYMBOL];
	struct vt_images *images = vt_context_images(s->context);
	struct vt_location loc;

	if (!at->mapped ||
	    vt_images_symbol(images, at->image, at->pid, at->offset, &loc) != VT_KNOWN)
		return FAILS;
	return answer_of(
		vti_slice_matches(f, loc.symbol->name) ||
		vti_slice_names(f, vt_images_display(images, at->image, at->pid, loc.symbol)));
}

static enum answer ask_time(const struct vt_slice *s, const struct vt_record *rec)
{
	return answer_of(vti_slice_has_time(&s->filters[VT_SLICE_TIME],
					    vt_record_u64(rec, VT_SAMPLE_TIME), s->zero));
}

/* Of one of the filters that need no place. */
static enum answer ask_fields(const struct vt_slice *s, const struct vt_record *rec,
			      enum vt_slice_by by)
{
	static const struct {
		uint32_t has;
		unsigned field;
	} of[VT_NSLICES] = {
		[VT_SLICE_PID] = {VT_HAS_TID, VT_SAMPLE_PID},
		[VT_SLICE_TID] = {VT_HAS_TID, VT_SAMPLE_TID},
		[VT_SLICE_CPU] = {VT_HAS_CPU, VT_SAMPLE_CPU},
		[VT_SLICE_TIME] = {VT_HAS_TIME, VT_SAMPLE_TIME},
		[VT_SLICE_COMM] = {VT_HAS_TID, VT_SAMPLE_TID},
	};

	if (rec->kind != VT_SAMPLE || !(vt_record_u64(rec, VT_SAMPLE_HAS) & of[by].has))
		return LACKS;
	if (by == VT_SLICE_COMM)
		return ask_comm(s, rec);
	if (by == VT_SLICE_TIME)
		return ask_time(s, rec);
	return answer_of(vti_slice_has_number(&s->filters[by], vt_record_u64(rec, of[by].field)));
}

static int ask_places(struct vt_slice *s, const struct vt_record *rec, enum answer *answer,
		      struct vt_error *err)
{
	const struct spot at = find_spot(s, rec);

	if (vt_slice_has(s, VT_SLICE_IMAGE) && ask_image(s, &at, answer, err) < 0)
		return -VT_E_NOMEM;
	if (*answer == PASSES && vt_slice_has(s, VT_SLICE_SYMBOL))
		*answer = ask_symbol(s, &at);
	return 0;
}

/* 1: the record passes; 0: it does not, and is counted; -VT_E_NOMEM. */
static int ask_sample(struct vt_slice *s, const struct vt_record *rec, struct vt_error *err)
{
	uint64_t n = rec->kind == VT_COUNT ? vt_record_u64(rec, VT_COUNT_SAMPLES) : 1;
	enum answer answer = PASSES;
	int by;

	s->counts.seen += n;
	for (by = 0; by <= VT_SLICE_COMM && answer == PASSES; by++) {
		if (vt_slice_has(s, (enum vt_slice_by)by))
			answer = ask_fields(s, rec, (enum vt_slice_by)by);
		if (answer == LACKS)
			s->counts.without[by] += n;
	}
	if (answer == PASSES && s->context && ask_places(s, rec, &answer, err) < 0)
		return -VT_E_NOMEM;
	if (answer == PASSES)
		s->counts.taken += n;
	return answer == PASSES;
}

/* ---- runs ---- */

static int feed_samples(struct vt_slice *s, const struct vt_block *block, uint32_t first,
			uint32_t count, vt_consume_fn *take, void *arg, struct vt_error *err)
{
	struct vt_record rec = {block, block->kind, first};
	uint32_t from = first; /* what lies between it and rec.row passes */
	int code = 0;

	for (; rec.row - first < count && code == 0; rec.row++) {
		int passes = ask_sample(s, &rec, err);

		if (passes < 0)
			return passes;
		if (passes)
			continue;
		if (rec.row > from)
			code = take(arg, block, from, rec.row - from, err);
		from = rec.row + 1;
	}
	if (code == 0 && first + count > from)
		code = take(arg, block, from, first + count - from, err);
	return code;
}

/* The first sample in time begins the recording, whether or not it passes the other filters. */
static void note_zero(struct vt_slice *s, const struct vt_block *block, uint32_t first,
		      uint32_t count)
{
	struct vt_record rec = {block, block->kind, first};

	for (; rec.row - first < count && !s->has_zero; rec.row++) {
		s->has_zero = vt_record_u64(&rec, VT_SAMPLE_HAS) & VT_HAS_TIME;
		s->zero = s->has_zero ? vt_record_u64(&rec, VT_SAMPLE_TIME) : 0;
	}
}

int vt_slice_feed(struct vt_slice *s, const struct vt_block *block, uint32_t first, uint32_t count,
		  vt_consume_fn *take, void *arg, struct vt_error *err)
{
	int code;

	if (vt_kind_is_estimate(block->kind)) {
		s->counts.estimates += count;
		s->counts.estimate_kinds |= VT_KIND(block->kind);
		return 0;
	}
	switch (block->kind) {
	case VT_SAMPLE:
		note_zero(s, block, first, count);
		return feed_samples(s, block, first, count, take, arg, err);
	case VT_COUNT:
		return feed_samples(s, block, first, count, take, arg, err);
	case VT_CHAIN:
		s->counts.chains += count;
		return 0;
	case VT_IMAGE:
		vt_hash_clear(&s->images);
		break;
	default:
		break;
	}
	code = vt_threads_feed(s->threads, block, first, count, err);
	return code ? code : take(arg, block, first, count, err);
}
