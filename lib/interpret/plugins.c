/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "interpret/plugins.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/escape.h"
#include "interpret/plugins_internal.h"

#define MAX_ERROR 256

/* Behind what a plugin may write into, to see whether it went on. */
#define GUARD	   192
#define GUARD_BYTE 0xa5

/* What samples' `has` says of an address (linux/perf_event.h). */
#define HAS_ADDR (UINT64_C(1) << 3)

/* The key of a distinct value.  No padding. */
struct label {
	uint64_t kind;
	uint64_t value;
};

struct plugin {
	const struct vtrace_plugin *plugin;
	char *name;
	void *state;
	bool created;
	uint64_t first;	 /* id of its first kind */
	uint64_t values; /* written */
	uint32_t seen;	 /* what it was given with known values: VTRACE_BIT(…) */
	struct vt_hash labels;
};

struct vt_plugins {
	struct plugin *list;
	size_t count;
	size_t cap;
	void **handles; /* of those that were loaded: dlclose() */
	size_t nhandles;
	size_t handles_cap;
	uint64_t nkinds; /* of all */
	struct vti_plugin_tuples tuples;
	struct vt_hash callers; /* of the run at hand, where it has several */
	struct vt_plugins_totals totals;
};

/* The caller at an address; 0: unknown, or the run came there by several. */
struct caller {
	uint64_t pc; /* the key */
	uint64_t caller;
};

/* What a plugin's emit() calls lead to. */
struct emitting {
	struct vt_plugins *all;
	struct plugin *plugin;
	const struct vt_run *run;
	struct vt_writer *writer;
	uint64_t left; /* values that it may still emit */
	size_t at;     /* the tuple whose address was emitted last */
	bool refused;
	struct vt_error *err;
};

struct vt_plugins *vt_plugins_new(void)
{
	struct vt_plugins *m = calloc(1, sizeof(*m));

	if (m) {
		vti_plugin_tuples_init(&m->tuples);
		vt_hash_init(&m->callers, sizeof(struct caller), sizeof(uint64_t));
	}
	return m;
}

void vt_plugins_free(struct vt_plugins *m)
{
	size_t i;

	if (!m)
		return;
	for (i = 0; i < m->count; i++) {
		struct plugin *one = &m->list[i];

		if (one->created && one->plugin->destroy)
			one->plugin->destroy(one->state);
		vt_hash_fini(&one->labels);
		free(one->name);
	}
	free(m->list);
	while (m->nhandles)
		dlclose(m->handles[--m->nhandles]);
	free(m->handles);
	vti_plugin_tuples_fini(&m->tuples);
	vt_hash_fini(&m->callers);
	free(m);
}

/* ---- adding ---- */

static int prefix_plugin_error(const struct plugin *m, struct vt_error *err)
{
	return vt_error_prefix(err, "plugin %s", m->name);
}

static int create_plugin(struct plugin *m, const char *options, struct vt_error *err)
{
	const struct vtrace_plugin *p = m->plugin;
	char reason[MAX_ERROR + GUARD];
	struct vt_buf b = VT_BUF_INIT;

	m->created = true;
	if (!p->create)
		return *options ? vt_error_set(err, VT_E_USAGE, "takes no options") : 0;
	memset(reason, 0, sizeof(reason));
	m->state = p->create(options, reason, MAX_ERROR);
	if (m->state)
		return 0;
	m->created = false;
	reason[sizeof(reason) - 1] = '\0';
	vt_escape_str(&b, reason);
	vt_error_set(err, VT_E_USAGE, "%s", b.size ? vt_buf_str(&b) : "it does not start");
	vt_buf_free(&b);
	return -VT_E_USAGE;
}

int vt_plugins_add(struct vt_plugins *m, const struct vtrace_plugin *plugin, const char *name,
		   const char *options, struct vt_error *err)
{
	struct plugin *one;

	if (!vt_array_grow(&m->list, &m->cap, m->count + 1, sizeof(*m->list)))
		return vt_error_nomem(err);
	one = &m->list[m->count];
	*one = (struct plugin){.plugin = plugin, .first = m->nkinds, .name = strdup(name)};
	if (!one->name)
		return vt_error_nomem(err);
	vt_hash_init(&one->labels, sizeof(struct label), sizeof(struct label));
	m->count++;
	if (vti_plugin_check(plugin, err) < 0 || create_plugin(one, options, err) < 0)
		return prefix_plugin_error(one, err);
	m->nkinds += plugin->nkinds;
	return 0;
}

