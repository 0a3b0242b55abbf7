/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "image/addrspace.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "image/maptree.h"

/* CPU modes of linux/perf_event.h. */
#define MODE_MASK    7
#define MODE_UNKNOWN 0
#define MODE_KERNEL  1
#define MODE_USER    2

#define KERNEL_HALF ((uint64_t)1 << 63)

/* Of linux/perf_event.h: the mapping is not executable. */
#define MISC_MMAP_DATA (1u << 13)

/* Of linux/mman.h. */
#define CAN_WRITE 2
#define CAN_EXEC  4

/*
 * A new mapping keeps the different histories of at most this many mappings that it replaces; the
 * rest share the worst.  This bounds the work: programs change the protection of few segments at a
 * time.
 */
#define MAX_PASTS 64

#define ANSWERS 1024

/* The mappings of a process; shared by several after a fork, until one of them changes its own. */
struct space {
	struct vti_node *root;
	uint32_t users;
	bool reports_data; /* mappings that are not executable are recorded, too */
};

struct process {
	int32_t pid;
	struct space *space;
	uint64_t ended; /* number of its end, which locates it in `dead`; 0: alive */
};

struct image_type {
	uint32_t image;
	uint32_t type;
};

struct answer {
	uint64_t changes; /* the value of vt_addrspace.changes for which it is valid */
	int32_t pid;
	const struct vt_map *map;
};

struct vt_addrspace {
	struct vti_nodes nodes;
	struct vt_hash processes;
	struct vt_hash types;
	struct space *kernel;
	uint32_t nksymbols;
	uint64_t nended;
	int32_t dead[VT_DEAD_PROCESSES];

	/* A cache of answers since the last change, by process and 128 KB of addresses. */
	uint64_t changes;
	struct answer answers[ANSWERS];
};

static struct space *new_space(void)
{
	struct space *s = calloc(1, sizeof(*s));

	if (s)
		s->users = 1;
	return s;
}

static void release_space(struct vt_addrspace *as, struct space *s)
{
	assert(!s || s->users > 0);
	if (!s || --s->users)
		return;
	vti_tree_free(&as->nodes, s->root);
	free(s);
}

static void invalidate_answers(struct vt_addrspace *as)
{
	as->changes++;
}

struct vt_addrspace *vt_addrspace_new(void)
{
	struct vt_addrspace *as = calloc(1, sizeof(*as));

	if (!as)
		return NULL;
	as->changes = 1;
	vti_nodes_init(&as->nodes, VT_MAX_MAPS);
	vt_hash_init(&as->processes, sizeof(struct process), sizeof(int32_t));
	vt_hash_init(&as->types, sizeof(struct image_type), sizeof(uint32_t));
	as->kernel = new_space();
	if (!as->kernel) {
		free(as);
		return NULL;
	}
	return as;
}

void vt_addrspace_free(struct vt_addrspace *as)
{
	size_t i;

	if (!as)
		return;
	for (i = 0; i < as->processes.count; i++)
		release_space(as, ((struct process *)vt_hash_at(&as->processes, i))->space);
	release_space(as, as->kernel);
	vti_nodes_fini(&as->nodes);
	vt_hash_fini(&as->processes);
	vt_hash_fini(&as->types);
	free(as);
}

static int set_map_error(int rc, struct vt_error *err)
{
	if (rc == -VT_E_LIMIT)
		return vt_error_set(err, VT_E_LIMIT, "more than %d live mappings", VT_MAX_MAPS);
	return vt_error_set(err, VT_E_NOMEM, "out of memory for mappings");
}

static struct process *find_space_process(const struct vt_addrspace *as, int32_t pid)
{
	return vt_hash_find(&as->processes, &pid);
}

static struct process *get_space_process(struct vt_addrspace *as, int32_t pid, struct vt_error *err)
{
	struct process *p = find_space_process(as, pid);

	if (p)
		return p;
	if (as->processes.count >= VT_MAX_PROCESSES) {
		vt_error_set(err, VT_E_LIMIT, "more than %d processes", VT_MAX_PROCESSES);
		return NULL;
	}
	p = vt_hash_add(&as->processes, &pid, NULL);
	if (!p)
		vt_error_set(err, VT_E_NOMEM, "out of memory for processes");
	return p;
}

/* Returns the mappings of a process for a change, after copying them if they are shared. */
static struct space *own_space(struct vt_addrspace *as, int32_t pid, struct vt_error *err)
{
	struct process *p;
	struct space *s;
	int rc;

	if (pid == VT_PID_KERNEL)
		return as->kernel;
	p = get_space_process(as, pid, err);
	if (!p)
		return NULL;
	if (p->space && p->space->users == 1)
		return p->space;
	s = new_space();
	rc = !s ? -VT_E_NOMEM : !p->space ? 0 : vti_tree_copy(&as->nodes, p->space->root, &s->root);
	if (rc < 0) {
		release_space(as, s);
		set_map_error(rc, err);
		return NULL;
	}
	if (p->space)
		s->reports_data = p->space->reports_data;
	release_space(as, p->space);
	p->space = s;
	return s;
}

