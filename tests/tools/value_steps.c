/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Compares the values that vinterp computes from samples with what the processor did.
 *
 *	value_steps [-v] [-w N] STREAM
 *
 * The stream is one of `vtrace record --sample-values --steps`: after each sample, the processor
 * has executed the next instructions one by one, and each step is a sample of the event "steps:u".
 * A result is compared with the registers of the next step; a load with what an interpreter that is
 * given the registers and the memory of that very step reads.
 *
 * Prints a line: samples, steps, loads executed, those known in percent, those besides of which a
 * mask left out a part, results executed, those known, values compared, values and addresses of
 * instructions that differ, and loads that frames of signals overwrote.  What is behind these is
 * not compared, nor behind code of the vDSO: the kernel changes at any time what it reads.  -v: the
 * first differences on standard error.  With -w, one value in N is falsified first.  Exits 1 when
 * there is a difference, or nothing to compare.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/hash.h"
#include "image/addrspace.h"
#include "interpret/interpret.h"
#include "machine/interp/lines.h"
#include "stream/reader.h"

#define INSNS_MAX 256
#define STEPS	  "steps:u"
#define WHAT	  (1u << VT_WHAT_LOAD | 1u << VT_WHAT_RESULT)
#define SP	  7 /* of uregs */

/*
 * The frames of the signals that the steps are may be as large, and begin this far below the stack
 * pointer: what the program left there they overwrite.
 */
#define RED_ZONE     128
#define SIGNAL_FRAME 16384
#define VECTORS	     32 /* the bit of a register mask from which on each has two for a vector */

/* The captures of a run. */
struct captured {
	enum vt_stop stop;
	uint32_t insns;
	struct vt_capture *list;
	size_t count;
	size_t cap;
};

struct thread {
	int64_t tid; /* first: the key */
	struct captured sample;
	uint32_t step; /* the number of the next instruction */
	uint64_t sp;   /* the highest stack pointer since the sample */
	bool left;     /* what follows is not compared */
};

struct check {
	struct vt_images *images;
	struct vt_context *context;
	struct vt_interpret *sampled, *stepped;
	struct vt_hash threads;
	struct captured run; /* of the record at hand */
	uint64_t steps_event;
	uint64_t mask;
	uint32_t length;
	unsigned falsify, told, told_unknown;
	bool verbose, is_step;
	uint64_t samples, steps, loads, partial, loads_known, results, results_known, compared,
		wrong, astray, overwritten;
};

static void die(const char *what, const struct vt_error *err)
{
	fprintf(stderr, "value_steps: %s%s%s\n", what, err ? ": " : "", err ? err->text : "");
	exit(1);
}

static void copy_captures(struct captured *to, const struct vt_run *run)
{
	if (!vt_array_grow(&to->list, &to->cap, run->ncaptures + 1, sizeof(*to->list)))
		die("out of memory", NULL);
	to->count = run->ncaptures;
	to->stop = run->stop;
	to->insns = run->insns;
	if (run->ncaptures)
		memcpy(to->list, run->captures, run->ncaptures * sizeof(*to->list));
}

static struct thread *thread_of(struct check *c, int64_t tid)
{
	struct thread *t = vt_hash_add(&c->threads, &tid, NULL);

	if (!t)
		die("out of memory", NULL);
	return t;
}

static int take_sampled_run(void *arg, const struct vt_run *run, struct vt_error *err)
{
	struct check *c = arg;

	(void)err;
	copy_captures(&thread_of(c, run->tid)->sample, run);
	return 0;
}

static int take_stepped_run(void *arg, const struct vt_run *run, struct vt_error *err)
{
	struct check *c = arg;

	(void)err;
	copy_captures(&c->run, run);
	return 0;
}

static void tell(struct check *c, const char *what, const struct vt_capture *p, uint64_t truth)
{
	if (c->verbose && c->told++ < 20)
		fprintf(stderr,
			"%s: instruction %" PRIu32 " at %#" PRIx64 ", reg %u, lane %u, size %u: "
			"%#" PRIx64 ", not %#" PRIx64 "\n",
			what, p->insn, p->ip, p->reg, p->lane, p->size, p->value, truth);
}

