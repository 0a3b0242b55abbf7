/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "freq/stack_event.h"

#include <stddef.h>

/* By their codes: perf may not know the names for the processor at hand. */
static const struct vt_stack_event near_taken = {"br_inst_retired.near_taken", "r20c4", "upp",
						 200003};
static const struct vt_stack_event ret_brn_tkn = {"ex_ret_brn_tkn", "rc4", "u", 200003};
static const struct vt_stack_event precise = {"instructions", "instructions", "upp", 1000003};
static const struct vt_stack_event instructions = {"instructions", "instructions", "u", 1000003};

const struct vt_stack_event *vt_stack_event_of(const struct vt_stack_offer *o)
{
	if (o->near_taken)
		return &near_taken;
	if (o->ret_brn_tkn)
		return &ret_brn_tkn;
	if (o->instructions)
		return o->precise ? &precise : &instructions;
	return NULL;
}
