/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "merge/internal.h"
#include "pairs/pairs.h"

/*
 * The processor of the streams: analyses of the sum need it.  Of several processors there is none
 * to name.
 */
static const char *const keys[VTI_MERGE_MACHINE] = {"arch", "cpudesc", "cpuid", "cpu.model"};

enum { ARCH, DESCRIPTION, CPUID, MODEL };

bool vti_feed_machine(struct vt_merge *m, const struct vt_record *rec)
{
	struct vt_bytes value = vt_record_bytes(rec, VT_META_VALUE);
	unsigned i;

	if (vt_record_is_meta(rec, VT_PAIRS_META_WINDOW)) {
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

/*
 * The cpuid of x86 without its stepping, "GenuineIntel,6,158", and of Arm, a MIDR, without variant
 * and revision: those do not change what is measured.  UINT32_MAX: out of memory.
 */
static uint32_t strip_cpuid(struct vt_merge *m, uint32_t text)
{
	const char *id = vt_intern_get(m->strings, text), *stepping = strrchr(id, ',');
	char midr[32], *end;
	uint64_t n;

	if (stepping)
		return vt_intern_add(m->strings, id, (size_t)(stepping - id));
	if (strncmp(id, "0x", 2) != 0)
		return text;
	n = strtoull(id, &end, 16);
	if (*end)
		return text;
	snprintf(midr, sizeof(midr), "0x%016" PRIx64, n & ~UINT64_C(0xf0000f));
	return vt_intern_str(m->strings, midr);
}

static int check_sums(struct vt_merge *m, enum vti_modelled sums, struct vt_error *err)
{
	static const char *const of[VTI_NMODELLED] = {"sums of pairs", "paths", "estimates"};
	struct vti_machine *all = &m->machine;
	int code = vti_join_text(&all->arch[sums], all->own[ARCH], of[sums],
				 "architecture (META arch)", err);
	uint32_t cpuid = 0;

	if (code == 0)
		code = vti_join_text(&all->model[sums], all->own[MODEL], of[sums],
				     "model of a processor (META cpu.model)", err);
	/* Paths are of the program; and what a model made is of the model. */
	if (code == 0 && sums != VTI_PATHS && !all->own[MODEL])
		cpuid = strip_cpuid(m, all->own[CPUID]);
	if (cpuid == UINT32_MAX)
		return vt_error_nomem(err);
	return code == 0 ? vti_join_text(&all->cpuid[sums], cpuid, of[sums],
					 "processor (META cpuid)", err)
			 : code;
}

int vti_check_machine(struct vt_merge *m, struct vt_error *err)
{
	struct vti_machine *all = &m->machine;
	int code = 0;
	unsigned i;

	for (i = 0; i < VTI_NMODELLED && code == 0; i++)
		if (all->own_has[i])
			code = check_sums(m, (enum vti_modelled)i, err);
	if (code == 0 && all->own_has[VTI_PAIRSTATS])
		code = vti_join_text(&all->window, all->own_window, "sums of pairs",
				     "window (META " VT_PAIRS_META_WINDOW ")", err);
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
		vt_writer_meta(w, VT_PAIRS_META_WINDOW,
			       vt_intern_get(m->strings, m->machine.window));
}