uint64_t vt_addrspace_changes(const struct vt_addrspace *as)
{
	return as->changes;
}

int vt_addrspace_image(struct vt_addrspace *as, uint32_t image, unsigned type, struct vt_error *err)
{
	struct image_type *t = vt_hash_add(&as->types, &image, NULL);

	if (!t)
		return vt_error_set(err, VT_E_NOMEM, "out of memory for images");
	t->type = type;
	return 0;
}

static int replace_maps(struct vt_addrspace *as, int32_t pid, uint64_t start, uint64_t end,
			const struct vt_map *map, struct vt_error *err)
{
	struct space *s = own_space(as, pid, err);
	int rc;

	invalidate_answers(as);
	if (!s)
		return -(int)err->code;
	rc = vti_tree_put(&as->nodes, &s->root, start, end, map);
	return rc < 0 ? set_map_error(rc, err) : 0;
}

/* Returns start + length, limited to UINT64_MAX. */
static uint64_t add_length(uint64_t start, uint64_t length)
{
	return length > UINT64_MAX - start ? UINT64_MAX : start + length;
}

/* Returns a mapping's vt_map.base, whose meaning depends on the image's type: vt_map_offset(). */
static uint64_t offset_base(unsigned type, uint64_t start, uint64_t offset)
{
	switch (type) {
	case VT_IMAGE_ANON:
		return 0;
	case VT_IMAGE_VDSO:
		/* Its recorded offset is meaningless: older kernels wrote the address. */
		return start;
	case VT_IMAGE_KERNEL:
		/* The offset of the kernel's mapping is its reference symbol's address. */
		return offset ? offset : start;
	default:
		return start - offset;
	}
}

/* ---- the history of pages since their file was mapped ---- */

static unsigned count_write(unsigned writes)
{
	return writes < VT_MAP_WRITES ? writes + 1 : writes;
}

/* Returns true if both map the same part of the same file, so that only the protection differs. */
static bool same_pages(const struct vt_map *old, const struct vt_map *map)
{
	return old && map->type != VT_IMAGE_ANON && old->type == map->type &&
	       old->image == map->image && old->base == map->base;
}

/*
 * Returns true if some of the pages are known to be writable and executable.  That explains why
 * they are recorded again, together with the neighbours that the kernel merges with them.
 */
static bool is_explained(const struct space *s, const struct vt_map *map)
{
	const struct vt_map *below, *above;
	uint64_t at = map->start;
	unsigned i;

	for (i = 0; i < MAX_PASTS && at < map->end; i++) {
		vti_tree_around(s->root, at, &below, &above);
		if (below && at < below->end && same_pages(below, map) && below->prot & CAN_WRITE)
			return true;
		if (!above)
			return false;
		at = above->start;
	}
	return false;
}

/* Sets the history of `map`, which replaces `old`, or nothing if that is NULL. */
static void set_past(struct vt_map *map, const struct vt_map *old, bool again)
{
	bool writable = map->prot & CAN_WRITE;

	if (!same_pages(old, map)) {
		map->writes = writable;
		return;
	}
	map->found = old->found;
	map->writes = old->writes;
	if (writable ? !(old->prot & CAN_WRITE)
		     : again && !(old->prot & CAN_WRITE) && old->prot & CAN_EXEC)
		map->writes = (uint8_t)count_write(old->writes);
}

static bool same_past(const struct vt_map *a, const struct vt_map *b)
{
	return a->writes == b->writes && a->found == b->found;
}

/*
 * Maps a file.  Pages of the file that were mapped there before keep their history, so one new
 * mapping may become several.
 */
static int map_file_pages(struct vt_addrspace *as, int32_t pid, struct space *s,
			  const struct vt_map *map, struct vt_error *err)
{
	const struct vt_map *below, *above, *old;
	struct vt_map now = {0}, piece;
	bool again = !s->reports_data && map->prot & CAN_EXEC && !is_explained(s, map);
	uint64_t at, end;
	unsigned i = 0;
	int rc;

	for (at = map->start; at < map->end; at = end) {
		vti_tree_around(s->root, at, &below, &above);
		old = below && at < below->end ? below : NULL;
		end = old ? old->end : above ? above->start : map->end;
		piece = *map;
		piece.start = at;
		set_past(&piece, old, again);
		if (end > map->end || ++i >= MAX_PASTS)
			end = map->end;
		if (i >= MAX_PASTS)
			piece.writes = VT_MAP_WRITES;
		piece.end = end;
		if (now.end && same_past(&now, &piece)) {
			now.end = end;
			continue;
		}
		if (now.end && (rc = replace_maps(as, pid, now.start, now.end, &now, err)) < 0)
			return rc;
		now = piece;
	}
	return replace_maps(as, pid, now.start, now.end, &now, err);
}

