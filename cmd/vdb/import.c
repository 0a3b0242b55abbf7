/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "cmd/common/stream.h"
#include "cmd/vdb/gather.h"
#include "cmd/vdb/vdb.h"

/* An exported stream, section by section. */
struct import {
	struct vdb *v;
	struct vt_db *db;
	struct gather *gather; /* of the section at hand; NULL before the first */
	struct vt_intern *strings;
	const char *name; /* of the stream */
	const char *epoch;
	const char *label;
	int64_t begun;
	struct vt_db_input *inputs;
	size_t ninputs;
	size_t inputs_cap;
};

/* ---- a section's end ---- */

static uint64_t input_samples(const struct import *m)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < m->ninputs; i++)
		sum += m->inputs[i].samples;
	return sum;
}

static int print_imported(const struct import *m, const struct vt_db_batch *b, int added)
{
	struct vt_buf what = VT_BUF_INIT;
	bool ok;

	vt_buf_printf(&what, "%s", m->name);
	if (*m->label)
		vt_buf_printf(&what, " (%s)", m->label);
	ok = vdb_print_added(m->v, vt_buf_str(&what), b, m->epoch, added);
	vt_buf_free(&what);
	return ok ? 0 : 1;
}

/* Adds what was gathered since the section began. */
static int end_section(struct import *m, struct vt_error *err)
{
	struct vt_db_batch b = {.epoch = m->epoch,
				.label = m->label,
				.now = m->begun,
				.again = m->v->again,
				.inputs = m->inputs,
				.ninputs = m->ninputs};
	int code;

	if (!m->gather)
		return 0;
	code = gather_finish(m->gather, &b, err);
	if (code == 0 && vt_db_batch_samples(&b) != input_samples(m)) {
		app_say_lossy(m->v->app,
			      "%s: epoch %s: %" PRIu64 " samples of %" PRIu64
			      " have come through; it was not added",
			      m->name, m->epoch, vt_db_batch_samples(&b), input_samples(m));
	} else if (code == 0) {
		code = vt_db_add(m->db, &b, NULL, err);
		if (code >= 0)
			code = print_imported(m, &b, code);
	}
	gather_free(m->gather);
	m->gather = NULL;
	return code;
}

/* ---- what a section begins with ---- */

static int add_section_input(struct import *m, const char *text, struct vt_error *err)
{
	if (!vt_array_grow(&m->inputs, &m->inputs_cap, m->ninputs + 1, sizeof(*m->inputs)))
		return vt_error_nomem(err);
	if (!vt_db_parse_input(text, &m->inputs[m->ninputs]))
		return vt_error_set(err, VT_E_DAMAGED, "%s: an input of epoch %s is damaged",
				    m->name, m->epoch);
	m->ninputs++;
	return 0;
}

static int begin_section(struct import *m, const char *epoch, struct vt_error *err)
{
	int code = end_section(m, err);

	if (code != 0)
		return code;
	m->epoch = epoch;
	m->label = "";
	m->begun = vdb_now();
	m->ninputs = 0;
	m->gather = gather_new();
	return m->gather ? 0 : vt_error_nomem(err);
}

static int import_fact(struct import *m, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_bytes key = vt_record_bytes(rec, VT_META_KEY);
	struct vt_bytes value = vt_record_bytes(rec, VT_META_VALUE);
	uint32_t k = vt_intern_add(m->strings, key.data, key.size);
	uint32_t t = vt_intern_add(m->strings, value.data, value.size);
	const char *name, *text;

	if (k == UINT32_MAX || t == UINT32_MAX)
		return vt_error_nomem(err);
	name = vt_intern_get(m->strings, k);
	text = vt_intern_get(m->strings, t);
	if (strcmp(name, VT_DB_META_EPOCH) == 0)
		return begin_section(m, text, err);
	if (!m->gather)
		return 0;
	if (strcmp(name, VT_DB_META_LABEL) == 0)
		m->label = text;
	else if (strcmp(name, VT_DB_META_BEGUN) == 0)
		return vt_parse_i64(text, "when the epoch began", &m->begun, err);
	else if (strcmp(name, VT_DB_META_INPUT) == 0)
		return add_section_input(m, text, err);
	return gather_feed(m->gather, rec->block, rec->row, 1, err);
}

static int import_run(void *arg, const struct vt_block *b, uint32_t first, uint32_t count,
		      struct vt_error *err)
{
	struct import *m = arg;
	struct vt_record rec = {b, b->kind, first};
	int code = 0;

	for (; b->kind == VT_META && rec.row < first + count && code == 0; rec.row++)
		code = import_fact(m, &rec, err);
	if (b->kind == VT_META)
		return code;
	if (b->kind == VT_COUNT && !m->gather)
		return vt_error_set(err, VT_E_FORMAT,
				    "%s: not an exported database (vdb add takes profiles)",
				    m->name);
	return m->gather ? gather_feed(m->gather, b, first, count, err) : 0;
}

static bool import_stream(struct import *m, const char *path)
{
	struct vt_reader *r = app_open_reader(m->v->app, path);
	struct vt_error err = VT_ERROR_INIT;
	bool ok;

	if (!r)
		return false;
	m->name = vt_reader_name(r);
	ok = app_each_run(m->v->app, r, import_run, m);
	if (ok && vt_reader_damage(r)->truncated && m->gather) {
		app_say(m->v->app, "%s: epoch %s was not added", m->name, m->epoch);
		app_raise(m->v->app, APP_INPUT);
		ok = false;
	}
	if (ok && end_section(m, &err) < 0)
		ok = app_fail(m->v->app, &err);
	gather_free(m->gather);
	m->gather = NULL;
	app_close_reader(m->v->app, r);
	return ok;
}

bool vdb_import(struct vdb *v)
{
	struct import m = {.v = v, .strings = vt_intern_new()};
	bool ok = false;
	int i;

	if (!m.strings)
		return app_no_memory(v->app);
	m.db = vdb_open(v, VT_DB_CREATE);
	if (m.db) {
		ok = v->app->argc > 1 || import_stream(&m, "-");
		for (i = 1; i < v->app->argc; i++)
			ok = import_stream(&m, v->app->argv[i]) && ok;
	}
	vt_db_close(m.db);
	vt_intern_free(m.strings);
	free(m.inputs);
	return ok;
}
