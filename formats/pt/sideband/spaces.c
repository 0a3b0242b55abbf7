/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/pt/sideband/spaces.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "formats/pt/sideband/jit.h"
#include "image/addrspace.h"
#include "stream/kinds.h"

#define PROT_CODE 4 /* PROT_EXEC of linux/mman.h */
#define MODE_USER 2 /* PERF_RECORD_MISC_USER of linux/perf_event.h */

struct mapping {
	uint64_t start;
	uint64_t length;
	uint64_t offset;
	uint64_t image;
	bool exec;
};

/* A dump of generated code of a process, and the next function in it. */
struct dump {
	struct vti_pt_jit jit;
	struct vti_pt_jit_code next;
	bool more;
	struct dump *other; /* the next one of the list */
};

struct space {
	int64_t pid;
	uint64_t generation;
	struct vt_pt_code *code; /* NULL until it is needed */
	struct mapping *pending; /* until then */
	size_t npending, pending_cap;
	struct dump *dumps;
	struct dump *past; /* of earlier programs of the process, whose code may still be in use */
	struct space *older; /* the previous process with the same pid */
};

struct row {
	int64_t key; /* pid or tid */
	union {
		struct space *space;
		int64_t pid;
	} of;
};

struct vt_pt_spaces {
	struct vt_pt_files *files;
	struct vt_pt_code *kernel;
	const char *symfs;
	const struct vt_pt_timeconv *conv;
	struct vt_hash spaces;
	struct vt_hash threads;
	struct vt_addrspace *maps; /* finds what programs could write to */
	uint64_t generations;
	uint64_t jit_time;
	bool timed;
};

/* Ignores other errors: a contradictory recording lacks code, which gives gaps. */
static int keep_nomem(int code)
{
	return code == -VT_E_NOMEM ? code : 0;
}

struct vt_pt_spaces *vt_pt_spaces_new(struct vt_pt_files *files, struct vt_pt_code *kernel,
				      const char *symfs, const struct vt_pt_timeconv *conv,
				      bool timed)
{
	struct vt_pt_spaces *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->files = files;
	s->kernel = kernel;
	s->symfs = symfs;
	s->conv = conv;
	s->timed = timed;
	vt_hash_init(&s->spaces, sizeof(struct row), sizeof(int64_t));
	vt_hash_init(&s->threads, sizeof(struct row), sizeof(int64_t));
	s->maps = vt_addrspace_new();
	if (!s->maps) {
		vt_pt_spaces_free(s);
		return NULL;
	}
	return s;
}

static void free_dumps(struct dump *d)
{
	struct dump *other;

	for (; d; d = other) {
		other = d->other;
		vti_pt_jit_close(&d->jit);
		free(d);
	}
}

/* Moves the dumps to `past`: blocks, and the code of forks, may still use their bytes. */
static void retire_dumps(struct space *p)
{
	struct dump **end = &p->past;

	if (p->code) {
		while (*end)
			end = &(*end)->other;
		*end = p->dumps;
	} else {
		free_dumps(p->dumps);
	}
	p->dumps = NULL;
}

void vt_pt_spaces_free(struct vt_pt_spaces *s)
{
	size_t i;

	if (!s)
		return;
	for (i = 0; i < s->spaces.count; i++) {
		struct space *p = ((struct row *)vt_hash_at(&s->spaces, i))->of.space, *older;

		for (; p; p = older) {
			older = p->older;
			vt_pt_code_free(p->code);
			free_dumps(p->dumps);
			free_dumps(p->past);
			free(p->pending);
			free(p);
		}
	}
	vt_hash_fini(&s->spaces);
	vt_hash_fini(&s->threads);
	vt_addrspace_free(s->maps);
	free(s);
}

/* ---- processes ---- */

static struct space *find_code_space(const struct vt_pt_spaces *s, int64_t pid)
{
	struct row *row = vt_hash_find(&s->spaces, &pid);

	return row ? row->of.space : NULL;
}

/* The process, added if there is none.  fresh: adds another one with the same pid. */
static struct space *get_code_space(struct vt_pt_spaces *s, int64_t pid, bool fresh,
				    struct vt_error *err)
{
	struct row *row = vt_hash_add(&s->spaces, &pid, NULL);
	struct space *p = row ? row->of.space : NULL, *older = p;

	if (p && !fresh)
		return p;
	p = row ? calloc(1, sizeof(*p)) : NULL;
	if (!p) {
		vt_error_nomem(err);
		return NULL;
	}
	/* Decoders may still use the old process's code; if it has none it can be freed. */
	if (older && !older->code) {
		free_dumps(older->dumps);
		free(older->pending);
		p->older = older->older;
		free(older);
	} else {
		p->older = older;
	}
	p->pid = pid;
	p->generation = ++s->generations;
	row->of.space = p;
	return p;
}

static int set_thread_process(struct vt_pt_spaces *s, int64_t tid, int64_t pid,
			      struct vt_error *err)
{
	struct row *row;

	if (tid <= 0)
		return 0;
	row = vt_hash_add(&s->threads, &tid, NULL);
	if (!row)
		return vt_error_nomem(err);
	row->of.pid = pid;
	return 0;
}

