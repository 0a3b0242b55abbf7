/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "merge/internal.h"
#include "pairs/pairs.h"
#include "paths/paths.h"
#include "profile/losses.h"

/*
 * META records that say how a stream was made.  Sums that depend on a setting add up only where all
 * streams that have such sums, and name it, name the same; see also compared_setting().
 */
#define PAIRS	  (1u << VTI_PAIRSTATS)
#define PATHS	  (1u << VTI_PATHS)
#define ESTIMATES (1u << VTI_EVSTATS)
#define CONFLICTS (1u << VTI_CONFLICTS)
#define MEMORY	  (1u << VTI_MEMORIES)

enum {
	ARCH,
	MODEL,
	CPUID,
	DESCRIPTION,
	WHERE,
	WINDOW,
	LEARN,
	SLOTS,
	DIVISOR,
	ACROSS,
	BRANCHES,
	REPLAY_MODEL,
	REPLAY_DISTANCE
};

static const struct {
	const char *key;
	const char *what; /* for messages */
	unsigned sums;	  /* that depend on it */
	bool machine;	  /* written if all streams name it alike, whatever they have */
} settings[VTI_MERGE_SETTINGS] = {
	[ARCH] = {"arch", "architecture", PAIRS | PATHS | ESTIMATES | MEMORY, true},
	[MODEL] = {"cpu.model", "model of a processor", PAIRS | PATHS | ESTIMATES | MEMORY, true},
	/* Paths are of the program. */
	[CPUID] = {"cpuid", "processor", PAIRS | ESTIMATES | MEMORY, true},
	[DESCRIPTION] = {"cpudesc", NULL, 0, true},
	[WHERE] = {VT_META_WHERE, "choice of samples", PAIRS | ESTIMATES, false},
	[WINDOW] = {VT_PAIRS_META_WINDOW, "window", PAIRS, false},
	[LEARN] = {VT_PAIRS_META_LEARN, "way to learn what to expect", PAIRS, false},
	[SLOTS] = {VT_PAIRS_META_MODEL, "model of slots and units", PAIRS, false},
	[DIVISOR] = {VT_EV_META_MODEL, "model of micro-operations", ESTIMATES, false},
	[ACROSS] = {VT_PATHS_META_ACROSS, "extent, within procedures or across calls", PATHS,
		    false},
	[BRANCHES] = {VT_PATHS_META_BRANCHES, "number of branches", PATHS, false},
	[REPLAY_MODEL] = {"replay.model", "model of a core", CONFLICTS, false},
	[REPLAY_DISTANCE] = {"replay.distance", "distance", CONFLICTS, false},
};

/* What META of VT_META_WHERE says, of all streams. */
struct picked {
	uint32_t kind; /* numbers of texts: with `expression`, the key */
	uint32_t expression;
	struct vt_picked sum;
};

void vti_settings_init(struct vti_settings *s)
{
	vt_hash_init(&s->picked, sizeof(struct picked), offsetof(struct picked, sum));
}

void vti_settings_fini(struct vti_settings *s)
{
	vt_hash_fini(&s->picked);
}

/* ---- the records of one stream ---- */

/* What was left out is summed; only conditions on samples are settings of what is made of them. */
static bool feed_where(struct vt_merge *m, const struct vt_record *rec)
{
	struct vt_bytes kind, expression;
	struct vt_picked picked;
	struct picked key, *p;

	if (!vt_picked_parse(vt_record_bytes(rec, VT_META_VALUE), &picked, &kind, &expression))
		return true;
	key.kind = vt_intern_add(m->strings, kind.data, kind.size);
	key.expression = vt_intern_add(m->strings, expression.data, expression.size);
	if (key.kind == UINT32_MAX || key.expression == UINT32_MAX)
		return false;
	p = vt_hash_add(&m->settings.picked, &key, NULL);
	if (!p)
		return false;
	vt_picked_add(&p->sum, &picked);
	if (vt_bytes_are(kind, "SAMPLE"))
		m->settings.own[WHERE] = key.expression;
	return true;
}

