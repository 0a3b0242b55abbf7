/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Checks the loads of a recording against its own stores: a shadow of each process's memory is kept
 * from what the recording says was stored, what the kernel wrote, and what new mappings hold; each
 * byte that is loaded must be the one that the shadow has.  Bytes of which nothing is known yet are
 * learnt from the load.
 *
 *	shadow_check [STREAM]
 *
 * Needs addresses (record --full --values=all --mem).  Prints counts, one "name number" on each
 * line, and the first differences on standard error.  Exits 1 when there is any, or nothing to
 * check.
 */
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/hash.h"
#include "stream/bblock.h"
#include "stream/exec.h"
#include "stream/reader.h"
#include "tests/tools/common/accesses.h"
#include "tests/tools/common/shadow.h"

#define PAGE	   SHADOW_PAGE
#define MOST_SHOWN 20

/* Where a byte of the shadow comes from. */
enum known { UNKNOWN, STORED, KERNEL, FRESH, IN_FILE, LOADED, NKNOWN };

static const char *const known_names[NKNOWN] = {"unknown", "stored",  "kernel",
						"fresh",   "in-file", "loaded"};

struct mapping {
	uint64_t start, length, offset, image;
	bool program; /* by whatever executed the program: writable data */
};

struct process {
	int64_t pid;	      /* first: the key */
	struct mapping *maps; /* told since the last system call */
	size_t nmaps, maps_cap;
	struct shadow memory;
	bool begun;
	uint64_t brk;	  /* where the heap ends */
	uint64_t written; /* what the kernel wrote last ends here */
};

struct image {
	uint64_t id; /* first: the key */
	char *path;
};

/* A thread, and its number that the kernel clears some time after its end. */
struct thread {
	int64_t tid; /* first: the key */
	uint64_t clear;
};

struct checker {
	struct vt_bblocks *dict;
	struct vt_hash processes;
	struct vt_hash images;
	struct vt_hash threads;
	uint64_t loads, stores, no_address, guarded_off, load_bytes, store_bytes;
	uint64_t kernel_writes, kernel_bytes, instructions;
	uint64_t checked[NKNOWN]; /* bytes loaded, by what the shadow knew them from */
	uint64_t whole[NKNOWN];	  /* loads all of whose bytes were known from the same */
	uint64_t differences;
};

/* ---- the shadow ---- */

static void die(const char *what)
{
	fprintf(stderr, "shadow_check: %s\n", what);
	exit(1);
}

static struct process *process_of(struct checker *c, int64_t pid)
{
	bool added;
	struct process *p = vt_hash_add(&c->processes, &pid, &added);

	if (!p)
		die("out of memory");
	if (added)
		shadow_init(&p->memory);
	return p;
}

static void copy_process(struct checker *c, int64_t from, int64_t to)
{
	struct process *a, *b;

	process_of(c, from);
	b = process_of(c, to);
	a = process_of(c, from);
	if (b->begun)
		return;
	b->begun = true;
	b->brk = a->brk;
	shadow_copy(&b->memory, &a->memory);
}

/* ---- loads and stores ---- */

static void show_bytes(const char *name, const uint8_t *data, size_t size)
{
	fprintf(stderr, " %s ", name);
	while (size--)
		fprintf(stderr, "%02x", data[size]);
}

static void differ(struct checker *c, const struct vt_exec *x, const struct vt_step *s,
		   uint32_t insn, uint64_t addr, const struct access *a, const uint8_t *want,
		   enum known how)
{
	if (c->differences++ >= MOST_SHOWN)
		return;
	fprintf(stderr,
		"shadow_check: pid %" PRId64 " tid %" PRId64 " at %#" PRIx64
		", load of %u from %#" PRIx64 ":",
		x->pid, x->tid, vt_bblock_insn_addr(s->block, insn), a->size, addr);
	show_bytes("recorded", a->value, a->size);
	show_bytes("expected", want, a->size);
	fprintf(stderr, " (%s)\n", known_names[how]);
}

