/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/version.h"
#include "cmd/common/decode.h"
#include "cmd/common/find.h"
#include "cmd/common/stream.h"
#include "cmd/programs.h"
#include "formats/formats.h"
#include "formats/perfpt/encode.h"

struct encode {
	struct app *app;
	const struct vt_output_format *format;
	struct vt_output_session *session;
	struct vt_output_options out;
	struct vt_pt_wrap_options opt;
	struct vt_buf dump, addr; /* names of the files of --pages */
	/* Options as they are written: */
	bool chosen[VT_OUTPUT_FORMATS]; /* by a row's name */
	const char *pages;
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
static bool check_aux_pages(struct encode *c)
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
		if (c->out.path && strcmp(name, c->out.path) == 0)
			return app_usage(c->app, "%s: is also another output", name);
	}
	c->out.dump = vt_buf_str(&c->dump);
	c->out.addr = vt_buf_str(&c->addr);
	return true;
}

/* The first option given that goes with --perf-data only, or NULL. */
static const char *is_perf_output_option_given(const struct vt_pt_wrap_options *o)
{
	return o->cpus			      ? "--cpus"
	       : o->wide		      ? "--cpu-wide"
	       : o->slice != VT_PT_WRAP_SLICE ? "--slice"
	       : o->snapshot		      ? "--snapshot"
					      : NULL;
}

static bool check_format(struct encode *c)
{
	bool perf = c->format == &vt_perfpt_output;
	const char *stray = perf ? NULL : is_perf_output_option_given(&c->opt);

	if (stray)
		return app_usage(c->app, "%s needs --perf-data", stray);
	if (perf && c->pages)
		return app_usage(c->app, "--perf-data has no --pages: perf reads the images");
	return app_may_write(c->app, c->out.path) && check_aux_pages(c);
}

static bool check_encode_options(struct encode *c)
{
	struct vt_pt_encode_options *o = &c->opt.encode;
	int i;

	if (!app_parse_crystal(c->app, c->crystal, 255, 32767, &o->clock))
		return false;
	if (!(c->cpi >= 0.000001 && c->cpi <= VT_PT_MAX_CPI / 1e6))
		return app_usage(c->app, "--cpi must be from 0.000001 to %d",
				 VT_PT_MAX_CPI / 1000000);
	o->cpi = (uint64_t)(c->cpi * 1e6 + 0.5);
	if (c->mtc) {
		o->mtc = o->tsc = true;
		o->clock.mtc_period = (uint8_t)c->mtc_period;
	}
	o->clock.nominal_ratio = (uint8_t)c->nominal_ratio;
	o->cbr = (uint8_t)(c->cbr ? c->cbr : c->nominal_ratio);
	if (c->tnt64)
		o->tnt_bits = 47;
	o->seed = c->app->seed;
	c->opt.cpus = (uint32_t)c->cpus;
	for (i = 0; i < VT_OUTPUT_FORMATS; i++)
		if (c->chosen[i])
			c->format = vt_output_formats[i];
	return check_format(c);
}

/* Appends an option for each format but the default one.  Returns where the next one goes. */
static struct vt_opt *add_formats(struct encode *c, struct vt_opt *to)
{
	int i;

	for (i = 1; vt_output_formats[i]; i++)
		*to++ = (struct vt_opt){0, vt_output_formats[i]->name, VT_OPT_FLAG, &c->chosen[i],
					.help = vt_output_formats[i]->description};
	return to;
}

/* ---- encoding ---- */

static int on_record(void *arg, const struct vt_record *rec, struct vt_error *err)
{
	const struct encode *c = arg;

	return c->format->record(c->session, rec, err);
}

static void report(void *arg, bool lossy, const char *fmt, ...)
{
	struct encode *c = arg;
	char text[2 * VT_ERROR_SIZE];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	app_say(c->app, "%s", text);
	if (lossy)
		app_raise(c->app, APP_LOSSY);
}

static void encode_stream(struct encode *c, struct vt_reader *r)
{
	struct vt_error err = VT_ERROR_INIT;

	if (!app_each_record(c->app, r, on_record, c))
		return;
	if (c->format->finish(c->session, &err) == 0)
		c->format->report(c->session, report, c);
	else if (err.code == VT_E_ABSENT)
		app_lacks(c->app, vt_reader_name(r), err.text);
	else
		app_fail(c->app, &err);
}

static void encode(struct encode *c)
{
	struct vt_reader *r = app_open_reader(c->app, c->app->argc ? c->app->argv[0] : NULL);
	struct vt_error err = VT_ERROR_INIT;
	char *cache = app_buildid_cache();

	c->opt.find.buildid_cache = cache;
	c->session = r ? c->format->open(&c->out, &err) : NULL;
	if (c->session)
		encode_stream(c, r);
	if (r && (!c->session || c->format->close(c->session, &err) < 0))
		app_fail(c->app, &err);
	free(cache);
	app_close_reader(c->app, r);
}