/* A colon in a directory's name belongs to the name. */
int vt_plugins_load(struct vt_plugins *m, const char *arg, const struct vt_plugin_path *where,
		    struct vt_error *err)
{
	const char *slash = strrchr(arg, '/');
	const char *colon = strchr(slash ? slash : arg, ':');
	char *name = strndup(arg, colon ? (size_t)(colon - arg) : strlen(arg));
	const struct vtrace_plugin *plugin;
	void *handle;
	int code;

	if (!name ||
	    !vt_array_grow(&m->handles, &m->handles_cap, m->nhandles + 1, sizeof(*m->handles))) {
		free(name);
		return vt_error_nomem(err);
	}
	code = vti_plugin_load(name, where, &handle, &plugin, err);
	if (code == 0) {
		m->handles[m->nhandles++] = handle;
		code = vt_plugins_add(m, plugin, name, colon ? colon + 1 : "", err);
	}
	free(name);
	return code;
}

size_t vt_plugins_count(const struct vt_plugins *m)
{
	return m->count;
}

const struct vt_plugins_totals *vt_plugins_totals(const struct vt_plugins *m)
{
	return &m->totals;
}

/* ---- what they want ---- */

static uint32_t get_plugin_wants(const struct plugin *one)
{
	uint32_t what = 0, r;

	for (r = 0; r < one->plugin->nrules; r++)
		what |= one->plugin->rules[r].what;
	return what;
}

static uint32_t get_all_wants(const struct vt_plugins *m)
{
	uint32_t what = 0;
	size_t i;

	for (i = 0; i < m->count; i++)
		what |= get_plugin_wants(&m->list[i]);
	return what;
}

uint32_t vt_plugins_capture(const struct vt_plugins *m)
{
	return m->count ? vti_plugin_wants(get_all_wants(m)) : 0;
}

bool vt_plugins_want_registers(const struct vt_plugins *m)
{
	return get_all_wants(m) & VTRACE_BIT(VTRACE_REGISTER);
}

bool vt_plugins_settle(const struct vt_plugins *m)
{
	size_t i;

	for (i = 0; i < m->count; i++)
		if (m->list[i].plugin->settle)
			return true;
	return false;
}

void vt_plugins_declare(const struct vt_plugins *m, struct vt_writer *w)
{
	static const char *const formats[] = {"hex", "unsigned", "signed", "float", "address"};
	uint32_t k;
	size_t i;

	for (i = 0; i < m->count; i++) {
		const struct vtrace_plugin *p = m->list[i].plugin;

		for (k = 0; k < p->nkinds; k++) {
			vt_writer_row(w, VT_MODULE)[VT_MODULE_ID] = m->list[i].first + k;
			vt_writer_text(w, VT_MODULE_NAME, p->kinds[k].name);
			vt_writer_text(w, VT_MODULE_FORMAT, formats[p->kinds[k].format]);
		}
	}
}

/* ---- runs ---- */

static bool fits_in_size(uint64_t value, uint32_t size)
{
	return size == 8 || value >> 8 * size == 0;
}

/* Plugins mostly go through the tuples in order: the next address is near the last one. */
static bool in_run(struct emitting *e, uint64_t pc)
{
	const struct vti_plugin_tuples *t = &e->all->tuples;
	size_t i;

	for (i = 0; i < t->count; i++, e->at++) {
		if (e->at >= t->count)
			e->at = 0;
		if (t->list[e->at].pc == pc)
			return true;
	}
	return false;
}

static int refuse_value(struct emitting *e, const char *why, uint64_t what)
{
	/* The first reason counts. */
	if (!e->refused) {
		vt_error_set(e->err, VT_E_SYSTEM, "%s (0x%" PRIx64 ")", why, what);
		prefix_plugin_error(e->plugin, e->err);
	}
	e->refused = true;
	return -1;
}

static int note_value(struct vt_plugins *all, struct plugin *m, uint32_t kind, uint64_t value,
		      struct vt_error *err)
{
	struct label key = {kind, value};

	if (!m->plugin->format || vt_hash_find(&m->labels, &key))
		return 0;
	if (m->labels.count >= VT_PLUGINS_MAX_LABELS) {
		all->totals.unlabeled++;
		return 0;
	}
	return vt_hash_add(&m->labels, &key, NULL) ? 0 : vt_error_nomem(err);
}

