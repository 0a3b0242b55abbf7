/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Plugins: which tuples they get of a run made by hand, what becomes of the values
 * that they emit, and that each contradiction to the interface is told.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "interpret/plugins.h"
#include "machine/insn/insn.h"
#include "stream/reader.h"
#include "stream/writer.h"
#include "tests/unit/common/streams.h"

/* mov (%rdi),%rax; addsd %xmm1,%xmm0; add %rax,%rdx; jmp .+2; push %rbx, each at 16 more. */
static const uint8_t codes[][4] = {
	{0x48, 0x8b, 0x07}, {0xf2, 0x0f, 0x58, 0xc1}, {0x48, 0x01, 0xc2}, {0xeb, 0x00}, {0x53}};
static const uint8_t sizes[] = {3, 4, 3, 2, 1};

#define BASE 0x1000u

static size_t code_at(void *arg, int64_t pid, uint64_t ip, uint8_t *bytes, size_t size)
{
	size_t i = (ip - BASE) / 16;

	(void)arg;
	assert_int_equal(pid, 7);
	if (i >= sizeof(sizes) || size < sizes[i])
		return 0;
	memcpy(bytes, codes[i], sizes[i]);
	return sizes[i];
}

static struct vt_capture capture(uint32_t insn, unsigned what, unsigned reg, uint64_t value)
{
	return (struct vt_capture){.ip = BASE + 16 * (uint64_t)insn,
				   .insn = insn,
				   .what = (uint8_t)what,
				   .reg = (uint8_t)reg,
				   .size = what ? 8 : 0,
				   .value = value,
				   .known = true};
}

#define NCAPTURES 11

/* What is known of the registers when the run begins. */
static struct vt_word initial[VT_RUN_REGS];

static void make_run(struct vt_run *run, struct vt_capture c[NCAPTURES])
{
	c[0] = capture(0, VT_WHAT_UNKNOWN, 0, 0);
	c[1] = capture(0, VT_WHAT_OPERAND, VT_REG_DI, 0x7000);
	c[2] = capture(0, VT_WHAT_LOAD_ADDRESS, 0, 0x7000);
	c[3] = capture(0, VT_WHAT_LOAD, 0, 42);
	c[4] = capture(0, VT_WHAT_RESULT, VT_REG_AX, 42);
	c[5] = capture(1, VT_WHAT_UNKNOWN, 0, 0);
	c[6] = capture(1, VT_WHAT_RESULT, VT_REG_VECTOR, 0x3ff0000000000000);
	c[7] = capture(2, VT_WHAT_UNKNOWN, 0, 0);
	c[8] = capture(2, VT_WHAT_RESULT, VT_REG_DX, 43);
	c[8].known = false;
	c[9] = capture(3, VT_WHAT_UNKNOWN, 0, 0);
	c[10] = capture(4, VT_WHAT_UNKNOWN, 0, 0);
	*run = (struct vt_run){.pid = 7,
			       .tid = 8,
			       .time = 9,
			       .weight = 3,
			       .caller = 0x5555,
			       .latency = 99,
			       .has_latency = true,
			       .begins = true,
			       .insns = 5,
			       .regs = initial,
			       .captures = c,
			       .ncaptures = NCAPTURES};
}

/* ---- a plugin that does as it is told ---- */

static struct {
	char seen[2000]; /* the tuples, as text */
	struct vtrace_value emits[8];
	int nemits;
	int repeat;
	int last; /* what the last emit() returned */
	int returns;
	size_t length; /* that format() returns */
	const char *text;
	uint64_t settled;
	int finished;
	uint64_t again; /* an address that comes twice */
} told;

static int process(void *state, const struct vtrace_run *run, vtrace_emit *emit, void *host)
{
	size_t i, at = strlen(told.seen);
	int k, r;

	(void)state;
	for (i = 0; i < run->ntuples; i++) {
		const struct vtrace_tuple *t = &run->tuples[i];

		at += (size_t)snprintf(told.seen + at, sizeof(told.seen) - at, "%u:%u.%u=%llx%s ",
				       t->insn, t->what, t->reg, (unsigned long long)t->value,
				       t->known ? "" : "?");
		assert_true(t->pc == BASE + 16 * (uint64_t)t->insn || t->pc == told.again);
		assert_true(t->classes & VTRACE_ANY);
	}
	for (r = 0; r <= told.repeat; r++)
		for (k = 0; k < told.nemits; k++)
			told.last = emit(host, &told.emits[k]);
	return told.returns;
}

