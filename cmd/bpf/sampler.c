/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* syscall() and process_vm_readv() */

#include "cmd/bpf/sampler.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "cmd/bpf/compile.h"

/* The program, as the linker has put it in. */
extern const uint8_t bpf_program_begin[] __asm__("_binary_sample_bpf_o_start");
extern const uint8_t bpf_program_end[] __asm__("_binary_sample_bpf_o_end");

/* How far code is followed from where a walk has come to. */
#define DEPTH 64

#define FRESH_NS 100000000

/* Lines of code that were read for one call of bpf_compile(). */
#define CODE_LINES 256

struct code_line {
	uint64_t round; /* of the call; 0: none */
	uint64_t space;
	uint64_t addr;
	uint8_t bytes[BPF_WALK_LINE];
};

struct bpf_sampler {
	struct bpf_sampler_options o;
	struct bpf_object *object;
	struct bpf_walk_shared *shared;
	struct ring_buffer *ring;
	struct bpf_compiler compiler;
	uint64_t forgotten; /* how often all code was */
	size_t told;	    /* entries of the compiler that the program has */
	struct code_line lines[CODE_LINES];
	uint64_t round;
	int codes; /* descriptors */
	int program;
	int reader;
	int *events;
	size_t nevents;
	size_t cap;
	/* For the time of bpf_sampler_read(). */
	bpf_sample_fn *fn;
	void *arg;
	struct vt_error *err;
};

/* ---- code ---- */

bool bpf_sampler_read_kernel(struct bpf_sampler *s, uint64_t addr, uint8_t bytes[BPF_WALK_LINE])
{
	struct bpf_walk_text text = {.addr = addr};
	struct bpf_test_run_opts run = {
		.sz = sizeof(run), .ctx_in = &text, .ctx_size_in = sizeof(text)};

	if (bpf_prog_test_run_opts(s->reader, &run) < 0 || !text.read)
		return false;
	memcpy(bytes, text.bytes, BPF_WALK_LINE);
	return true;
}

static bool read_user_line(pid_t pid, uint64_t addr, uint8_t bytes[BPF_WALK_LINE])
{
	struct iovec to = {bytes, BPF_WALK_LINE}, from = {.iov_len = BPF_WALK_LINE};

	memcpy(&from.iov_base, &addr, sizeof(addr));
	return process_vm_readv(pid, &to, 1, &from, 1, 0) == BPF_WALK_LINE;
}

/* A line of code, from the cache if it was read since the cache was emptied.  NULL: unreadable. */
static const uint8_t *find_code_line(struct bpf_sampler *s, uint64_t space, uint64_t addr)
{
	struct code_line *l = &s->lines[addr / BPF_WALK_LINE % CODE_LINES];

	if (l->round == s->round && l->space == space && l->addr == addr)
		return l->bytes;
	l->round = 0;
	if (!(space ? read_user_line((pid_t)(uint32_t)space, addr, l->bytes)
		    : bpf_sampler_read_kernel(s, addr, l->bytes)))
		return NULL;
	l->round = s->round;
	l->space = space;
	l->addr = addr;
	return l->bytes;
}

/* The end of the code may be less than an instruction's greatest length away. */
static size_t fetch_code(void *arg, uint64_t space, uint64_t pc, uint8_t bytes[BPF_CODE_MAX])
{
	size_t at = pc % BPF_WALK_LINE, first = BPF_WALK_LINE - at;
	const uint8_t *line = find_code_line(arg, space, pc - at);

	first = first < BPF_CODE_MAX ? first : BPF_CODE_MAX;
	if (!line)
		return 0;
	memcpy(bytes, line + at, first);
	if (first == BPF_CODE_MAX)
		return first;
	line = find_code_line(arg, space, pc - at + BPF_WALK_LINE);
	if (!line)
		return first;
	memcpy(bytes + first, line, BPF_CODE_MAX - first);
	return BPF_CODE_MAX;
}

#define BATCH 256

