/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/recorder/recorder.h"

#include <pub_tool_aspacemgr.h>
#include <pub_tool_vki.h>
#include <pub_tool_vkiscnums.h>
#include <pub_tool_xarray.h>

/*
 * What the program has mapped where: files, and memory that may be executed.  Other memory is told
 * only where one of these has been: who reads the recording takes what was told last.  What goes
 * away is told when it was told.
 */
struct range {
	Addr start, end;
	UInt flags; /* of the mmap that made it; 0: not known */
};

static XArray *told;
static XArray *been;	/* what was told at any time, in ranges that do not touch */
static UInt call_flags; /* of what the system call that is being made maps; 0: not known */

static const struct range *find(XArray *ranges, Addr start, Addr end)
{
	Word i;

	for (i = 0; i < VG_(sizeXA)(ranges); i++) {
		const struct range *r = VG_(indexXA)(ranges, i);

		if (r->start < end && r->end > start)
			return r;
	}
	return NULL;
}

static UInt flags_at(Addr addr)
{
	const struct range *r = find(told, addr, addr + 1);

	return r ? r->flags : 0;
}

/* Takes [start, end) out of the list. */
static void untell(Addr start, Addr end)
{
	Word i;

	for (i = 0; i < VG_(sizeXA)(told);) {
		struct range *r = VG_(indexXA)(told, i), rest;

		if (r->start >= end || r->end <= start) {
			i++;
			continue;
		}
		rest = *r;
		VG_(removeIndexXA)(told, i);
		if (rest.start < start) {
			struct range left = {rest.start, start, rest.flags};

			VG_(insertIndexXA)(told, i++, &left);
		}
		if (rest.end > end) {
			struct range right = {end, rest.end, rest.flags};

			VG_(insertIndexXA)(told, i++, &right);
		}
	}
}

static void note_been(Addr start, Addr end)
{
	struct range range = {start, end, 0};
	Word i;

	for (i = 0; i < VG_(sizeXA)(been);) {
		const struct range *r = VG_(indexXA)(been, i);

		if (r->start > range.end || r->end < range.start) {
			i++;
			continue;
		}
		range.start = r->start < range.start ? r->start : range.start;
		range.end = r->end > range.end ? r->end : range.end;
		VG_(removeIndexXA)(been, i);
	}
	VG_(addToXA)(been, &range);
}

/* A program returns from signal handlers, and reads the time, by pieces of Valgrind. */
static Bool is_own(const HChar *name)
{
	const NSegment *seg = VG_(am_find_nsegment)((Addr)is_own);
	const HChar *own = seg ? VG_(am_get_filename)(seg) : NULL;

	return own && VG_(strcmp)(name, own) == 0;
}

static void tell_segment(const NSegment *seg, Addr start, Addr end, UInt flags)
{
	const HChar *name = VG_(am_get_filename)(seg);
	Bool own = name && is_own(name);
	SizeT length = name ? VG_(strlen)(name) : 0;
	struct range range = {start, end, flags};
	struct vt_ring_map *m;

	if (!seg->hasX && !name && !find(been, start, end))
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
	untell(start, end);
	VG_(addToXA)(told, &range);
	note_been(start, end);
}

/* A range may lie in several segments, and be a part of a larger one. */
static void tell(Addr start, SizeT length, UInt flags)
{
	Addr end = start + length, at = start;

	while (at < end) {
		const NSegment *seg = VG_(am_find_nsegment)(at);
		Addr stop;

		if (!seg)
			return;
		stop = seg->end < end - 1 ? seg->end + 1 : end;
		if (seg->kind & (SkAnonC | SkFileC | SkShmC))
			tell_segment(seg, at, stop, flags);
		at = stop;
	}
}

static void gone(Addr start, SizeT length)
{
	struct vt_ring_map *m;

	if (length == 0 || !find(told, start, start + length))
		return;
	untell(start, start + length);
	block_forget(start, length);
	m = ring_event(VT_RING_UNMAP, threads_current(), sizeof(*m));
	if (!m)
		return;
	m->addr = start;
	m->length = length;
	ring_done();
}

static void new_startup(Addr a, SizeT length, Bool r, Bool w, Bool x, ULong handle)
{
	(void)r;
	(void)w;
	(void)x;
	(void)handle;
	tell(a, length, VKI_MAP_PRIVATE);
}

/* A mapping may take the place of another. */
static void new_mmap(Addr a, SizeT length, Bool r, Bool w, Bool x, ULong handle)
{
	(void)r;
	(void)w;
	(void)x;
	(void)handle;
	gone(a, length);
	tell(a, length, call_flags);
}

static void new_protection(Addr a, SizeT length, Bool r, Bool w, Bool x)
{
	(void)r;
	(void)w;
	if (x || find(told, a, a + length))
		tell(a, length, flags_at(a));
}

/* The range that it came from is told to be gone later. */
static void moved(Addr from, Addr to, SizeT length)
{
	UInt flags = flags_at(from);

	gone(to, length);
	tell(to, length, flags);
}

void maps_before_syscall(UInt number, const UWord *args, UInt nargs)
{
	call_flags = 0;
	if (number == __NR_mmap && nargs >= 4)
		call_flags = args[3] & (VKI_MAP_SHARED | VKI_MAP_PRIVATE);
	else if (number == __NR_mremap && nargs >= 1)
		call_flags = flags_at(args[0]);
}

void maps_init(void)
{
	told = VG_(newXA)(VG_(malloc), "vtrace.maps", VG_(free), sizeof(struct range));
	been = VG_(newXA)(VG_(malloc), "vtrace.maps", VG_(free), sizeof(struct range));
	VG_(track_new_mem_startup)(new_startup);
	VG_(track_new_mem_mmap)(new_mmap);
	VG_(track_change_mem_mprotect)(new_protection);
	VG_(track_copy_mem_remap)(moved);
	VG_(track_die_mem_munmap)(gone);
}
