/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/locate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/hash.h"
#include "base/spelling.h"

/* An image with samples; anonymous code has a scope for each process. */
struct scope {
	uint32_t image;
	int32_t pid;
	bool kernel; /* or one of its modules */
};

struct search {
	const struct vt_profile *profile;
	struct vt_images *images;
	struct scope *scopes;
	size_t nscopes;
	size_t scopes_cap;
	struct scope at; /* the one being searched */
	struct vt_found *found;
	size_t first; /* where this search's finds begin in `found` */
	bool failed;
};

void vt_found_fini(struct vt_found *f)
{
	free(f->list);
	*f = (struct vt_found){NULL, 0, 0};
}

static bool gather_scopes(struct search *s)
{
	size_t i, j, n = vt_profile_nplaces(s->profile);

	for (i = 0; i < n; i++) {
		const struct vt_place *p = vt_profile_place(s->profile, i);
		const struct vt_image *image = vt_images_get(s->images, p->image);

		for (j = 0; j < s->nscopes; j++)
			if (s->scopes[j].image == p->image && s->scopes[j].pid == p->pid)
				break;
		if (j < s->nscopes || p->image == VT_UNMAPPED_IMAGE)
			continue;
		if (!vt_array_grow(&s->scopes, &s->scopes_cap, s->nscopes + 1, sizeof(*s->scopes)))
			return false;
		s->scopes[s->nscopes++] = (struct scope){p->image, p->pid,
							 image && (image->type == VT_IMAGE_KERNEL ||
								   image->type == VT_IMAGE_MODULE)};
	}
	return true;
}

static uint64_t count_procedure_samples(const struct search *s, const struct vt_procedure *p)
{
	size_t i, n = vt_profile_nplaces(s->profile);
	uint64_t sum = 0;

	for (i = 0; i < n; i++) {
		const struct vt_place *place = vt_profile_place(s->profile, i);
		struct vt_location loc;

		if (place->image != p->image || place->pid != p->pid)
			continue;
		vt_images_symbol(s->images, place->image, place->pid, place->offset, &loc);
		if (p->symbol ? loc.symbol && loc.symbol->start == p->start : !loc.symbol)
			sum += place->samples;
	}
	return sum;
}

static bool add_found(struct search *s, struct vt_procedure *p)
{
	struct vt_found *f = s->found;
	size_t i;

	for (i = s->first; i < f->count; i++)
		if (f->list[i].image == p->image && f->list[i].pid == p->pid &&
		    f->list[i].start == p->start)
			return true;
	if (!vt_array_grow(&f->list, &f->cap, f->count + 1, sizeof(*f->list))) {
		s->failed = true;
		return false;
	}
	p->samples = count_procedure_samples(s, p);
	f->list[f->count++] = *p;
	return true;
}

static bool add_found_symbol(void *arg, const struct vt_symbol *sym)
{
	struct search *s = arg;
	struct vt_procedure p = {.image = s->at.image,
				 .pid = s->at.pid,
				 .start = sym->start,
				 .end = sym->end,
				 .symbol = sym->name};

	p.name = vt_images_display(s->images, p.image, p.pid, sym);
	return add_found(s, &p);
}

/* Adds the part of an image that is in no procedure. */
static void add_found_rest(struct search *s, struct scope at, enum vt_unknown why)
{
	struct vt_procedure p = {.image = at.image, .pid = at.pid, .name = "", .why = why};

	add_found(s, &p);
}

/* ---- by name ---- */

static void search_name(struct search *s, struct scope at, const char *name)
{
	enum vt_unknown why;
	struct vt_symbols *symbols = vt_images_symbols(s->images, at.image, at.pid, &why);

	s->at = at;
	if (symbols && vt_symbols_search(symbols, name, add_found_symbol, s) < 0)
		s->failed = true;
}

static void search_names(struct search *s, const char *name, bool kernel)
{
	size_t i;

	for (i = 0; i < s->nscopes && !s->failed; i++)
		if (s->scopes[i].kernel == kernel)
			search_name(s, s->scopes[i], name);
}

/* ---- by address, or by why it is not known ---- */

static bool scope_is_named(const struct search *s, struct scope at, const char *name, size_t size)
{
	const struct vt_image *image = vt_images_get(s->images, at.image);

	return image && ((strlen(image->path) == size && memcmp(image->path, name, size) == 0) ||
			 (strlen(image->name) == size && memcmp(image->name, name, size) == 0));
}

