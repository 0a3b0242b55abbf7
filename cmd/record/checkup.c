/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/record/checkup.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/common/debuginfod.h"
#include "cmd/common/find.h"
#include "cmd/record/command.h"
#include "cmd/record/probe.h"
#include "cmd/record/valgrind.h"
#include "image/find.h"

/* What one sample for a million nanoseconds needs. */
#define SAMPLES_PER_SECOND 1000

static struct checkup_finding *add_finding(struct checkup *c, const char *key, const char *what,
					   bool there)
{
	struct checkup_finding *f = &c->findings[c->count];

	assert(c->count < CHECKUP_MAX);
	c->count++;
	*f = (struct checkup_finding){.key = key, .what = what, .there = there};
	return f;
}

static void set_texts(struct checkup_finding *f, const char *found, const char *fix)
{
	vt_buf_printf(&f->found, "%s", found);
	if (fix)
		vt_buf_printf(&f->fix, "%s", fix);
}

/* ---- events ---- */

static bool file_has_word(const char *path, const char *word)
{
	FILE *f = fopen(path, "r");
	char line[4096];
	bool has = false;

	while (f && !has && fgets(line, sizeof(line), f))
		has = strstr(line, word) != NULL;
	if (f)
		fclose(f);
	return has;
}

static const char *explain_no_events(const struct probe *m)
{
	if (m->why_not == EACCES || m->why_not == EPERM)
		return m->paranoid > 2 ? "sudo sysctl kernel.perf_event_paranoid=2"
				       : "a container may forbid it: let it have CAP_PERFMON and "
					 "the call perf_event_open(2)";
	return "a kernel with CONFIG_PERF_EVENTS, and a sandbox that lets perf_event_open(2) pass";
}

static void check_rights(struct checkup *c, const struct probe *m)
{
	struct checkup_finding *f = add_finding(c, "samples", "samples", m->events);
	char level[48] = "";

	if (m->paranoid > -100)
		snprintf(level, sizeof(level), " (kernel.perf_event_paranoid %d)", m->paranoid);
	if (m->events)
		vt_buf_printf(&f->found, "perf events can be opened%s", level);
	else
		vt_buf_printf(&f->found, "no perf event can be opened: %s%s", strerror(m->why_not),
			      level);
	if (!m->events)
		vt_buf_printf(&f->fix, "%s", explain_no_events(m));

	f = add_finding(c, "kernel", "the kernel", m->kernel);
	set_texts(f, m->kernel ? "samples of the kernel, too" : "only user code is sampled",
		  m->kernel ? NULL : "sudo sysctl kernel.perf_event_paranoid=1");
	f = add_finding(c, "all_cpus", "whole machine", m->all_cpus);
	set_texts(f, m->all_cpus ? "vtrace record -a works" : "only your own processes (no -a)",
		  m->all_cpus ? NULL : "sudo sysctl kernel.perf_event_paranoid=0, or as root");
}

static void check_rate(struct checkup *c)
{
	long rate = 0;
	bool known = probe_number("/proc/sys/kernel/perf_event_max_sample_rate", &rate);
	struct checkup_finding *f =
		add_finding(c, "rate", "sampling rate", !known || rate >= SAMPLES_PER_SECOND);

	if (known)
		vt_buf_printf(&f->found, "at most %ld samples a second on each processor", rate);
	else
		vt_buf_printf(&f->found, "the kernel does not tell its limit");
	if (!f->there)
		vt_buf_printf(&f->fix, "sudo sysctl kernel.perf_event_max_sample_rate=100000");
}

static const char *explain_no_counter(void)
{
	return file_has_word("/proc/cpuinfo", "hypervisor")
		       ? "a virtual machine has the counters that its host passes on (QEMU: -cpu "
			 "host,pmu=on)"
		       : NULL;
}

static void check_counters(struct checkup *c, const struct probe *m)
{
	struct checkup_finding *f = add_finding(c, "cycles", "cycle counter", m->cycles);

	set_texts(f,
		  m->cycles ? "time is sampled by processor cycles"
			    : "none: time is sampled by the CPU clock, whose samples skid",
		  m->cycles ? NULL : explain_no_counter());
	f = add_finding(c, "precise", "precise samples", m->precise);
	if (m->precise)
		vt_buf_printf(&f->found, "cycles up to precise_ip %u", m->precise_level);
	else
		vt_buf_printf(&f->found, "none: a sample's address is some instructions late");
	f = add_finding(c, "branches", "branch records", m->branches);
	set_texts(f, m->branches ? "vtrace record --branch, --call-graph=lbr" : "none (LBR, BRBE)",
		  NULL);
}

static void check_device(struct checkup *c, const char *key, const char *what, const char *device,
			 uint64_t period, const char *how)
{
	int why = probe_device(device, period, false);
	struct checkup_finding *f;

	/* IBS of older kernels cannot leave the kernel out. */
	if (why && why != ENODEV)
		why = probe_device(device, period, true);
	f = add_finding(c, key, what, why == 0);
	if (!why)
		vt_buf_printf(&f->found, "%s", how);
	else if (why == ENODEV)
		vt_buf_printf(&f->found, "this machine has none");
	else
		vt_buf_printf(&f->found, "it is there, but does not open: %s", strerror(why));
	if (why == EACCES || why == EPERM)
		vt_buf_printf(&f->fix, "sudo sysctl kernel.perf_event_paranoid=-1, or as root");
}

/* ---- files and programs ---- */