/* Hands the new entries to the program. */
static int tell_codes(struct bpf_sampler *s)
{
	struct bpf_walk_at keys[BATCH];
	uint32_t values[BATCH], n;
	int rc = 0;

	while (rc == 0 && s->told < s->compiler.codes.count) {
		for (n = 0; n < BATCH && s->told + n < s->compiler.codes.count; n++) {
			const struct bpf_code_entry *e =
				vt_hash_at(&s->compiler.codes, s->told + n);

			keys[n] = e->at;
			values[n] = e->op;
		}
		s->told += n;
		rc = bpf_map_update_batch(s->codes, keys, values, &n, NULL);
	}
	return rc;
}

/*
 * When there is no more room all code is forgotten, as most of it may be of processes that have
 * ended.  A walk that is on its way meanwhile may follow other code's operations: it ends within
 * its bounds, and what it has read is what memory holds.
 */
static void forget_codes(struct bpf_sampler *s)
{
	struct bpf_walk_at keys[BATCH];
	size_t i, all = s->compiler.codes.count;
	uint32_t n;

	for (i = 0; i < all; i += n) {
		for (n = 0; n < BATCH && i + n < all; n++)
			keys[n] = ((struct bpf_code_entry *)vt_hash_at(&s->compiler.codes, i + n))
					  ->at;
		bpf_map_delete_batch(s->codes, keys, &n, NULL);
	}
	bpf_compiler_clear(&s->compiler);
	s->told = 0;
	s->forgotten++;
}

/* Code of a moment long ago is not compiled: the recorder must not fall behind. */
static bool is_fresh(const struct bpf_walk_sample *sample)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec < sample->time + FRESH_NS;
}

static int compile_missing(struct bpf_sampler *s, const struct bpf_walk_sample *sample)
{
	int rc;

	if (!sample->missing || !is_fresh(sample))
		return 0;
	if (bpf_compiler_is_full(&s->compiler))
		forget_codes(s);
	s->round++;
	rc = bpf_compile(&s->compiler, sample->space, sample->missing, DEPTH, s->err);
	if (rc == 0 && tell_codes(s) < 0)
		rc = vt_error_errno(s->err, VT_E_SYSTEM, errno, "the map of code");
	return rc;
}

static int take_bpf_sample(void *arg, void *data, size_t size)
{
	const struct bpf_walk_sample *sample = data;
	struct bpf_sampler *s = arg;
	int rc;

	if (size < offsetof(struct bpf_walk_sample, line))
		return 0;
	rc = s->fn(s->arg, sample, s->err);
	if (rc == 0)
		rc = compile_missing(s, sample);
	return rc < 0 ? rc : 0;
}

int bpf_sampler_read(struct bpf_sampler *s, bpf_sample_fn *fn, void *arg, struct vt_error *err)
{
	int rc;

	s->fn = fn;
	s->arg = arg;
	s->err = err;
	rc = ring_buffer__consume(s->ring);
	return rc < 0 ? rc : 0;
}

/* ---- events ---- */

static int add_event(struct bpf_sampler *s, int fd)
{
	int *events = s->events;

	if (s->nevents == s->cap) {
		s->cap = s->cap ? 2 * s->cap : 16;
		events = realloc(events, s->cap * sizeof(*events));
		if (!events) {
			s->cap = s->nevents;
			return ENOMEM;
		}
		s->events = events;
	}
	s->events[s->nevents++] = fd;
	return 0;
}

int bpf_sampler_watch(struct bpf_sampler *s, pid_t tid, int cpu, bool from_exec)
{
	struct perf_event_attr a = {
		.size = sizeof(a),
		.type = s->o.type,
		.config = s->o.config,
		.sample_period = s->o.period,
		.disabled = 1,
		.inherit = tid >= 0,
		.enable_on_exec = from_exec,
		.exclude_hv = 1,
		.exclude_idle = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &a, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	int code;

	if (fd < 0)
		return errno;
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, s->program) < 0 ||
	    (!from_exec && ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) < 0)) {
		code = errno;
		close(fd);
		return code;
	}
	code = add_event(s, fd);
	if (code)
		close(fd);
	return code;
}

