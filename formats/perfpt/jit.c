/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "formats/perfpt/internal.h"
#include "formats/pt/sideband/ptinfo.h"

/*
 * Writes generated code, which is in no file, to a jit-PID.dump, where decoders find it because a
 * mapping names it.  Source: tools/perf/Documentation/jitdump-specification.txt of the kernel.
 */
#define JIT_MAGIC   0x4a695444u
#define JIT_VERSION 1
#define JIT_HEADER  40
#define JIT_TICKS   1 /* flag: times are those of the TSC, as perf needs for Intel PT */
#define JIT_LOAD    0
#define JIT_PREFIX  16 /* of a record: id, size, time stamp */
#define JIT_FIXED   40 /* after it: pid, tid, two addresses, size, number */
#define EM_X86_64   62

/* The mapping that names a dump is at an address that no program can use: vm.mmap_min_addr. */
#define MARK_ADDR 4096
#define MARK_SIZE 4096

/* PERF_RECORD_MISC_USER, for vt_addrspace_find(). */
#define USER 2

/* A process's dump. */
struct dump {
	int64_t pid; /* the key */
	struct vt_output *out;
	uint64_t count; /* of functions in it */
};

struct page_key {
	int64_t pid;
	uint64_t addr;
};

/* A page of the code last written to a process's dump. */
struct page {
	struct page_key key;
	uint8_t known[MARK_SIZE / 8];
	uint8_t bytes[MARK_SIZE];
};

static uint64_t get_page_start(uint64_t addr)
{
	return addr & ~(uint64_t)(MARK_SIZE - 1);
}

void vti_wrap_jit_init(struct vt_pt_wrap *p)
{
	vt_hash_init(&p->dumps, sizeof(struct dump), sizeof(int64_t));
	vt_hash_init(&p->code, sizeof(struct page), sizeof(struct page_key));
	p->maps = vt_addrspace_new();
	p->files = vt_pt_files_new(&p->opt.find, NULL, NULL);
}

/* Closes the dumps.  Returns the first error of writing one, or 0. */
int vti_wrap_jit_close(struct vt_pt_wrap *p, struct vt_error *err)
{
	int rc = 0;
	size_t i;

	for (i = 0; i < p->dumps.count; i++) {
		struct dump *d = vt_hash_at(&p->dumps, i);
		struct vt_error why = VT_ERROR_INIT;

		if (d->out && vt_output_close(d->out, &why) < 0 && rc == 0) {
			*err = why;
			rc = -(int)why.code;
		}
		free(d->out);
		d->out = NULL;
	}
	return rc;
}

void vti_wrap_jit_free(struct vt_pt_wrap *p)
{
	struct vt_error ignored = VT_ERROR_INIT;

	vti_wrap_jit_close(p, &ignored);
	vt_hash_fini(&p->dumps);
	vt_hash_fini(&p->code);
	vt_addrspace_free(p->maps);
	vt_pt_files_free(p->files);
}

/* Puts a mapping at MARK_ADDR: of a dump, or of "//anon". */
static int put_mark(struct vt_pt_wrap *p, int64_t pid, const char *path, struct vt_error *err)
{
	struct vt_perfdata_map m = {.start = MARK_ADDR,
				    .length = MARK_SIZE,
				    .prot = 5, /* PROT_READ | PROT_EXEC */
				    .flags = 2 /* MAP_PRIVATE */,
				    .path = path,
				    .path_size = strlen(path)};
	struct vt_perfdata_stamp s = {vti_wrap_side_event(p), (int32_t)pid, (int32_t)pid,
				      vti_wrap_now(p), 0};

	if (!vti_wrap_writer(p, err) || !vti_wrap_thread(p, pid, pid, false, err))
		return -(int)err->code;
	return vt_perfdata_put_map(p->w, &s, &m, err);
}

static void put_header(const struct vt_pt_wrap *p, const struct dump *d)
{
	uint8_t h[JIT_HEADER] = {0};

	vt_put_le32(h, JIT_MAGIC);
	vt_put_le32(h + 4, JIT_VERSION);
	vt_put_le32(h + 8, JIT_HEADER);
	vt_put_le32(h + 12, EM_X86_64);
	vt_put_le32(h + 20, (uint32_t)d->pid);
	vt_put_le64(h + 24, vt_pt_encode_now(p->enc));
	vt_put_le64(h + 32, JIT_TICKS);
	vt_output_put(d->out, h, sizeof(h));
}

static int open_dump(struct vt_pt_wrap *p, struct dump *d, struct vt_error *err)
{
	struct vt_buf path = VT_BUF_INIT;
	int rc;

	d->out = calloc(1, sizeof(*d->out));
	if (!d->out)
		return vt_error_nomem(err);
	vt_buf_printf(&path, "%s/jit-%" PRId64 ".dump", p->opt.jit_dir, d->pid);
	/* perf prescribes the name; the file may belong to another trace of the same recording. */
	if (!path.failed && access(vt_buf_str(&path), F_OK) == 0)
		p->sum.dumps_replaced++;
	rc = path.failed ? vt_error_nomem(err) : vt_output_open(d->out, vt_buf_str(&path), err);
	if (rc < 0) {
		free(d->out);
		d->out = NULL;
	} else {
		put_header(p, d);
		rc = put_mark(p, d->pid, vt_buf_str(&path), err);
	}
	vt_buf_free(&path);
	return rc;
}

