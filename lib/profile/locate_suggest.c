/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What may be said about a name that no procedure has. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/name.h"
#include "base/spelling.h"
#include "base/width.h"
#include "image/lines.h"
#include "image/symbol_search.h"
#include "profile/locate_internal.h"

#define SHOWN	    3  /* names */
#define SHOWN_WIDTH 80 /* columns of each */

static void put_short_name(struct vt_buf *b, const char *name)
{
	struct vt_buf shortened = VT_BUF_INIT;

	vt_name_shorten(&shortened, name, strlen(name));
	vt_text_cut(b, vt_buf_str(&shortened), shortened.size, SHOWN_WIDTH);
	b->failed = b->failed || shortened.failed;
	vt_buf_free(&shortened);
}

/* ---- functions that are inlined wherever they were sampled ---- */

/* A procedure that a function is inlined into. */
struct host {
	uint32_t image; /* with the next two, the key */
	int32_t pid;
	uint64_t start;
	const char *name;
	uint64_t samples; /* in the function */
};

/* The names of local functions have no scopes. */
static bool is_last_part(const struct vt_name_query *q, const char *function)
{
	size_t size = strlen(function);

	return size && q->size > size + 2 && strcmp(q->name + q->size - size, function) == 0 &&
	       memcmp(q->name + q->size - size - 2, "::", 2) == 0;
}

static bool is_meant(struct vt_name_query *q, const char *function)
{
	int how;

	for (how = 0; how < VT_NMATCHES; how++)
		if (vt_name_matches(q, (enum vt_match)how, function))
			return true;
	return is_last_part(q, function);
}

/* Whether a function that the name may mean is inlined at an address. */
static bool is_inlined_at(struct vt_name_query *q, struct vt_lines *lines, uint64_t vaddr)
{
	struct vt_frame frames[VT_MAX_INLINE];
	size_t i, n = vt_lines_frames(lines, vaddr, frames, VT_MAX_INLINE);

	for (i = 0; i < n; i++)
		if (frames[i].inlined && is_meant(q, frames[i].function))
			return true;
	return false;
}

/* Adds up by procedure the samples in functions that the name may mean; false: no memory. */
static bool gather_hosts(const struct vti_search *s, struct vt_name_query *q, struct vt_hash *hosts)
{
	size_t i, n = vt_profile_nplaces(s->profile);

	for (i = 0; i < n; i++) {
		const struct vt_place *place = vt_profile_place(s->profile, i);
		const struct vt_image *image = vt_images_get(s->images, place->image);
		struct host key = {.image = place->image, .pid = place->pid}, *host;
		struct vt_lines *lines;
		struct vt_location loc;

		if (!image || image->type != VT_IMAGE_FILE)
			continue;
		vt_images_symbol(s->images, place->image, place->pid, place->offset, &loc);
		lines = loc.symbol ? vt_images_lines(s->images, place->image) : NULL;
		if (!lines || !is_inlined_at(q, lines, loc.vaddr))
			continue;
		key.start = loc.symbol->start;
		host = vt_hash_add(hosts, &key, NULL);
		if (!host)
			return false;
		host->name = vt_images_display(s->images, key.image, key.pid, loc.symbol);
		host->samples += place->samples;
	}
	return true;
}

static int compare_hosts(const void *x, const void *y)
{
	const struct host *a = x, *b = y;

	if (a->samples != b->samples)
		return a->samples < b->samples ? 1 : -1;
	if (strcmp(a->name, b->name) != 0)
		return strcmp(a->name, b->name);
	if (a->image != b->image)
		return a->image < b->image ? -1 : 1;
	return (a->start > b->start) - (a->start < b->start);
}