void bpf_sampler_set_offsets(struct bpf_sampler *s, uint64_t addr)
{
	__atomic_store_n(&s->shared->cpu_offsets, addr, __ATOMIC_RELAXED);
}

void bpf_sampler_stop(struct bpf_sampler *s)
{
	size_t i;

	for (i = 0; i < s->nevents; i++)
		close(s->events[i]);
	s->nevents = 0;
}

/* ---- the program ---- */

/* Its errors are in what it returns. */
static int print_nothing(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
}

static int find_parts(struct bpf_sampler *s)
{
	const struct bpf_map *shared = bpf_object__find_map_by_name(s->object, ".bss");
	void *map;

	s->codes = bpf_object__find_map_fd_by_name(s->object, "codes");
	s->program = bpf_program__fd(bpf_object__find_program_by_name(s->object, "take_sample"));
	s->reader =
		bpf_program__fd(bpf_object__find_program_by_name(s->object, "read_kernel_line"));
	map = mmap(NULL, sizeof(*s->shared), PROT_READ | PROT_WRITE, MAP_SHARED,
		   bpf_map__fd(shared), 0);
	if (map == MAP_FAILED)
		return -errno;
	s->shared = map;
	s->shared->limit = s->o.insns;
	s->ring = ring_buffer__new(bpf_object__find_map_fd_by_name(s->object, "samples"),
				   take_bpf_sample, s, NULL);
	return s->ring ? 0 : -errno;
}

static int load(struct bpf_sampler *s, struct vt_error *err)
{
	struct bpf_object_open_opts opts = {.sz = sizeof(opts), .object_name = "vtrace"};
	size_t size = (size_t)((uintptr_t)bpf_program_end - (uintptr_t)bpf_program_begin);
	int rc;

	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	libbpf_set_print(print_nothing);
	s->object = bpf_object__open_mem(bpf_program_begin, size, &opts);
	if (!s->object)
		return vt_error_errno(err, VT_E_SYSTEM, errno, "its program");
	rc = bpf_object__load(s->object);
	if (rc == 0)
		rc = find_parts(s);
	if (rc < 0) {
		vt_error_errno(err, VT_E_SYSTEM, -rc, "loading its program into the kernel");
		errno = -rc;
		return -1;
	}
	return bpf_compiler_init(&s->compiler, s->shared->pool, fetch_code, s, err);
}

struct bpf_sampler *bpf_sampler_open(const struct bpf_sampler_options *o, struct vt_error *err)
{
	struct bpf_sampler *s = calloc(1, sizeof(*s));
	int code;

	if (!s) {
		vt_error_nomem(err);
		return NULL;
	}
	s->o = *o;
	if (load(s, err) == 0)
		return s;
	code = errno;
	bpf_sampler_close(s);
	errno = code;
	return NULL;
}

void bpf_sampler_close(struct bpf_sampler *s)
{
	if (!s)
		return;
	bpf_sampler_stop(s);
	free(s->events);
	bpf_compiler_fini(&s->compiler);
	ring_buffer__free(s->ring);
	if (s->shared)
		munmap(s->shared, sizeof(*s->shared));
	bpf_object__close(s->object);
	free(s);
}

int bpf_sampler_fd(const struct bpf_sampler *s)
{
	return ring_buffer__epoll_fd(s->ring);
}

void bpf_sampler_total(const struct bpf_sampler *s, struct bpf_sampler_totals *t)
{
	t->lost = __atomic_load_n(&s->shared->lost, __ATOMIC_RELAXED);
	t->foreign = __atomic_load_n(&s->shared->foreign, __ATOMIC_RELAXED);
	t->lines_read = __atomic_load_n(&s->shared->lines_read, __ATOMIC_RELAXED);
	t->lines_bad = __atomic_load_n(&s->shared->lines_bad, __ATOMIC_RELAXED);
	t->ns = __atomic_load_n(&s->shared->ticks, __ATOMIC_RELAXED);
	t->codes = s->compiler.codes.count;
	t->forgotten = s->forgotten;
}