/* A value has an address, which may have been executed for several callers. */
static int note_callers(struct vt_plugins *m, const struct vt_run *run, struct vt_error *err)
{
	const struct vti_plugin_tuples *t = &m->tuples;
	size_t i, from = 0;
	bool added;

	vt_hash_clear(&m->callers);
	for (i = 0; run->ncallers > 1 && i < t->count; i++) {
		uint64_t caller = vt_run_caller(run, t->list[i].insn, &from);
		struct caller *c = vt_hash_add(&m->callers, &t->list[i].pc, &added);

		if (!c)
			return vt_error_nomem(err);
		if (added)
			c->caller = caller;
		else if (c->caller != caller)
			c->caller = 0;
	}
	return 0;
}

static uint64_t caller_at(const struct emitting *e, uint64_t pc)
{
	const struct caller *c = vt_hash_find(&e->all->callers, &pc);
	size_t from = 0;

	if (e->run->ncallers > 1)
		return c ? c->caller : 0;
	return vt_run_caller(e->run, 0, &from);
}

static void write_plugin_value(struct emitting *e, const struct vtrace_value *v)
{
	uint64_t *row = vt_writer_row(e->writer, VT_VALUE);

	row[VT_VALUE_TIME] = e->run->time;
	row[VT_VALUE_PID] = (uint64_t)e->run->pid;
	row[VT_VALUE_TID] = (uint64_t)e->run->tid;
	row[VT_VALUE_IP] = v->pc;
	row[VT_VALUE_WHAT] = VT_WHAT_MODULE;
	row[VT_VALUE_REG] = e->plugin->first + v->kind;
	row[VT_VALUE_SIZE] = v->size;
	row[VT_VALUE_VALUE] = v->value;
	row[VT_VALUE_CALLER] = caller_at(e, v->pc);
	row[VT_VALUE_WEIGHT] = e->run->weight;
	e->plugin->values++;
	e->all->totals.values++;
}

static int emit_value(void *host, const struct vtrace_value *v)
{
	struct emitting *e = host;

	if (e->refused)
		return -1;
	if (!v)
		return refuse_value(e, "emits no value at all", 0);
	if (v->kind >= e->plugin->plugin->nkinds)
		return refuse_value(e, "emits a kind of value that it does not have", v->kind);
	if (v->size < 1 || v->size > 8 || !fits_in_size(v->value, v->size))
		return refuse_value(e, "emits a value that does not fit its size", v->value);
	if (!in_run(e, v->pc))
		return refuse_value(e, "emits a value for an address that is not in the run",
				    v->pc);
	if (!e->left)
		return refuse_value(e,
				    "emits more values than a run of so many instructions may have",
				    e->run->insns);
	e->left--;
	if (!e->plugin->plugin->settle &&
	    note_value(e->all, e->plugin, v->kind, v->value, e->err) < 0) {
		e->refused = true;
		return -1;
	}
	write_plugin_value(e, v);
	return 0;
}

static int run_one(struct vt_plugins *m, struct plugin *one, const struct vt_run *run,
		   struct vt_writer *w, struct vt_error *err)
{
	const struct vti_plugin_tuples *t = &m->tuples;
	struct emitting e = {.all = m, .plugin = one, .run = run, .writer = w, .err = err};
	const struct vtrace_run r = {.tuples = t->list,
				     .ntuples = t->count,
				     .insns = run->insns,
				     .begins = run->begins,
				     .pid = run->pid,
				     .tid = run->tid,
				     .time = run->time,
				     .weight = run->weight};
	size_t i;
	int code;

	if (note_callers(m, run, err) < 0)
		return -VT_E_NOMEM;
	m->totals.tuples += t->count;
	for (i = 0; i < t->count; i++)
		one->seen |= t->list[i].known ? VTRACE_BIT(t->list[i].what) : 0;
	e.left = (uint64_t)VTRACE_MAX_EMIT * run->insns;
	code = one->plugin->process(one->state, &r, emit_value, &e);
	if (e.refused)
		return -(int)err->code;
	if (code < 0) {
		vt_error_set(err, VT_E_SYSTEM, "gives up (process returned %d)", code);
		return prefix_plugin_error(one, err);
	}
	return 0;
}

