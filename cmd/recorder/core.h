/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_RECORDER_CORE_H
#define CMD_RECORDER_CORE_H

/*
 * Functions of Valgrind's core (3.19) that its library has, but its headers for tools do not
 * declare: coregrind/pub_core_syscall.h, pub_core_libcfile.h, pub_core_aspacemgr.h,
 * pub_core_options.h, pub_core_transtab.h.
 */

#include <pub_tool_basics.h>

#include <libvex.h>

SysRes VG_(do_syscall)(UWord number, UWord, UWord, UWord, UWord, UWord, UWord, UWord, UWord);

/* Moves a descriptor out of the program's range and sets close-on-exec; -1 on failure. */
Int VG_(safe_fd)(Int fd);

SysRes VG_(am_shared_mmap_file_float_valgrind)(SizeT length, UInt prot, Int fd, Off64T offset);

extern VexControl VG_(clo_vex_control);
extern Bool VG_(clo_trace_children);

/* Must not be called while translated code runs or is about to run; in a system call it is safe. */
void VG_(discard_translations)(Addr start, ULong length, const HChar *who);

#endif
