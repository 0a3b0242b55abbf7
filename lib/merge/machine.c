/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/internal.h"

/*
 * The processor of the streams: analyses of the sum need it.  Of several processors there is none
 * to name.
 */
static const char *const keys[VTI_MERGE_MACHINE] = {"arch", "cpudesc", "cpuid", "cpu.model"};

bool vti_feed_machine(struct vt_merge *m, const struct vt_record *rec)
{
	struct vt_bytes value = vt_record_bytes(rec, VT_META_VALUE);
	unsigned i;

	for (i = 0; i < VTI_MERGE_MACHINE; i++) {
		if (!vt_record_is_meta(rec, keys[i]))
			continue;
		m->machine.own[i] = vt_intern_add(m->strings, value.data, value.size);
		return m->machine.own[i] != UINT32_MAX;
	}
	return true;
}

void vti_join_machine(struct vt_merge *m)
{
	struct vti_machine *all = &m->machine;
	unsigned i;

	for (i = 0; i < VTI_MERGE_MACHINE; i++) {
		if (!all->streams)
			all->text[i] = all->own[i];
		else if (all->text[i] != all->own[i])
			all->text[i] = 0;
		all->own[i] = 0;
	}
	all->streams = true;
}

void vti_write_machine(const struct vt_merge *m, struct vt_writer *w)
{
	unsigned i;

	for (i = 0; i < VTI_MERGE_MACHINE; i++)
		if (m->machine.text[i])
			vt_writer_meta(w, keys[i], vt_intern_get(m->strings, m->machine.text[i]));
}
