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

/* What cannot be there where a cause is ruled out. */
static const char *get_absent_text(unsigned cause)
{
	switch (cause) {
	case VT_STALL_ICACHE:
		return "its lines stay in the cache";
	case VT_STALL_ITLB:
		return "its pages stay in the TLB";
	case VT_STALL_DCACHE:
		return "no load";
	case VT_STALL_DTLB:
		return "no load or store to another page";
	case VT_STALL_WRITE_BUFFER:
		return "no store";
	case VT_STALL_FORWARD:
		return "no store before that may overlap a load";
	case VT_STALL_MISPREDICT:
		return "no branch that may go wrong";
	case VT_STALL_SYNC:
		return "no fence, atomic or microcode";
	case VT_STALL_DIVIDER:
		return "no division";
	case VT_STALL_OTHER:
		return "no system call";
	default:
		return "nothing that could";
	}
}

const char *vt_stall_why_text(unsigned cause, unsigned why)
{
	bool code = cause == VT_STALL_ICACHE || cause == VT_STALL_ITLB;
	bool store = cause == VT_STALL_WRITE_BUFFER;

	switch (why) {
	case VT_WHY_ANYWHERE:
		return store ? "a store goes anywhere" : "an access goes anywhere";
	case VT_WHY_STEPS:
		return "an access steps on to new lines or pages";
	case VT_WHY_DISPLACED:
		return code ? "other code may displace it" : "what is called may displace it";
	case VT_WHY_BOTH_WAYS:
		return "a branch goes both ways";
	case VT_WHY_INDIRECT:
		return "an indirect branch may go elsewhere";
	case VT_WHY_RETURNS:
		return "a return may come from too deep";
	case VT_WHY_STORE:
		return "a store before may overlap a load";
	case VT_WHY_OPERANDS:
		return "its time depends on the operands";
	case VT_WHY_DRAINS:
		return "it waits for all that is under way";
	case VT_WHY_KERNEL:
		return "the kernel ran in between";
	case VT_WHY_CALLED:
		return "what is called is not known";
	case VT_WHY_NOBODY:
		return "all causes are ruled out: model or clock may be wrong";
	case VT_WHY_ABSENT:
		return get_absent_text(cause);
	case VT_WHY_SMALL:
		return "too rare";
	case VT_WHY_MINOR:
		return "others account for more";
	case VT_WHY_SOURCE:
		return "as the data source of its samples tells";
	case VT_WHY_DENORMAL:
		return "nothing else could, and numbers may be denormal";
	default:
		return "";
	}
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
