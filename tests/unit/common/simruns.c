/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/common/simruns.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"

static struct vt_error err;

/* ---- what goes in ---- */

/*
 * 1000: 90           nop
 * 1001: 48 8b 06     mov (%rsi),%rax
 * 1004: eb 0a        jmp 1010
 */
static const uint8_t load_code[] = {0x90, 0x48, 0x8b, 0x06, 0xeb, 0x0a};
/*
 * 1010: 90           nop
 * 1011: 74 ed        je 1000
 */
static const uint8_t branch_code[] = {0x90, 0x74, 0xed};
/*
 * 1013: 48 89 06     mov %rax,(%rsi)
 * 1016: 90           nop
 * 1017: 90           nop
 */
static const uint8_t store_code[] = {0x48, 0x89, 0x06, 0x90, 0x90};

const struct block simruns_blocks[NBLOCKS] = {
	{CODE,
	 CODE + 0x10,
	 load_code,
	 6,
	 3,
	 {1, 3, 2},
	 2,
	 {LOADS(1), SLOT(1, VT_WHAT_LOAD, 8)},
	 VT_END_JUMP},
	{CODE + 0x10, CODE, branch_code, 3, 2, {1, 2}, 0, {0}, VT_END_BRANCH},
	{CODE + 0x13, 0, store_code, 5, 3, {3, 1, 1}, 1, {STORES(0)}, VT_END_FALL},
};

void put_block(struct vt_writer *w, uint64_t id, const struct block *b, uint64_t pid, bool has_code)
{
	uint64_t *row = vt_writer_row(w, VT_BLOCK);

	row[VT_BLOCK_ID] = id;
	row[VT_BLOCK_PID] = pid;
	row[VT_BLOCK_ADDR] = b->addr;
	row[VT_BLOCK_SIZE] = b->size;
	row[VT_BLOCK_INSNS] = b->ninsns;
	row[VT_BLOCK_TARGET] = b->target;
	row[VT_BLOCK_END] = b->end;
	vt_writer_bytes(w, VT_BLOCK_LENGTHS, b->lengths, b->ninsns);
	vt_writer_bytes(w, VT_BLOCK_CODE, b->code, has_code ? b->size : 0);
	vt_writer_words(w, VT_BLOCK_SLOTS, b->slots, b->nslots);
}

void put_code(struct vt_writer *w, uint64_t pid, uint64_t first_id)
{
	uint64_t *row = vt_writer_row(w, VT_IMAGE), id;

	row[VT_IMAGE_ID] = 1;
	row[VT_IMAGE_TYPE] = VT_IMAGE_FILE;
	vt_writer_text(w, VT_IMAGE_PATH, "/bin/program");
	row = vt_writer_row(w, VT_MAP);
	row[VT_MAP_PID] = row[VT_MAP_TID] = pid;
	row[VT_MAP_START] = CODE;
	row[VT_MAP_LENGTH] = 0x1000;
	row[VT_MAP_OFFSET] = 0x400;
	row[VT_MAP_IMAGE] = 1;
	row[VT_MAP_PROT] = 5;
	for (id = 0; id < NBLOCKS; id++)
		put_block(w, first_id + id, &simruns_blocks[id], pid, true);
}

void put_data(struct vt_writer *w, const struct run *run, const uint8_t *data, size_t size)
{
	uint64_t *row = vt_writer_row(w, VT_EXEC);
	size_t i, n = strlen(run->ids);
	uint8_t ids[2 * 16];

	assert_true(n <= 16);
	for (i = 0; i < n; i++)
		vt_put_le16(ids + 2 * i, (uint16_t)(run->ids[i] - '0'));
	row[VT_EXEC_TIME] = run->time;
	row[VT_EXEC_PID] = run->pid;
	row[VT_EXEC_TID] = run->tid;
	row[VT_EXEC_BLOCKS] = n;
	row[VT_EXEC_INSNS] = run->insns;
	row[VT_EXEC_SKIP] = run->skip;
	row[VT_EXEC_WIDTH] = 2;
	vt_writer_bytes(w, VT_EXEC_IDS, ids, 2 * n);
	vt_writer_bytes(w, VT_EXEC_DATA, data, size);
}

void put_exec(struct vt_writer *w, const struct run *run)
{
	uint8_t data[8 * 16];
	size_t i;

	assert_true(run->values <= 16);
	for (i = 0; i < run->values; i++)
		vt_put_le64(data + 8 * i, 0x100 * (i + 1));
	put_data(w, run, data, 8 * run->values);
}

void put_state(struct vt_writer *w, uint64_t tid, enum vt_state_reason reason)
{
	uint64_t *row = vt_writer_row(w, VT_STATE);

	row[VT_STATE_PID] = PID;
	row[VT_STATE_TID] = tid;
	row[VT_STATE_REASON] = reason;
}

/* ---- what comes out ---- */

