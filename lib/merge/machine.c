/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/internal.h"

/*
 * The processor of the streams: analyses of the sum need it.  Of several processors there is none
 * to name.
 */
static const char *const keys[VTI_MERGE_MACHINE] = {"arch", "cpudesc", "cpuid", "cpu.model"};

/* Its place among them. */
#define MODEL 3

/* How far samples of a pair are apart at most; of all streams, sums of pairs keep it. */
#define META_WINDOW "vsim.window"

bool vti_feed_machine(struct vt_merge *m, const struct vt_record *rec)
{
	struct vt_bytes value = vt_record_bytes(rec, VT_META_VALUE);
	unsigned i;

	if (vt_record_is_meta(rec, META_WINDOW)) {
		m->machine.own_window = vt_intern_add(m->strings, value.data, value.size);
		return m->machine.own_window != UINT32_MAX;
	}
	for (i = 0; i < VTI_MERGE_MACHINE; i++) {
		if (!vt_record_is_meta(rec, keys[i]))
			continue;
		m->machine.own[i] = vt_intern_add(m->strings, value.data, value.size);
		return m->machine.own[i] != UINT32_MAX;
	}
	return true;
}

void vti_has_modelled(struct vt_merge *m, enum vti_modelled sums)
{
	m->machine.own_has[sums] = true;
}

int vti_join_text(uint32_t *known, uint32_t own, const char *of, const char *what,
		  struct vt_error *err)
{
	if (*known && own && *known != own)
		return vt_error_set(err, VT_E_MISMATCH,
				    "its %s are of another %s than those before", of, what);
	*known = own ? own : *known;
	return 0;
}

int vti_check_machine(struct vt_merge *m, struct vt_error *err)
{
	static const char *const of[VTI_NMODELLED] = {"sums of pairs", "paths", "estimates"};
	struct vti_machine *all = &m->machine;
	int code = 0;
	unsigned i;

	for (i = 0; i < VTI_NMODELLED && code == 0; i++)
		if (all->own_has[i])
			code = vti_join_text(&all->model[i], all->own[MODEL], of[i],
					     "model of a processor (META cpu.model)", err);
	if (code == 0 && all->own_has[VTI_PAIRSTATS])
		code = vti_join_text(&all->window, all->own_window, of[VTI_PAIRSTATS],
				     "window (META " META_WINDOW ")", err);
	return code;
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
	for (i = 0; i < VTI_NMODELLED; i++)
		all->own_has[i] = false;
	all->own_window = 0;
	all->streams = true;
}

void vti_write_machine(const struct vt_merge *m, struct vt_writer *w)
{
	unsigned i;

	for (i = 0; i < VTI_MERGE_MACHINE; i++)
		if (m->machine.text[i])
			vt_writer_meta(w, keys[i], vt_intern_get(m->strings, m->machine.text[i]));
	if (m->machine.window)
		vt_writer_meta(w, META_WINDOW, vt_intern_get(m->strings, m->machine.window));
}
