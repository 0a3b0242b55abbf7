/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/common/by.h"

#include <string.h>

#define MOST_SECONDS  1e9
#define NS_PER_SECOND 1e9

/* Names of levels and keys besides their own: mostly those that perf report --sort takes. */
static const struct {
	const char *word;
	enum vt_level level; /* VT_NLEVELS: a key */
	enum vt_group_key key;
} other_words[] = {
	{"symbol", VT_LEVEL_PROCEDURE, VT_NGROUPS}, {"sym", VT_LEVEL_PROCEDURE, VT_NGROUPS},
	{"dso", VT_LEVEL_IMAGE, VT_NGROUPS},	    {"srcline", VT_LEVEL_LINE, VT_NGROUPS},
	{"pid", VT_NLEVELS, VT_GROUP_PROCESS},	    {"tid", VT_NLEVELS, VT_GROUP_THREAD},
	{"mem", VT_NLEVELS, VT_GROUP_SOURCE},
};

static int find_word(const char *const *words, const char *text, size_t size)
{
	int i;

	for (i = 0; words[i]; i++)
		if (strlen(words[i]) == size && memcmp(words[i], text, size) == 0)
			return i;
	return -1;
}

/* Finds a level or a key; the other is set to its number of values.  False: there is none. */
static bool find_key(const char *text, size_t size, enum vt_level *level, enum vt_group_key *key)
{
	int found = find_word(vt_level_words, text, size);
	size_t i;

	*level = found < 0 ? VT_NLEVELS : (enum vt_level)found;
	*key = VT_NGROUPS;
	if (found >= 0)
		return true;
	found = find_word(vt_group_words, text, size);
	if (found >= 0) {
		*key = (enum vt_group_key)found;
		return true;
	}
	for (i = 0; i < sizeof(other_words) / sizeof(other_words[0]); i++) {
		if (strlen(other_words[i].word) != size ||
		    memcmp(other_words[i].word, text, size) != 0)
			continue;
		*level = other_words[i].level;
		*key = other_words[i].key;
		return true;
	}
	return false;
}

/* Rows of procedures, lines and instructions name their images. */
static bool add_level(struct app *a, struct app_by *by, enum vt_level level)
{
	if (by->level != VT_LEVEL_ALL && by->level != VT_LEVEL_IMAGE && level != VT_LEVEL_IMAGE &&
	    by->level != level)
		return app_usage(a, "--by: %s and %s exclude each other", vt_level_words[by->level],
				 vt_level_words[level]);
	if (by->level == VT_LEVEL_ALL || by->level == VT_LEVEL_IMAGE)
		by->level = level;
	return true;
}

static void add_key(struct app_by *by, enum vt_group_key key)
{
	size_t i;

	for (i = 0; i < by->nkeys; i++)
		if (by->keys[i] == key)
			return;
	by->keys[by->nkeys++] = key;
}

static bool parse_keys(struct app *a, struct app_by *by)
{
	const char *at = by->text;

	by->level = VT_LEVEL_ALL;
	for (;;) {
		size_t size = strcspn(at, ",");
		enum vt_group_key key;
		enum vt_level level;

		if (!find_key(at, size, &level, &key))
			return app_usage(a,
					 "--by: '%.*s' is none of procedure, image, line, "
					 "instruction, inlined, process, comm, thread, cpu, time, "
					 "source, page",
					 (int)size, at);
		if (key != VT_NGROUPS)
			add_key(by, key);
		else if (!add_level(a, by, level))
			return false;
		at += size;
		if (!*at++)
			return true;
	}
}

bool app_by_parse(struct app *a, struct app_by *by)
{
	bool times = false;
	size_t i;

	by->level = VT_LEVEL_PROCEDURE;
	if (by->text && !parse_keys(a, by))
		return false;
	if (by->inlined && by->level != VT_LEVEL_PROCEDURE && by->level != VT_LEVEL_INLINED)
		return app_usage(a, "--inline goes with rows of procedures");
	if (by->inlined)
		by->level = VT_LEVEL_INLINED;
	for (i = 0; i < by->nkeys; i++)
		times = times || by->keys[i] == VT_GROUP_TIME;
	if (by->slice_given && !times)
		return app_usage(a, "--slice goes with --by time");
	if (!(by->slice >= 1 / NS_PER_SECOND && by->slice <= MOST_SECONDS))
		return app_usage(a, "--slice: from a nanosecond to %g seconds", MOST_SECONDS);
	return true;
}

struct vt_groups *app_by_groups(const struct app_by *by)
{
	return vt_groups_new(by->keys, by->nkeys, (uint64_t)(by->slice * NS_PER_SECOND + 0.5));
}