bool vti_feed_setting(struct vt_merge *m, const struct vt_record *rec)
{
	struct vt_bytes value = vt_record_bytes(rec, VT_META_VALUE);
	unsigned i;

	for (i = 0; i < VTI_MERGE_SETTINGS; i++) {
		if (!vt_record_is_meta(rec, settings[i].key))
			continue;
		if (i == WHERE)
			return feed_where(m, rec);
		m->settings.own[i] = vt_intern_add(m->strings, value.data, value.size);
		return m->settings.own[i] != UINT32_MAX;
	}
	return true;
}

bool vti_set_divisor(struct vt_merge *m, const char *model)
{
	m->settings.own[DIVISOR] = vt_intern_str(m->strings, model);
	return m->settings.own[DIVISOR] != UINT32_MAX;
}

void vti_has_sums(struct vt_merge *m, enum vti_sums sums)
{
	m->settings.own_has |= 1u << sums;
}

/* ---- adding them to the others ---- */

/*
 * The cpuid of x86 without its stepping, "GenuineIntel,6,158", and of Arm, a MIDR, without variant
 * and revision: those do not change what is measured.  UINT32_MAX: out of memory.
 */
static uint32_t strip_cpuid(struct vt_merge *m, uint32_t text)
{
	const char *id = vt_intern_get(m->strings, text), *stepping = strrchr(id, ',');
	char midr[32], *end;
	uint64_t n;

	if (stepping)
		return vt_intern_add(m->strings, id, (size_t)(stepping - id));
	if (strncmp(id, "0x", 2) != 0)
		return text;
	n = strtoull(id, &end, 16);
	if (*end)
		return text;
	snprintf(midr, sizeof(midr), "0x%016" PRIx64, n & ~UINT64_C(0xf0000f));
	return vt_intern_str(m->strings, midr);
}

/*
 * What is compared of a setting for such sums; 0: it is not known.  UINT32_MAX: out of memory.
 * Estimates and sums of pairs without a model are of a real machine.  Paths are of the program.
 */
static uint32_t compared_setting(struct vt_merge *m, unsigned i, enum vti_sums sums)
{
	const struct vti_settings *s = &m->settings;

	if (i == CPUID)
		return s->own[MODEL] ? 0 : strip_cpuid(m, s->own[i]);
	/* Without a condition, all samples are meant. */
	if (!s->own[i] && (i == WHERE || (i == MODEL && sums != VTI_PATHS)))
		return VTI_SETTING_ABSENT;
	return s->own[i];
}

static const char *const sums_names[VTI_NSUMS] = {
	[VTI_PAIRSTATS] = "sums of pairs",
	[VTI_PATHS] = "paths",
	[VTI_EVSTATS] = "estimates",
	[VTI_CONFLICTS] = "pairs of accesses",
	[VTI_MEMORIES] = "misses and samples of memory",
};

static int refuse_setting(const struct vt_merge *m, unsigned i, const struct vti_known *own,
			  const struct vti_known *known, struct vt_error *err)
{
	const char *name = sums_names[own->sums], *known_name = sums_names[known->sums];
	const char *stream = vt_intern_get(m->strings, known->stream);

	if (i == MODEL && (own->value == VTI_SETTING_ABSENT || known->value == VTI_SETTING_ABSENT))
		return vt_error_set(
			err, VT_E_MISMATCH, "its %s are of %s (META %s), unlike the %s of %s", name,
			own->value == VTI_SETTING_ABSENT ? "a real machine" : "a simulated machine",
			settings[i].key, known_name, stream);
	return vt_error_set(err, VT_E_MISMATCH,
			    "its %s are of another %s (META %s) than the %s of %s", name,
			    settings[i].what, settings[i].key, known_name, stream);
}

/* One model or machine is told of a stream, which has both of these sums. */
static enum vti_sums known_with(unsigned i, enum vti_sums sums)
{
	return i == MODEL && sums == VTI_EVSTATS ? VTI_PAIRSTATS : sums;
}

