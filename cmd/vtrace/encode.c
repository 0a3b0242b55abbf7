/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/common/stream.h"
#include "cmd/vtrace/encode_perf.h"
#include "cmd/vtrace/subcommands.h"
#include "formats/pt/encode/encode.h"

/* A thread's file. */
struct file {
	struct vt_output out;
	bool open;
};

struct encode {
	struct app *app;
	struct vt_pt_encode_options opt;
	struct encode_perf perf;
	const char *output;
	const char *pages;
	const char *crystal; /* --cpuid-15h */
	double cpi;
	bool tnt64;
	bool mtc;
	uint64_t mtc_period;
	uint64_t nominal_ratio;
	uint64_t cbr;
	struct vt_pt_encode *encoder;
	uint64_t left_out; /* threads that standard output has no room for */
};

/* ---- options ---- */

/* "2,176": CPUID 15H EAX and EBX. */
static bool parse_crystal(struct encode *c)
{
	char text[32];
	struct vt_error err = VT_ERROR_INIT;
	uint64_t a = 0, b = 0;
	char *comma;

	if (!c->crystal)
		return true;
	snprintf(text, sizeof(text), "%s", c->crystal);
	comma = strchr(text, ',');
	if (comma)
		*comma = 0;
	if (!comma || vt_parse_u64(text, "", &a, &err) < 0 ||
	    vt_parse_u64(comma + 1, "", &b, &err) < 0 || !a || !b || a > 255 || b > 32767)
		return app_usage(c->app, "--cpuid-15h: two numbers are wanted, as in 2,256");
	c->opt.clock.ctc_denominator = (uint32_t)a;
	c->opt.clock.ctc_numerator = (uint32_t)b;
	return true;
}

static void page_name(const struct encode *c, int which, struct vt_buf *name)
{
	static const char *const ends[2] = {".dump", ".addr"};

	name->size = 0;
	vt_buf_printf(name, "%s%s", c->pages, ends[which]);
}

/* The two files of --pages; false after app_usage() if something else is there. */
static bool check_pages(struct encode *c)
{
	struct vt_buf name = VT_BUF_INIT;
	bool ok = true;
	int i;

	for (i = 0; c->pages && ok && i < 2; i++) {
		page_name(c, i, &name);
		ok = app_may_write(c->app, vt_buf_str(&name)) &&
		     (!c->output || strcmp(vt_buf_str(&name), c->output) != 0 ||
		      app_usage(c->app, "%s: is also another output", c->output));
	}
	vt_buf_free(&name);
	return ok;
}

static bool check_options(struct encode *c)
{
	if (!parse_crystal(c))
		return false;
	if (!(c->cpi >= 0.000001 && c->cpi <= VT_PT_MAX_CPI / 1e6))
		return app_usage(c->app, "--cpi must be from 0.000001 to %d",
				 VT_PT_MAX_CPI / 1000000);
	c->opt.cpi = (uint64_t)(c->cpi * 1e6 + 0.5);
	if (c->mtc) {
		c->opt.mtc = c->opt.tsc = true;
		c->opt.clock.mtc_period = (uint8_t)c->mtc_period;
	}
	c->opt.clock.nominal_ratio = (uint8_t)c->nominal_ratio;
	c->opt.cbr = (uint8_t)(c->cbr ? c->cbr : c->nominal_ratio);
	if (c->tnt64)
		c->opt.tnt_bits = 47;
	c->opt.seed = c->app->seed;
	if (encode_perf_stray(&c->perf))
		return app_usage(c->app, "%s needs --perf-data", encode_perf_stray(&c->perf));
	if (c->perf.on && c->pages)
		return app_usage(c->app, "--perf-data has no --pages: perf reads the images");
	return app_may_write(c->app, c->output) && check_pages(c);
}

/* ---- raw traces: a file for each thread ---- */

static bool to_stdout(const struct encode *c)
{
	return !c->output || strcmp(c->output, "-") == 0;
}

/* The first thread has the file that was named, another one its number behind that name. */
static int open_file(struct encode *c, struct vt_pt_encode_thread *t, struct vt_error *err)
{
	struct file *f = calloc(1, sizeof(*f));
	struct vt_buf name = VT_BUF_INIT;
	int r;

	t->user = f;
	if (!f)
		return vt_error_nomem(err);
	if (to_stdout(c) && t->index > 0) {
		c->left_out++;
		return 0;
	}
	vt_buf_printf(&name, "%s", c->output ? c->output : "-");
	if (t->index > 0)
		vt_buf_printf(&name, ".%" PRId64, t->tid);
	r = vt_output_open(&f->out, vt_buf_str(&name), err);
	vt_buf_free(&name);
	if (r == 0)
		f->open = true;
	if (r == 0 && f->out.tty)
		return vt_error_set(err, VT_E_USAGE,
				    "a trace is not written to a terminal: name a file with -o");
	return r;
}