int64_t vt_pt_spaces_process_of(const struct vt_pt_spaces *s, int64_t tid)
{
	struct row *row = vt_hash_find(&s->threads, &tid);

	return row ? row->of.pid : -1;
}

/* ---- mappings ---- */

static int add_file_section(struct vt_pt_spaces *s, struct space *p, const struct mapping *m,
			    struct vt_error *err)
{
	const struct vt_pt_file *file = vt_pt_files_get(s->files, m->image);
	struct vt_pt_section section = {.start = m->start, .offset = m->offset};

	if (!file || m->offset >= file->size)
		return 0;
	section.bytes = file->bytes + m->offset;
	section.path = file->path;
	section.size = file->size - m->offset < m->length ? file->size - m->offset : m->length;
	return keep_nomem(vt_pt_code_add(p->code, &section, err));
}

/* The time (ns) of a dump's next function; 0 if its ticks cannot be converted. */
static uint64_t get_dump_time(const struct vt_pt_spaces *s, const struct dump *d)
{
	if (!d->jit.ticks)
		return d->next.time;
	return s->conv ? vt_pt_time(s->conv, d->next.time) : 0;
}

static int add_generated_code(struct vt_pt_spaces *s, struct space *p, struct vt_error *err)
{
	struct dump *d;
	int code = 0;

	for (d = p->dumps; d; d = d->other) {
		for (; d->more && get_dump_time(s, d) <= s->jit_time && code == 0;
		     d->more = vti_pt_jit_next(&d->jit, &d->next)) {
			struct vt_pt_section section = {.start = d->next.addr,
							.size = d->next.size,
							.bytes = d->next.bytes,
							.path = d->jit.file.path,
							.offset = d->next.offset};

			code = vt_pt_code_remove(p->code, section.start, section.size, err);
			code = keep_nomem(code);
			if (code == 0)
				code = keep_nomem(vt_pt_code_add(p->code, &section, err));
		}
	}
	return code;
}

static int apply_code_mapping(struct vt_pt_spaces *s, struct space *p, const struct mapping *m,
			      struct vt_error *err)
{
	int code = keep_nomem(vt_pt_code_remove(p->code, m->start, m->length, err));

	return code == 0 && m->exec ? add_file_section(s, p, m, err) : code;
}

static int add_dump(struct vt_pt_spaces *s, struct space *p, uint64_t image, struct vt_error *err)
{
	unsigned type;
	const char *path = vt_pt_files_path(s->files, image, &type);
	struct dump *d;

	if (!path || !vti_pt_jit_named(path))
		return 0;
	d = calloc(1, sizeof(*d));
	if (!d)
		return vt_error_nomem(err);
	if (!vti_pt_jit_open(&d->jit, s->symfs, path)) {
		free(d);
		return 0;
	}
	d->more = vti_pt_jit_next(&d->jit, &d->next);
	d->other = p->dumps;
	p->dumps = d;
	return 0;
}

static int add_space_mapping(struct vt_pt_spaces *s, struct space *p, const struct mapping *m,
			     struct vt_error *err)
{
	if (!p->code && p->npending >= VT_PT_MAX_PENDING) {
		uint64_t ignored;

		if (!vt_pt_spaces_code(s, p->pid, &ignored))
			return vt_error_nomem(err);
	}
	if (p->code)
		return apply_code_mapping(s, p, m, err);
	if (!vt_array_grow(&p->pending, &p->pending_cap, p->npending + 1, sizeof(*p->pending)))
		return vt_error_nomem(err);
	p->pending[p->npending++] = *m;
	return 0;
}

/* Adds a mapping.  Pages that the program could write to have unknown code, not the file's. */
static int add_map_pieces(struct vt_pt_spaces *s, struct space *p, const struct mapping *m,
			  struct vt_error *err)
{
	uint64_t end = m->start + m->length;
	struct mapping piece = *m;
	int code = 0;

	for (; code == 0 && piece.start < end; piece.start += piece.length) {
		const struct vt_map *f =
			vt_addrspace_find(s->maps, (int32_t)p->pid, piece.start, MODE_USER);

		piece.length = f && f->end < end ? f->end - piece.start : end - piece.start;
		piece.offset = m->offset + (piece.start - m->start);
		piece.exec = m->exec && !(f && f->writes);
		code = add_space_mapping(s, p, &piece, err);
	}
	return code;
}

/* Feeds a MAP record to the address space, and the type of its image, which it needs. */
static int feed_addrspace_map(struct vt_pt_spaces *s, const struct vt_record *rec, uint64_t image,
			      struct vt_error *err)
{
	unsigned type;

	if (vt_pt_files_path(s->files, image, &type) &&
	    vt_addrspace_image(s->maps, (uint32_t)image, type, err) < 0)
		return -VT_E_NOMEM;
	return keep_nomem(vt_addrspace_feed(s->maps, rec, err));
}