static void check_load(struct checker *c, struct process *p, const struct vt_exec *x,
		       const struct vt_step *s, uint32_t insn, const struct access *a,
		       uint64_t addr)
{
	uint8_t want[1024];
	enum known all = UNKNOWN, bad = NKNOWN;
	uint32_t i;

	c->loads++;
	c->load_bytes += a->size;
	for (i = 0; i < a->size; i++) {
		struct shadow_page *g = shadow_page(&p->memory, (addr + i) / PAGE, true);
		uint8_t *byte = &g->data[(addr + i) % PAGE];
		uint8_t *how = byte + PAGE;

		want[i] = a->value[i];
		c->checked[*how]++;
		all = i == 0 || all == *how ? *how : UNKNOWN;
		if (*how != UNKNOWN) {
			want[i] = *byte;
			if (*byte != a->value[i])
				bad = *how;
		}
		if (*how == UNKNOWN || *byte != a->value[i]) {
			*byte = a->value[i];
			*how = LOADED;
		}
	}
	c->whole[all]++;
	if (bad != NKNOWN)
		differ(c, x, s, insn, addr, a, want, bad);
}

static void apply(struct checker *c, struct process *p, const struct vt_exec *x,
		  const struct vt_step *s, uint32_t insn, const struct access *a)
{
	if (!a->happened) {
		c->guarded_off++;
	} else if (!a->addr || !a->value) {
		c->no_address++;
	} else if (a->store) {
		c->stores++;
		c->store_bytes += a->size;
		shadow_put(&p->memory, bytes_number(a->addr, a->addr_size), a->value, a->size,
			   STORED);
	} else {
		check_load(c, p, x, s, insn, a, bytes_number(a->addr, a->addr_size));
	}
}

static void run_insn(struct checker *c, struct process *p, const struct vt_exec *x,
		     const struct vt_step *s, uint32_t slot, uint32_t end)
{
	struct access list[MOST_ACCESSES];
	size_t n = accesses_of(s, slot, end, list), i;
	uint64_t addr;

	for (i = 0; i < n; i++)
		apply(c, p, x, s, list[i].insn, &list[i]);
	for (; slot < end; slot++)
		if (is_bit_test(s, slot, &addr))
			shadow_put(&p->memory, addr, NULL, 8, UNKNOWN);
}

static int run_exec(struct checker *c, const struct vt_record *rec, struct vt_error *err)
{
	struct process *p = process_of(c, vt_record_i64(rec, VT_EXEC_PID));
	struct vt_exec x;
	struct vt_step s;
	int code = vt_exec_open(&x, c->dict, rec, err);

	p->begun = true;
	if (code < 0)
		return code;
	while ((code = vt_exec_next(&x, &s, err)) > 0) {
		uint32_t i, next;

		c->instructions += s.insn_end - s.insn;
		for (i = s.slot; i < s.slot_end; i = next) {
			for (next = i + 1; next < s.slot_end; next++)
				if (s.block->slots[next].insn != s.block->slots[i].insn)
					break;
			run_insn(c, p, &x, &s, i, next);
		}
	}
	return code;
}

/* ---- the kernel ---- */

/* System calls that change what memory holds without writing to it (asm/unistd_64.h). */
enum {
	NR_MMAP = 9,
	NR_MUNMAP = 11,
	NR_BRK = 12,
	NR_MREMAP = 25,
	NR_MADVISE = 28,
	NR_SHMAT = 30,
	NR_CLONE = 56,
	NR_FORK = 57,
	NR_VFORK = 58
};

#define ANONYMOUS 0x20	   /* MAP_ANONYMOUS */
#define DONTNEED  4	   /* MADV_DONTNEED */
#define SHARED	  0x100	   /* CLONE_VM */
#define CLEAR	  0x200000 /* CLONE_CHILD_CLEARTID */