/* Maps `length` bytes of an image from map->start on. */
static int map_image(struct vt_addrspace *as, int32_t pid, struct vt_map *map, uint64_t length,
		     struct vt_error *err)
{
	struct space *s;

	if (length == 0 && map->type != VT_IMAGE_KERNEL)
		return 0;
	/* Old recorders omit the length of the kernel itself. */
	map->end = length ? add_length(map->start, length) : UINT64_MAX;
	if (map->end == map->start)
		return 0;
	s = pid != VT_PID_KERNEL ? own_space(as, pid, err) : NULL;
	if (!s || map->type == VT_IMAGE_ANON)
		return replace_maps(as, pid, map->start, map->end, map, err);
	return map_file_pages(as, pid, s, map, err);
}

int vt_addrspace_map(struct vt_addrspace *as, int32_t pid, const struct vt_map *map,
		     struct vt_error *err)
{
	struct vt_map copy = *map;

	return map_image(as, pid, &copy, map->end - map->start, err);
}

bool vt_addrspace_reports_data(const struct vt_addrspace *as, int32_t pid)
{
	const struct process *p = find_space_process(as, pid);

	return p && p->space && p->space->reports_data;
}

int vt_addrspace_unmap(struct vt_addrspace *as, int32_t pid, uint64_t start, uint64_t length,
		       struct vt_error *err)
{
	uint64_t end = add_length(start, length);

	return end > start ? replace_maps(as, pid, start, end, NULL, err) : 0;
}

int vt_addrspace_ksymbol(struct vt_addrspace *as, uint64_t start, uint64_t length, bool comes,
			 struct vt_error *err)
{
	struct vt_map map = {.start = start, .base = start, .type = VT_IMAGE_BPF};

	if (!comes)
		return vt_addrspace_unmap(as, VT_PID_KERNEL, start, length, err);
	map.image = VT_KSYMBOL_IMAGE + as->nksymbols++;
	map.end = add_length(start, length);
	if (map.end == start)
		return 0;
	return replace_maps(as, VT_PID_KERNEL, map.start, map.end, &map, err);
}

int vt_addrspace_fork(struct vt_addrspace *as, int32_t pid, int32_t ppid, bool inherit,
		      struct vt_error *err)
{
	struct process *p = get_space_process(as, pid, err), *parent;

	if (!p)
		return -(int)err->code;
	if (pid == ppid)
		return 0;
	invalidate_answers(as);
	p->ended = 0;
	if (!inherit)
		return 0;
	release_space(as, p->space);
	p->space = NULL;
	parent = find_space_process(as, ppid);
	if (parent && parent->space) {
		p->space = parent->space;
		p->space->users++;
	}
	return 0;
}

void vt_addrspace_exec(struct vt_addrspace *as, int32_t pid)
{
	struct process *p = find_space_process(as, pid);

	if (!p)
		return;
	invalidate_answers(as);
	release_space(as, p->space);
	p->space = NULL;
}

void vt_addrspace_exit(struct vt_addrspace *as, int32_t pid, int32_t tid)
{
	struct process *p = find_space_process(as, pid), *old;
	int32_t *slot;

	if (!p || p->ended || pid != tid)
		return;
	slot = &as->dead[as->nended % VT_DEAD_PROCESSES];
	old = as->nended >= VT_DEAD_PROCESSES ? find_space_process(as, *slot) : NULL;
	if (old && old->ended == as->nended + 1 - VT_DEAD_PROCESSES) {
		invalidate_answers(as);
		release_space(as, old->space);
		old->space = NULL;
	}
	*slot = pid;
	p->ended = ++as->nended;
}

/*
 * Notes whether the recorder records mappings that are not executable, with their protection.  MMAP
 * records of the first version have neither protection nor flags: perf's reader invents them.
 */
static void note_data_maps(struct vt_addrspace *as, int32_t pid, const struct vt_record *rec)
{
	const struct process *p = find_space_process(as, pid);
	uint64_t prot = vt_record_u64(rec, VT_MAP_PROT);
	bool is_known = vt_record_u64(rec, VT_MAP_FLAGS) ||
			!(vt_record_u64(rec, VT_MAP_MISC) & MISC_MMAP_DATA);

	if (p && p->space && prot && !(prot & CAN_EXEC) && is_known)
		p->space->reports_data = true;
}

