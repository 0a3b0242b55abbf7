/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_PROGRAMS_H
#define CMD_PROGRAMS_H

/*
 * The programs, which one executable holds: `vtrace prof` is `vprof`, a link to it.  Each function
 * is the program's main(): argv[0] is its name; returns the exit status.
 */
int cmd_cmp(int argc, char **argv);
int cmd_coproc(int argc, char **argv);
int cmd_culprit(int argc, char **argv);
int cmd_db(int argc, char **argv);
int cmd_decode(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_dump(int argc, char **argv);
int cmd_encode(int argc, char **argv);
int cmd_event(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_flame(int argc, char **argv);
int cmd_freq(int argc, char **argv);
int cmd_hot(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_interp(int argc, char **argv);
int cmd_inv(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_mem(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_pack(int argc, char **argv);
int cmd_pair(int argc, char **argv);
int cmd_path(int argc, char **argv);
int cmd_prof(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_sample(int argc, char **argv);
int cmd_sim(int argc, char **argv);
int cmd_spec(int argc, char **argv);
int cmd_stats(int argc, char **argv);

#endif
