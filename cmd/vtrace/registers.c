/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "cmd/vtrace/columns.h"

/* enum perf_event_x86_regs of arch/x86/include/uapi/asm/perf_regs.h. */
static const char *const x86[64] = {
	"AX",	 "BX",	  "CX",	   "DX",    "SI",    "DI",    "BP",    "SP",	"IP",	 "FLAGS",
	"CS",	 "SS",	  "DS",	   "ES",    "FS",    "GS",    "R8",    "R9",	"R10",	 "R11",
	"R12",	 "R13",	  "R14",   "R15",   NULL,    NULL,    NULL,    NULL,	NULL,	 NULL,
	NULL,	 NULL,	  "XMM0",  "XMM0",  "XMM1",  "XMM1",  "XMM2",  "XMM2",	"XMM3",	 "XMM3",
	"XMM4",	 "XMM4",  "XMM5",  "XMM5",  "XMM6",  "XMM6",  "XMM7",  "XMM7",	"XMM8",	 "XMM8",
	"XMM9",	 "XMM9",  "XMM10", "XMM10", "XMM11", "XMM11", "XMM12", "XMM12", "XMM13", "XMM13",
	"XMM14", "XMM14", "XMM15", "XMM15",
};

/* enum perf_event_arm64_regs of arch/arm64/include/uapi/asm/perf_regs.h. */
static const char *const arm64[64] = {
	"x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",	 "x7",	"x8",  "x9",  "x10", "x11",
	"x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23",
	"x24", "x25", "x26", "x27", "x28", "x29", "lr",	 "sp",	"pc",  NULL,  NULL,  NULL,
	NULL,  NULL,  NULL,  NULL,  NULL,  NULL,  NULL,	 NULL,	NULL,  NULL,  "vg",
};

const char *column_register(const char *arch, unsigned bit)
{
	if (bit >= 64)
		return NULL;
	if (strcmp(arch, "x86_64") == 0 || (arch[0] == 'i' && strcmp(arch + 2, "86") == 0))
		return x86[bit];
	if (strcmp(arch, "aarch64") == 0)
		return arm64[bit];
	return NULL;
}
