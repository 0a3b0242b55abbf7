/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_VTRACE_SUBCOMMANDS_H
#define CMD_VTRACE_SUBCOMMANDS_H

/* One function for each subcommand: argv[0] is its name; returns the exit status. */
int cmd_decode(int argc, char **argv);
int cmd_dump(int argc, char **argv);
int cmd_encode(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_record(int argc, char **argv);

#endif
