/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_CULPRIT_CAUSE_H
#define VT_CULPRIT_CAUSE_H

#include <stdbool.h>

#include "stream/kinds.h"

/* Names of the causes of stalls (enum vt_stall_cause) in listings, as in DCPI's figures 2 and 4. */

/* Returns the letter of a cause, such as 'd' for D-cache miss; '?' for a value that is no cause. */
char vt_stall_letter(unsigned cause);

/* Returns the text of a cause, such as "D-cache miss"; "?" for a value that is no cause. */
const char *vt_stall_text(unsigned cause);

/*
 * Returns the cause with this name ("dcache", as vt_stall_name()) or letter, or VT_NSTALLS if there
 * is none.
 */
unsigned vt_stall_find(const char *word);

/*
 * Returns why a cause is possible or ruled out (enum vt_stall_why), as in "a load goes anywhere";
 * "" if nothing is said of it.
 */
const char *vt_stall_why_text(unsigned cause, unsigned why);

/* Whether a cause is computed from the instructions alone, without samples. */
static inline bool vt_stall_is_static(unsigned cause)
{
	return cause >= VT_STALL_SLOTTING && cause < VT_NSTALLS;
}

/* Whether it is one of those that are looked for in the cycles beyond the schedule. */
static inline bool vt_stall_is_sought(unsigned cause)
{
	return cause >= VT_STALL_ICACHE && cause < VT_STALL_SLOTTING;
}

#endif