static int run_all(struct vt_plugins *m, const struct vt_run *run, vt_plugins_code_fn *code,
		   void *arg, struct vt_writer *w, struct vt_error *err)
{
	size_t i;
	int rc = 0;

	m->totals.runs++;
	for (i = 0; i < m->count && rc == 0; i++) {
		rc = vti_plugin_tuples_make(&m->tuples, m->list[i].plugin, run, code, arg, err);
		if (rc == 0 && m->tuples.count)
			rc = run_one(m, &m->list[i], run, w, err);
	}
	return rc;
}

int vt_plugins_run(struct vt_plugins *m, const struct vt_run *run, vt_plugins_code_fn *code,
		   void *arg, struct vt_writer *w, struct vt_error *err)
{
	struct vt_run r = *run;

	r.has_latency = false;
	return run_all(m, &r, code, arg, w, err);
}

int vt_plugins_sample(struct vt_plugins *m, const struct vt_record *rec, vt_plugins_code_fn *code,
		      void *arg, struct vt_writer *w, struct vt_error *err)
{
	struct vt_capture captures[2] = {{.what = VT_WHAT_UNKNOWN, .known = true},
					 {.what = VT_WHAT_LOAD_ADDRESS, .size = 8, .known = true}};
	struct vt_run run = {.insns = 1,
			     .begins = true,
			     .weight = 1,
			     .has_latency = true,
			     .captures = captures,
			     .ncaptures = 1};
	uint64_t has;

	if (rec->kind != VT_SAMPLE || !(get_all_wants(m) & VTRACE_BIT(VTRACE_LATENCY)) ||
	    !vt_sample_latency(rec, &run.latency))
		return 0;
	has = vt_record_u64(rec, VT_SAMPLE_HAS);
	run.time = vt_record_u64(rec, VT_SAMPLE_TIME);
	run.pid = vt_record_i64(rec, VT_SAMPLE_PID);
	run.tid = vt_record_i64(rec, VT_SAMPLE_TID);
	run.event = vt_record_u64(rec, VT_SAMPLE_EVENT);
	captures[0].ip = captures[1].ip = vt_record_u64(rec, VT_SAMPLE_IP);
	captures[1].value = vt_record_u64(rec, VT_SAMPLE_ADDR);
	if (has & HAS_ADDR && captures[1].value)
		run.ncaptures = 2;
	return run_all(m, &run, code, arg, w, err);
}

#define MAX_FACT 255

/* Copies a string; false: it is too long, or has a zero. */
static bool copy_fact(char to[MAX_FACT + 1], struct vt_bytes text)
{
	if (text.size > MAX_FACT || (text.size && memchr(text.data, 0, text.size)))
		return false;
	if (text.size)
		memcpy(to, text.data, text.size);
	to[text.size] = '\0';
	return true;
}

void vt_plugins_fact(struct vt_plugins *m, const struct vt_record *rec)
{
	char key[MAX_FACT + 1], value[MAX_FACT + 1];
	size_t i;

	if (rec->kind != VT_META || !copy_fact(key, vt_record_bytes(rec, VT_META_KEY)) ||
	    !copy_fact(value, vt_record_bytes(rec, VT_META_VALUE)))
		return;
	for (i = 0; i < m->count; i++) {
		const struct vtrace_plugin *p = m->list[i].plugin;

		if (p->size >= offsetof(struct vtrace_plugin, fact) + sizeof(p->fact) && p->fact)
			p->fact(m->list[i].state, key, value);
	}
}

void vt_plugins_forget_code(struct vt_plugins *m)
{
	vt_hash_clear(&m->tuples.insns);
}

/* ---- the end ---- */

int vt_plugins_finish(struct vt_plugins *m, struct vt_error *err)
{
	size_t i;

	for (i = 0; i < m->count; i++) {
		const struct vtrace_plugin *p = m->list[i].plugin;
		int code = p->finish ? p->finish(m->list[i].state) : 0;

		if (code < 0) {
			vt_error_set(err, VT_E_SYSTEM, "gives up (finish returned %d)", code);
			return prefix_plugin_error(&m->list[i], err);
		}
	}
	return 0;
}

const char *vt_plugins_silent(const struct vt_plugins *m, size_t i, const char **why)
{
	const struct plugin *one = &m->list[i];
	uint32_t lacks = get_plugin_wants(one) & ~one->seen;

	if (one->values)
		return NULL;
	if (lacks & VTRACE_BIT(VTRACE_LATENCY))
		*why = "no sample has a latency: `perf mem record`, and `perf record --weight` "
		       "with a precise event, record them";
	else if (lacks)
		*why = "some of what it wants is known nowhere";
	else
		*why = "it makes nothing of what there is";
	return one->plugin->name;
}