static int finish(void *state)
{
	(void)state;
	told.finished++;
	return 0;
}

static uint64_t settle(void *state, uint32_t kind, uint64_t value)
{
	(void)state;
	return kind == 1 ? told.settled : value;
}

static size_t format(void *state, uint32_t kind, uint64_t value, char *buf, size_t size)
{
	(void)state;
	assert_int_equal(size, VTRACE_MAX_TEXT + 1);
	if (kind == 0 || value == 6)
		return 0;
	memcpy(buf, told.text, strlen(told.text) + 1);
	return told.length;
}

static void *create(const char *options, char *error, size_t size)
{
	if (!*options)
		return &told;
	snprintf(error, size, "no\x1b option %s", options);
	return NULL;
}

static const struct vtrace_kind kinds[] = {{"first", VTRACE_SIGNED}, {"second", VTRACE_IEEE}};
static struct vtrace_rule rules[2];
static const struct vtrace_plugin good = {
	.abi = VTRACE_PLUGIN_ABI,
	.size = sizeof(struct vtrace_plugin),
	.name = "good",
	.description = "does as it is told",
	.kinds = kinds,
	.nkinds = 2,
	.nrules = 2,
	.rules = rules,
	.create = create,
	.process = process,
	.finish = finish,
	.format = format,
};

/* Two plugins, so that the ids of the second begin at 2. */
static struct vt_plugins *load(const struct vtrace_plugin *p)
{
	struct vt_plugins *m = vt_plugins_new();
	struct vt_error err = VT_ERROR_INIT;

	assert_non_null(m);
	assert_int_equal(vt_plugins_add(m, p, "one.so", "", &err), 0);
	assert_int_equal(vt_plugins_add(m, p, "two.so", "", &err), 0);
	return m;
}

static void tell(uint32_t classes, uint32_t except, uint32_t what, uint32_t reg)
{
	memset(&told, 0, sizeof(told));
	rules[0] = (struct vtrace_rule){classes, except, what, reg};
	rules[1] = (struct vtrace_rule){VTRACE_SYSCALL, 0, VTRACE_BIT(VTRACE_INSN), 0};
}

/* Runs one of two plugins on the run, by way of a stream that is returned. */
static int run_plugins(const struct vtrace_plugin *p, int *stream, struct vt_error *err)
{
	const struct vt_writer_options opt = {.compression = VT_COMPRESS_NONE};
	struct vt_error ignored = VT_ERROR_INIT;
	struct vt_plugins *m = load(p);
	struct vt_capture c[NCAPTURES];
	struct vt_writer *w;
	struct vt_run run;
	int code;

	*stream = scratch_file();
	w = vt_writer_open_fd(*stream, "test", &opt, &ignored);
	assert_non_null(w);
	make_run(&run, c);
	vt_plugins_declare(m, w);
	code = vt_plugins_run(m, &run, code_at, NULL, w, err);
	if (code == 0)
		code = vt_plugins_finish(m, err);
	if (code == 0)
		code = vt_plugins_label(m, w, err);
	vt_plugins_free(m);
	assert_int_equal(vt_writer_close(w, VT_STATUS_COMPLETE, &ignored), 0);
	return code;
}

static const char *tuples(uint32_t classes, uint32_t except, uint32_t what, uint32_t reg)
{
	struct vt_error err = VT_ERROR_INIT;
	int stream;

	tell(classes, except, what, reg);
	assert_int_equal(run_plugins(&good, &stream, &err), 0);
	close(stream);
	assert_int_equal(told.finished, 2);
	told.seen[strlen(told.seen) / 2] = '\0';
	return told.seen;
}

