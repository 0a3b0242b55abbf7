/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/vtrace/encode.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/common/decode.h"
#include "cmd/common/stream.h"
#include "cmd/vtrace/subcommands.h"

/* Options as they are written, where that is not what the encoder takes. */
struct arguments {
	const char *crystal;
	double cpi;
	bool tnt64;
	bool mtc;
	uint64_t mtc_period;
	uint64_t nominal_ratio;
	uint64_t cbr;
	uint64_t cpus;
};

/* ---- options ---- */

/* The two files of --pages; false after app_usage() if something else is there. */
static bool check_pages(struct encode *c)
{
	struct vt_buf *const names[2] = {&c->dump, &c->addr};
	int i;

	if (!c->pages)
		return true;
	vt_buf_printf(&c->dump, "%s.dump", c->pages);
	vt_buf_printf(&c->addr, "%s.addr", c->pages);
	for (i = 0; i < 2; i++) {
		const char *name = vt_buf_str(names[i]);

		if (!app_may_write(c->app, name))
			return false;
		if (c->files.path && strcmp(name, c->files.path) == 0)
			return app_usage(c->app, "%s: is also another output", name);
	}
	return true;
}

/* The first option given that goes with --perf-data only, or NULL. */
static const char *perf_option_given(const struct vt_pt_wrap_options *o)
{
	return o->cpus			      ? "--cpus"
	       : o->wide		      ? "--cpu-wide"
	       : o->slice != VT_PT_WRAP_SLICE ? "--slice"
	       : o->snapshot		      ? "--snapshot"
					      : NULL;
}

static bool check_options(struct encode *c, const struct arguments *args)
{
	struct vt_pt_encode_options *o = &c->opt.encode;
	const char *stray;

	if (!app_parse_crystal(c->app, args->crystal, 255, 32767, &o->clock))
		return false;
	if (!(args->cpi >= 0.000001 && args->cpi <= VT_PT_MAX_CPI / 1e6))
		return app_usage(c->app, "--cpi must be from 0.000001 to %d",
				 VT_PT_MAX_CPI / 1000000);
	o->cpi = (uint64_t)(args->cpi * 1e6 + 0.5);
	if (args->mtc) {
		o->mtc = o->tsc = true;
		o->clock.mtc_period = (uint8_t)args->mtc_period;
	}
	o->clock.nominal_ratio = (uint8_t)args->nominal_ratio;
	o->cbr = (uint8_t)(args->cbr ? args->cbr : args->nominal_ratio);
	if (args->tnt64)
		o->tnt_bits = 47;
	o->seed = c->app->seed;
	c->opt.cpus = (uint32_t)args->cpus;
	stray = c->perf ? NULL : perf_option_given(&c->opt);
	if (stray)
		return app_usage(c->app, "%s needs --perf-data", stray);
	if (c->perf && c->pages)
		return app_usage(c->app, "--perf-data has no --pages: perf reads the images");
	return app_may_write(c->app, c->files.path) && check_pages(c);
}

/* ---- encoding ---- */

void encode_report(struct encode *c, const struct vt_pt_encode *e)
{
	const struct vt_pt_encode_totals *s = vt_pt_encode_totals(e);

	if (s->bad) {
		app_say(c->app, "%" PRIu64 " bad records, left out; the first: %s", s->bad,
			vt_pt_encode_bad(e));
		app_raise(c->app, APP_LOSSY);
	}
	if (c->files.left_out) {
		app_say(c->app,
			"%" PRIu64 " more threads are left out: -o FILE writes each to its own "
			"file, --tid chooses one",
			c->files.left_out);
		app_raise(c->app, APP_LOSSY);
	}
	if (s->rewritten && !c->perf)
		app_say(c->app,
			"%" PRIu64 " bytes of code were changed while they were executed: the "
			"pages have the last ones",
			s->rewritten);
	if (s->breaks)
		app_say(c->app,
			"%" PRIu64 " places where the stream does not tell how execution went on",
			s->breaks);
	if (s->overflows || s->damaged)
		app_say(c->app, "%" PRIu64 " overflows made, %" PRIu64 " bytes damaged",
			s->overflows, s->damaged);
}

static int on_record(void *arg, const struct vt_record *rec, struct vt_error *err)
{
	return vt_pt_encode_record(arg, rec, err);
}

static bool encode_files(struct encode *c, struct vt_reader *r, struct vt_pt_encode *e)
{
	struct vt_error err = VT_ERROR_INIT;

	if (!app_each_record(c->app, r, on_record, e))
		return false;
	if (vt_pt_encode_finish(e, &err) < 0)
		return app_fail(c->app, &err);
	if (!vt_pt_encode_totals(e)->blocks)
		return app_lacks(c->app, vt_reader_name(r), APP_NO_CODE);
	if (c->pages && vt_pt_encode_pages(e, vt_buf_str(&c->dump), vt_buf_str(&c->addr), &err) < 0)
		return app_fail(c->app, &err);
	encode_report(c, e);
	return true;
}

static void encode_raw(struct encode *c, struct vt_reader *r)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_pt_encode *e = vt_pt_encode_new(&c->opt.encode, vt_pt_encode_to_file, &c->files);

	if (!e) {
		app_no_memory(c->app);
		return;
	}
	encode_files(c, r, e);
	if (vt_pt_encode_close_files(e, &err) < 0)
		app_fail(c->app, &err);
	vt_pt_encode_free(e);
}