/* The first address of the kernel's symbols is 0 for those who may not know it. */
static bool sees_kernel_addresses(void)
{
	FILE *f = fopen("/proc/kallsyms", "r");
	unsigned long long address = 0;
	int i;

	for (i = 0; f && i < 100 && !address; i++)
		if (fscanf(f, "%llx%*[^\n]", &address) != 1)
			break;
	if (f)
		fclose(f);
	return address != 0;
}

static void check_kernel_files(struct checkup *c)
{
	bool names = sees_kernel_addresses(), code = access("/proc/kcore", R_OK) == 0;
	int why = code ? 0 : errno;
	struct checkup_finding *f = add_finding(c, "kernel_names", "kernel names", names);

	set_texts(f, names ? "/proc/kallsyms shows addresses" : "/proc/kallsyms hides addresses",
		  names ? NULL : "sudo sysctl kernel.kptr_restrict=0 (and paranoid below 2)");
	f = add_finding(c, "kernel_code", "kernel code", code);
	if (code)
		vt_buf_printf(&f->found, "/proc/kcore can be read");
	else
		vt_buf_printf(&f->found, "/proc/kcore: %s", strerror(why));
	if (!code)
		vt_buf_printf(&f->fix, "%s",
			      why == EACCES || why == EPERM
				      ? "list the kernel's procedures as root"
				      : "install the kernel's debug package (linux-image-*-dbg)");
}

static void check_programs(struct checkup *c)
{
	int why = find_program("perf");
	struct checkup_finding *f = add_finding(c, "perf", "perf", why == 0);
	struct vt_buf missing = VT_BUF_INIT;
	bool full;

	set_texts(f, why ? strerror(why) : "vtrace record runs it",
		  why ? "sudo apt-get install linux-perf" : NULL);
	full = valgrind_find(&missing);
	f = add_finding(c, "full", "full recordings", full);
	if (full)
		vt_buf_printf(&f->found,
			      "vtrace record --full: valgrind and the recorder are here");
	else
		vt_buf_printf(&f->found, "%s", vt_buf_str(&missing));
	if (!full)
		vt_buf_printf(&f->fix, "sudo apt-get install valgrind, then make and make install");
	vt_buf_free(&missing);
}

void checkup_machine(struct checkup *c)
{
	struct probe m;

	probe_machine(&m);
	check_rights(c, &m);
	check_rate(c);
	check_counters(c, &m);
	check_device(c, "intel_pt", "Intel PT", "intel_pt", 1, "vtrace record --pt");
	check_device(c, "ibs", "AMD IBS", "ibs_op", 0x100000, "perf record -e ibs_op//");
	check_device(c, "spe", "Arm SPE", "arm_spe_0", 0x10000, "perf record -e arm_spe_0//");
	check_kernel_files(c);
	check_programs(c);
}

/* ---- one program ---- */

static void describe_program(struct checkup *c, const char *path, const struct vt_elf *e,
			     const struct vt_elf *debug)
{
	const struct vt_elf_info *info = vt_elf_info(e), *d = debug ? vt_elf_info(debug) : NULL;
	bool names = info->has_symtab || (d && d->has_symtab);
	bool lines = info->has_dwarf || (d && d->has_dwarf);
	struct checkup_finding *f =
		add_finding(c, "program_id", "build-id", info->buildid_size > 0);

	vt_buf_printf(&f->found, "%s: %s", path,
		      f->there ? "has one"
			       : "has none, so nothing shows which build a sample is of");
	if (!f->there)
		vt_buf_printf(&f->fix, "link with -Wl,--build-id");
	f = add_finding(c, "program_names", "names", names);
	vt_buf_printf(&f->found, "%s: %s", path,
		      names ? "has its symbols"
			    : "is stripped: local procedures are named by address");
	if (!names)
		vt_buf_printf(
			&f->fix,
			"do not strip it, install its -dbgsym package, or set DEBUGINFOD_URLS");
	f = add_finding(c, "program_lines", "source lines", lines);
	vt_buf_printf(&f->found, "%s: %s%s", path, lines ? "has DWARF" : "has no DWARF",
		      d && lines && !info->has_dwarf ? " in a file of its own" : "");
	if (!lines)
		vt_buf_printf(
			&f->fix,
			"compile with -g, install its -dbgsym package, or set DEBUGINFOD_URLS");
}

void checkup_program(struct checkup *c, const char *path, struct app_debuginfod *debuginfod)
{
	static const char *const dirs[] = {"/usr/lib/debug"};
	struct vt_find_options opt = {.debugdirs = dirs,
				      .ndebugdirs = 1,
				      .fetch = app_debuginfod_fetch,
				      .fetch_arg = debuginfod};
	struct vt_error err = VT_ERROR_INIT, ignored = VT_ERROR_INIT;
	struct vt_elf *e = vt_elf_open(path, &err), *debug;
	char *cache = app_buildid_cache();
	struct checkup_finding *f;

	opt.buildid_cache = cache;
	if (e) {
		debug = vt_find_debug(&opt, e, vt_elf_info(e)->buildid,
				      vt_elf_info(e)->buildid_size, &ignored);
		describe_program(c, path, e, debug);
		vt_elf_close(debug);
	} else {
		f = add_finding(c, "program", "program", false);
		vt_buf_printf(&f->found, "%s", err.text);
	}
	vt_elf_close(e);
	free(cache);
}

bool checkup_ok(const struct checkup *c)
{
	size_t i;

	for (i = 0; i < c->count; i++)
		if (c->findings[i].found.failed || c->findings[i].fix.failed)
			return false;
	return true;
}

void checkup_fini(struct checkup *c)
{
	size_t i;

	for (i = 0; i < c->count; i++) {
		vt_buf_free(&c->findings[i].found);
		vt_buf_free(&c->findings[i].fix);
	}
}
