/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_RECORD_FRAME_FILES_H
#define CMD_RECORD_FRAME_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The call frame information of files that recorded programs execute.  It is copied: a program may
 * cut a file that is mapped, which would end whoever reads it there.  At most FRAME_FILES files are
 * kept, those that were asked for last.
 */
struct frame_files;

#define FRAME_FILES 64

/* NULL: no memory. */
struct frame_files *frame_files_new(void);
void frame_files_free(struct frame_files *f); /* NULL is allowed */

/* Returns the number of a path, UINT32_MAX if there are too many. */
uint32_t frame_files_add(struct frame_files *f, const char *path);

/* Where the return address lies for the instructions of a file in [first, end), by offset. */
struct frame_rule {
	uint64_t end;
	unsigned reg; /* of linux's asm/perf_regs.h */
	int64_t offset;
};

/* False: it is not known for the instructions up to rule->end. */
bool frame_files_find(struct frame_files *f, uint32_t file, uint64_t first,
		      struct frame_rule *rule);

#endif
