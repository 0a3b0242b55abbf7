/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "freq/stack_length.h"

#include <string.h>
#include <strings.h>

#include "image/imagedata.h"
#include "image/procdata.h"
#include "machine/insn/insn.h"

static const struct {
	const char *name;
	enum vt_stack_unit unit;
} units[] = {
	{"taken", VT_STACK_UNIT_TAKEN}, /* vsim's */
	{"br_inst_retired.near_taken", VT_STACK_UNIT_TAKEN},
	{"ex_ret_brn_tkn", VT_STACK_UNIT_TAKEN},
	{"retired", VT_STACK_UNIT_INSTRUCTIONS}, /* vsim's */
	{"instructions", VT_STACK_UNIT_INSTRUCTIONS},
	{"inst_retired.any", VT_STACK_UNIT_INSTRUCTIONS},
	{"inst_retired.any_p", VT_STACK_UNIT_INSTRUCTIONS},
	{"inst_retired.prec_dist", VT_STACK_UNIT_INSTRUCTIONS},
	{"ex_ret_instr", VT_STACK_UNIT_INSTRUCTIONS},
};

/* "cpu/instructions/u", "cpu_core/br_inst_retired.near_taken,period=1/pp": without the PMU. */
static struct vt_bytes skip_pmu(struct vt_bytes name)
{
	const char *text = (const char *)name.data;
	size_t i;

	if (name.size < 4 || memcmp(text, "cpu", 3) != 0)
		return name;
	for (i = 3; i < name.size; i++)
		if (text[i] == '/')
			return (struct vt_bytes){name.data + i + 1, name.size - i - 1};
	return name;
}

enum vt_stack_unit vt_stack_unit_of(struct vt_bytes name)
{
	size_t i, n = 0;

	name = skip_pmu(name);
	while (n < name.size && name.data[n] != ':' && name.data[n] != '/' && name.data[n] != ',')
		n++;
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strlen(units[i].name) == n &&
		    strncasecmp((const char *)name.data, units[i].name, n) == 0)
			return units[i].unit;
	return VT_STACK_UNIT_OTHER;
}

void vt_stacklength_add(struct vt_stacklength *l, uint32_t insns, double weight)
{
	if (!insns)
		return;
	l->more_runs += weight;
	l->more_insns += weight * insns;
}

void vt_stacklength_settle(struct vt_stacklength *l, bool keep)
{
	double runs = l->runs + l->more_runs, insns = l->insns + l->more_insns;

	l->mean = runs > 0 ? insns / runs : 0;
	if (keep) {
		l->runs = runs;
		l->insns = insns;
	}
	l->more_runs = l->more_insns = 0;
}

uint16_t vt_stacklength_decode(struct vt_images *images, const struct vt_map *m, uint64_t first,
			       uint64_t last)
{
	const struct vt_imagedata *data = NULL;
	uint8_t code[VT_MAX_INSN];
	struct vt_flow flow;
	uint64_t bias, at;
	uint32_t n;

	if (images && m->type == VT_IMAGE_FILE)
		data = vt_procdata_code(images, m, &bias);
	if (!data)
		return 0;
	for (at = first, n = 1; at < last && n <= UINT16_MAX; n++, at += flow.length)
		if (!vt_flow_decode(code, vt_imagedata_code(data, at - bias, code, sizeof(code)),
				    &flow))
			return 0;
	return at == last && n <= UINT16_MAX ? (uint16_t)n : 0;
}
