/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_UNIT_COMMON_TOOLBOX_H
#define TESTS_UNIT_COMMON_TOOLBOX_H

#include <stddef.h>
#include <stdint.h>

/*
 * For tests that compare with other programs: a directory of their own, and the other programs'
 * output. Each function fails the running test when it cannot do its work.
 */

/* Makes a temporary directory and removes it with all it holds. */
char *toolbox_dir(void);
void toolbox_remove(char *dir);

/* Makes a directory the current one; returns which was, to go back to. */
char *toolbox_enter(const char *dir);
void toolbox_leave(char *here);

/* Runs a shell command in a directory; what it printed, to be freed. */
char *toolbox_run(const char *dir, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The file of the running program, which is an ELF file of our own making; to be freed. */
uint8_t *toolbox_read_self(size_t *size);

/* Writes a text file into a directory. */
void toolbox_write(const char *dir, const char *name, const char *text);

/*
 * A new directory with an executable `p` made of assembly code: .text at 0x401000, .rodata at
 * 0x402000.
 */
char *toolbox_assemble(const char *text);

/* "DIR/NAME" in a buffer that the next call but seven reuses. */
const char *toolbox_path(const char *dir, const char *name);

#endif