/*
 * How many bytes of a file's mapping are the file's: what executes a program clears what lies
 * behind the data of its writable segments.
 */
static uint64_t data_size(int fd, const struct mapping *map)
{
	uint64_t size = map->length, end;
	Elf64_Ehdr eh;
	Elf64_Phdr ph;
	unsigned i;

	if (!map->program || pread(fd, &eh, sizeof(eh), 0) != sizeof(eh))
		return size;
	for (i = 0; i < eh.e_phnum; i++) {
		if (pread(fd, &ph, sizeof(ph), (off_t)(eh.e_phoff + i * sizeof(ph))) != sizeof(ph))
			break;
		end = ph.p_offset + ph.p_filesz;
		if (ph.p_type == PT_LOAD && ph.p_flags & PF_W && end > map->offset &&
		    end < map->offset + size)
			size = end - map->offset;
	}
	return size;
}

/* A mapping of a file: what it holds is known until somebody writes there. */
static void map_file(struct checker *c, struct process *p, const struct mapping *map)
{
	const struct image *m = vt_hash_find(&c->images, &map->image);
	uint8_t data[PAGE];
	uint64_t got = 0, size;
	ssize_t n;
	int fd;

	if (!m || m->path[0] != '/' || map->length > 64u << 20)
		return;
	fd = open(m->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	size = data_size(fd, map);
	while (got < size && (n = pread(fd, data, sizeof(data), (off_t)(map->offset + got))) > 0) {
		uint64_t left = size - got;

		shadow_put(&p->memory, map->start + got, data,
			   (uint64_t)n < left ? (uint64_t)n : left, IN_FILE);
		got += (uint64_t)n;
	}
	if (size < map->length)
		shadow_put(&p->memory, map->start + size, NULL, map->length - size, FRESH);
	close(fd);
}

static void map_memory(struct checker *c, struct process *p, uint64_t start, uint64_t length,
		       uint64_t flags)
{
	size_t i;

	shadow_forget(&p->memory, start, length);
	if (flags & ANONYMOUS && length <= 64u << 20)
		shadow_put(&p->memory, start, NULL, length, FRESH);
	for (i = 0; i < p->nmaps; i++)
		if (p->maps[i].start >= start && p->maps[i].start - start < length)
			map_file(c, p, &p->maps[i]);
}

static void new_thread(struct checker *c, int64_t tid, uint64_t clear)
{
	struct thread *t = vt_hash_add(&c->threads, &tid, NULL);

	if (!t)
		die("out of memory");
	t->clear = clear;
}

static void system_call(struct checker *c, const struct vt_record *rec)
{
	struct process *p = process_of(c, vt_record_i64(rec, VT_SYSCALL_PID));
	struct vt_words args = vt_record_words(rec, VT_SYSCALL_ARGS);
	uint64_t call = vt_record_u64(rec, VT_SYSCALL_NUMBER);
	int64_t result = vt_record_i64(rec, VT_SYSCALL_RESULT);
	uint64_t length = args.count > 1 ? (args.data[1] + PAGE - 1) & ~(uint64_t)(PAGE - 1) : 0;

	if (args.count < 6 || (result < 0 && result > -4096)) {
		p->nmaps = 0;
		return;
	}
	switch (call) {
	case NR_MMAP:
		map_memory(c, p, (uint64_t)result, length, args.data[3]);
		break;
	case NR_MUNMAP:
		shadow_forget(&p->memory, args.data[0], length);
		break;
	case NR_MADVISE:
		if (args.data[2] == DONTNEED)
			shadow_forget(&p->memory, args.data[0], length);
		break;
	case NR_MREMAP:
		shadow_forget(&p->memory, args.data[0], length);
		shadow_forget(&p->memory, (uint64_t)result, args.data[2]);
		break;
	case NR_BRK:
		if (p->brk && (uint64_t)result > p->brk && (uint64_t)result - p->brk <= 64u << 20)
			shadow_put(&p->memory, p->brk, NULL, (uint64_t)result - p->brk, FRESH);
		p->brk = (uint64_t)result;
		break;
	case NR_CLONE:
	case NR_FORK:
	case NR_VFORK:
		/*
		 * The child may be told of before this or after it, when its parent has gone on;
		 * what comes first is where they part.
		 */
		if (result > 0 && call == NR_CLONE && args.data[0] & SHARED)
			new_thread(c, result, args.data[0] & CLEAR ? args.data[3] : 0);
		else if (result > 0)
			copy_process(c, p->pid, result);
		return;
	case NR_SHMAT:
		shadow_forget(&p->memory, (uint64_t)result, (uint64_t)1 << 40);
		break;
	default:
		break;
	}
	p->nmaps = 0;
}

static void kernel_write(struct checker *c, const struct vt_record *rec)
{
	struct process *p = process_of(c, vt_record_i64(rec, VT_MEMORY_PID));
	struct vt_bytes b = vt_record_bytes(rec, VT_MEMORY_DATA);
	uint64_t addr = vt_record_u64(rec, VT_MEMORY_ADDR);

	c->kernel_writes++;
	c->kernel_bytes += b.size;
	shadow_put(&p->memory, addr, b.data, b.size, KERNEL);
	p->written = addr + b.size;
}

/*
 * The kernel's frame for a handler is recorded; Valgrind keeps what it needs itself, less than a
 * page, behind that.  Programs that read variables that they never set find it.
 */
static void signal_frame(struct checker *c, const struct vt_record *rec)
{
	struct process *p = process_of(c, vt_record_i64(rec, VT_SIGNAL_PID));

	if (vt_record_u64(rec, VT_SIGNAL_HANDLER))
		shadow_put(&p->memory, p->written, NULL, PAGE, UNKNOWN);
}

static void learn_image(struct checker *c, const struct vt_record *rec)
{
	uint64_t id = vt_record_u64(rec, VT_IMAGE_ID);
	struct vt_bytes path = vt_record_bytes(rec, VT_IMAGE_PATH);
	struct image *m;
	bool added;

	m = vt_hash_add(&c->images, &id, &added);
	if (!m)
		die("out of memory");
	free(m->path);
	m->path = strndup((const char *)path.data, path.size);
}

/* What is mapped by the program itself counts when its system call has ended: see there. */
static void learn_map(struct checker *c, const struct vt_record *rec)
{
	struct process *p = process_of(c, vt_record_i64(rec, VT_MAP_PID));
	struct mapping m = {.start = vt_record_u64(rec, VT_MAP_START),
			    .length = vt_record_u64(rec, VT_MAP_LENGTH),
			    .offset = vt_record_u64(rec, VT_MAP_OFFSET),
			    .image = vt_record_u64(rec, VT_MAP_IMAGE)};

	if (!p->begun) {
		m.program = (vt_record_u64(rec, VT_MAP_PROT) & PROT_WRITE) != 0;
		map_file(c, p, &m);
		return;
	}
	if (!vt_array_grow(&p->maps, &p->maps_cap, p->nmaps + 1, sizeof(m)))
		die("out of memory");
	p->maps[p->nmaps++] = m;
}

static void thread_event(struct checker *c, const struct vt_record *rec)
{
	int64_t pid = vt_record_i64(rec, VT_THREAD_PID);
	int64_t tid = vt_record_i64(rec, VT_THREAD_TID);
	int64_t ppid = vt_record_i64(rec, VT_THREAD_PPID);
	const struct thread *t;

	switch (vt_record_u64(rec, VT_THREAD_OP)) {
	case VT_OP_FORK:
		if (ppid != pid)
			copy_process(c, ppid, pid);
		break;
	case VT_OP_EXIT:
		t = vt_hash_find(&c->threads, &tid);
		if (t && t->clear)
			shadow_put(&process_of(c, pid)->memory, t->clear, NULL, 4, UNKNOWN);
		break;
	case VT_OP_EXEC:
		shadow_forget(&process_of(c, pid)->memory, 0, UINT64_MAX);
		break;
	default:
		break;
	}
}

/* What happened between two windows is not known. */
static void new_window(struct checker *c, const struct vt_record *rec)
{
	if (vt_record_u64(rec, VT_STATE_REASON) == VT_STATE_WINDOW)
		shadow_forget(&process_of(c, vt_record_i64(rec, VT_STATE_PID))->memory, 0,
			      UINT64_MAX);
}

static int run(struct checker *c, struct vt_reader *r, struct vt_error *err)
{
	struct vt_record rec;
	int code;

	while ((code = vt_reader_next(r, &rec, err)) > 0) {
		switch (rec.kind) {
		case VT_BLOCK:
			code = vt_bblocks_add(c->dict, &rec, err);
			break;
		case VT_EXEC:
			code = run_exec(c, &rec, err);
			break;
		case VT_MEMORY:
			kernel_write(c, &rec);
			break;
		case VT_SIGNAL:
			signal_frame(c, &rec);
			break;
		case VT_STATE:
			new_window(c, &rec);
			break;
		case VT_SYSCALL:
			system_call(c, &rec);
			break;
		case VT_IMAGE:
			learn_image(c, &rec);
			break;
		case VT_MAP:
			learn_map(c, &rec);
			break;
		case VT_THREAD:
			thread_event(c, &rec);
			break;
		default:
			break;
		}
		if (code < 0)
			return code;
	}
	return code;
}

static void report(const struct checker *c)
{
	static const struct {
		const char *name;
		size_t offset;
	} rows[] = {
#define ROW(n) {#n, offsetof(struct checker, n)}
		ROW(instructions), ROW(loads),	     ROW(load_bytes),  ROW(stores),
		ROW(store_bytes),  ROW(no_address),  ROW(guarded_off), ROW(kernel_writes),
		ROW(kernel_bytes), ROW(differences),
#undef ROW
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		uint64_t v;

		memcpy(&v, (const char *)c + rows[i].offset, sizeof(v));
		printf("%s %" PRIu64 "\n", rows[i].name, v);
	}
	for (i = 0; i < NKNOWN; i++)
		printf("bytes_%s %" PRIu64 "\nloads_%s %" PRIu64 "\n", known_names[i],
		       c->checked[i], known_names[i], c->whole[i]);
}

static void clear(struct checker *c)
{
	size_t i;

	for (i = 0; i < c->processes.count; i++) {
		struct process *p = vt_hash_at(&c->processes, i);

		shadow_fini(&p->memory);
		free(p->maps);
	}
	for (i = 0; i < c->images.count; i++)
		free(((struct image *)vt_hash_at(&c->images, i))->path);
	vt_hash_fini(&c->processes);
	vt_hash_fini(&c->images);
	vt_hash_fini(&c->threads);
	vt_bblocks_free(c->dict);
}

int main(int argc, char **argv)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_reader *r = vt_reader_open(argc > 1 ? argv[1] : "-", &err);
	struct checker c = {.dict = vt_bblocks_new()};
	int code;

	if (!r || !c.dict) {
		fprintf(stderr, "shadow_check: %s\n", err.text);
		return 1;
	}
	vt_hash_init(&c.processes, sizeof(struct process), sizeof(int64_t));
	vt_hash_init(&c.threads, sizeof(struct thread), sizeof(int64_t));
	vt_hash_init(&c.images, sizeof(struct image), sizeof(uint64_t));
	code = run(&c, r, &err);
	if (code < 0)
		fprintf(stderr, "shadow_check: %s\n", err.text);
	report(&c);
	clear(&c);
	vt_reader_close(r);
	return code < 0 || c.differences || !c.loads || !c.stores;
}