/* Compares a known value, which -w may have falsified. */
static void compare(struct check *c, const char *what, const struct vt_capture *p, uint64_t truth)
{
	uint64_t value = p->value;

	c->compared++;
	if (c->falsify && c->compared % c->falsify == 0)
		value ^= 1;
	if (value == truth)
		return;
	c->wrong++;
	tell(c, what, p, truth);
}

/* The bytes of a lane that a value has. */
static uint64_t lane_mask(const struct vt_capture *p)
{
	unsigned left = p->size > 8u * p->lane ? p->size - 8u * p->lane : 0;

	return left >= 8 ? UINT64_MAX : left ? (UINT64_C(1) << 8 * left) - 1 : 0;
}

/* A register after the instruction; false: the step does not tell it. */
static bool find_truth(const struct check *c, struct vt_words regs, const struct vt_capture *p,
		       uint64_t *truth)
{
	unsigned bit = p->reg;

	if (p->reg >= VT_REG_VECTOR)
		bit = VECTORS + 2 * (p->reg - VT_REG_VECTOR) + p->lane;
	if (p->reg == VT_REG_FLAGS || bit >= 64 || !(c->mask >> bit & 1) ||
	    (p->reg >= VT_REG_VECTOR && p->lane > 1))
		return false;
	*truth = regs.data[__builtin_popcountll(c->mask & ((UINT64_C(1) << bit) - 1))];
	return true;
}

/* The results of instruction `insn`, by the registers after it. */
static void check_results(struct check *c, const struct thread *t, uint32_t insn,
			  struct vt_words regs)
{
	size_t i;

	for (i = 0; i < t->sample.count; i++) {
		const struct vt_capture *p = &t->sample.list[i];
		uint64_t truth;

		if (p->insn != insn || p->what != VT_WHAT_RESULT || !find_truth(c, regs, p, &truth))
			continue;
		c->results++;
		c->results_known += p->known;
		/* A byte of a register may be its second: values of parts are of the low ones. */
		if (p->known && (p->size >= 4 || p->reg >= VT_REG_VECTOR))
			compare(c, "result", p, truth & lane_mask(p));
	}
}

static const struct vt_capture *find_load(const struct thread *t, uint32_t insn, unsigned nth)
{
	size_t i;

	for (i = 0; i < t->sample.count; i++) {
		const struct vt_capture *p = &t->sample.list[i];

		if (p->insn == insn && p->what == VT_WHAT_LOAD && nth-- == 0)
			return p;
	}
	return NULL;
}

static bool is_overwritten(const struct thread *t, uint64_t addr)
{
	return addr < t->sp - RED_ZONE && addr >= t->sp - RED_ZONE - SIGNAL_FRAME;
}

/* A load that differs in bytes that a signal's frame may have overwritten tells nothing. */
static void compare_load(struct check *c, struct thread *t, const struct vt_capture *p,
			 const struct vt_capture *truth, uint64_t addr)
{
	if (p->value != truth->value && is_overwritten(t, addr)) {
		c->overwritten++;
		t->left = true;
	} else {
		compare(c, "load", p, truth->value);
	}
}

/* The loads of instruction `insn`: those of the step alone, beside those of the sample. */
static void check_loads(struct check *c, struct thread *t, uint32_t insn)
{
	uint64_t addr = 0;
	unsigned nth = 0;
	size_t i;

	for (i = 0; i < c->run.count; i++) {
		const struct vt_capture *truth = &c->run.list[i], *p;

		if (truth->what == VT_WHAT_LOAD_ADDRESS)
			addr = truth->value;
		if (truth->what != VT_WHAT_LOAD)
			continue;
		p = find_load(t, insn, nth++);
		/* The step has all registers and memory: only a mask makes a load unknown there. */
		if (!truth->known && !(p && p->known)) {
			c->partial++;
			continue;
		}
		c->loads++;
		c->loads_known += p && p->known;
		if (c->verbose && !(p && p->known) && c->told_unknown++ < 10)
			fprintf(stderr,
				"unknown load at %#" PRIx64 ": instruction %" PRIu32
				"; the run of %" PRIu32 " ended by %s\n",
				truth->ip, insn, t->sample.insns, vt_stop_name(t->sample.stop));
		if (p && p->known && truth->known && p->size == truth->size)
			compare_load(c, t, p, truth, addr);
	}
}