static void test_tuples(void **state)
{
	(void)state;
	assert_string_equal(tuples(VTRACE_LOAD, 0,
				   VTRACE_BIT(VTRACE_LOAD_ADDRESS) | VTRACE_BIT(VTRACE_LOAD_VALUE),
				   0),
			    "0:4.0=7000 0:6.0=2a ");
	assert_string_equal(tuples(VTRACE_ANY, VTRACE_FLOAT, VTRACE_BIT(VTRACE_RESULT), 0),
			    "0:2.0=2a 2:2.3=0? ");
	assert_string_equal(tuples(VTRACE_FLOAT, 0, VTRACE_BIT(VTRACE_RESULT), 0),
			    "1:2.32=3ff0000000000000 ");
	assert_string_equal(tuples(VTRACE_BRANCH, 0, VTRACE_BIT(VTRACE_TARGET), 0), "3:9.0=1040 ");
	assert_string_equal(tuples(VTRACE_STORE, 0, VTRACE_BIT(VTRACE_INSN), 0), "4:0.0=53 ");
	assert_string_equal(tuples(VTRACE_ANY, 0, VTRACE_BIT(VTRACE_RETURN_ADDRESS), 0),
			    "0:11.0=5555 ");
	/* A run's latency may belong to an instruction that is not in it. */
	assert_string_equal(tuples(VTRACE_ANY, 0, VTRACE_BIT(VTRACE_LATENCY), 0), "");
}

static void test_registers(void **state)
{
	const uint32_t what = VTRACE_BIT(VTRACE_REGISTER);

	(void)state;
	/* Told by the instruction that reads it, kept until one writes it. */
	assert_string_equal(tuples(VTRACE_ANY, 0, what, VTRACE_REG_DI),
			    "0:3.5=7000 1:3.5=7000 2:3.5=7000 3:3.5=7000 4:3.5=7000 ");
	assert_string_equal(tuples(VTRACE_ANY, 0, what, VTRACE_REG_AX),
			    "0:3.0=0? 1:3.0=2a 2:3.0=2a 3:3.0=2a 4:3.0=2a ");
	assert_string_equal(tuples(VTRACE_ANY, 0, what, VTRACE_REG_DX),
			    "0:3.3=0? 1:3.3=0? 2:3.3=0? 3:3.3=0? 4:3.3=0? ");
	/* Known from the start, until an instruction writes what nobody knows; or half known. */
	initial[VT_REG_DX] = vt_word_of(5);
	initial[VT_REG_BX] = (struct vt_word){6, 0xff};
	assert_string_equal(tuples(VTRACE_ANY, 0, what, VTRACE_REG_DX),
			    "0:3.3=5 1:3.3=5 2:3.3=5 3:3.3=0? 4:3.3=0? ");
	assert_string_equal(tuples(VTRACE_LOAD, 0, what, VTRACE_REG_BX), "0:3.1=0? ");
	memset(initial, 0, sizeof(initial));
}

static void test_wants(void **state)
{
	struct vt_plugins *m;

	(void)state;
	tell(VTRACE_ANY, 0, VTRACE_BIT(VTRACE_LOAD_VALUE) | VTRACE_BIT(VTRACE_REGISTER), 0);
	m = load(&good);
	assert_int_equal(vt_plugins_capture(m), 1u << VT_WHAT_UNKNOWN | 1u << VT_WHAT_LOAD |
							1u << VT_WHAT_OPERAND |
							1u << VT_WHAT_RESULT);
	assert_false(vt_plugins_settle(m));
	assert_int_equal(vt_plugins_count(m), 2);
	vt_plugins_free(m);
	m = vt_plugins_new();
	assert_int_equal(vt_plugins_capture(m), 0);
	vt_plugins_free(m);
}

/* Latencies are asked of samples; what one plugin wants counts for all. */
static void put_latency(struct vt_writer *w, uint64_t has, uint64_t weight, uint64_t addr)
{
	uint64_t *row = vt_writer_row(w, VT_SAMPLE);

	row[VT_SAMPLE_HAS] = has;
	row[VT_SAMPLE_MISC] = 1 << 14;
	row[VT_SAMPLE_IP] = BASE;
	row[VT_SAMPLE_PID] = 7;
	row[VT_SAMPLE_WEIGHT] = weight;
	row[VT_SAMPLE_ADDR] = addr;
}

