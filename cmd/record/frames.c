/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/record/frames.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "cmd/record/frame_files.h"
#include "formats/perfdata/abi.h"
#include "image/addrspace.h"

/* Blocks that wait, and how many of them a round fills, so that no ring fills up meanwhile. */
#define WANTED_MAX 1024
#define FILL_MAX   128

#define NOTES_MAX 65536 /* of a round */

/* Of a record's payload, perf_event_open(2): MMAP2, FORK and EXIT. */
#define MMAP2_START  8
#define MMAP2_LENGTH 16
#define MMAP2_OFFSET 24
#define MMAP2_PROT   56
#define MMAP2_NAME   64
#define CAN_EXEC     4
#define TASK_PPID    4
#define TASK_TID     8
#define TASK_SIZE    16

/* Registers by their numbers in linux's asm/perf_regs.h, as rules name them. */
#define PERF_BP 6
#define PERF_SP 7

struct note {
	uint64_t time;
	uint32_t order; /* of those of one time */
	uint32_t type;
	int32_t pid;
	int32_t other; /* the parent, or the thread */
	struct vt_map map;
};

struct want {
	uint64_t key;
	uint64_t ip;
	int32_t pid;
};

struct frames {
	struct agent_frames *table;
	struct frame_files *files;
	struct vt_addrspace *spaces;
	struct note *notes;
	size_t nnotes;
	size_t cap;
	uint32_t nwanted;
	uint32_t replaced; /* counts, to take turns */
	struct want wanted[WANTED_MAX];
	uint64_t written[AGENT_BLOCKS]; /* the table's keys, which programs may change there */
};

struct frames *frames_new(struct agent_frames *table, struct vt_error *err)
{
	struct frames *f = calloc(1, sizeof(*f));

	if (f) {
		f->table = table;
		f->files = frame_files_new();
		f->spaces = vt_addrspace_new();
	}
	if (f && f->files && f->spaces)
		return f;
	frames_free(f);
	vt_error_nomem(err);
	return NULL;
}

void frames_free(struct frames *f)
{
	if (!f)
		return;
	frame_files_free(f->files);
	vt_addrspace_free(f->spaces);
	free(f->notes);
	free(f);
}

/* ---- mappings ---- */

static bool read_mapping(struct frames *f, const struct sideband_record *r, struct note *n)
{
	const uint8_t *p = r->payload;
	uint64_t start, length;

	if (r->size <= MMAP2_NAME || p[r->size - 1] || !(vt_le32(p + MMAP2_PROT) & CAN_EXEC))
		return false;
	start = vt_le64(p + MMAP2_START);
	length = vt_le64(p + MMAP2_LENGTH);
	n->map.start = start;
	n->map.end = start + length;
	n->map.base = start - vt_le64(p + MMAP2_OFFSET);
	n->map.image = frame_files_add(f->files, (const char *)p + MMAP2_NAME);
	n->map.prot = (uint8_t)vt_le32(p + MMAP2_PROT);
	/* Only where it is and of which file matters: no history of writes. */
	n->map.type = VT_IMAGE_ANON;
	return n->map.end > start;
}

static bool read_note(struct frames *f, const struct sideband_record *r, struct note *n)
{
	switch (r->type) {
	case PD_COMM:
		return r->misc & PD_MISC_COMM_EXEC;
	case PD_MMAP2:
		return read_mapping(f, r, n);
	case PD_FORK:
	case PD_EXIT:
		if (r->size < TASK_SIZE)
			return false;
		n->pid = (int32_t)vt_le32(r->payload);
		n->other =
			(int32_t)vt_le32(r->payload + (r->type == PD_FORK ? TASK_PPID : TASK_TID));
		return true;
	default:
		return false;
	}
}

/* Kept until the round's end: records of two processors are not in order. */
void frames_note(struct frames *f, const struct sideband_record *r)
{
	struct note n = {.time = r->id.time, .type = r->type, .pid = r->id.pid};

	n.order = (uint32_t)f->nnotes;
	if (f->nnotes < NOTES_MAX && read_note(f, r, &n) &&
	    vt_array_grow(&f->notes, &f->cap, f->nnotes + 1, sizeof(n)))
		f->notes[f->nnotes++] = n;
}

