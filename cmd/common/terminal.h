/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_COMMON_TERMINAL_H
#define CMD_COMMON_TERMINAL_H

/*
 * The columns of a terminal: COLUMNS of the environment if that is a number above 0, else as the
 * terminal says.  0: it does not tell.
 */
unsigned app_terminal_columns(int fd);

#endif
