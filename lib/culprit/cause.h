/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_CULPRIT_CAUSE_H
#define VT_CULPRIT_CAUSE_H

#include <stdbool.h>

#include "stream/kinds.h"

/* How listings call the causes of stalls (enum vt_stall_cause), after DCPI's figures 2 and 4. */

/* One letter, another for each cause: 'd', D-cache miss.  '?' for a value that is no cause. */
char vt_stall_letter(unsigned cause);

/* For people: "D-cache miss"; "?" likewise. */
const char *vt_stall_text(unsigned cause);

/* The cause with this name ("dcache", as vt_stall_name()) or letter; VT_NSTALLS if there is none.
 */
unsigned vt_stall_find(const char *word);

/* Known from the instructions alone, not from samples. */
static inline bool vt_stall_is_static(unsigned cause)
{
	return cause >= VT_STALL_SLOTTING && cause < VT_NSTALLS;
}

#endif
