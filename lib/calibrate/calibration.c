/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/calibration.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/opt.h"

#define PREFIX	    "record.calibrate."
#define PREFIX_SIZE (sizeof(PREFIX) - 1)
#define NUMBER_SIZE 32

/* ---- the names of figures ---- */

#define NUMBER(name, member, low, high)                                                            \
	{                                                                                          \
		name, offsetof(struct vt_calibration, member), low, high                           \
	}
#define RATE(n)                                                                                    \
	NUMBER("rate." #n ".hz", rates[n].hz, 1, 1e9),                                             \
		NUMBER("rate." #n ".rate", rates[n].rate, 0, 1e9),                                 \
		NUMBER("rate." #n ".cost", rates[n].cost, -1, 1),                                  \
		NUMBER("rate." #n ".lost", rates[n].lost, -1e3, 1),                                \
		NUMBER("rate." #n ".effective", rates[n].effective, 0, 1e3),                       \
		NUMBER("rate." #n ".spread", rates[n].spread, 0, 1e3)
#define LENGTH(n)                                                                                  \
	NUMBER("length." #n ".cycles", lengths[n].cycles, 0, 1e9),                                 \
		NUMBER("length." #n ".samples", lengths[n].samples, 0, 1e15),                      \
		NUMBER("length." #n ".error", lengths[n].error, -1e9, 1e9),                        \
		NUMBER("length." #n ".sigma", lengths[n].sigma, 0, 1e9)

/* The members that are numbers, and between what they lie. */
static const struct number {
	const char *name;
	size_t offset;
	double low;
	double high;
} numbers[] = {
	NUMBER("nanoseconds", nanoseconds, 0, 1),
	NUMBER("period", period, 1, 1e15),
	NUMBER("lost", lost, 0, 1e15),
	NUMBER("skid.samples", skid.samples, 0, 1e15),
	NUMBER("skid.own", skid.own, 0, 1),
	NUMBER("skid.next", skid.next, 0, 1),
	NUMBER("clock", clock, 0, 1e3),
	NUMBER("spread", spread, 0, 1e3),
	NUMBER("tsc", tsc, 0, 1e3),
	NUMBER("multiply", multiply, 0, 1e3),
	RATE(0),
	RATE(1),
	LENGTH(0),
	LENGTH(1),
	LENGTH(2),
	LENGTH(3),
	LENGTH(4),
	LENGTH(5),
	LENGTH(6),
	LENGTH(7),
	LENGTH(8),
	NUMBER("bound.error", bound.error, 0, 1e9),
	NUMBER("bound.from", bound.from, 0, 1e9),
	NUMBER("bound.least", bound.least, 0, 1e9),
};

static const struct text {
	const char *name;
	size_t offset;
} texts[] = {
	{"event", offsetof(struct vt_calibration, event)},
	{"cpu", offsetof(struct vt_calibration, cpu)},
};

#define NNUMBERS (sizeof(numbers) / sizeof(*numbers))
#define NTEXTS	 (sizeof(texts) / sizeof(*texts))

static double get_number(const struct vt_calibration *c, const struct number *n)
{
	double v;

	memcpy(&v, (const char *)c + n->offset, sizeof(v));
	return v;
}

/* ---- what follows from them ---- */

enum vt_policy vt_calibration_policy(const struct vt_calibration *c)
{
	return vt_skid_policy(&c->skid);
}

double vt_calibration_lost(const struct vt_calibration *c)
{
	double rate = (c->nanoseconds > 0 ? 1e9 : c->clock * 1e9) / c->period;

	return fmin(1, c->rates[0].cost * rate);
}

/* ---- records ---- */

static void write_fact(struct vt_writer *w, const char *name, const char *value)
{
	char key[sizeof(PREFIX) + NUMBER_SIZE];

	snprintf(key, sizeof(key), PREFIX "%s", name);
	vt_writer_meta(w, key, value);
}

void vt_calibration_write(const struct vt_calibration *c, struct vt_writer *w)
{
	char value[NUMBER_SIZE];
	size_t i;

	for (i = 0; i < NTEXTS; i++)
		write_fact(w, texts[i].name, (const char *)c + texts[i].offset);
	for (i = 0; i < NNUMBERS; i++) {
		snprintf(value, sizeof(value), "%.9g", get_number(c, &numbers[i]));
		write_fact(w, numbers[i].name, value);
	}
}

struct reading {
	struct vt_calibration *c;
	const struct vt_reader *r;
	bool texts[NTEXTS];
	bool numbers[NNUMBERS];
	struct vt_error damage;
};

/* Damage is found in the bytes that were read last. */
static int refuse(const struct reading *g, struct vt_error *err, const char *what, const char *name,
		  const char *value)
{
	return vt_error_set(err, VT_E_DAMAGED,
			    "%s: before offset 0x%" PRIx64 ": " PREFIX "%s: %s%s%s%s",
			    vt_reader_name(g->r), vt_reader_offset(g->r), name, what,
			    value ? ": '" : "", value ? value : "", value ? "'" : "");
}

static int take_text(struct reading *g, size_t i, const char *value, struct vt_error *err)
{
	if (g->texts[i])
		return refuse(g, err, "is there twice", texts[i].name, NULL);
	if (!*value)
		return refuse(g, err, "is empty", texts[i].name, NULL);
	g->texts[i] = true;
	snprintf((char *)g->c + texts[i].offset, VT_CALIBRATION_TEXT, "%s", value);
	return 0;
}

static int take_number(struct reading *g, size_t i, const char *value, struct vt_error *err)
{
	const struct number *n = &numbers[i];
	struct vt_error ignored;
	double v;

	if (g->numbers[i])
		return refuse(g, err, "is there twice", n->name, NULL);
	if (vt_parse_f64(value, "", &v, &ignored) < 0 || v < n->low || v > n->high)
		return refuse(g, err, "no number that can be", n->name, value);
	g->numbers[i] = true;
	memcpy((char *)g->c + n->offset, &v, sizeof(v));
	return 0;
}

/* Of texts, then of numbers; NTEXTS + NNUMBERS if it is none. */
static size_t find_fact(const char *name)
{
	size_t i;

	for (i = 0; i < NTEXTS; i++)
		if (strcmp(name, texts[i].name) == 0)
			return i;
	for (i = 0; i < NNUMBERS; i++)
		if (strcmp(name, numbers[i].name) == 0)
			break;
	return NTEXTS + i;
}

static int take_record(struct reading *g, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_bytes key, value;
	char name[VT_CALIBRATION_TEXT], text[VT_CALIBRATION_TEXT];
	size_t fact;

	if (rec->kind != VT_META)
		return 0;
	key = vt_record_bytes(rec, VT_META_KEY);
	value = vt_record_bytes(rec, VT_META_VALUE);
	if (key.size < PREFIX_SIZE || memcmp(key.data, PREFIX, PREFIX_SIZE) != 0 ||
	    key.size - PREFIX_SIZE >= sizeof(name))
		return 0;
	snprintf(name, sizeof(name), "%.*s", (int)(key.size - PREFIX_SIZE),
		 (const char *)key.data + PREFIX_SIZE);
	/* Others may be those of a later version. */
	fact = find_fact(name);
	if (fact == NTEXTS + NNUMBERS)
		return 0;
	if (value.size >= sizeof(text))
		return refuse(g, err, "is too long", name, NULL);
	if (memchr(value.data, 0, value.size))
		return refuse(g, err, "is no text", name, NULL);
	snprintf(text, sizeof(text), "%.*s", (int)value.size, (const char *)value.data);
	return fact < NTEXTS ? take_text(g, fact, text, err)
			     : take_number(g, fact - NTEXTS, text, err);
}

static void keep_damage(void *arg, const char *text)
{
	struct reading *g = arg;

	if (!g->damage.code)
		vt_error_set(&g->damage, VT_E_DAMAGED, "%s", text);
}

/* Whether all is there. */
static int check_whole(const struct reading *g, struct vt_error *err)
{
	const char *missing = NULL;
	size_t i, found = 0;

	for (i = 0; i < NTEXTS; i++) {
		found += g->texts[i];
		if (!g->texts[i] && !missing)
			missing = texts[i].name;
	}
	for (i = 0; i < NNUMBERS; i++) {
		found += g->numbers[i];
		if (!g->numbers[i] && !missing)
			missing = numbers[i].name;
	}
	if (!missing)
		return 0;
	if (!found)
		return vt_error_set(err, VT_E_ABSENT,
				    "%s: no calibration (vtrace record --calibrate -o makes one)",
				    vt_reader_name(g->r));
	return vt_error_set(err, VT_E_ABSENT, "%s: a calibration without " PREFIX "%s",
			    vt_reader_name(g->r), missing);
}

int vt_calibration_read(struct vt_calibration *c, struct vt_reader *r, struct vt_error *err)
{
	struct reading g = {.c = c, .r = r};
	struct vt_record rec;
	int code;

	*c = (struct vt_calibration){.event = ""};
	vt_reader_set_warn(r, keep_damage, &g);
	while ((code = vt_reader_next(r, &rec, err)) > 0 && !g.damage.code)
		if ((code = take_record(&g, &rec, err)) < 0)
			break;
	vt_reader_set_warn(r, NULL, NULL);
	if (g.damage.code) {
		*err = g.damage;
		return -VT_E_DAMAGED;
	}
	return code < 0 ? code : check_whole(&g, err);
}

int vt_calibration_check(const struct vt_calibration *c, const char *name, const char *cpu,
			 const char *event, struct vt_error *err)
{
	if (strcmp(c->cpu, cpu) != 0)
		return vt_error_set(err, VT_E_MISMATCH,
				    "%s: the calibration of another processor: %s, this is %s",
				    name, c->cpu, cpu);
	if (strcmp(c->event, event) != 0)
		return vt_error_set(err, VT_E_MISMATCH,
				    "%s: the calibration of another event: %s, not %s", name,
				    c->event, event);
	return 0;
}