static struct plugin *plugin_of(struct vt_plugins *m, uint64_t id)
{
	size_t i;

	for (i = 0; i < m->count; i++)
		if (id >= m->list[i].first && id - m->list[i].first < m->list[i].plugin->nkinds)
			return &m->list[i];
	return NULL;
}

int vt_plugins_copy(struct vt_plugins *m, const struct vt_record *rec, struct vt_writer *w,
		    struct vt_error *err)
{
	uint64_t id = vt_record_u64(rec, VT_VALUE_REG), value = vt_record_u64(rec, VT_VALUE_VALUE);
	struct plugin *one =
		vt_record_u64(rec, VT_VALUE_WHAT) == VT_WHAT_MODULE ? plugin_of(m, id) : NULL;
	uint64_t *row;
	unsigned f;

	if (one && one->plugin->settle) {
		uint32_t kind = (uint32_t)(id - one->first);

		value = one->plugin->settle(one->state, kind, value);
		if (!fits_in_size(value, (uint32_t)vt_record_u64(rec, VT_VALUE_SIZE))) {
			vt_error_set(err, VT_E_SYSTEM,
				     "settles on a value that does not fit its size (0x%" PRIx64
				     ")",
				     value);
			return prefix_plugin_error(one, err);
		}
		if (note_value(m, one, kind, value, err) < 0)
			return -(int)err->code;
	}
	row = vt_writer_row(w, VT_VALUE);
	for (f = 0; f < VT_VALUE_NFIELDS; f++)
		row[f] = vt_record_u64(rec, f);
	row[VT_VALUE_VALUE] = value;
	return 0;
}

/* 0, or what is wrong with what `format` wrote. */
static const char *wrong_text(const char *buf, size_t said)
{
	struct vt_buf b = VT_BUF_INIT;
	const char *wrong = NULL;
	size_t size = 0, i;

	for (i = 0; i < GUARD && !wrong; i++)
		if ((unsigned char)buf[VTRACE_MAX_TEXT + 1 + i] != GUARD_BYTE)
			wrong = "writes a text beyond its buffer";
	while (size <= VTRACE_MAX_TEXT && buf[size])
		size++;
	if (!wrong && (said > VTRACE_MAX_TEXT || size > VTRACE_MAX_TEXT))
		wrong = "writes a text that is too long, or does not end";
	if (!wrong && size != said)
		wrong = "writes a text of another length than it says";
	vt_escape(&b, buf, wrong ? 0 : said);
	if (!wrong && (b.size != said || memcmp(b.data, buf, said) != 0))
		wrong = "writes a text that cannot be printed";
	vt_buf_free(&b);
	return wrong;
}

static int put_label(struct plugin *m, const struct label *l, struct vt_writer *w,
		     struct vt_error *err)
{
	char buf[VTRACE_MAX_TEXT + 1 + GUARD];
	const char *wrong;
	uint64_t *row;
	size_t size;

	memset(buf, GUARD_BYTE, sizeof(buf));
	buf[0] = '\0';
	size = m->plugin->format(m->state, (uint32_t)l->kind, l->value, buf, VTRACE_MAX_TEXT + 1);
	/* Of what it leaves to the format, the buffer does not matter. */
	if (!size)
		return 0;
	wrong = wrong_text(buf, size);
	if (wrong) {
		vt_error_set(err, VT_E_SYSTEM, "%s (for value 0x%" PRIx64 ")", wrong, l->value);
		return prefix_plugin_error(m, err);
	}
	row = vt_writer_row(w, VT_LABEL);
	row[VT_LABEL_MODULE] = m->first + l->kind;
	row[VT_LABEL_VALUE] = l->value;
	vt_writer_bytes(w, VT_LABEL_TEXT, buf, size);
	return 0;
}

int vt_plugins_label(struct vt_plugins *m, struct vt_writer *w, struct vt_error *err)
{
	size_t i, k;
	int code = 0;

	for (i = 0; i < m->count; i++)
		for (k = 0; k < m->list[i].labels.count && code == 0; k++)
			code = put_label(&m->list[i], vt_hash_at(&m->list[i].labels, k), w, err);
	return code;
}