/* Is the sample's instruction of that number where the processor was? */
static void check_path(struct check *c, const struct thread *t, uint32_t insn, uint64_t ip)
{
	size_t i;

	for (i = 0; i < t->sample.count; i++) {
		const struct vt_capture *p = &t->sample.list[i];

		if (p->insn != insn)
			continue;
		if (p->ip != ip) {
			c->astray++;
			tell(c, "path", p, ip);
		}
		return;
	}
}

static bool is_in_vdso(const struct check *c, const struct vt_record *rec)
{
	const struct vt_map *m = vt_addrspace_find(vt_context_space(c->context),
						   (int32_t)vt_record_i64(rec, VT_SAMPLE_PID),
						   vt_record_u64(rec, VT_SAMPLE_IP), 0);

	return m && m->type == VT_IMAGE_VDSO;
}

/* A hypervisor that emulates CPUID may lose the trap of its step, so that the next one is two. */
static bool is_cpuid(const struct vt_record *rec)
{
	struct vt_words addr = vt_record_words(rec, VT_SAMPLE_LINE_ADDR);
	struct vt_words read = vt_record_words(rec, VT_SAMPLE_LINE_READ);
	struct vt_bytes bytes = vt_record_bytes(rec, VT_SAMPLE_LINES);
	uint64_t ip = vt_record_u64(rec, VT_SAMPLE_IP);
	struct vt_line lines[8];
	uint8_t code[2];
	size_t n, i, unused;

	if (!addr.count || addr.count > 8 || read.count != addr.count)
		return false;
	n = vt_lines_sort(lines, addr.data, read.data, bytes.data, bytes.size, addr.count, &unused);
	if (n == SIZE_MAX)
		die("lines", NULL);
	i = vt_lines_find(lines, n, ip);
	return i < n && lines[i].addr <= ip &&
	       vt_line_copy(&lines[i], ip % VT_KNOWN_LINE, code, 2) == 2 && code[0] == 0x0f &&
	       code[1] == 0xa2;
}

static void check_record(struct check *c, const struct vt_record *rec)
{
	struct thread *t = thread_of(c, vt_record_i64(rec, VT_SAMPLE_TID));
	struct vt_words regs = vt_record_words(rec, VT_SAMPLE_UREGS);

	if (!c->is_step) {
		c->samples++;
		t->step = 0;
		t->left = false;
		t->sp = 0;
	} else {
		c->steps++;
		t->step = (uint32_t)vt_record_u64(rec, VT_SAMPLE_PERIOD); /* steps may be lost */
		if (t->step <= c->length && !t->left)
			check_results(c, t, t->step - 1, regs);
	}
	if (regs.count > SP && regs.data[SP] > t->sp)
		t->sp = regs.data[SP];
	t->left |= is_in_vdso(c, rec);
	if (t->step < c->length && !t->left) {
		check_path(c, t, t->step, vt_record_u64(rec, VT_SAMPLE_IP));
		check_loads(c, t, t->step);
		t->left |= is_cpuid(rec);
	}
}