static void search_vaddr(struct search *s, struct scope at, uint64_t vaddr)
{
	enum vt_unknown why;
	struct vt_symbols *symbols = vt_images_symbols(s->images, at.image, at.pid, &why);
	const struct vt_symbol *sym = symbols ? vt_symbols_find(symbols, vaddr) : NULL;

	s->at = at;
	if (sym)
		add_found_symbol(s, sym);
}

/* Adds the part of an image that is in no procedure, if it has samples. */
static void add_sampled_rest(struct search *s, struct scope at, enum vt_unknown why)
{
	size_t before = s->found->count;

	add_found_rest(s, at, why);
	if (s->found->count > before && !s->found->list[before].samples)
		s->found->count = before;
}

/* Adds what is at an offset of an image: the procedure, or the rest. */
static void add_at_offset(struct search *s, struct scope at, uint64_t offset)
{
	struct vt_location loc;

	vt_images_symbol(s->images, at.image, at.pid, offset, &loc);
	s->at = at;
	if (loc.symbol)
		add_found_symbol(s, loc.symbol);
	else
		add_sampled_rest(s, at, loc.why);
}

static void search_vaddr_in(struct search *s, struct scope at, uint64_t vaddr)
{
	size_t before = s->found->count;

	search_vaddr(s, at, vaddr);
	if (s->found->count == before)
		add_sampled_rest(s, at, VT_UNKNOWN_NO_SYMBOL);
}

/*
 * The offset of anonymous code is its address.  Hot lists have images of anonymous code that no
 * mapping names.
 */
static void search_anonymous(struct search *s, uint64_t address)
{
	size_t i, n;

	for (i = 0; i < s->nscopes; i++) {
		const struct vt_image *image = vt_images_get(s->images, s->scopes[i].image);
		const struct vt_place *const *places;

		if (!image || image->type != VT_IMAGE_ANON)
			continue;
		if (!vt_profile_find_places(s->profile, image->id, s->scopes[i].pid, address,
					    address, &places, &n)) {
			s->failed = true;
			return;
		}
		if (n)
			add_at_offset(s, s->scopes[i], address);
	}
}

static void search_address(struct search *s, uint64_t address)
{
	uint64_t offset;
	uint32_t image;
	size_t i;
	int kernel;

	if (vt_context_find(vt_profile_context(s->profile), address, &image, &offset))
		for (i = 0; i < s->nscopes; i++)
			if (s->scopes[i].image == image)
				add_at_offset(s, s->scopes[i], offset);
	if (s->found->count == s->first)
		search_anonymous(s, address);
	for (kernel = 0; kernel < 2 && s->found->count == s->first; kernel++)
		for (i = 0; i < s->nscopes; i++)
			if (s->scopes[i].kernel == kernel)
				search_vaddr(s, s->scopes[i], address);
}

/* Searches "[CAUSE]", the name of a rest in rankings; in all images if `image` is NULL. */
static void search_cause(struct search *s, const char *image, size_t image_size, const char *name)
{
	size_t i, n = strlen(name), places = vt_profile_nplaces(s->profile);

	if (n < 2 || name[0] != '[' || name[n - 1] != ']')
		return;
	for (i = 0; i < places && !s->failed; i++) {
		const struct vt_place *p = vt_profile_place(s->profile, i);
		struct scope at = {.image = p->image, .pid = p->pid};
		struct vt_location loc;
		const char *text;

		if (p->image == VT_UNMAPPED_IMAGE ||
		    (image && !scope_is_named(s, at, image, image_size)))
			continue;
		vt_images_symbol(s->images, p->image, p->pid, p->offset, &loc);
		text = vt_unknown_text(loc.why);
		if (!loc.symbol && strlen(text) == n - 2 && !memcmp(name + 1, text, n - 2))
			add_found_rest(s, at, loc.why);
	}
}

static bool parse_address(const char *text, uint64_t *value)
{
	char *end;

	if (text[0] != '0' || (text[1] != 'x' && text[1] != 'X') || !text[2])
		return false;
	*value = strtoull(text + 2, &end, 16);
	return !*end && strlen(text + 2) <= 16;
}

/* ---- both, within an image or not ---- */