static void test_samples(void **state)
{
	static const struct vtrace_rule other_rule = {VTRACE_ANY, 0, VTRACE_BIT(VTRACE_INSN), 0};
	struct vtrace_plugin other = good;
	struct vt_error err = VT_ERROR_INIT;
	struct vt_plugins *m = vt_plugins_new();
	int in = scratch_file(), out = scratch_file();
	struct vt_writer *w = start_stream(in);
	struct vt_record rec;
	struct vt_reader *r;

	(void)state;
	/* PERF_SAMPLE_ADDR is 1 << 3, PERF_SAMPLE_WEIGHT 1 << 14. */
	put_latency(w, 1 << 14, 30, 0x7000);
	put_latency(w, 1 << 14 | 1 << 3, 40, 0x7008);
	put_latency(w, 1 << 14 | 1 << 3, 50, 0);
	put_latency(w, 1 << 14, 0, 0x7010);
	put_latency(w, 1 << 3, 60, 0x7018);
	vt_writer_row(w, VT_THREAD);
	r = reread_stream(in, w);
	tell(VTRACE_LOAD, 0, VTRACE_BIT(VTRACE_LATENCY) | VTRACE_BIT(VTRACE_LOAD_ADDRESS), 0);
	other.rules = &other_rule;
	other.nrules = 1;
	assert_int_equal(vt_plugins_add(m, &good, "one.so", "", &err), 0);
	assert_int_equal(vt_plugins_add(m, &other, "two.so", "", &err), 0);
	assert_int_equal(vt_plugins_capture(m), 1u << VT_WHAT_UNKNOWN | 1u << VT_WHAT_LOAD_ADDRESS);
	w = start_stream(out);
	vt_plugins_declare(m, w);
	while (vt_reader_next(r, &rec, &err) > 0)
		assert_int_equal(vt_plugins_sample(m, &rec, code_at, NULL, w, &err), 0);
	/* Of the first: a latency, and an address if that is one; of the other: the code. */
	assert_string_equal(told.seen, "0:8.0=1e 0:0.0=78b48 "
				       "0:8.0=28 0:4.0=7008 0:0.0=78b48 "
				       "0:8.0=32 0:0.0=78b48 ");
	vt_plugins_free(m);
	vt_reader_close(r);
	assert_int_equal(vt_writer_close(w, VT_STATUS_COMPLETE, &err), 0);
	close(in);
	close(out);
}

/* ---- values ---- */

/* The records of a stream, as text. */
static const char *records(int fd)
{
	static char text[2000];
	struct vt_error err = VT_ERROR_INIT;
	struct vt_record rec;
	struct vt_reader *r;
	size_t at = 0;

	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	r = vt_reader_open_fd(fd, "test", &err);
	assert_non_null(r);
	text[0] = '\0';
	while (vt_reader_next(r, &rec, &err) > 0) {
		char *end = text + at;
		size_t left = sizeof(text) - at;

		if (rec.kind == VT_MODULE)
			snprintf(end, left, "M%u:%.*s,%.*s ",
				 (unsigned)vt_record_u64(&rec, VT_MODULE_ID),
				 (int)vt_record_bytes(&rec, VT_MODULE_NAME).size,
				 vt_record_bytes(&rec, VT_MODULE_NAME).data,
				 (int)vt_record_bytes(&rec, VT_MODULE_FORMAT).size,
				 vt_record_bytes(&rec, VT_MODULE_FORMAT).data);
		else if (rec.kind == VT_VALUE)
			snprintf(end, left, "V%u:%x=%x*%u@%u,%x/%u ",
				 (unsigned)vt_record_u64(&rec, VT_VALUE_REG),
				 (unsigned)vt_record_u64(&rec, VT_VALUE_IP),
				 (unsigned)vt_record_u64(&rec, VT_VALUE_VALUE),
				 (unsigned)vt_record_u64(&rec, VT_VALUE_WEIGHT),
				 (unsigned)vt_record_u64(&rec, VT_VALUE_PID),
				 (unsigned)vt_record_u64(&rec, VT_VALUE_CALLER),
				 (unsigned)vt_record_u64(&rec, VT_VALUE_SIZE));
		else if (rec.kind == VT_LABEL)
			snprintf(end, left, "L%u:%x=%.*s ",
				 (unsigned)vt_record_u64(&rec, VT_LABEL_MODULE),
				 (unsigned)vt_record_u64(&rec, VT_LABEL_VALUE),
				 (int)vt_record_bytes(&rec, VT_LABEL_TEXT).size,
				 vt_record_bytes(&rec, VT_LABEL_TEXT).data);
		at += strlen(end);
	}
	vt_reader_close(r);
	close(fd);
	return text;
}

