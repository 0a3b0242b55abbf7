/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "memory/frames.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

void vti_frames_fini(struct vti_frames *f)
{
	free(f->list);
	*f = (struct vti_frames){.list = NULL};
}

void vti_frames_clear(struct vti_frames *f)
{
	f->count = 0;
	f->entering = false;
}

void vti_frames_see(struct vti_frames *f, uint64_t sp)
{
	if (!f->high) {
		f->low = sp;
		f->high = sp + 8;
	} else if (sp < f->low && f->low - sp <= VTI_STACK_REACH) {
		f->low = sp;
	} else if (sp >= f->high && sp - f->high < VTI_STACK_REACH) {
		f->high = sp + 8;
	}
}

static void pop_below(struct vti_frames *f, uint64_t slot)
{
	while (f->count && f->list[f->count - 1].slot <= slot)
		f->count--;
}

bool vti_frames_call(struct vti_frames *f, uint64_t slot, uint64_t back)
{
	pop_below(f, slot);
	vti_frames_see(f, slot);
	if (f->count == VTI_MAX_FRAMES) {
		f->count /= 2;
		memmove(f->list, f->list + f->count, f->count * sizeof(*f->list));
	}
	if (!vt_array_grow(&f->list, &f->cap, f->count + 1, sizeof(*f->list)))
		return false;
	f->list[f->count++] = (struct vti_frame){.slot = slot, .back = back, .object = UINT32_MAX};
	f->entering = true;
	return true;
}

void vti_frames_return(struct vti_frames *f, uint64_t slot)
{
	pop_below(f, slot);
}

struct vti_frame *vti_frames_at(struct vti_frames *f, uint64_t address)
{
	size_t low = 0, high = f->count; /* the first `low` have slots that are not below it */

	if (f->count && address <= f->list[f->count - 1].slot)
		return &f->list[f->count - 1];
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (f->list[mid].slot >= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? &f->list[low - 1] : NULL;
}