static void encode_stream(struct encode *c)
{
	struct vt_reader *r = app_open_reader(c->app, c->app->argc ? c->app->argv[0] : "-");

	if (r && c->perf)
		encode_perf(c, r);
	else if (r)
		encode_raw(c, r);
	vt_reader_close(r);
}

int cmd_encode(int argc, char **argv)
{
	struct app app;
	struct encode c = {.app = &app,
			   .opt = {.encode = vt_pt_encode_defaults, .slice = VT_PT_WRAP_SLICE}};
	struct arguments args = {.cpi = 1,
				 .nominal_ratio = vt_pt_encode_defaults.clock.nominal_ratio};
	struct vt_pt_encode_options *o = &c.opt.encode;
	const struct vt_opt opts[] = {
		APP_OPT_OUTPUT(c.files.path),
		{0, "pages", VT_OPT_STRING, &c.pages, .arg = "PREFIX", .unrecorded = true,
		 .help = "write the code that was executed to PREFIX.dump and PREFIX.addr"},
		{0, "pid", VT_OPT_I64, &o->pid, .arg = "PID", .help = "only this process"},
		{0, "tid", VT_OPT_I64, &o->tid, .arg = "TID", .help = "only this thread"},
		{0, "psb", VT_OPT_U64, &o->psb_bytes, .arg = "BYTES", .min = 64,
		 .help = "a PSB each so many bytes of trace (default 4096)"},
		{0, "tnt-bits", VT_OPT_U64, &o->tnt_bits, .arg = "N", .min = 1, .max = 47,
		 .help = "decisions of a TNT packet, 1 to 47 (default 6)"},
		{0, "tnt64", VT_OPT_FLAG, &args.tnt64,
		 .help = "long TNT packets: the same as --tnt-bits 47"},
		{0, "no-retcomp", VT_OPT_FLAG, &o->no_retcomp, .help = "do not compress returns"},
		{0, "cr3", VT_OPT_U64, &o->cr3, .arg = "CR3",
		 .help = "PIP packets with this base of the page tables"},
		{0, "tsc", VT_OPT_FLAG, &o->tsc, .help = "TSC packets"},
		{0, "mtc", VT_OPT_U64, &args.mtc_period, .arg = "PERIOD", .given = &args.mtc,
		 .max = 15,
		 .help = "MTC packets each 2^PERIOD ticks of the crystal clock, and TSC packets"},
		{0, "cyc", VT_OPT_FLAG, &o->cyc, .help = "CYC packets"},
		{0, "cpi", VT_OPT_F64, &args.cpi, .arg = "CYCLES",
		 .help = "cycles that an instruction takes (default 1)"},
		{0, "nom-freq", VT_OPT_U64, &args.nominal_ratio, .arg = "RATIO", .min = 1,
		 .max = 255, .help = "TSC ticks for each tick of the bus clock (default 32)"},
		{0, "cbr", VT_OPT_U64, &args.cbr, .arg = "RATIO", .min = 1, .max = 255,
		 .help = "core cycles for each tick of the bus clock (default: as --nom-freq)"},
		{0, "cpuid-15h", VT_OPT_STRING, &args.crystal, .arg = "EAX,EBX",
		 .help = "TSC ticks are those of the crystal clock * EBX / EAX (default 2,256)"},
		{0, "start-tsc", VT_OPT_U64, &o->start_tsc, .arg = "TSC", .max = VT_PT_MAX_START,
		 .help = "the TSC when the stream begins"},
		{0, "overflow", VT_OPT_U64, &o->overflow, .arg = "BYTES",
		 .help = "lose packets, as an overflow does, about every so many bytes"},
		{0, "damage", VT_OPT_U64, &o->damage, .arg = "BYTES",
		 .help = "change some of the trace's bytes, about every so many"},
		APP_OPT_SEED(app),
		{0, "perf-data", VT_OPT_FLAG, &c.perf,
		 .help = "write a perf.data that perf decodes; with it:"},
		{0, "cpus", VT_OPT_U64, &args.cpus, .arg = "N", .min = 1, .max = VT_PT_WRAP_CPUS,
		 .help = "a buffer for each of N processors that threads take in\n"
			 "turns, not for each thread; needs --tsc"},
		{0, "slice", VT_OPT_U64, &c.opt.slice, .arg = "N", .min = 1,
		 .help = "another processor after N instructions (default 100000)"},
		{0, "cpu-wide", VT_OPT_FLAG, &c.opt.wide,
		 .help = "tell switches as for whole processors"},
		{0, "snapshot", VT_OPT_U64, &c.opt.snapshot, .arg = "BYTES", .min = 64,
		 .max = VT_PT_WRAP_SNAPSHOT, .help = "only the last BYTES of each buffer"},
		{0}};
	const struct vt_opt_page page = {
		.program = "vtrace encode",
		.usage = "[options] [-o FILE] [FILE]",
		.about = "Writes an Intel PT trace of the executed blocks (BLOCK and EXEC) of a "
			 "stream:\n"
			 "raw packets, a file for each thread, or a perf.data.",
		.opts = opts,
		.max_operands = 1,
	};

	if (app_start(&app, &page, argc, argv) && check_options(&c, &args))
		encode_stream(&c);
	vt_buf_free(&c.dump);
	vt_buf_free(&c.addr);
	return app_finish(&app);
}
