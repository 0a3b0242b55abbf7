/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/locate.h"

#include <stdlib.h>
#include <string.h>

#include "image/symbol_search.h"
#include "profile/locate_internal.h"

void vt_found_fini(struct vt_found *f)
{
	free(f->list);
	*f = (struct vt_found){NULL, 0, 0};
}

static bool gather_scopes(struct vti_search *s)
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
		s->scopes[s->nscopes++] = (struct vti_scope){
			p->image, p->pid,
			image && (image->type == VT_IMAGE_KERNEL || image->type == VT_IMAGE_MODULE),
			false};
	}
	return true;
}

/* ---- what is found ---- */

static struct vti_known *know_procedure(struct vti_search *s, const struct vti_scope *at,
					const struct vt_symbol *sym)
{
	const struct vti_known key = {.image = at->image, .pid = at->pid, .start = sym->start};
	struct vti_known *k = vt_hash_add(&s->procedures, &key, NULL);

	if (k)
		k->symbol = sym;
	else
		s->failed = true;
	return k;
}

void vti_count_scope(struct vti_search *s, struct vti_scope *at)
{
	const struct vt_place *const *places;
	size_t i, n = 0;

	if (at->counted)
		return;
	at->counted = true;
	if (!vt_profile_find_places(s->profile, at->image, at->pid, 0, UINT64_MAX, &places, &n))
		s->failed = true;
	for (i = 0; i < n && !s->failed; i++) {
		struct vt_location loc;
		struct vti_known *k;

		vt_images_symbol(s->images, at->image, at->pid, places[i]->offset, &loc);
		k = loc.symbol ? know_procedure(s, at, loc.symbol) : NULL;
		if (k)
			k->samples += places[i]->samples;
	}
}

static void append_found(struct vti_search *s, const struct vt_procedure *p)
{
	struct vt_found *f = s->found;

	if (vt_array_grow(&f->list, &f->cap, f->count + 1, sizeof(*f->list)))
		f->list[f->count++] = *p;
	else
		s->failed = true;
}

bool vti_add_found_symbol(void *search, const struct vt_symbol *sym)
{
	struct vti_search *s = search;
	struct vti_known *k;
	struct vt_procedure p = {.image = s->at->image,
				 .pid = s->at->pid,
				 .start = sym->start,
				 .end = sym->end,
				 .symbol = sym->name};

	vti_count_scope(s, s->at);
	k = know_procedure(s, s->at, sym);
	if (!k || k->found)
		return !s->failed;
	k->found = true;
	p.samples = k->samples;
	p.name = vt_images_display(s->images, p.image, p.pid, sym);
	append_found(s, &p);
	return !s->failed;
}

static uint64_t count_rest_samples(const struct vti_search *s, uint32_t image, int32_t pid)
{
	size_t i, n = vt_profile_nplaces(s->profile);
	uint64_t sum = 0;

	for (i = 0; i < n; i++) {
		const struct vt_place *place = vt_profile_place(s->profile, i);
		struct vt_location loc;

		if (place->image != image || place->pid != pid)
			continue;
		vt_images_symbol(s->images, image, pid, place->offset, &loc);
		if (!loc.symbol)
			sum += place->samples;
	}
	return sum;
}

/* Adds the part of an image that is in no procedure. */
static void add_found_rest(struct vti_search *s, uint32_t image, int32_t pid, enum vt_unknown why)
{
	struct vt_procedure p = {.image = image, .pid = pid, .name = "", .why = why};
	size_t i;

	for (i = s->first; i < s->found->count; i++)
		if (s->found->list[i].image == image && s->found->list[i].pid == pid &&
		    !s->found->list[i].symbol)
			return;
	p.samples = count_rest_samples(s, image, pid);
	append_found(s, &p);
}

/* ---- by name ---- */

static void search_name(struct vti_search *s, struct vti_scope *at, enum vt_match how,
			const char *name)
{
	enum vt_unknown why;
	struct vt_symbols *symbols = vt_images_symbols(s->images, at->image, at->pid, &why);

	s->at = at;
	if (symbols && vt_symbols_match(symbols, how, name, vti_add_found_symbol, s) < 0)
		s->failed = true;
}

/* What a name means in one image most certainly goes before what it may mean in another. */
static void search_names(struct vti_search *s, const char *name, bool kernel)
{
	size_t i;
	int how;

	for (how = 0; how < VT_NMATCHES && vti_found_none(s); how++)
		for (i = 0; i < s->nscopes && !s->failed; i++)
			if (s->scopes[i].kernel == kernel)
				search_name(s, &s->scopes[i], (enum vt_match)how, name);
}

