/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "cmd/common/debuginfod.h"
#include "cmd/common/decode.h"
#include "cmd/common/find.h"
#include "cmd/common/stream.h"
#include "cmd/common/symfs.h"
#include "cmd/programs.h"
#include "formats/formats.h"
#include "formats/pt/decode/engine.h"

/*
 * As with perf's own commands; never standard input, which may be open without being meant: under
 * ssh, or in a loop that reads it.
 */
#define DEFAULT_INPUT "perf.data"

static void append_formats(struct vt_buf *notes)
{
	const struct vt_input_format *f;

	vt_buf_printf(notes, "formats:\n");
	for (f = vt_formats; f->name; f++)
		vt_buf_printf(notes, "  %-8s %s\n", f->name, f->description);
	vt_buf_printf(notes, "and vt, a stream, which is written anew");
}

/* Options as they are written. */
struct arguments {
	const char *crystal;
	uint64_t jobs, mtc, ratio;
	struct vt_opt_list images, pages, kernels;
};

/* Unpacks the archive that --symfs may name. */
static bool open_symfs(struct app *a, struct app_decode *d)
{
	struct vt_error err = VT_ERROR_INIT;
	const char *symfs = d->pt.symfs;

	d->pt.symfs = app_symfs_dir(&a->archives, symfs, &err);
	return d->pt.symfs || !symfs || app_fail(a, &err);
}

static void decode_as_asked(struct app *a, struct app_decode *d, const struct arguments *args)
{
	char *cache = app_buildid_cache();

	app_make_stream(a, d->output);
	d->pt.images = args->images.items;
	d->pt.nimages = args->images.count;
	d->pt.pages = args->pages.items;
	d->pt.npages = args->pages.count;
	d->pt.jobs = (unsigned)args->jobs;
	a->threads = d->pt.jobs > 1 ? d->pt.jobs - 1 : 0;
	d->pt.clock.mtc_period = (uint8_t)args->mtc;
	d->pt.clock.nominal_ratio = (uint8_t)args->ratio;
	d->pt.kernels = args->kernels.items;
	d->pt.nkernels = args->kernels.count;
	d->pt.cache = cache;
	d->pt.fetch = app_debuginfod_fetch;
	d->pt.fetch_arg = a->debuginfod;
	d->raw_option = args->images.count  ? "--image"
			: args->pages.count ? "--pages"
			: d->pt.pid	    ? "--pid"
			: args->mtc	    ? "--mtc"
			: args->ratio	    ? "--nom-freq"
			: args->crystal	    ? "--cpuid-15h"
					    : NULL;
	if (d->pt.engine && strcmp(d->pt.engine, VT_PT_ENGINE_NONE) != 0 &&
	    !vt_pt_engine_by_name(d->pt.engine))
		app_usage(a, "--engine: there is no '%s'", d->pt.engine);
	else if (d->pack && d->format)
		app_usage(a, "--format: not with --pack");
	else if (app_parse_crystal(a, args->crystal, UINT32_MAX, UINT32_MAX, &d->pt.clock) &&
		 open_symfs(a, d))
		app_decode(a, d, a->argc ? a->argv[0] : DEFAULT_INPUT);
	free(cache);
}

int cmd_decode(int argc, char **argv)
{
	struct app app;
	struct vt_buf notes = VT_BUF_INIT;
	struct app_decode d = {0};
	struct arguments args = {.jobs = 1};
	const struct vt_opt opts[] = {
		APP_OPT_OUTPUT(d.output),
		APP_OPT_COMPRESS(d.compress),
		{0, "pack", VT_OPT_FLAG, &d.pack,
		 .help = "add names, source lines and code of what was hit, as\nvtrace pack does"},
		{0, "format", VT_OPT_STRING, &d.format, .arg = "FORMAT",
		 .help = "take the input to be of this format; else its first\nbytes decide"},
		{0, "engine", VT_OPT_STRING, &d.pt.engine, .arg = "NAME",
		 .help = "Intel PT: the decoder, fast (default) or libipt, which\n"
			 "give the same, or none to keep the bytes",
		 .unrecorded = true},
		{'j', "jobs", VT_OPT_U64, &args.jobs, .arg = "N",
		 .help = "Intel PT: threads (default 1)", .min = 1, .max = 256, .unrecorded = true},
		APP_OPT_SYMFS(d.pt.symfs),
		{0, "kernel", VT_OPT_LIST, &args.kernels, .arg = "FILE",
		 .help = "the recorded kernel's code: vmlinux, or a copy of kcore"},
		{0, "no-decode-raw", VT_OPT_FLAG, &d.keep_raw,
		 .help = "IBS, PEBS: keep raw bytes, data source and weights only"},
		{0, "lbr", VT_OPT_FLAG, &d.pt.lbr,
		 .help = "make executed code of the branch stacks of samples, too"},
		{0, "image", VT_OPT_LIST, &args.images, .arg = "FILE:ADDR",
		 .help = "raw Intel PT: code of FILE lies at ADDR; also\n"
			 "FILE:ADDR:OFFSET:SIZE"},
		{0, "pages", VT_OPT_LIST, &args.pages, .arg = "DUMP,ADDRS",
		 .help = "raw Intel PT: code is in the pages of DUMP; ADDRS has\n"
			 "the address of each"},
		{0, "pid", VT_OPT_I64, &d.pt.pid, .arg = "PID",
		 .help = "raw Intel PT: the traced process (default 1)"},
		{0, "mtc", VT_OPT_U64, &args.mtc, .arg = "PERIOD",
		 .help = "raw Intel PT: an MTC packet came each 2^PERIOD ticks of\n"
			 "the crystal clock",
		 .max = 15},
		{0, "nom-freq", VT_OPT_U64, &args.ratio, .arg = "RATIO",
		 .help = "raw Intel PT: TSC ticks for each tick of the bus clock", .max = 255},
		{0, "cpuid-15h", VT_OPT_STRING, &args.crystal, .arg = "EAX,EBX",
		 .help = "raw Intel PT: TSC ticks are those of the crystal clock\n* EBX / EAX"},
		{0, "packets", VT_OPT_FLAG, &d.pt.packets,
		 .help = "Intel PT: count the packets of each kind"},
		{0},
	};
	struct vt_opt_page page = {
		.program = "vtrace decode",
		.usage = "[options] [-o FILE] [FILE|-]",
		.about = "Makes a record stream from a recorded trace.  Without FILE it reads "
			 "./perf.data;\n"
			 "- is standard input.",
		.opts = opts,
		.max_operands = 1,
	};

	append_formats(&notes);
	page.notes = vt_buf_str(&notes);
	if (app_start(&app, &page, argc, argv))
		decode_as_asked(&app, &d, &args);
	vt_opt_list_fini(&args.images);
	vt_opt_list_fini(&args.pages);
	vt_opt_list_fini(&args.kernels);
	vt_buf_free(&notes);
	return app_finish(&app);
}