static int put_bytes(void *arg, struct vt_pt_encode_thread *t, const uint8_t *bytes, size_t size,
		     struct vt_error *err)
{
	struct encode *c = arg;
	struct file *f;
	int r;

	if (!t->user) {
		r = open_file(c, t, err);
		if (r < 0)
			return r;
	}
	f = t->user;
	if (!f->open)
		return 0;
	vt_output_put(&f->out, bytes, size);
	if (f->out.err.code == VT_OK)
		return 0;
	*err = f->out.err;
	return -(int)err->code;
}

static void close_files(struct encode *c)
{
	struct vt_error err = VT_ERROR_INIT;
	size_t i;

	for (i = 0; i < vt_pt_encode_count(c->encoder); i++) {
		struct file *f = vt_pt_encode_thread(c->encoder, i)->user;

		if (f && f->open && vt_output_close(&f->out, &err) < 0)
			app_fail(c->app, &err);
		free(f);
	}
}

/* ---- pages ---- */

static bool put_pages(struct encode *c)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_output out[2];
	struct vt_buf name = VT_BUF_INIT;
	int i, opened, r = 0;

	for (opened = 0; opened < 2 && r == 0; opened++) {
		page_name(c, opened, &name);
		r = vt_output_open(&out[opened], vt_buf_str(&name), &err);
		if (r < 0)
			break;
	}
	vt_buf_free(&name);
	if (r == 0)
		r = vt_pt_encode_pages(c->encoder, &out[0], &out[1], &err);
	for (i = 0; i < opened; i++) {
		struct vt_error last = VT_ERROR_INIT;

		if (vt_output_close(&out[i], &last) < 0 && r == 0) {
			err = last;
			r = -(int)err.code;
		}
	}
	return r < 0 ? app_fail(c->app, &err) : true;
}

/* ---- all of it ---- */

static int on_record(void *arg, const struct vt_record *rec, struct vt_error *err)
{
	struct encode *c = arg;

	return vt_pt_encode_record(c->encoder, rec, err);
}