static int take_record(void *arg, const struct vt_record *rec, struct vt_error *err)
{
	static const char steps[] = STEPS;
	struct check *c = arg;
	struct vt_bytes name;
	int rc;

	if (rec->kind == VT_EVENT) {
		name = vt_record_bytes(rec, VT_EVENT_NAME);
		if (name.size == sizeof(steps) - 1 && memcmp(name.data, steps, name.size) == 0) {
			c->steps_event = vt_record_u64(rec, VT_EVENT_ID);
			c->mask = vt_record_u64(rec, VT_EVENT_REGS_USER);
		}
	}
	c->is_step = rec->kind == VT_SAMPLE && c->mask &&
		     vt_record_u64(rec, VT_SAMPLE_EVENT) == c->steps_event;
	c->run.count = 0;
	if (rec->kind == VT_SAMPLE && !c->is_step)
		thread_of(c, vt_record_i64(rec, VT_SAMPLE_TID))->sample.count = 0;
	rc = c->is_step ? 0 : vt_interpret_feed(c->sampled, rec, err);
	if (rc >= 0)
		rc = vt_interpret_feed(c->stepped, rec, err);
	if (rc >= 0 && rec->kind == VT_SAMPLE)
		check_record(c, rec);
	return rc;
}

static void start(struct check *c)
{
	struct vt_interpret_options o = {.length = c->length, .frequency = 1, .capture = WHAT};
	struct vt_error err = VT_ERROR_INIT;

	c->images = vt_images_new(&(struct vt_images_options){0}, NULL);
	c->context = c->images ? vt_context_new(c->images) : NULL;
	if (!c->context)
		die("out of memory", NULL);
	vt_hash_init(&c->threads, sizeof(struct thread), sizeof(int64_t));
	c->sampled = vt_interpret_new(&o, c->context, take_sampled_run, c, &err);
	o.length = 1;
	o.capture |= 1u << VT_WHAT_LOAD_ADDRESS;
	c->stepped = vt_interpret_new(&o, c->context, take_stepped_run, c, &err);
	if (!c->sampled || !c->stepped)
		die("interpreter", &err);
	vt_context_add(c->context, &(struct vt_consumer){.record = take_record, .arg = c});
}

static void read_stream(struct check *c, const char *path)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_reader *r = vt_reader_open(path, &err);
	const struct vt_block *b;
	uint32_t first, count;
	int rc;

	if (!r)
		die(path, &err);
	while ((rc = vt_reader_next_run(r, &b, &first, &count, &err)) > 0)
		if (vt_context_feed(c->context, b, first, count, &err) < 0)
			die(path, &err);
	if (rc < 0)
		die(path, &err);
	vt_reader_close(r);
}

static void finish(struct check *c)
{
	size_t i;

	for (i = 0; i < c->threads.count; i++)
		free(((struct thread *)vt_hash_at(&c->threads, i))->sample.list);
	free(c->run.list);
	vt_hash_fini(&c->threads);
	vt_interpret_free(c->sampled);
	vt_interpret_free(c->stepped);
	vt_context_free(c->context);
	vt_images_free(c->images);
}

static double percent(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

int main(int argc, char **argv)
{
	struct check c = {.length = 16};
	int opt;

	while ((opt = getopt(argc, argv, "l:vw:")) != -1) {
		if (opt == 'v')
			c.verbose = true;
		else if (opt == 'w')
			c.falsify = (unsigned)strtoul(optarg, NULL, 10);
		else if (opt == 'l')
			c.length = (uint32_t)strtoul(optarg, NULL, 10);
		else
			return 2;
	}
	if (optind + 1 != argc || !c.length || c.length > INSNS_MAX)
		return 2;
	start(&c);
	read_stream(&c, argv[optind]);
	printf("samples %" PRIu64 " steps %" PRIu64 " loads %" PRIu64 " known %.2f partial %" PRIu64
	       " results %" PRIu64 " known %.2f compared %" PRIu64 " wrong %" PRIu64
	       " astray %" PRIu64 " overwritten %" PRIu64 "\n",
	       c.samples, c.steps, c.loads, percent(c.loads_known, c.loads), c.partial, c.results,
	       percent(c.results_known, c.results), c.compared, c.wrong, c.astray, c.overwritten);
	finish(&c);
	return c.wrong || c.astray || !c.compared;
}