static int compare_notes(const void *a, const void *b)
{
	const struct note *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* What finds no memory makes values without callers. */
static void apply_note(struct frames *f, const struct note *n)
{
	switch (n->type) {
	case PD_COMM:
		vt_addrspace_exec(f->spaces, n->pid);
		break;
	case PD_MMAP2:
		vt_addrspace_map(f->spaces, n->pid, &n->map, NULL);
		break;
	case PD_FORK:
		vt_addrspace_fork(f->spaces, n->pid, n->other, true, NULL);
		break;
	default:
		vt_addrspace_exit(f->spaces, n->pid, n->other);
	}
}

/* ---- the table ---- */

/* Where a block is, or is to be. */
static uint32_t find_place(struct frames *f, uint64_t key, bool *there)
{
	uint32_t at = agent_block_place(key);

	*there = f->written[at] == key || f->written[at + 1] == key;
	if (*there || !f->written[at])
		return at;
	if (!f->written[at + 1])
		return at + 1;
	return at + (f->replaced++ & 1);
}

void frames_want(struct frames *f, int32_t pid, uint32_t program, uint64_t ip)
{
	uint64_t key = agent_block_key(program, ip);
	uint32_t at = agent_block_place(key), i;

	if (f->written[at] == key || f->written[at + 1] == key || f->nwanted == WANTED_MAX)
		return;
	for (i = 0; i < f->nwanted; i++)
		if (f->wanted[i].key == key)
			return;
	f->wanted[f->nwanted++] = (struct want){key, ip, pid};
}

static uint32_t make_row(uint32_t start, bool known, const struct frame_rule *r)
{
	uint32_t reg = r->reg == PERF_SP ? AGENT_ROW_SP : AGENT_ROW_BP;

	if (!known || (r->reg != PERF_SP && r->reg != PERF_BP) || r->offset % 8 ||
	    r->offset >= AGENT_ROW_FAR || r->offset < -AGENT_ROW_FAR)
		return agent_row_make(start, AGENT_ROW_NONE, 0);
	return agent_row_make(start, reg, (int32_t)r->offset);
}

static bool same_rule(uint32_t a, uint32_t b)
{
	return agent_row_reg(a) == agent_row_reg(b) && agent_row_offset(a) == agent_row_offset(b);
}

/* Sets the rows of the code in [at, end), which is in one mapping.  Those that find no room are not
 * known. */
static void make_rows(struct frames *f, const struct vt_map *map, uint64_t at, uint64_t end,
		      uint32_t rows[AGENT_ROWS])
{
	uint64_t next;
	unsigned n = 0;

	for (; at < end; at = next) {
		struct frame_rule rule = {0};
		bool known = frame_files_find(f->files, map->image, vt_map_offset(map, at), &rule);
		uint32_t row = make_row(at % AGENT_CODE, known, &rule);
		uint64_t size = rule.end - vt_map_offset(map, at);

		next = size < end - at ? at + size : end;
		if (n && same_rule(rows[n - 1], row))
			continue;
		if (n == AGENT_ROWS) {
			rows[n - 1] =
				agent_row_make(agent_row_start(rows[n - 1]), AGENT_ROW_NONE, 0);
			return;
		}
		rows[n++] = row;
	}
}

/* A handler may read meanwhile: the key is there when all of the block is. */
static void publish_block(struct agent_frames *b, uint64_t key, const uint32_t rows[AGENT_ROWS])
{
	unsigned i;

	__atomic_store_n(&b->key, 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	for (i = 0; i < AGENT_ROWS; i++)
		__atomic_store_n(&b->row[i], rows[i], __ATOMIC_RELAXED);
	__atomic_store_n(&b->key, key, __ATOMIC_RELEASE);
}

/* Code whose mapping is not known yet is looked at again with its next sample. */
static void fill_block(struct frames *f, const struct want *w)
{
	const struct vt_map *map = vt_addrspace_find(f->spaces, w->pid, w->ip, PD_MISC_USER);
	uint64_t start = w->ip - w->ip % AGENT_CODE, end = start + AGENT_CODE;
	uint32_t rows[AGENT_ROWS] = {0}, place;
	bool there;

	if (!map)
		return;
	place = find_place(f, w->key, &there);
	if (there)
		return;
	make_rows(f, map, start < map->start ? map->start : start, end > map->end ? map->end : end,
		  rows);
	publish_block(&f->table[place], w->key, rows);
	f->written[place] = w->key;
}

void frames_fill(struct frames *f)
{
	uint32_t n = f->nwanted < FILL_MAX ? f->nwanted : FILL_MAX, i;
	size_t k;

	if (f->nnotes)
		qsort(f->notes, f->nnotes, sizeof(*f->notes), compare_notes);
	for (k = 0; k < f->nnotes; k++)
		apply_note(f, &f->notes[k]);
	f->nnotes = 0;
	for (i = 0; i < n; i++)
		fill_block(f, &f->wanted[i]);
	f->nwanted -= n;
	memmove(f->wanted, f->wanted + n, f->nwanted * sizeof(f->wanted[0]));
}