static void test_values(void **state)
{
	struct vt_error err = VT_ERROR_INIT;
	int stream;

	(void)state;
	tell(VTRACE_LOAD | VTRACE_STORE, 0, VTRACE_BIT(VTRACE_INSN), 0);
	told.emits[0] = (struct vtrace_value){BASE, 5, 0, 8};
	told.emits[1] = (struct vtrace_value){BASE + 64, 5, 1, 4};
	told.emits[2] = (struct vtrace_value){BASE, 6, 1, 1};
	told.nemits = 3;
	told.text = "five";
	told.length = 4;
	assert_int_equal(run_plugins(&good, &stream, &err), 0);
	assert_string_equal(records(stream),
			    "M0:first,signed M1:second,float M2:first,signed M3:second,float "
			    "V0:1000=5*3@7,5555/8 V1:1040=5*3@7,5555/4 V1:1000=6*3@7,5555/1 "
			    "V2:1000=5*3@7,5555/8 V3:1040=5*3@7,5555/4 V3:1000=6*3@7,5555/1 "
			    "L1:5=five L3:5=five ");
}

/* Each value has the caller of the instruction at its address, unless there were several. */
static void test_callers(void **state)
{
	const struct vt_run_caller callers[] = {{.ip = BASE, .caller = 0x11, .insn = 0},
						{.ip = BASE + 32, .caller = 0x22, .insn = 2}};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_plugins *m = vt_plugins_new();
	struct vt_capture c[NCAPTURES];
	int stream = scratch_file();
	struct vt_writer *w = start_stream(stream);
	struct vt_run run;

	(void)state;
	tell(VTRACE_ANY, 0, VTRACE_BIT(VTRACE_INSN), 0);
	told.emits[0] = (struct vtrace_value){BASE + 64, 5, 0, 8};
	told.emits[1] = (struct vtrace_value){BASE, 6, 0, 8};
	told.nemits = 2;
	assert_int_equal(vt_plugins_add(m, &good, "one.so", "", &err), 0);
	make_run(&run, c);
	run.callers = callers;
	run.ncallers = 2;
	assert_int_equal(vt_plugins_run(m, &run, code_at, NULL, w, &err), 0);
	/* The last instruction is the first one again. */
	c[10].ip = told.again = BASE;
	told.nemits = 1;
	told.emits[0].pc = BASE;
	assert_int_equal(vt_plugins_run(m, &run, code_at, NULL, w, &err), 0);
	run.ncallers = 1;
	assert_int_equal(vt_plugins_run(m, &run, code_at, NULL, w, &err), 0);
	vt_plugins_free(m);
	assert_int_equal(vt_writer_close(w, VT_STATUS_COMPLETE, &err), 0);
	assert_string_equal(records(stream),
			    "V0:1040=5*3@7,22/8 V0:1000=6*3@7,11/8 V0:1000=5*3@7,0/8 "
			    "V0:1000=5*3@7,11/8 ");
}