/* Puts a block's code as a function, which exists from that tick on. */
static void put_load(struct dump *d, uint64_t addr, struct vt_bytes code, uint64_t tsc)
{
	char name[40];
	size_t length = (size_t)snprintf(name, sizeof(name), "generated_%" PRIx64, addr) + 1;
	uint8_t r[JIT_PREFIX + JIT_FIXED];

	vt_put_le32(r, JIT_LOAD);
	vt_put_le32(r + 4, (uint32_t)(sizeof(r) + length + code.size));
	vt_put_le64(r + 8, tsc);
	vt_put_le32(r + 16, (uint32_t)d->pid);
	vt_put_le32(r + 20, (uint32_t)d->pid);
	vt_put_le64(r + 24, addr);
	vt_put_le64(r + 32, addr);
	vt_put_le64(r + 40, code.size);
	vt_put_le64(r + 48, d->count++);
	vt_output_put(d->out, r, sizeof(r));
	vt_output_put(d->out, name, length);
	vt_output_put(d->out, code.data, code.size);
}

/*
 * Writes a block's code to the dump.  Decoders read the dump at each mapping, up to its time: so a
 * mapping without effect comes first, and the code's time is right after it.
 */
static int dump_block(struct vt_pt_wrap *p, int64_t pid, uint64_t addr, struct vt_bytes code,
		      struct vt_error *err)
{
	struct dump *d = vt_hash_add(&p->dumps, &pid, NULL);
	int rc;

	if (!d)
		return vt_error_nomem(err);
	rc = d->out ? put_mark(p, pid, "//anon", err) : open_dump(p, d, err);
	if (rc < 0)
		return rc;
	put_load(d, addr, code, vti_pt_tsc(&p->conv, vti_wrap_now(p) + 1));
	p->sum.generated++;
	if (d->out->err.code == VT_OK)
		return 0;
	*err = d->out->err;
	return -(int)err->code;
}

/* ---- code written so far ---- */

/* Records the code of a block.  1 if it differs from the code written last, else 0; -VT_E_NOMEM. */
static int record_code(struct vt_pt_wrap *p, int64_t pid, const struct vt_bblock *b,
		       struct vt_error *err)
{
	struct page_key key = {.pid = pid};
	struct page *page = NULL;
	bool is_new = false;
	uint32_t i;

	for (i = 0; i < b->size; i++) {
		uint64_t at = b->addr + i, start = get_page_start(at);
		unsigned k = (unsigned)(at - start);

		key.addr = start;
		if (!page || page->key.addr != start)
			page = vt_hash_add(&p->code, &key, NULL);
		if (!page)
			return vt_error_nomem(err);
		is_new |= !(page->known[k / 8] >> k % 8 & 1) || page->bytes[k] != b->code[i];
		page->known[k / 8] |= (uint8_t)(1u << k % 8);
		page->bytes[k] = b->code[i];
	}
	return is_new;
}

/* Clears the code of a new mapping. */
static void clear_code(struct vt_pt_wrap *p, int64_t pid, uint64_t start, uint64_t length)
{
	size_t i;

	for (i = 0; i < p->code.count; i++) {
		struct page *page = vt_hash_at(&p->code, i);

		if (page->key.pid == pid && page->key.addr - start < length)
			memset(page->known, 0, sizeof(page->known));
	}
}

/* Gives a child its parent's pages, without their code: decoders may or may not know it. */
static int fork_code(struct vt_pt_wrap *p, int64_t parent, int64_t child, struct vt_error *err)
{
	size_t i, n = p->code.count;

	for (i = 0; i < n; i++) {
		struct page_key key = ((struct page *)vt_hash_at(&p->code, i))->key;

		if (key.pid != parent)
			continue;
		key.pid = child;
		if (!vt_hash_add(&p->code, &key, NULL))
			return vt_error_nomem(err);
	}
	return 0;
}

/* ---- blocks ---- */

enum source { FROM_FILE, GENERATED, PATCHED };

/* True if the file of a mapping was removed, so that decoders cannot find it. */
static bool is_gone(const struct vt_pt_wrap *p, const struct vt_map *m)
{
	static const char deleted[] = " (deleted)";
	unsigned type;
	const char *path = vt_pt_files_path(p->files, m->image, &type);
	size_t n = path ? strlen(path) : 0, tail = sizeof(deleted) - 1;

	return n > tail && strcmp(path + n - tail, deleted) == 0 &&
	       !vt_pt_files_get(p->files, m->image);
}

/* Where decoders find the code that is at an address of a process now. */
static enum source find_code_source(struct vt_pt_wrap *p, int64_t pid, uint64_t addr,
				    struct vt_bytes code)
{
	const struct vt_map *m = vt_addrspace_find(p->maps, (int32_t)pid, addr, USER);

