/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/agent/timed.h"

/*
 * LFENCE lets no later instruction begin before all earlier ones are complete, so the counter is
 * read before and after the load (Intel SDM 2, "LFENCE", "RDTSC"; on AMD, Linux sets the bit with
 * which LFENCE does that).  Each function is within one line of code, so that none is fetched in
 * between.
 */
#define TIMED_BEGIN                                                                                \
	"	endbr64\n"                                                                               \
	"	lfence\n"                                                                                \
	"	rdtsc\n"                                                                                 \
	"	lfence\n"                                                                                \
	"	movl %eax, %esi\n"

#define TIMED_END                                                                                  \
	"	lfence\n"                                                                                \
	"	rdtsc\n"                                                                                 \
	"	subl %esi, %eax\n"                                                                       \
	"	ret\n"

__asm__(".pushsection .text\n"
	".hidden agent_time_begin, agent_time_end, agent_time_fault\n"
	".globl agent_time_begin, agent_time_end, agent_time_fault\n"
	".hidden agent_time_byte, agent_time_nothing\n"
	".globl agent_time_byte, agent_time_nothing\n"
	".type agent_time_byte, @function\n"
	".balign 64\n"
	"agent_time_byte:\n" TIMED_BEGIN "agent_time_begin:\n"
	"	movzbl (%rdi), %ecx\n"
	"agent_time_end:\n" TIMED_END "agent_time_fault:\n"
	"	xorl %eax, %eax\n"
	"	ret\n"
	".size agent_time_byte, . - agent_time_byte\n"
	".type agent_time_nothing, @function\n"
	".balign 64\n"
	"agent_time_nothing:\n" TIMED_BEGIN TIMED_END
	".size agent_time_nothing, . - agent_time_nothing\n"
	".popsection\n");