/* Provisional values in one stream, settled in another. */
static void test_settled(void **state)
{
	const struct vt_writer_options opt = {.compression = VT_COMPRESS_NONE};
	struct vtrace_plugin settles = good;
	struct vt_error err = VT_ERROR_INIT;
	struct vt_capture c[NCAPTURES];
	struct vt_plugins *m;
	struct vt_writer *w;
	struct vt_reader *r;
	struct vt_record rec;
	struct vt_run run;
	int first = scratch_file(), second = scratch_file();

	(void)state;
	settles.settle = settle;
	tell(VTRACE_LOAD, 0, VTRACE_BIT(VTRACE_INSN), 0);
	told.emits[0] = (struct vtrace_value){BASE, 200, 1, 1};
	told.nemits = 1;
	told.text = "x";
	told.length = 1;
	told.settled = 9;
	m = load(&settles);
	assert_true(vt_plugins_settle(m));
	make_run(&run, c);
	w = vt_writer_open_fd(first, "first", &opt, &err);
	assert_int_equal(vt_plugins_run(m, &run, code_at, NULL, w, &err), 0);
	assert_int_equal(vt_writer_close(w, VT_STATUS_COMPLETE, &err), 0);
	assert_int_equal(vt_plugins_finish(m, &err), 0);
	w = vt_writer_open_fd(second, "second", &opt, &err);
	assert_int_equal(lseek(first, 0, SEEK_SET), 0);
	r = vt_reader_open_fd(first, "first", &err);
	while (vt_reader_next(r, &rec, &err) > 0)
		assert_int_equal(vt_plugins_copy(m, &rec, w, &err), 0);
	assert_int_equal(vt_plugins_label(m, w, &err), 0);
	told.settled = 256;
	vt_reader_close(r);
	assert_int_equal(lseek(first, 0, SEEK_SET), 0);
	r = vt_reader_open_fd(first, "first", &err);
	assert_int_equal(vt_reader_next(r, &rec, &err), 1);
	assert_int_equal(vt_plugins_copy(m, &rec, w, &err), -VT_E_SYSTEM);
	assert_non_null(strstr(err.text, "one.so"));
	vt_reader_close(r);
	vt_plugins_free(m);
	assert_int_equal(vt_writer_close(w, VT_STATUS_COMPLETE, &err), 0);
	close(first);
	assert_string_equal(records(second),
			    "V1:1000=9*3@7,5555/1 V3:1000=9*3@7,5555/1 L1:9=x L3:9=x ");
}

/* ---- contradictions ---- */

static void check_load(const struct vtrace_plugin *p, int code, const char *words)
{
	struct vt_plugins *m = vt_plugins_new();
	struct vt_error err = VT_ERROR_INIT;

	assert_int_equal(vt_plugins_add(m, p, "bad.so", "", &err), -code);
	if (!strstr(err.text, words) || !strstr(err.text, "plugin bad.so"))
		fail_msg("\"%s\" has no \"%s\"", err.text, words);
	vt_plugins_free(m);
}

static void test_bad_plugins(void **state)
{
	static const struct vtrace_kind unnamed[] = {{"", VTRACE_HEX}};
	static const struct vtrace_kind odd[] = {{"x\n", VTRACE_HEX}};
	static const struct vtrace_kind strange[] = {{"x", (enum vtrace_format)77}};
	struct vtrace_plugin p;

	(void)state;
	tell(VTRACE_ANY, 0, VTRACE_BIT(VTRACE_INSN), 0);
#define BAD(field, bad, code, words)                                                               \
	p = good;                                                                                  \
	p.field = (bad);                                                                           \
	check_load(&p, code, words)
	BAD(abi, 2, VT_E_VERSION, "version 2");
	BAD(size, offsetof(struct vtrace_plugin, fact) - 1, VT_E_VERSION, "bytes");
	BAD(name, NULL, VT_E_FORMAT, "name");
	BAD(name, "123456789 123456789 123456789 12", VT_E_FORMAT, "name");
	BAD(description, "a\nb", VT_E_FORMAT, "description");
	BAD(process, NULL, VT_E_FORMAT, "process");
	BAD(kinds, NULL, VT_E_FORMAT, "kinds");
	BAD(nkinds, 0, VT_E_FORMAT, "kinds");
	BAD(nkinds, 1000, VT_E_FORMAT, "kinds");
	p = good;
	p.nkinds = 1;
	p.kinds = unnamed;
	check_load(&p, VT_E_FORMAT, "name");
	p.kinds = odd;
	check_load(&p, VT_E_FORMAT, "name");
	p.kinds = strange;
	check_load(&p, VT_E_FORMAT, "format");
	BAD(rules, NULL, VT_E_FORMAT, "rules");
	BAD(nrules, 0, VT_E_FORMAT, "rules");
	tell(VTRACE_ANY, 0, 0, 0);
	check_load(&good, VT_E_FORMAT, "rule");
	tell(VTRACE_ANY, 0, VTRACE_BIT(VTRACE_NWHATS), 0);
	check_load(&good, VT_E_FORMAT, "rule");
	tell(VTRACE_ANY, 0, VTRACE_BIT(VTRACE_REGISTER), VTRACE_REG_VECTOR);
	check_load(&good, VT_E_FORMAT, "register");
#undef BAD
}