/* Appends "main (12 samples), work (3 samples) and 2 more"; nothing if it is inlined nowhere. */
static void put_hosts(const struct vti_search *s, const char *what, struct vt_buf *b)
{
	struct vt_name_query q;
	struct vt_hash hosts;
	size_t i;

	vt_name_query_init(&q, what);
	vt_hash_init(&hosts, sizeof(struct host), offsetof(struct host, name));
	if (!gather_hosts(s, &q, &hosts) || q.shown.failed || q.form.failed)
		b->failed = true;
	/* The table is not looked into any more. */
	if (hosts.count)
		qsort(hosts.entries, hosts.count, sizeof(struct host), compare_hosts);
	for (i = 0; i < hosts.count && i < SHOWN; i++) {
		const struct host *host = vt_hash_at(&hosts, i);

		vt_buf_printf(b, "%s", i ? ", " : "");
		put_short_name(b, host->name);
		vt_buf_printf(b, " (%" PRIu64 " sample%s)", host->samples,
			      host->samples == 1 ? "" : "s");
	}
	if (hosts.count > SHOWN)
		vt_buf_printf(b, " and %zu more", hosts.count - SHOWN);
	vt_hash_fini(&hosts);
	vt_name_query_fini(&q);
}

/* ---- similar names ---- */

/* A name that was typed, and memory to compare it. */
struct typed {
	const char *what;
	unsigned limit;
	struct vt_buf bare;
};

/* Whether a name is spelled nearly so, as a whole or without namespaces and template arguments. */
static bool is_similar(struct typed *t, const char *name)
{
	const char *bare, *last, *at;

	if (vt_spelling_distance(t->what, name, t->limit) < t->limit ||
	    (strlen(t->what) > 2 && strstr(name, t->what)))
		return true;
	t->bare.size = 0;
	vt_name_bare(&t->bare, name, strlen(name));
	bare = last = vt_buf_str(&t->bare);
	for (at = strstr(bare, "::"); at; at = strstr(last, "::"))
		last = at + 2;
	return vt_spelling_distance(t->what, bare, t->limit) < t->limit ||
	       vt_spelling_distance(t->what, last, t->limit) < t->limit;
}

/* Appends a name after those in `b`, unless it is the last of them as people see it. */
static bool put_similar_name(struct vt_buf *b, size_t *last, const char *name)
{
	struct vt_buf text = VT_BUF_INIT;
	bool put;

	put_short_name(&text, name);
	put = b->size - *last != text.size || memcmp(b->data + *last, text.data, text.size) != 0;
	if (put) {
		vt_buf_printf(b, "%s", b->size ? ", " : "");
		*last = b->size;
		vt_buf_put(b, text.data, text.size);
	}
	b->failed = b->failed || text.failed;
	vt_buf_free(&text);
	return put;
}

bool vt_locate_similar(const struct vt_profile *p, struct vt_images *images, const char *what,
		       struct vt_buf *b)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_ranking *r = vt_ranking_new(p, images, VT_LEVEL_PROCEDURE, &err);
	struct typed t = {what, vt_spelling_limit(what), VT_BUF_INIT};
	const char *names[SHOWN];
	size_t i, k, shown = 0, last = 0;
	bool ok = r && vt_ranking_sort(r, 0, false, &err) == 0;

	for (i = 0; ok && i < vt_ranking_count(r) && shown < SHOWN; i++) {
		const char *name = vt_ranking_at(r, i)->procedure;

		for (k = 0; k < shown && strcmp(names[k], name) != 0; k++)
			continue;
		if (k == shown && *name && is_similar(&t, name) && put_similar_name(b, &last, name))
			names[shown++] = name;
	}
	ok = ok && !t.bare.failed;
	vt_buf_free(&t.bare);
	vt_ranking_free(r);
	return ok;
}

/* ---- the message ---- */

int vti_explain_unfound(const struct vti_search *s, const char *what, struct vt_error *err)
{
	struct vt_buf b = VT_BUF_INIT;
	int rc;

	put_hosts(s, what, &b);
	if (b.size)
		rc = vt_error_set(err, VT_E_USAGE, "%s: has no code of its own: inlined into %s",
				  what, vt_buf_str(&b));
	else if (!vt_locate_similar(s->profile, s->images, what, &b))
		rc = vt_error_nomem(err);
	else if (b.size)
		rc = vt_error_set(err, VT_E_NOTFOUND, "%s: no such procedure; did you mean %s?",
				  what, vt_buf_str(&b));
	else
		rc = vt_error_set(
			err, VT_E_NOTFOUND,
			"%s: no such procedure in the images with samples; vprof lists them", what);
	if (b.failed)
		rc = vt_error_nomem(err);
	vt_buf_free(&b);
	return rc;
}