	if (!m || m->type == VT_IMAGE_ANON || is_gone(p, m))
		return GENERATED;
	/* Decoders do not use the file for pages that the program could write to. */
	if (m->type == VT_IMAGE_FILE && m->writes)
		return PATCHED;
	return vt_pt_files_differ(p->files, m, addr, code.data, code.size) ? PATCHED : FROM_FILE;
}

/* True if code of a page of the block has been written to a dump. */
static bool is_dumped(const struct vt_pt_wrap *p, int64_t pid, const struct vt_bblock *b)
{
	struct page_key key = {pid, get_page_start(b->addr)};

	if (vt_hash_find(&p->code, &key))
		return true;
	key.addr = get_page_start(b->addr + b->size - 1);
	return vt_hash_find(&p->code, &key) != NULL;
}

/* The encoder's watcher: writes generated, patched or restored code before it is executed. */
static int check_block_code(void *arg, int64_t pid, const struct vt_bblock *b, struct vt_error *err)
{
	const struct vt_bytes code = {b->code, b->size};
	struct vt_pt_wrap *p = arg;
	int is_new, rc;

	if (!b->code || !b->size || pid < 0 || pid > INT32_MAX)
		return 0;
	if (!is_dumped(p, pid, b) && find_code_source(p, pid, b->addr, code) == FROM_FILE)
		return 0;
	is_new = record_code(p, pid, b, err);
	if (is_new <= 0)
		return is_new;
	rc = dump_block(p, pid, b->addr, code, err);
	return rc < 0 ? rc : 1;
}

/*
 * Watches all blocks, once code was patched: earlier code may run again, restored, in another
 * process, or on a page that has become writable.
 */
static void watch_patched(struct vt_pt_wrap *p)
{
	if (p->patched || !p->opt.jit_dir || !p->timed)
		return;
	p->patched = true;
	vt_pt_encode_watch_all(p->enc, check_block_code);
}

void vti_wrap_jit_block(struct vt_pt_wrap *p, const struct vt_record *rec)
{
	uint64_t id = vt_record_u64(rec, VT_BLOCK_ID);
	int64_t pid = vt_record_i64(rec, VT_BLOCK_PID);
	struct vt_bytes code = vt_record_bytes(rec, VT_BLOCK_CODE);
	enum source source;

	if (!code.size || pid < 0 || pid > INT32_MAX)
		return;
	source = find_code_source(p, pid, vt_record_u64(rec, VT_BLOCK_ADDR), code);
	if (source == FROM_FILE)
		return;
	if (!p->opt.jit_dir || !p->timed) {
		p->sum.generated_left_out++;
		if (source == PATCHED)
			vt_pt_encode_leave_out(p->enc, id);
	} else if (source == GENERATED) {
		vt_pt_encode_watch(p->enc, id, check_block_code);
	} else {
		watch_patched(p);
	}
}

/* ---- records ---- */

/* PROT_EXEC of sys/mman.h. */
#define CAN_EXEC 4

/* True if a mapping has code of files that the program could write to. */
static bool has_writable_file(const struct vt_pt_wrap *p, const struct vt_record *rec)
{
	int32_t pid = (int32_t)vt_record_i64(rec, VT_MAP_PID);
	uint64_t at = vt_record_u64(rec, VT_MAP_START);
	uint64_t end = at + vt_record_u64(rec, VT_MAP_LENGTH);
	const struct vt_map *m;

	if (!(vt_record_u64(rec, VT_MAP_PROT) & CAN_EXEC))
		return false;
	for (; at < end; at = m->end) {
		m = vt_addrspace_find(p->maps, pid, at, USER);
		if (!m || m->end <= at)
			return false;
		if (m->type == VT_IMAGE_FILE && m->writes)
			return true;
	}
	return false;
}

int vti_wrap_jit_feed(struct vt_pt_wrap *p, const struct vt_record *rec, struct vt_error *err)
{
	int64_t pid;
	int rc = vt_addrspace_feed(p->maps, rec, err);

	if (rc == -VT_E_NOMEM)
		return rc;
	switch (rec->kind) {
	case VT_IMAGE:
		return vt_pt_files_image(p->files, rec, err);
	case VT_MAP:
		clear_code(p, vt_record_i64(rec, VT_MAP_PID), vt_record_u64(rec, VT_MAP_START),
			   vt_record_u64(rec, VT_MAP_LENGTH));
		if (has_writable_file(p, rec))
			watch_patched(p);
		return 0;
	case VT_THREAD:
		pid = vt_record_i64(rec, VT_THREAD_PID);
		if (vt_record_u64(rec, VT_THREAD_OP) == VT_OP_EXEC)
			clear_code(p, pid, 0, UINT64_MAX);
		if (vt_record_u64(rec, VT_THREAD_OP) != VT_OP_FORK ||
		    pid == vt_record_i64(rec, VT_THREAD_PPID))
			return 0;
		return fork_code(p, vt_record_i64(rec, VT_THREAD_PPID), pid, err);
	default:
		return 0;
	}
}