static int feed_space_map(struct vt_addrspace *as, const struct vt_record *rec,
			  struct vt_error *err)
{
	int32_t pid = (int32_t)vt_record_i64(rec, VT_MAP_PID);
	uint64_t mode = vt_record_u64(rec, VT_MAP_MISC) & MODE_MASK;
	uint64_t start = vt_record_u64(rec, VT_MAP_START);
	uint32_t image = (uint32_t)vt_record_u64(rec, VT_MAP_IMAGE);
	const struct image_type *t = vt_hash_find(&as->types, &image);
	unsigned type = t ? t->type : VT_IMAGE_FILE;
	struct vt_map map = {.start = start,
			     .base = offset_base(type, start, vt_record_u64(rec, VT_MAP_OFFSET)),
			     .image = image,
			     .flags = (uint32_t)vt_record_u64(rec, VT_MAP_FLAGS),
			     .prot = (uint8_t)vt_record_u64(rec, VT_MAP_PROT),
			     .type = (uint8_t)type,
			     /* Mappings that a recorder found when it started have no time. */
			     .found = vt_record_u64(rec, VT_MAP_TIME) == 0};
	int rc;

	if (mode == MODE_KERNEL)
		pid = VT_PID_KERNEL;
	else if (mode != MODE_USER && mode != MODE_UNKNOWN)
		return 0; /* a guest */
	rc = map_image(as, pid, &map, vt_record_u64(rec, VT_MAP_LENGTH), err);
	if (rc == 0 && pid != VT_PID_KERNEL)
		note_data_maps(as, pid, rec);
	return rc;
}

static int feed_space_thread(struct vt_addrspace *as, const struct vt_record *rec,
			     struct vt_error *err)
{
	int32_t pid = (int32_t)vt_record_i64(rec, VT_THREAD_PID);

	switch (vt_record_u64(rec, VT_THREAD_OP)) {
	case VT_OP_FORK:
		/* Processes that a recorder found running have no time. */
		return vt_addrspace_fork(as, pid, (int32_t)vt_record_i64(rec, VT_THREAD_PPID),
					 vt_record_u64(rec, VT_THREAD_TIME) != 0, err);
	case VT_OP_EXEC:
		vt_addrspace_exec(as, pid);
		return 0;
	case VT_OP_EXIT:
		vt_addrspace_exit(as, pid, (int32_t)vt_record_i64(rec, VT_THREAD_TID));
		return 0;
	default:
		return 0;
	}
}

int vt_addrspace_feed(struct vt_addrspace *as, const struct vt_record *rec, struct vt_error *err)
{
	switch (rec->kind) {
	case VT_IMAGE:
		return vt_addrspace_image(as, (uint32_t)vt_record_u64(rec, VT_IMAGE_ID),
					  (unsigned)vt_record_u64(rec, VT_IMAGE_TYPE), err);
	case VT_MAP:
		return feed_space_map(as, rec, err);
	case VT_THREAD:
		return feed_space_thread(as, rec, err);
	case VT_KSYMBOL:
		return vt_addrspace_ksymbol(
			as, vt_record_u64(rec, VT_KSYMBOL_ADDR),
			vt_record_u64(rec, VT_KSYMBOL_LENGTH),
			!(vt_record_u64(rec, VT_KSYMBOL_FLAGS) & VT_KSYMBOL_GOES), err);
	default:
		return 0;
	}
}

static const struct space *find_space(const struct vt_addrspace *as, int32_t pid)
{
	const struct process *p;

	if (pid == VT_PID_KERNEL)
		return as->kernel;
	p = find_space_process(as, pid);
	return p ? p->space : NULL;
}

const struct vt_map *vt_addrspace_find(struct vt_addrspace *as, int32_t pid, uint64_t address,
				       uint64_t misc)
{
	const struct space *s;
	struct answer *a;

	misc &= MODE_MASK;
	if (misc == MODE_KERNEL || (misc == MODE_UNKNOWN && address >= KERNEL_HALF))
		pid = VT_PID_KERNEL;
	else if (misc != MODE_USER && misc != MODE_UNKNOWN)
		return NULL;
	a = &as->answers[((address >> 17) + (uint32_t)pid * 37u) % ANSWERS];
	if (a->changes == as->changes && a->pid == pid && address >= a->map->start &&
	    address < a->map->end)
		return a->map;
	s = find_space(as, pid);
	*a = (struct answer){as->changes, pid, s ? vti_tree_find(s->root, address) : NULL};
	assert(!a->map || (address >= a->map->start && address < a->map->end));
	if (!a->map)
		a->changes = 0;
	return a->map;
}

void vt_addrspace_around(struct vt_addrspace *as, int32_t pid, uint64_t address,
			 const struct vt_map **below, const struct vt_map **above)
{
	const struct space *s = find_space(as, pid);

	*below = *above = NULL;
	if (s)
		vti_tree_around(s->root, address, below, above);
}

size_t vt_addrspace_count(const struct vt_addrspace *as)
{
	return as->nodes.count;
}