static void search_names_in(struct vti_search *s, const char *image, size_t size, const char *name)
{
	size_t i;
	int how;

	for (how = 0; how < VT_NMATCHES && vti_found_none(s); how++)
		for (i = 0; i < s->nscopes && !s->failed; i++)
			if (vti_scope_is_named(s, &s->scopes[i], image, size))
				search_name(s, &s->scopes[i], (enum vt_match)how, name);
}

/* ---- by address, or by why it is not known ---- */

bool vti_scope_is_named(const struct vti_search *s, const struct vti_scope *at, const char *name,
			size_t size)
{
	const struct vt_image *image = vt_images_get(s->images, at->image);

	if (!name)
		return true;
	return image && ((strlen(image->path) == size && memcmp(image->path, name, size) == 0) ||
			 (strlen(image->name) == size && memcmp(image->name, name, size) == 0));
}

static void search_vaddr(struct vti_search *s, struct vti_scope *at, uint64_t vaddr)
{
	enum vt_unknown why;
	struct vt_symbols *symbols = vt_images_symbols(s->images, at->image, at->pid, &why);
	const struct vt_symbol *sym = symbols ? vt_symbols_find(symbols, vaddr) : NULL;

	s->at = at;
	if (sym)
		vti_add_found_symbol(s, sym);
}

/* Adds the part of an image that is in no procedure, if it has samples. */
static void add_sampled_rest(struct vti_search *s, struct vti_scope *at, enum vt_unknown why)
{
	size_t before = s->found->count;

	add_found_rest(s, at->image, at->pid, why);
	if (s->found->count > before && !s->found->list[before].samples)
		s->found->count = before;
}

/* Adds what is at an offset of an image: the procedure, or the rest. */
static void add_at_offset(struct vti_search *s, struct vti_scope *at, uint64_t offset)
{
	struct vt_location loc;

	vt_images_symbol(s->images, at->image, at->pid, offset, &loc);
	s->at = at;
	if (loc.symbol)
		vti_add_found_symbol(s, loc.symbol);
	else
		add_sampled_rest(s, at, loc.why);
}

static void search_vaddr_in(struct vti_search *s, struct vti_scope *at, uint64_t vaddr)
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
static void search_anonymous(struct vti_search *s, uint64_t address)
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
			add_at_offset(s, &s->scopes[i], address);
	}
}

static void search_address(struct vti_search *s, uint64_t address)
{
	uint64_t offset;
	uint32_t image;
	size_t i;
	int kernel;

	if (vt_context_find(vt_profile_context(s->profile), address, &image, &offset))
		for (i = 0; i < s->nscopes; i++)
			if (s->scopes[i].image == image)
				add_at_offset(s, &s->scopes[i], offset);
	if (s->found->count == s->first)
		search_anonymous(s, address);
	for (kernel = 0; kernel < 2 && s->found->count == s->first; kernel++)
		for (i = 0; i < s->nscopes; i++)
			if (s->scopes[i].kernel == kernel)
				search_vaddr(s, &s->scopes[i], address);
}