static void test_bad_options(void **state)
{
	struct vt_plugins *m = vt_plugins_new();
	struct vtrace_plugin bare = good;
	struct vt_error err = VT_ERROR_INIT;

	(void)state;
	tell(VTRACE_ANY, 0, VTRACE_BIT(VTRACE_INSN), 0);
	assert_int_equal(vt_plugins_add(m, &good, "x.so", "bins", &err), -VT_E_USAGE);
	assert_string_equal(err.text, "plugin x.so: no\\x1b option bins");
	bare.create = NULL;
	assert_int_equal(vt_plugins_add(m, &bare, "x.so", "bins", &err), -VT_E_USAGE);
	vt_plugins_free(m);
}

static void check_run(const char *words)
{
	struct vt_error err = VT_ERROR_INIT;
	int stream;

	assert_int_equal(run_plugins(&good, &stream, &err), -VT_E_SYSTEM);
	close(stream);
	if (!strstr(err.text, words) || !strstr(err.text, "plugin one.so"))
		fail_msg("\"%s\" has no \"%s\"", err.text, words);
}

static void test_bad_values(void **state)
{
	(void)state;
	tell(VTRACE_LOAD, 0, VTRACE_BIT(VTRACE_INSN), 0);
	told.nemits = 1;
	told.text = "";
	told.emits[0] = (struct vtrace_value){BASE + 16, 1, 0, 8};
	check_run("not in the run (0x1010)");
	assert_int_equal(told.last, -1);
	told.emits[0] = (struct vtrace_value){BASE, 1, 2, 8};
	check_run("kind of value");
	told.emits[0] = (struct vtrace_value){BASE, 1, 0, 0};
	check_run("size");
	told.emits[0] = (struct vtrace_value){BASE, 1, 0, 9};
	check_run("size");
	told.emits[0] = (struct vtrace_value){BASE, 256, 0, 1};
	check_run("size (0x100)");
	told.emits[0] = (struct vtrace_value){BASE, 255, 0, 1};
	told.repeat = 5 * VTRACE_MAX_EMIT;
	check_run("more values");
	told.repeat = 0;
	told.returns = -3;
	check_run("returned -3");
}

static void test_bad_texts(void **state)
{
	static const char long_text[] =
		"a text that is too long for the buffer that it should be written to ...";

	(void)state;
	tell(VTRACE_LOAD, 0, VTRACE_BIT(VTRACE_INSN), 0);
	told.emits[0] = (struct vtrace_value){BASE, 1, 1, 8};
	told.nemits = 1;
	told.text = long_text;
	told.length = strlen(long_text);
	check_run("beyond its buffer");
	told.text = "abc";
	told.length = 70;
	check_run("too long");
	told.length = 2;
	check_run("another length");
	told.text = "a\033b";
	told.length = 3;
	check_run("cannot be printed");
	told.text = "a\xff";
	told.length = 2;
	check_run("cannot be printed");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tuples),	    cmocka_unit_test(test_registers),
		cmocka_unit_test(test_wants),	    cmocka_unit_test(test_samples),
		cmocka_unit_test(test_callers),	    cmocka_unit_test(test_values),
		cmocka_unit_test(test_settled),	    cmocka_unit_test(test_bad_plugins),
		cmocka_unit_test(test_bad_options), cmocka_unit_test(test_bad_values),
		cmocka_unit_test(test_bad_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
