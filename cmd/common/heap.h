/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_COMMON_HEAP_H
#define CMD_COMMON_HEAP_H

/*
 * Lets the heap be of huge pages, where the system gives them on request.  Programs touch a few
 * megabytes once: on a virtual machine, where a page fault takes up to 30 us, thousands of faults
 * for small pages take longer than the work itself.  The results do not depend on it.
 *
 * Call it first in main(), before threads start.
 */
void heap_use_huge_pages(void);

/* Gives free memory back to the system: what was large lies between small things. */
void heap_give_back(void);

#endif