static int check_setting(struct vt_merge *m, unsigned i, uint32_t stream, struct vt_error *err)
{
	unsigned sums;

	for (sums = 0; sums < VTI_NSUMS; sums++) {
		struct vti_known own = {0, stream, (enum vti_sums)sums};
		struct vti_known *known = &m->settings.known[i][known_with(i, own.sums)];

		if (!(settings[i].sums & m->settings.own_has & 1u << sums))
			continue;
		own.value = compared_setting(m, i, own.sums);
		if (own.value == UINT32_MAX)
			return vt_error_nomem(err);
		if (own.value && known->value && known->value != own.value)
			return refuse_setting(m, i, &own, known, err);
		if (own.value && !known->value)
			*known = own;
	}
	return 0;
}

int vti_check_settings(struct vt_merge *m, const char *stream, struct vt_error *err)
{
	uint32_t name = vt_intern_str(m->strings, stream);
	int code = name == UINT32_MAX ? vt_error_nomem(err) : 0;
	unsigned i;

	for (i = 0; i < VTI_MERGE_SETTINGS && code == 0; i++)
		code = check_setting(m, i, name, err);
	return code;
}

void vti_join_settings(struct vt_merge *m)
{
	struct vti_settings *s = &m->settings;
	unsigned i;

	for (i = 0; i < VTI_MERGE_SETTINGS; i++) {
		if (!settings[i].machine)
			s->text[i] =
				s->own[i] && settings[i].sums & s->own_has ? s->own[i] : s->text[i];
		else if (!s->streams)
			s->text[i] = s->own[i];
		else if (s->text[i] != s->own[i])
			s->text[i] = 0;
		s->own[i] = 0;
	}
	s->own_has = 0;
	s->streams = true;
}

/* ---- writing ---- */

static int compare_picked(const void *pa, const void *pb)
{
	const char *const *a = pa, *const *b = pb;

	return strcmp(*a, *b);
}

/* In the order of the texts: that of the streams is of no account. */
static int write_picked(const struct vt_merge *m, struct vt_writer *w, struct vt_error *err)
{
	const struct vt_hash *all = &m->settings.picked;
	struct vt_buf *texts = calloc(all->count + 1, sizeof(*texts));
	const char **list = calloc(all->count + 1, sizeof(*list));
	bool ok = texts && list;
	size_t i;

	for (i = 0; ok && i < all->count; i++) {
		const struct picked *p = vt_hash_at(all, i);

		vt_picked_value(&p->sum, vt_intern_get(m->strings, p->kind),
				vt_intern_get(m->strings, p->expression), &texts[i]);
		list[i] = vt_buf_str(&texts[i]);
		ok = !texts[i].failed;
	}
	if (ok)
		qsort(list, all->count, sizeof(*list), compare_picked);
	for (i = 0; ok && i < all->count; i++)
		vt_writer_meta(w, VT_META_WHERE, list[i]);
	for (i = 0; texts && i < all->count; i++)
		vt_buf_free(&texts[i]);
	free(texts);
	free(list);
	return ok ? 0 : vt_error_nomem(err);
}

/* A model that sums are of is told even if other streams, without such sums, do not name it. */
static uint32_t written_setting(const struct vti_settings *s, unsigned i)
{
	uint32_t model = s->known[MODEL][VTI_PAIRSTATS].value;

	return i == MODEL && model && model != VTI_SETTING_ABSENT ? model : s->text[i];
}

int vti_write_settings(const struct vt_merge *m, struct vt_writer *w, struct vt_error *err)
{
	unsigned i;

	for (i = 0; i < VTI_MERGE_SETTINGS; i++) {
		uint32_t text = written_setting(&m->settings, i);

		if (text && i != WHERE)
			vt_writer_meta(w, settings[i].key, vt_intern_get(m->strings, text));
	}
	return write_picked(m, w, err);
}