/* Searches the images with the name what[0 .. size). */
static void search_in(struct search *s, const char *what, size_t size)
{
	const char *name = what + size + 1;
	uint64_t vaddr;
	size_t i;

	search_cause(s, what, size, name);
	if (s->found->count > s->first)
		return;
	for (i = 0; i < s->nscopes; i++) {
		enum vt_unknown why = VT_KNOWN;

		if (!scope_is_named(s, s->scopes[i], what, size))
			continue;
		if (!vt_images_symbols(s->images, s->scopes[i].image, s->scopes[i].pid, &why))
			add_found_rest(s, s->scopes[i], why);
		else if (parse_address(name, &vaddr))
			search_vaddr_in(s, s->scopes[i], vaddr);
		else
			search_name(s, s->scopes[i], name);
	}
}

static void search_procedure(struct search *s, const char *what)
{
	const char *colon;
	uint64_t address;

	if (parse_address(what, &address)) {
		search_address(s, address);
		return;
	}
	search_names(s, what, false);
	search_cause(s, NULL, 0, what);
	/* A colon may be part of an image's path or of a C++ name. */
	for (colon = strchr(what, ':'); colon && s->found->count == s->first && !s->failed;
	     colon = strchr(colon + 1, ':'))
		search_in(s, what, (size_t)(colon - what));
	if (s->found->count == s->first)
		search_names(s, what, true);
}

/* ---- what came of it ---- */

/* Drops candidates without samples if others have some. */
static void prefer_sampled(struct search *s)
{
	struct vt_found *f = s->found;
	size_t i, n = s->first;
	bool any = false;

	for (i = s->first; i < f->count; i++)
		any = any || f->list[i].samples;
	for (i = s->first; i < f->count && any; i++)
		if (f->list[i].samples)
			f->list[n++] = f->list[i];
	if (any)
		f->count = n;
}

/*
 * Drops the cold part of a procedure, which GCC puts elsewhere and which has the same display name,
 * in favour of the procedure.
 */
static void prefer_whole(struct search *s)
{
	struct vt_found *f = s->found;
	size_t i, k, n = s->first;

	for (i = s->first; i < f->count; i++) {
		const struct vt_procedure *p = &f->list[i];
		bool part = false;

		for (k = s->first; k < f->count && p->symbol && strstr(p->symbol, ".cold"); k++)
			part = part || (k != i && f->list[k].image == p->image &&
					f->list[k].symbol && !strstr(f->list[k].symbol, ".cold") &&
					!strcmp(f->list[k].name, p->name));
		if (!part)
			f->list[n++] = *p;
	}
	f->count = n;
}

/* Whether all candidates are rests of one image, in several processes. */
static bool is_one_rest(const struct search *s)
{
	const struct vt_procedure *p = s->found->list + s->first;
	size_t i, n = s->found->count - s->first;

	for (i = 0; i < n && !p[i].symbol && p[i].image == p[0].image;)
		i++;
	return i == n;
}

static int suggest_procedures(const struct search *s, const char *what, struct vt_error *err)
{
	struct vt_ranking *r = vt_ranking_new(s->profile, s->images, VT_LEVEL_PROCEDURE, err);
	unsigned limit = vt_spelling_limit(what);
	struct vt_buf b = VT_BUF_INIT;
	const char *names[3];
	size_t i, k, shown = 0;

	if (!r || vt_ranking_sort(r, 0, false, err) < 0) {
		vt_ranking_free(r);
		return vt_error_nomem(err);
	}
	for (i = 0; i < vt_ranking_count(r) && shown < 3; i++) {
		const char *name = vt_ranking_at(r, i)->procedure;

		for (k = 0; k < shown && strcmp(names[k], name) != 0; k++)
			continue;
		if (k == shown && *name &&
		    (vt_spelling_distance(what, name, limit) < limit ||
		     (strlen(what) > 2 && strstr(name, what)))) {
			vt_buf_printf(&b, "%s%.80s", shown ? ", " : "", name);
			names[shown++] = name;
		}
	}
	if (shown)
		vt_error_set(err, VT_E_NOTFOUND, "%s: no such procedure; did you mean %s?", what,
			     vt_buf_str(&b));
	else
		vt_error_set(err, VT_E_NOTFOUND,
			     "%s: no such procedure in the images with samples; vprof lists them",
			     what);
	vt_buf_free(&b);
	vt_ranking_free(r);
	return -VT_E_NOTFOUND;
}