static double real(const struct vt_record *rec, uint32_t field)
{
	uint64_t bits = vt_record_u64(rec, field);
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

static void read_sample(struct out *o, const struct vt_record *rec)
{
	struct vt_words from = vt_record_words(rec, VT_SAMPLE_BR_FROM);
	struct vt_words to = vt_record_words(rec, VT_SAMPLE_BR_TO);
	struct vt_words flags = vt_record_words(rec, VT_SAMPLE_BR_FLAGS);
	struct sample *s = &o->samples[o->nsamples++];
	size_t i;

	assert_true(o->nsamples < ROWS);
	*s = (struct sample){
		.event = vt_record_u64(rec, VT_SAMPLE_EVENT),
		.ip = vt_record_u64(rec, VT_SAMPLE_IP),
		.time = vt_record_u64(rec, VT_SAMPLE_TIME),
		.pid = vt_record_u64(rec, VT_SAMPLE_PID),
		.tid = vt_record_u64(rec, VT_SAMPLE_TID),
		.period = vt_record_u64(rec, VT_SAMPLE_PERIOD),
		.has = vt_record_u64(rec, VT_SAMPLE_HAS),
		.misc = vt_record_u64(rec, VT_SAMPLE_MISC),
		.nbranches = from.count,
		.addr = vt_record_u64(rec, VT_SAMPLE_ADDR),
		.pm_has = vt_record_u64(rec, VT_SAMPLE_PM_HAS),
		.events = vt_record_u64(rec, VT_SAMPLE_EVENTS),
		.told = vt_record_u64(rec, VT_SAMPLE_EVENTS_TOLD),
		.total = vt_record_u64(rec, VT_SAMPLE_LAT_TOTAL),
		.history = vt_record_u64(rec, VT_SAMPLE_HISTORY),
		.history_n = vt_record_u64(rec, VT_SAMPLE_HISTORY_N),
		.target = vt_record_u64(rec, VT_SAMPLE_TARGET),
		.pair = vt_record_u64(rec, VT_SAMPLE_PAIR),
		.distance = vt_record_u64(rec, VT_SAMPLE_PAIR_DISTANCE),
		.cycles = vt_record_u64(rec, VT_SAMPLE_PAIR_CYCLES),
		.weight = real(rec, VT_SAMPLE_PAIR_WEIGHT),
	};
	for (i = 0; i < from.count && i < 4; i++) {
		s->from[i] = from.data[i];
		s->to[i] = to.data[i];
		s->flags[i] = flags.data[i];
	}
}

static void read_meta(struct out *o, const struct vt_record *rec)
{
	struct vt_bytes key = vt_record_bytes(rec, VT_META_KEY);
	struct vt_bytes value = vt_record_bytes(rec, VT_META_VALUE);
	size_t n = strlen(o->meta);

	snprintf(o->meta + n, sizeof(o->meta) - n, "%.*s=%.*s\n", (int)key.size,
		 (const char *)key.data, (int)value.size, (const char *)value.data);
}

static void read_event(struct event *e, const struct vt_record *rec)
{
	struct vt_bytes name = vt_record_bytes(rec, VT_EVENT_NAME);
	struct vt_bytes unit = vt_record_bytes(rec, VT_EVENT_UNIT);

	e->id = vt_record_u64(rec, VT_EVENT_ID);
	e->policy = vt_record_u64(rec, VT_EVENT_POLICY);
	e->period = vt_record_u64(rec, VT_EVENT_PERIOD);
	e->branch_type = vt_record_u64(rec, VT_EVENT_BRANCH_TYPE);
	snprintf(e->name, sizeof(e->name), "%.*s", (int)name.size, (const char *)name.data);
	snprintf(e->unit, sizeof(e->unit), "%.*s", (int)unit.size, (const char *)unit.data);
}

static void read_samples(struct out *o, struct vt_reader *r)
{
	struct vt_record rec;

	while (vt_reader_next(r, &rec, &err) > 0) {
		o->kinds[rec.kind]++;
		if (rec.kind == VT_SAMPLE)
			read_sample(o, &rec);
		else if (rec.kind == VT_META)
			read_meta(o, &rec);
		else if (rec.kind == VT_EVENT)
			read_event(&o->events[0][o->kinds[VT_EVENT] - 1], &rec);
	}
	vt_reader_close(r);
}

static void read_truth(struct out *o, struct vt_reader *r)
{
	struct vt_record rec;

	while (vt_reader_next(r, &rec, &err) > 0) {
		o->true_kinds[rec.kind]++;
		assert_true(o->nfreqs < ROWS && o->nedges < ROWS);
		if (rec.kind == VT_FREQ) {
			o->freqs[o->nfreqs].offset = vt_record_u64(&rec, VT_FREQ_OFFSET);
			o->freqs[o->nfreqs].cycles = real(&rec, VT_FREQ_CYCLES);
			o->freqs[o->nfreqs].samples = vt_record_u64(&rec, VT_FREQ_SAMPLES);
			o->freqs[o->nfreqs].period = vt_record_u64(&rec, VT_FREQ_PERIOD);
			o->freqs[o->nfreqs++].n = real(&rec, VT_FREQ_EXECUTIONS);
			o->freq_event = vt_record_u64(&rec, VT_FREQ_EVENT);
		} else if (rec.kind == VT_EDGE) {
			o->edges[o->nedges++] = (struct edge){vt_record_u64(&rec, VT_EDGE_FROM),
							      vt_record_u64(&rec, VT_EDGE_TO),
							      real(&rec, VT_EDGE_EXECUTIONS)};
		} else if (rec.kind == VT_EVENT) {
			read_event(&o->events[1][o->true_kinds[VT_EVENT] - 1], &rec);
		}
	}
	vt_reader_close(r);
}

struct vt_core plain_core(void)
{
	struct vt_core m = {
		.name = "plain",
		.fetch = 1,
		.decode = 1,
		.issue = 1,
		.retire = 1,
		.mispredict = PENALTY,
		.nunits = 1,
		.units = {{"all", UINT32_MAX}},
	};
	unsigned i;

	for (i = 0; i < VT_NOPCLASSES; i++)
		m.classes[i].latency = m.classes[i].busy = 1;
	return m;
}

static void warn(void *arg, const char *text)
{
	struct out *o = arg;

	snprintf(o->warning, sizeof(o->warning), "%s", text);
}

void run_options(put_fn *put, struct vt_simulate_options *options, bool truth, struct out *o)
{
	int in_fd = scratch_file(), out_fd = scratch_file(), truth_fd = scratch_file();
	struct vt_writer *w = start_stream(in_fd), *t = NULL;
	struct vt_writer_options wo = {.compression = VT_COMPRESS_NONE, .ninputs = 1};
	const struct vt_reader *input;
	const struct vt_block *block;
	struct vt_context *context = options->context ? options->context : vt_context_new(NULL);
	struct vt_simulate *s;
	struct vt_reader *r;
	uint32_t first, count;

	options->context = context;
	memset(o, 0, sizeof(*o));
	put(w);
	input = r = reread_stream(in_fd, w);
	wo.inputs = &input;
	w = vt_writer_open_fd(out_fd, "test", &wo, &err);
	assert_non_null(w);
	if (truth)
		t = vt_writer_open_fd(truth_fd, "test", &wo, &err);
	options->truth = t;
	options->warn = warn;
	options->warn_arg = o;
	s = vt_simulate_new(options, w, &err);
	assert_non_null(s);
	while (o->finished == 0 && vt_reader_next_run(r, &block, &first, &count, &err) > 0)
		o->finished = vt_context_feed(context, block, first, count, &err);
	if (o->finished == 0)
		o->finished = vt_simulate_finish(s, &err);
	if (o->finished < 0)
		snprintf(o->error, sizeof(o->error), "%s", err.text);
	o->totals = *vt_simulate_totals(s);
	vt_simulate_free(s);
	vt_context_free(context);
	options->context = NULL;
	vt_reader_close(r);
	read_samples(o, reread_stream(out_fd, w));
	if (truth)
		read_truth(o, reread_stream(truth_fd, t));
	close(in_fd);
	close(out_fd);
	close(truth_fd);
}

void run_all(put_fn *put, bool truth, uint32_t stack, struct out *o)
{
	const struct vt_simulate_event events[] = {
		{VT_SIMULATE_BRANCHMP, vt_interval_make(VT_INTERVAL_FIXED, 1)},
		{VT_SIMULATE_CYCLES, vt_interval_make(VT_INTERVAL_FIXED, 1)},
		{VT_SIMULATE_RETIRED, vt_interval_make(VT_INTERVAL_FIXED, 1)},
	};
	const struct vt_core core = plain_core();
	struct vt_simulate_options options = {
		.core = &core, .events = events, .nevents = 3, .seed = 1, .stack = stack};

	run_options(put, &options, truth, o);
}

void run_cycles(put_fn *put, bool truth, struct out *o)
{
	const struct vt_simulate_event event = {VT_SIMULATE_CYCLES,
						vt_interval_make(VT_INTERVAL_FIXED, 1)};
	const struct vt_core core = plain_core();
	struct vt_simulate_options options = {
		.core = &core, .events = &event, .nevents = 1, .seed = 1};

	run_options(put, &options, truth, o);
}

double edge(const struct out *o, uint64_t from, uint64_t to)
{
	double n = 0;
	unsigned i;

	for (i = 0; i < o->nedges; i++)
		if (o->edges[i].from == from && o->edges[i].to == to)
			n += o->edges[i].n;
	return n;
}

unsigned count_samples(const struct out *o, uint64_t event, uint64_t ip)
{
	unsigned i, n = 0;

	for (i = 0; i < o->nsamples; i++)
		n += o->samples[i].event == event && (!ip || o->samples[i].ip == ip);
	return n;
}
