/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "culprit/cause.h"

#include <string.h>

static const struct {
	char letter;
	const char *text;
} causes[VT_NSTALLS] = {
	[VT_STALL_UNEXPLAINED] = {'u', "unexplained stall"},
	[VT_STALL_GAIN] = {'g', "unexplained gain"},
	[VT_STALL_ICACHE] = {'i', "I-cache miss"},
	[VT_STALL_ITLB] = {'I', "ITB miss"},
	[VT_STALL_DCACHE] = {'d', "D-cache miss"},
	[VT_STALL_DTLB] = {'D', "DTB miss"},
	[VT_STALL_WRITE_BUFFER] = {'w', "write-buffer overflow"},
	[VT_STALL_FORWARD] = {'f', "store forwarding"},
	[VT_STALL_MISPREDICT] = {'p', "branch mispredict"},
	[VT_STALL_SYNC] = {'y', "synchronization"},
	[VT_STALL_MULTIPLIER] = {'m', "multiplier busy"},
	[VT_STALL_DIVIDER] = {'v', "divider busy"},
	[VT_STALL_UNIT] = {'x', "unit busy"},
	[VT_STALL_DEPENDENCY] = {'r', "operand of unknown latency"},
	[VT_STALL_QUEUE] = {'q', "queue or registers full"},
	[VT_STALL_OTHER] = {'o', "other"},
	[VT_STALL_SLOTTING] = {'s', "slotting hazard"},
	[VT_STALL_OPERAND_A] = {'a', "Ra dependency"},
	[VT_STALL_OPERAND_B] = {'b', "Rb dependency"},
	[VT_STALL_OPERAND_C] = {'c', "Rc dependency"},
	[VT_STALL_UNIT_STATIC] = {'X', "FU dependency"},
};

char vt_stall_letter(unsigned cause)
{
	return cause < VT_NSTALLS ? causes[cause].letter : '?';
}

const char *vt_stall_text(unsigned cause)
{
	return cause < VT_NSTALLS ? causes[cause].text : "?";
}

unsigned vt_stall_find(const char *word)
{
	unsigned i;

	for (i = 0; i < VT_NSTALLS; i++)
		if (strcmp(word, vt_stall_name(i)) == 0 ||
		    (word[0] == causes[i].letter && !word[1]))
			break;
	return i;
}
