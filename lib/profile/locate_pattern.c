/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Procedures whose names match a pattern. */
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/name.h"
#include "profile/locate_internal.h"

struct pattern {
	const char *glob; /* NULL: an expression */
	regex_t regex;
	struct vt_buf bare; /* the name without template arguments */
};

/* Whether all of a text matches; takes time linear in both lengths. */
static bool glob_matches(const char *glob, const char *text)
{
	const char *star = NULL, *resume = NULL;

	while (*text) {
		if (*glob == '*') {
			star = glob++;
			resume = text;
		} else if (*glob == '?' || *glob == *text) {
			glob++;
			text++;
		} else if (star) {
			glob = star + 1;
			text = ++resume;
		} else {
			return false;
		}
	}
	while (*glob == '*')
		glob++;
	return !*glob;
}

static bool text_matches(const struct pattern *p, const char *text)
{
	return p->glob ? glob_matches(p->glob, text) : regexec(&p->regex, text, 0, NULL, 0) == 0;
}

static bool name_matches(struct pattern *p, const char *name)
{
	if (text_matches(p, name))
		return true;
	p->bare.size = 0;
	vt_name_bare(&p->bare, name, strlen(name));
	return text_matches(p, vt_buf_str(&p->bare));
}

static void match_scope(struct vti_search *s, struct pattern *p, struct vti_scope *at)
{
	size_t i;

	vti_count_scope(s, at);
	s->at = at;
	for (i = 0; i < s->procedures.count && !s->failed; i++) {
		const struct vti_known *k = vt_hash_at(&s->procedures, i);

		if (k->image == at->image && k->pid == at->pid && k->samples &&
		    name_matches(p, vt_images_display(s->images, k->image, k->pid, k->symbol)))
			vti_add_found_symbol(s, k->symbol);
	}
}

/* Parses /EXPRESSION/.  False: it is none, or s->bad says what is wrong with it. */
static bool compile_regex(struct vti_search *s, struct pattern *p, const char *text)
{
	size_t size = strlen(text);
	char *inner;
	int rc;

	if (size < 3 || text[0] != '/' || text[size - 1] != '/')
		return false;
	inner = strndup(text + 1, size - 2);
	if (!inner) {
		s->failed = true;
		return false;
	}
	rc = regcomp(&p->regex, inner, REG_EXTENDED | REG_NOSUB);
	free(inner);
	if (rc != 0) {
		regerror(rc, &p->regex, s->bad_text, sizeof(s->bad_text));
		s->bad = s->bad_text;
	}
	return rc == 0;
}

void vti_search_pattern(struct vti_search *s, const char *image, size_t size, const char *pattern)
{
	struct pattern p = {.bare = VT_BUF_INIT};
	bool regex = compile_regex(s, &p, pattern);
	size_t i;
	int kernel;

	if (!regex && pattern[strcspn(pattern, "*?")])
		p.glob = pattern;
	for (kernel = 0; kernel < 2 && (regex || p.glob) && vti_found_none(s); kernel++)
		for (i = 0; i < s->nscopes; i++)
			if (s->scopes[i].kernel == kernel &&
			    vti_scope_is_named(s, &s->scopes[i], image, size))
				match_scope(s, &p, &s->scopes[i]);
	s->failed = s->failed || p.bare.failed;
	vt_buf_free(&p.bare);
	if (regex)
		regfree(&p.regex);
}