int cmd_encode(int argc, char **argv)
{
	struct app app;
	struct encode c = {.app = &app,
			   .format = vt_output_formats[0],
			   .out = {.pt = &c.opt.encode, .perf = &c.opt},
			   .opt = {.encode = vt_pt_encode_defaults,
				   .slice = VT_PT_WRAP_SLICE,
				   .version = VT_VERSION},
			   .cpi = 1,
			   .nominal_ratio = vt_pt_encode_defaults.clock.nominal_ratio};
	struct vt_pt_encode_options *o = &c.opt.encode;
	const struct vt_opt pt_opts[] = {
		APP_OPT_OUTPUT(c.out.path),
		{0, "pages", VT_OPT_STRING, &c.pages, .arg = "PREFIX", .unrecorded = true,
		 .help = "write the code that was executed to PREFIX.dump and PREFIX.addr"},
		{0, "pid", VT_OPT_I64, &o->pid, .arg = "PID", .help = "only this process"},
		{0, "tid", VT_OPT_I64, &o->tid, .arg = "TID", .help = "only this thread"},
		{0, "psb", VT_OPT_U64, &o->psb_bytes, .arg = "BYTES", .min = 64,
		 .help = "a PSB each so many bytes of trace (default 4096)"},
		{0, "tnt-bits", VT_OPT_U64, &o->tnt_bits, .arg = "N", .min = 1, .max = 47,
		 .help = "decisions of a TNT packet, 1 to 47 (default 6)"},
		{0, "tnt64", VT_OPT_FLAG, &c.tnt64,
		 .help = "long TNT packets: the same as --tnt-bits 47"},
		{0, "no-retcomp", VT_OPT_FLAG, &o->no_retcomp, .help = "do not compress returns"},
		{0, "cr3", VT_OPT_U64, &o->cr3, .arg = "CR3",
		 .help = "PIP packets with this base of the page tables"},
		{0, "tsc", VT_OPT_FLAG, &o->tsc, .help = "TSC packets"},
		{0, "mtc", VT_OPT_U64, &c.mtc_period, .arg = "PERIOD", .given = &c.mtc, .max = 15,
		 .help = "MTC packets each 2^PERIOD ticks of the crystal clock, and TSC packets"},
		{0, "cyc", VT_OPT_FLAG, &o->cyc, .help = "CYC packets"},
		{0, "cpi", VT_OPT_F64, &c.cpi, .arg = "CYCLES",
		 .help = "cycles that an instruction takes (default 1)"},
		{0, "nom-freq", VT_OPT_U64, &c.nominal_ratio, .arg = "RATIO", .min = 1, .max = 255,
		 .help = "TSC ticks for each tick of the bus clock (default 32)"},
		{0, "cbr", VT_OPT_U64, &c.cbr, .arg = "RATIO", .min = 1, .max = 255,
		 .help = "core cycles for each tick of the bus clock (default: as --nom-freq)"},
		{0, "cpuid-15h", VT_OPT_STRING, &c.crystal, .arg = "EAX,EBX",
		 .help = "TSC ticks are those of the crystal clock * EBX / EAX (default 2,256)"},
		{0, "start-tsc", VT_OPT_U64, &o->start_tsc, .arg = "TSC", .max = VT_PT_MAX_START,
		 .help = "the TSC when the stream begins"},
		{0, "overflow", VT_OPT_U64, &o->overflow, .arg = "BYTES",
		 .help = "lose packets, as an overflow does, about every so many bytes"},
		{0, "damage", VT_OPT_U64, &o->damage, .arg = "BYTES",
		 .help = "change some of the trace's bytes, about every so many"},
		APP_OPT_SEED(app)};
	/* The options that only the last row's format takes. */
	const struct vt_opt perf_opts[] = {
		{0, "cpus", VT_OPT_U64, &c.cpus, .arg = "N", .min = 1, .max = VT_PT_WRAP_CPUS,
		 .help = "a buffer for each of N processors that threads take in\n"
			 "turns, not for each thread; needs --tsc"},
		{0, "slice", VT_OPT_U64, &c.opt.slice, .arg = "N", .min = 1,
		 .help = "another processor after N instructions (default 100000)"},
		{0, "cpu-wide", VT_OPT_FLAG, &c.opt.wide,
		 .help = "write context switches as for whole processors"},
		{0, "snapshot", VT_OPT_U64, &c.opt.snapshot, .arg = "BYTES", .min = 64,
		 .max = VT_PT_WRAP_SNAPSHOT, .help = "only the last BYTES of each buffer"}};
	struct vt_opt opts[sizeof(pt_opts) / sizeof(pt_opts[0]) + VT_OUTPUT_FORMATS +
			   sizeof(perf_opts) / sizeof(perf_opts[0]) + 1] = {{0}};
	const struct vt_opt_page page = {
		.program = "vtrace encode",
		.usage = "[options] [-o FILE] [FILE]",
		.about = "Writes an Intel PT trace of the executed blocks (BLOCK and EXEC) of a "
			 "stream:\n"
			 "raw packets, a file for each thread, or a perf.data.",
		.opts = opts,
		.max_operands = 1,
	};

	memcpy(opts, pt_opts, sizeof(pt_opts));
	memcpy(add_formats(&c, opts + sizeof(pt_opts) / sizeof(pt_opts[0])), perf_opts,
	       sizeof(perf_opts));
	if (app_start(&app, &page, argc, argv) && check_encode_options(&c))
		encode(&c);
	vt_buf_free(&c.dump);
	vt_buf_free(&c.addr);
	return app_finish(&app);
}