static int feed_code_map(struct vt_pt_spaces *s, const struct vt_record *rec, struct vt_error *err)
{
	int64_t pid = vt_record_i64(rec, VT_MAP_PID);
	struct mapping m = {
		.start = vt_record_u64(rec, VT_MAP_START),
		.length = vt_record_u64(rec, VT_MAP_LENGTH),
		.offset = vt_record_u64(rec, VT_MAP_OFFSET),
		.image = vt_record_u64(rec, VT_MAP_IMAGE),
		.exec = vt_record_u64(rec, VT_MAP_PROT) & PROT_CODE,
	};
	struct space *p;

	if (pid < 0 || !m.length)
		return 0;
	if (m.length > UINT64_MAX - m.start)
		m.length = UINT64_MAX - m.start;
	p = get_code_space(s, pid, false, err);
	if (!p || feed_addrspace_map(s, rec, m.image, err) < 0 ||
	    set_thread_process(s, vt_record_i64(rec, VT_MAP_TID), pid, err) < 0 ||
	    (m.exec && add_dump(s, p, m.image, err) < 0))
		return -VT_E_NOMEM;
	return add_map_pieces(s, p, &m, err);
}

const struct vt_pt_code *vt_pt_spaces_code(struct vt_pt_spaces *s, int64_t pid,
					   uint64_t *generation)
{
	struct vt_error err = VT_ERROR_INIT;
	struct space *p = get_code_space(s, pid, false, &err);
	size_t i;

	if (!p)
		return NULL;
	*generation = p->generation;
	if (!p->code) {
		p->code = vt_pt_code_new();
		if (!p->code)
			return NULL;
		vt_pt_code_set_kernel(p->code, s->kernel);
		for (i = 0; i < p->npending; i++) {
			if (apply_code_mapping(s, p, &p->pending[i], &err) < 0)
				return NULL;
		}
		free(p->pending);
		p->pending = NULL;
		p->npending = 0;
		p->pending_cap = 0;
	}
	return add_generated_code(s, p, &err) < 0 ? NULL : p->code;
}

void vt_pt_spaces_jit_time(struct vt_pt_spaces *s, uint64_t time)
{
	s->jit_time = time;
}

/* ---- threads ---- */

static int feed_code_fork(struct vt_pt_spaces *s, const struct vt_record *rec, struct vt_error *err)
{
	int64_t pid = vt_record_i64(rec, VT_THREAD_PID), ppid = vt_record_i64(rec, VT_THREAD_PPID);
	struct space *p = find_code_space(s, pid), *parent;

	if (set_thread_process(s, vt_record_i64(rec, VT_THREAD_TID), pid, err) < 0)
		return -VT_E_NOMEM;
	/* Records of processes that were already running have no time. */
	if (pid == ppid || (s->timed && !vt_record_u64(rec, VT_THREAD_TIME)))
		return 0;
	p = get_code_space(s, pid, p != NULL, err);
	if (!p)
		return -VT_E_NOMEM;
	parent = find_code_space(s, ppid);
	if (parent && parent->code) {
		p->code = vt_pt_code_copy(parent->code);
		return p->code ? 0 : vt_error_nomem(err);
	}
	if (!parent || !parent->npending)
		return 0;
	if (!vt_array_grow(&p->pending, &p->pending_cap, parent->npending, sizeof(*p->pending)))
		return vt_error_nomem(err);
	memcpy(p->pending, parent->pending, parent->npending * sizeof(*p->pending));
	p->npending = parent->npending;
	return 0;
}

static int feed_code_thread(struct vt_pt_spaces *s, const struct vt_record *rec,
			    struct vt_error *err)
{
	int64_t pid = vt_record_i64(rec, VT_THREAD_PID);
	struct space *p;

	switch (vt_record_u64(rec, VT_THREAD_OP)) {
	case VT_OP_FORK:
		return feed_code_fork(s, rec, err);
	case VT_OP_EXEC:
		p = find_code_space(s, pid);
		if (p) {
			p->npending = 0;
			retire_dumps(p);
		}
		if (p && p->code && vt_pt_code_remove(p->code, 0, UINT64_MAX, err) < 0)
			return keep_nomem(-(int)err->code);
		return set_thread_process(s, vt_record_i64(rec, VT_THREAD_TID), pid, err);
	case VT_OP_EXIT:
		return 0;
	default:
		return set_thread_process(s, vt_record_i64(rec, VT_THREAD_TID), pid, err);
	}
}

int vt_pt_spaces_feed(struct vt_pt_spaces *s, const struct vt_record *rec, struct vt_error *err)
{
	switch (rec->kind) {
	case VT_MAP:
		return feed_code_map(s, rec, err);
	case VT_THREAD:
		if (keep_nomem(vt_addrspace_feed(s->maps, rec, err)) < 0)
			return -VT_E_NOMEM;
		return feed_code_thread(s, rec, err);
	case VT_ITRACE:
		return set_thread_process(s, vt_record_i64(rec, VT_ITRACE_TID),
					  vt_record_i64(rec, VT_ITRACE_PID), err);
	case VT_SWITCH:
		return vt_record_u64(rec, VT_SWITCH_OUT)
			       ? 0
			       : set_thread_process(s, vt_record_i64(rec, VT_SWITCH_TID),
						    vt_record_i64(rec, VT_SWITCH_PID), err);
	default:
		return 0;
	}
}