static void tell(struct encode *c, const struct vt_pt_encode_totals *s, const char *bad)
{
	if (s->bad) {
		app_say(c->app, "%" PRIu64 " bad records, left out; the first: %s", s->bad, bad);
		app_raise(c->app, APP_LOSSY);
	}
	if (c->left_out) {
		app_say(c->app,
			"%" PRIu64 " more threads are left out: -o FILE writes each to its own "
			"file, --tid chooses one",
			c->left_out);
		app_raise(c->app, APP_LOSSY);
	}
	if (s->rewritten && !c->perf.on)
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

static void run_perf(struct encode *c, struct vt_reader *r)
{
	struct vt_pt_encode_totals totals;
	char bad[VT_ERROR_SIZE];

	if (encode_perf(c->app, r, &c->perf, &c->opt, c->output, &totals, bad))
		tell(c, &totals, bad);
}

static void run_raw(struct encode *c, struct vt_reader *r)
{
	struct vt_error err = VT_ERROR_INIT;

	c->encoder = vt_pt_encode_new(&c->opt, put_bytes, c);
	if (!c->encoder) {
		app_no_memory(c->app);
	} else if (app_each_record(c->app, r, on_record, c)) {
		if (vt_pt_encode_finish(c->encoder, &err) < 0) {
			app_fail(c->app, &err);
		} else if (!vt_pt_encode_totals(c->encoder)->blocks) {
			app_lacks(c->app, vt_reader_name(r), APP_NO_CODE);
		} else if (!c->pages || put_pages(c)) {
			tell(c, vt_pt_encode_totals(c->encoder), vt_pt_encode_bad(c->encoder));
		}
	}
	if (c->encoder)
		close_files(c);
	vt_pt_encode_free(c->encoder);
}

static void run(struct encode *c)
{
	struct vt_reader *r = app_open_reader(c->app, c->app->argc ? c->app->argv[0] : "-");

	if (!r)
		return;
	if (c->perf.on)
		run_perf(c, r);
	else
		run_raw(c, r);
	vt_reader_close(r);
}

/* Rows of the option table. */
#define PACKET_OPTIONS(c)                                                                          \
	{.name = "psb",                                                                            \
	 .type = VT_OPT_U64,                                                                       \
	 .value = &(c).opt.psb_bytes,                                                              \
	 .arg = "BYTES",                                                                           \
	 .help = "a PSB each so many bytes of trace (default 4096)",                               \
	 .min = 64},                                                                               \
		{.name = "tnt-bits",                                                               \
		 .type = VT_OPT_U64,                                                               \
		 .value = &(c).opt.tnt_bits,                                                       \
		 .arg = "N",                                                                       \
		 .help = "decisions of a TNT packet, 1 to 47 (default 6)",                         \
		 .min = 1,                                                                         \
		 .max = 47},                                                                       \
		{.name = "tnt64",                                                                  \
		 .type = VT_OPT_FLAG,                                                              \
		 .value = &(c).tnt64,                                                              \
		 .help = "long TNT packets: the same as --tnt-bits 47"},                           \
		{.name = "no-retcomp",                                                             \
		 .type = VT_OPT_FLAG,                                                              \
		 .value = &(c).opt.no_retcomp,                                                     \
		 .help = "do not compress returns"},                                               \
	{                                                                                          \
		.name = "cr3", .type = VT_OPT_U64, .value = &(c).opt.cr3, .arg = "CR3",            \
		.help = "PIP packets with this base of the page tables"                            \
	}

#define CLOCK_OPTIONS(c)                                                                           \
	{.name = "tsc", .type = VT_OPT_FLAG, .value = &(c).opt.tsc, .help = "TSC packets"},        \
		{.name = "mtc",                                                                    \
		 .type = VT_OPT_U64,                                                               \
		 .value = &(c).mtc_period,                                                         \
		 .arg = "PERIOD",                                                                  \
		 .given = &(c).mtc,                                                                \
		 .max = 15,                                                                        \
		 .help = "MTC packets each 2^PERIOD ticks of the crystal clock, and TSC packets"}, \
		{.name = "cyc",                                                                    \
		 .type = VT_OPT_FLAG,                                                              \
		 .value = &(c).opt.cyc,                                                            \
		 .help = "CYC packets"},                                                           \
		{.name = "cpi",                                                                    \
		 .type = VT_OPT_F64,                                                               \
		 .value = &(c).cpi,                                                                \
		 .arg = "CYCLES",                                                                  \
		 .help = "cycles that an instruction takes (default 1)"},                          \
		{.name = "nom-freq",                                                               \
		 .type = VT_OPT_U64,                                                               \
		 .value = &(c).nominal_ratio,                                                      \
		 .arg = "RATIO",                                                                   \
		 .help = "TSC ticks for each tick of the bus clock (default 32)",                  \
		 .min = 1,                                                                         \
		 .max = 255},                                                                      \
		{.name = "cbr",                                                                    \
		 .type = VT_OPT_U64,                                                               \
		 .value = &(c).cbr,                                                                \
		 .arg = "RATIO",                                                                   \
		 .help = "core cycles for each tick of the bus clock (default: as --nom-freq)",    \
		 .min = 1,                                                                         \
		 .max = 255},                                                                      \
		{.name = "cpuid-15h",                                                              \
		 .type = VT_OPT_STRING,                                                            \
		 .value = &(c).crystal,                                                            \
		 .arg = "EAX,EBX",                                                                 \
		 .help = "TSC ticks are those of the crystal clock * EBX / EAX (default 2,256)"},  \
	{                                                                                          \
		.name = "start-tsc", .type = VT_OPT_U64, .value = &(c).opt.start_tsc,              \
		.arg = "TSC", .help = "the TSC when the stream begins", .max = VT_PT_MAX_START     \
	}

int cmd_encode(int argc, char **argv)
{
	struct app app;
	struct encode c = {.app = &app,
			   .opt = vt_pt_encode_defaults,
			   .perf = ENCODE_PERF_DEFAULTS,
			   .cpi = 1,
			   .nominal_ratio = vt_pt_encode_defaults.clock.nominal_ratio};
	const struct vt_opt opts[] = {
		APP_OPT_OUTPUT(c.output),
		{.name = "pages",
		 .type = VT_OPT_STRING,
		 .value = &c.pages,
		 .arg = "PREFIX",
		 .help = "write the code that was executed to PREFIX.dump and PREFIX.addr",
		 .unrecorded = true},
		{.name = "pid",
		 .type = VT_OPT_I64,
		 .value = &c.opt.pid,
		 .arg = "PID",
		 .help = "only this process"},
		{.name = "tid",
		 .type = VT_OPT_I64,
		 .value = &c.opt.tid,
		 .arg = "TID",
		 .help = "only this thread"},
		PACKET_OPTIONS(c),
		CLOCK_OPTIONS(c),
		{.name = "overflow",
		 .type = VT_OPT_U64,
		 .value = &c.opt.overflow,
		 .arg = "BYTES",
		 .help = "lose packets, as an overflow does, about every so many bytes"},
		{.name = "damage",
		 .type = VT_OPT_U64,
		 .value = &c.opt.damage,
		 .arg = "BYTES",
		 .help = "change some of the trace's bytes, about every so many"},
		APP_OPT_SEED(app),
		ENCODE_PERF_OPTIONS(c.perf),
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

	if (!app_start(&app, &page, argc, argv))
		return app_finish(&app);
	if (check_options(&c))
		run(&c);
	return app_finish(&app);
}
