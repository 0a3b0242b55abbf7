/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/record/calibrate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

#include "cmd/common/stream.h"
#include "cmd/record/command.h"
#include "cmd/record/measure.h"
#include "cmd/record/perf.h"
#include "cmd/record/planted.h"
#include "cmd/record/probe.h"
#include "listing/cycles/calibration.h"
#include "listing/json.h"

void calibration_name_cpu(char name[VT_CALIBRATION_TEXT])
{
#ifdef __x86_64__
	unsigned a = 0, b = 0, c = 0, d = 0, family, model;
	char vendor[13] = "";

	__get_cpuid(0, &a, &b, &c, &d);
	memcpy(vendor, &b, 4);
	memcpy(vendor + 4, &d, 4);
	memcpy(vendor + 8, &c, 4);
	__get_cpuid(1, &a, &b, &c, &d);
	family = a >> 8 & 15;
	model = a >> 4 & 15;
	if (family >= 6)
		model += a >> 12 & 0xf0;
	if (family == 15)
		family += a >> 20 & 0xff;
	snprintf(name, VT_CALIBRATION_TEXT, "%s,%u,%u,%u", vendor, family, model, a & 15);
#else
	snprintf(name, VT_CALIBRATION_TEXT, "?");
#endif
}

static void write_calibration(struct app *a, const struct vt_calibration *c, const char *output,
			      const char *compress)
{
	struct vt_writer *w = app_open_writer(a, output, compress, NULL, 0);

	if (!w)
		return;
	vt_calibration_write(c, w);
	app_close_writer(a, w);
}

void calibration_show(struct app *a, const struct vt_calibration *c, bool json)
{
	struct vt_output *out = app_text(a, NULL);
	struct vt_error err = VT_ERROR_INIT;

	if (out && json)
		vt_json_write(out, vt_calibration_json(c), true);
	else if (out && vt_calibration_print(c, out, &err) < 0)
		app_fail(a, &err);
}

static bool can_calibrate(struct app *a, const struct probe *m)
{
	if (!planted_of(0))
		app_say(a, "--calibrate: there are no planted loops for this processor");
	else if (!m->events)
		app_say(a, "no event can be opened: %s (kernel.perf_event_paranoid %d)",
			strerror(m->why_not), m->paranoid);
	else
		return true;
	app_raise(a, APP_INPUT);
	return false;
}

void record_calibrate(struct app *a, bool json, const char *output, const char *compress)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_calibration c = {.period = strtod(PERF_PERIOD, NULL)};
	struct probe m;

	probe_machine(&m);
	if (!can_calibrate(a, &m) || (output && !check_output_name(a, output)))
		return;
	perf_name_time_event(&m, c.event);
	calibration_name_cpu(c.cpu);
	c.nanoseconds = !m.cycles;
	app_say(a, "sampling planted loops by %s, for up to ten seconds", c.event);
	if (measure_machine(&m, &c, &err) < 0) {
		app_fail(a, &err);
		return;
	}
	calibration_show(a, &c, json);
	if (output)
		write_calibration(a, &c, output, compress);
}

bool calibration_load(struct app *a, const char *path, struct vt_calibration *c)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_reader *r = vt_reader_open(path, &err);
	bool ok = r && vt_calibration_read(c, r, &err) == 0;

	if (r)
		vt_reader_close(r);
	return ok || app_fail(a, &err);
}

bool calibration_load_ours(struct app *a, const char *path, struct vt_calibration *c)
{
	char cpu[VT_CALIBRATION_TEXT], event[PERF_EVENT_NAME];
	struct vt_error err = VT_ERROR_INIT;
	struct probe m;

	if (!calibration_load(a, path, c))
		return false;
	probe_machine(&m);
	perf_name_time_event(&m, event);
	calibration_name_cpu(cpu);
	return vt_calibration_check(c, path, cpu, event, &err) == 0 || app_fail(a, &err);
}
