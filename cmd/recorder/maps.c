/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/recorder/recorder.h"

#include <pub_tool_aspacemgr.h>
#include <pub_tool_vki.h>
#include <pub_tool_vkiscnums.h>
#include <pub_tool_xarray.h>

/*
 * Reports mappings of files and of executable memory.  Other memory is reported only where one of
 * these was before, because for readers the last report is valid.  The end of a mapping is reported
 * if the mapping was.
 */
struct range {
	Addr start, end;
	UInt flags; /* of its mmap; 0: unknown */
};

static XArray *reported;
static XArray *ever_reported; /* ranges that were ever reported, merged where they touch */
static UInt call_flags;	      /* the flags of the current system call's mapping; 0: unknown */

static const struct range *find_overlap(XArray *ranges, Addr start, Addr end)
{
	Word i;

	for (i = 0; i < VG_(sizeXA)(ranges); i++) {
		const struct range *r = VG_(indexXA)(ranges, i);

		if (r->start < end && r->end > start)
			return r;
	}
	return NULL;
}

static UInt get_flags_at(Addr addr)
{
	const struct range *r = find_overlap(reported, addr, addr + 1);

	return r ? r->flags : 0;
}

/* Removes [start, end) from the reported ranges. */
static void remove_reported(Addr start, Addr end)
{
	Word i;

	for (i = 0; i < VG_(sizeXA)(reported);) {
		struct range *r = VG_(indexXA)(reported, i), rest;

		if (r->start >= end || r->end <= start) {
			i++;
			continue;
		}
		rest = *r;
		VG_(removeIndexXA)(reported, i);
		if (rest.start < start) {
			struct range left = {rest.start, start, rest.flags};

			VG_(insertIndexXA)(reported, i++, &left);
		}
		if (rest.end > end) {
			struct range right = {end, rest.end, rest.flags};

			VG_(insertIndexXA)(reported, i++, &right);
		}
	}
}

static void add_ever_reported(Addr start, Addr end)
{
	struct range range = {start, end, 0};
	Word i;

	for (i = 0; i < VG_(sizeXA)(ever_reported);) {
		const struct range *r = VG_(indexXA)(ever_reported, i);

		if (r->start > range.end || r->end < range.start) {
			i++;
			continue;
		}
		range.start = r->start < range.start ? r->start : range.start;
		range.end = r->end > range.end ? r->end : range.end;
		VG_(removeIndexXA)(ever_reported, i);
	}
	VG_(addToXA)(ever_reported, &range);
}

/* True for Valgrind's own file: programs use code of it to return from signal handlers. */
static Bool is_valgrind_file(const HChar *name)
{
	const NSegment *seg = VG_(am_find_nsegment)((Addr)is_valgrind_file);
	const HChar *own = seg ? VG_(am_get_filename)(seg) : NULL;

	return own && VG_(strcmp)(name, own) == 0;
}

static void put_segment_event(const NSegment *seg, Addr start, Addr end, UInt flags)
{
	const HChar *name = VG_(am_get_filename)(seg);
	Bool own = name && is_valgrind_file(name);
	SizeT length = name ? VG_(strlen)(name) : 0;
	struct range range = {start, end, flags};
	struct vt_ring_map *m;

	if (!seg->hasX && !name && !find_overlap(ever_reported, start, end))
		return;
	if (own) {
		name = "[valgrind]";
		length = VG_(strlen)(name);
	}
	m = ring_event(VT_RING_MAP, threads_current(), sizeof(*m) + length);
	if (!m)
		return;
	m->addr = start;
	m->length = end - start;
	m->offset = name ? seg->offset + (start - seg->start) : 0;
	m->dev = own ? 0 : seg->dev;
	m->ino = own ? 0 : seg->ino;
	m->prot = (seg->hasR ? 1 : 0) | (seg->hasW ? 2 : 0) | (seg->hasX ? 4 : 0);
	m->name_length = length;
	m->flags = flags;
	VG_(memcpy)(m + 1, name ? name : "", length);
	ring_done();
	remove_reported(start, end);
	VG_(addToXA)(reported, &range);
	add_ever_reported(start, end);
}

/* Reports a range, which may be in several segments, or a part of one. */
static void put_mappings(Addr start, SizeT length, UInt flags)
{
	Addr end = start + length, at = start;

	while (at < end) {
		const NSegment *seg = VG_(am_find_nsegment)(at);
		Addr stop;

		if (!seg)
			return;
		stop = seg->end < end - 1 ? seg->end + 1 : end;
		if (seg->kind & (SkAnonC | SkFileC | SkShmC))
			put_segment_event(seg, at, stop, flags);
		at = stop;
	}
}

static void handle_munmap(Addr start, SizeT length)
{
	struct vt_ring_map *m;

	if (length == 0 || !find_overlap(reported, start, start + length))
		return;
	remove_reported(start, start + length);
	block_forget(start, length);
	m = ring_event(VT_RING_UNMAP, threads_current(), sizeof(*m));
	if (!m)
		return;
	m->addr = start;
	m->length = length;
	ring_done();
}

static void handle_startup_map(Addr a, SizeT length, Bool r, Bool w, Bool x, ULong handle)
{
	(void)r;
	(void)w;
	(void)x;
	(void)handle;
	put_mappings(a, length, VKI_MAP_PRIVATE);
}

/* A mapping may replace another. */
static void handle_mmap(Addr a, SizeT length, Bool r, Bool w, Bool x, ULong handle)
{
	(void)r;
	(void)w;
	(void)x;
	(void)handle;
	handle_munmap(a, length);
	put_mappings(a, length, call_flags);
}

static void handle_mprotect(Addr a, SizeT length, Bool r, Bool w, Bool x)
{
	(void)r;
	(void)w;
	if (x || find_overlap(reported, a, a + length))
		put_mappings(a, length, get_flags_at(a));
}

/* Valgrind reports the end of the old range later. */
static void handle_mremap(Addr from, Addr to, SizeT length)
{
	UInt flags = get_flags_at(from);

	handle_munmap(to, length);
	put_mappings(to, length, flags);
}

void maps_before_syscall(UInt number, const UWord *args, UInt nargs)
{
	call_flags = 0;
	if (number == __NR_mmap && nargs >= 4)
		call_flags = args[3] & (VKI_MAP_SHARED | VKI_MAP_PRIVATE);
	else if (number == __NR_mremap && nargs >= 1)
		call_flags = get_flags_at(args[0]);
}

void maps_init(void)
{
	reported = VG_(newXA)(VG_(malloc), "vtrace.maps", VG_(free), sizeof(struct range));
	ever_reported = VG_(newXA)(VG_(malloc), "vtrace.maps", VG_(free), sizeof(struct range));
	VG_(track_new_mem_startup)(handle_startup_map);
	VG_(track_new_mem_mmap)(handle_mmap);
	VG_(track_change_mem_mprotect)(handle_mprotect);
	VG_(track_copy_mem_remap)(handle_mremap);
	VG_(track_die_mem_munmap)(handle_munmap);
}
