/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/recorder/recorder.h"

#include <pub_tool_options.h>

#include "base/version.h"

#include "cmd/recorder/core.h"

struct recorder_options recorder_options = {.values = VALUES_LOADS};

static Bool take_option(const HChar *arg)
{
	struct recorder_options *o = &recorder_options;

	return VG_STR_CLO(arg, "--dir", o->dir) || VG_STR_CLO(arg, "--toggle", o->toggle) ||
	       VG_BINT_CLO(arg, "--skip", o->skip, 0, 1ll << 61) ||
	       VG_BOOL_CLO(arg, "--mem", o->mem) || VG_BOOL_CLO(arg, "--args", o->args) ||
	       VG_BOOL_CLO(arg, "--heap", o->heap) || VG_STR_CLO(arg, "--alloc", o->alloc) ||
	       VG_BOOL_CLO(arg, "--follow", o->follow) ||
	       VG_XACT_CLO(arg, "--values=none", o->values, VALUES_NONE) ||
	       VG_XACT_CLO(arg, "--values=loads", o->values, VALUES_LOADS) ||
	       VG_XACT_CLO(arg, "--values=stores", o->values, VALUES_STORES) ||
	       VG_XACT_CLO(arg, "--values=all", o->values, VALUES_ALL);
}

static void print_usage(void)
{
	VG_(printf)
	("    --dir=DIR        where `vtrace record --full' listens\n"
	 "    --values=none|loads|stores|all\n"
	 "                     values to record, each with those before it [loads]\n"
	 "    --mem=no|yes     addresses too, and what the kernel writes [no]\n"
	 "    --args=no|yes    argument registers at calls [no]\n"
	 "    --heap=no|yes    calls that allocate and free memory [no]\n"
	 "    --alloc=NAMES    more functions that do\n"
	 "    --toggle=NAME    mark where this function is entered and left\n"
	 "    --skip=N         record the registers behind N instructions\n"
	 "    --follow=no|yes  record forked children [no]\n");
}

static void print_debug_usage(void)
{
	VG_(printf)("    (none)\n");
}

/* Prevents Valgrind from removing writes of registers, whose values are captured. */
static void keep_results(void)
{
	VG_(clo_vex_control).iropt_register_updates_default = VexRegUpdAllregsAtEachInsn;
	VG_(clo_px_file_backed) = VexRegUpdAllregsAtEachInsn;
}

static void post_clo_init(void)
{
	if (!recorder_options.dir)
		VG_(fmsg_bad_option)("--dir", "missing; this tool is for `vtrace record --full'\n");
	/*
	 * With chasing, Valgrind executes both sides of a conditional branch and merges the
	 * results: then control flow cannot be recorded.
	 */
	VG_(clo_vex_control).guest_chase = False;
	if (recorder_options.values == VALUES_ALL || recorder_options.skip)
		keep_results();
	threads_init();
	maps_init();
	heap_init();
	toggle_init();
	window_init();
	syscalls_init();
	if (!ring_open())
		ring_refused();
}

static void fini(Int status)
{
	heap_fini();
	toggle_fini();
	ring_number(VT_RING_EXIT, threads_current(), status);
	ring_close();
}

static void pre_clo_init(void)
{
	VG_(details_name)("vtrace");
	VG_(details_version)(VT_VERSION);
	VG_(details_description)("records what a program executes");
	VG_(details_copyright_author)("GNU GPL 3 or later");
	VG_(details_bug_reports_to)("the authors of vtrace");
	VG_(details_avg_translation_sizeB)(350);
	VG_(basic_tool_funcs)(post_clo_init, instrument, fini);
	VG_(needs_command_line_options)(take_option, print_usage, print_debug_usage);
}

VG_DETERMINE_INTERFACE_VERSION(pre_clo_init)