/* Searches "[CAUSE]", the name of a rest in rankings; in all images if `image` is NULL. */
static void search_cause(struct vti_search *s, const char *image, size_t image_size,
			 const char *name)
{
	size_t i, n = strlen(name), places = vt_profile_nplaces(s->profile);

	if (n < 2 || name[0] != '[' || name[n - 1] != ']')
		return;
	for (i = 0; i < places && !s->failed; i++) {
		const struct vt_place *p = vt_profile_place(s->profile, i);
		const struct vti_scope at = {.image = p->image, .pid = p->pid};
		struct vt_location loc;
		const char *text;

		if (p->image == VT_UNMAPPED_IMAGE || !vti_scope_is_named(s, &at, image, image_size))
			continue;
		vt_images_symbol(s->images, p->image, p->pid, p->offset, &loc);
		text = vt_unknown_text(loc.why);
		if (!loc.symbol && strlen(text) == n - 2 && !memcmp(name + 1, text, n - 2))
			add_found_rest(s, p->image, p->pid, loc.why);
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
static void search_in(struct vti_search *s, const char *what, size_t size, bool patterns)
{
	const char *name = what + size + 1;
	uint64_t vaddr = 0;
	bool address = parse_address(name, &vaddr);
	size_t i;

	search_cause(s, what, size, name);
	if (s->found->count > s->first)
		return;
	for (i = 0; i < s->nscopes; i++) {
		struct vti_scope *at = &s->scopes[i];
		enum vt_unknown why = VT_KNOWN;

		if (!vti_scope_is_named(s, at, what, size))
			continue;
		if (!vt_images_symbols(s->images, at->image, at->pid, &why))
			add_found_rest(s, at->image, at->pid, why);
		else if (address)
			search_vaddr_in(s, at, vaddr);
	}
	if (!address) {
		search_names_in(s, what, size, name);
		if (patterns && vti_found_none(s))
			vti_search_pattern(s, what, size, name);
	}
}

static void search_procedure(struct vti_search *s, const char *what, bool patterns)
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
	for (colon = strchr(what, ':'); colon && vti_found_none(s); colon = strchr(colon + 1, ':'))
		search_in(s, what, (size_t)(colon - what), patterns);
	search_names(s, what, true);
	if (patterns && vti_found_none(s))
		vti_search_pattern(s, NULL, 0, what);
}

/* Parses NAME#NUMBER.  The name's length, or 0. */
static size_t parse_number(const char *what, uint64_t *number)
{
	const char *at = strrchr(what, '#');
	char *end;

	if (!at || at == what || at[1] < '0' || at[1] > '9')
		return 0;
	*number = strtoull(at + 1, &end, 10);
	return *end ? 0 : (size_t)(at - what);
}

/* Searches NAME of NAME#NUMBER, and keeps one of what it means.  False after an error. */
static bool search_numbered(struct vti_search *s, const char *what, struct vt_error *err)
{
	uint64_t number = 0;
	size_t size = parse_number(what, &number), count;
	char *name = size ? strndup(what, size) : NULL;

	if (size && !name)
		s->failed = true;
	if (name)
		search_procedure(s, name, true);
	free(name);
	if (vti_found_none(s) || s->failed)
		return true;
	vti_choose_found(s);
	count = s->found->count - s->first;
	if (vti_pick_found(s, number))
		return true;
	vt_error_set(err, VT_E_USAGE, "%s: %.*s means %zu procedure%s", what, (int)size, what,
		     count, count == 1 ? "" : "s");
	return false;
}

static int check_image(const struct vti_search *s, const struct vt_procedure *p,
		       struct vt_error *err)
{
	const struct vt_image *image = vt_images_get(s->images, p->image);
	char id[2 * VT_BUILDID_MAX + 1];

	if (p->why != VT_UNKNOWN_MISMATCH || !image)
		return 0;
	vt_buildid_format(image->buildid, image->buildid_size, id);
	return vt_error_set(err, VT_E_MISMATCH, "%s: no file with the recorded build-id %s",
			    image->path, id);
}

/* Whether all candidates are rests of one image, in several processes. */
static bool is_one_rest(const struct vti_search *s)
{
	const struct vt_procedure *p = s->found->list + s->first;
	size_t i, n = s->found->count - s->first;

	for (i = 0; i < n && !p[i].symbol && p[i].image == p[0].image;)
		i++;
	return i == n;
}

static int finish_search(struct vti_search *s, const char *what, struct vt_error *err)
{
	size_t count = s->found->count - s->first;

	if (s->failed)
		return vt_error_nomem(err);
	if (!count && s->bad)
		return vt_error_set(err, VT_E_USAGE, "%s: %s", what, s->bad);
	if (!count)
		return vti_explain_unfound(s, what, err);
	vti_choose_found(s);
	count = s->found->count - s->first;
	if (count > 1 && !is_one_rest(s))
		return vt_error_set(err, VT_E_AMBIGUOUS, "%s: means %zu procedures", what, count);
	return check_image(s, &s->found->list[s->first], err);
}

static int locate(const struct vt_profile *p, struct vt_images *images, const char *what,
		  bool patterns, struct vt_found *f, struct vt_error *err)
{
	struct vti_search s = {.profile = p, .images = images, .found = f, .first = f->count};
	bool ok = true;
	int rc = -VT_E_USAGE;

	vt_hash_init(&s.procedures, sizeof(struct vti_known), offsetof(struct vti_known, symbol));
	if (gather_scopes(&s))
		search_procedure(&s, what, patterns);
	else
		s.failed = true;
	if (patterns && vti_found_none(&s))
		ok = search_numbered(&s, what, err);
	if (ok)
		rc = finish_search(&s, what, err);
	vt_hash_fini(&s.procedures);
	free(s.scopes);
	return rc;
}

int vt_locate(const struct vt_profile *p, struct vt_images *images, const char *what,
	      struct vt_found *f, struct vt_error *err)
{
	return locate(p, images, what, true, f, err);
}

int vt_locate_name(const struct vt_profile *p, struct vt_images *images, const char *what,
		   struct vt_found *f, struct vt_error *err)
{
	return locate(p, images, what, false, f, err);
}