static int check_image(const struct search *s, const struct vt_procedure *p, struct vt_error *err)
{
	const struct vt_image *image = vt_images_get(s->images, p->image);
	char id[2 * VT_BUILDID_MAX + 1];

	if (p->why != VT_UNKNOWN_MISMATCH || !image)
		return 0;
	vt_buildid_format(image->buildid, image->buildid_size, id);
	return vt_error_set(err, VT_E_MISMATCH, "%s: no file with the recorded build-id %s",
			    image->path, id);
}

int vt_locate(const struct vt_profile *p, struct vt_images *images, const char *what,
	      struct vt_found *f, struct vt_error *err)
{
	struct search s = {.profile = p, .images = images, .found = f, .first = f->count};

	if (gather_scopes(&s))
		search_procedure(&s, what);
	else
		s.failed = true;
	free(s.scopes);
	if (s.failed)
		return vt_error_nomem(err);
	if (f->count == s.first)
		return suggest_procedures(&s, what, err);
	prefer_sampled(&s);
	prefer_whole(&s);
	if (f->count - s.first > 1 && !is_one_rest(&s))
		return vt_error_set(err, VT_E_AMBIGUOUS, "%s: means %zu procedures", what,
				    f->count - s.first);
	return check_image(&s, &f->list[s.first], err);
}

bool vt_procedure_of_rank(struct vt_images *images, const struct vt_rank *rank,
			  struct vt_procedure *out)
{
	enum vt_unknown why;
	struct vt_symbols *symbols;
	const struct vt_symbol *sym;

	if (rank->image == VT_UNMAPPED_IMAGE)
		return false;
	*out = (struct vt_procedure){.image = rank->image, .pid = rank->pid, .name = ""};
	symbols = vt_images_symbols(images, rank->image, rank->pid, &why);
	sym = symbols && *rank->symbol ? vt_symbols_find(symbols, rank->start) : NULL;
	if (sym && sym->start == rank->start) {
		out->start = sym->start;
		out->end = sym->end;
		out->symbol = sym->name;
		out->name = rank->procedure;
	} else {
		out->why = symbols ? VT_UNKNOWN_NO_SYMBOL : why;
	}
	return true;
}

/* ---- what lies in no procedure ---- */

/* Samples of an image that lie in no procedure. */
struct unknown_samples {
	uint64_t image;
	uint64_t samples;
	enum vt_unknown why;
};

static const struct unknown_samples *most_unknown(const struct vt_profile *p,
						  struct vt_images *images, size_t event,
						  struct vt_hash *unknown)
{
	const struct unknown_samples *most = NULL;
	size_t i, n = vt_profile_nplaces(p);

	for (i = 0; i < n; i++) {
		const struct vt_place *place = vt_profile_place(p, i);
		uint64_t image = place->image;
		struct vt_location loc;
		struct unknown_samples *u;
		bool added = false;

		if ((event != SIZE_MAX && place->event != event) || image == VT_UNMAPPED_IMAGE)
			continue;
		vt_images_symbol(images, place->image, place->pid, place->offset, &loc);
		u = loc.symbol ? NULL : vt_hash_add(unknown, &image, &added);
		if (!u)
			continue;
		if (added)
			*u = (struct unknown_samples){image, 0, loc.why};
		u->samples += place->samples;
	}
	for (i = 0; i < unknown->count; i++) {
		const struct unknown_samples *u = vt_hash_at(unknown, i);

		if (!most || u->samples > most->samples)
			most = u;
	}
	return most;
}

bool vt_locate_unknown(const struct vt_profile *p, struct vt_images *images, size_t event,
		       struct vt_buf *b)
{
	const struct vt_image *image;
	const struct unknown_samples *most;
	struct vt_hash unknown;

	vt_hash_init(&unknown, sizeof(struct unknown_samples), sizeof(uint64_t));
	most = most_unknown(p, images, event, &unknown);
	if (most) {
		image = vt_images_get(images, (uint32_t)most->image);
		vt_escape_str(b, image ? image->path : "?");
		vt_buf_printf(b, ": %s", vt_unknown_text(most->why));
	}
	vt_hash_fini(&unknown);
	return most != NULL;
}
