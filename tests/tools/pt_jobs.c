/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pt_jobs [OPTION]... TRACE: walks a raw trace of Intel PT by one thread and by several, and prints
 * how many jobs were walked ahead, how many of these joined what was before them, and instructions.
 * Exits 1 when what they make of the trace differs.
 *
 *	--pages DUMP,ADDRS	code, as `vtrace decode` takes it
 *	--threads N		2
 *	--nominal N		maximum non-turbo ratio; unknown unless told
 *	--crystal N		TSC ticks for two of the crystal clock; 256, 0: unknown
 */
#include "formats/pt/decode/parallel.h"
#include "formats/pt/raw/code.h"
#include "tests/tools/pt_engines.h"

static void run_threads(const struct vt_pt_code *code, const struct vt_pt_options *opt,
			const uint8_t *trace, size_t size, struct result *r, size_t *joined,
			size_t *walked)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vti_pt_walk *w = open_walk(code, opt, trace, size);
	struct vti_pt_parallel *p = vti_pt_parallel_new(w, opt->jobs);
	struct vt_pt_batch batch;
	int rc;

	if (!p)
		die("no threads");
	while ((rc = vti_pt_parallel_next(p, &batch, &err)) > 0)
		take_batch(r, &batch);
	if (rc < 0)
		die(err.text);
	*joined = vti_pt_parallel_joined(p, walked);
	vti_pt_parallel_free(p);
	close_walk(w);
}

int main(int argc, char **argv)
{
	const char *pages[1] = {NULL};
	struct vt_pt_decode_options opt = {.pages = pages};
	struct vt_pt_options one = {.clock = {3, 0, 256, 2}, .jobs = 1}, many;
	struct result a = {.insns = 0}, b = {.insns = 0};
	struct vt_error err = VT_ERROR_INIT;
	unsigned threads = 2;
	size_t size, joined, walked;
	struct vt_pt_rawcode *code;
	uint8_t *trace;
	bool same;

	for (argv++, argc--; argc > 2 && !strncmp(*argv, "--", 2); argv += 2, argc -= 2) {
		if (!strcmp(*argv, "--pages")) {
			pages[opt.npages] = argv[1];
			opt.npages = 1;
		} else if (!strcmp(*argv, "--threads")) {
			threads = (unsigned)strtoul(argv[1], NULL, 0);
		} else if (!strcmp(*argv, "--nominal")) {
			one.clock.nominal_ratio = (uint8_t)strtoul(argv[1], NULL, 0);
		} else if (!strcmp(*argv, "--crystal")) {
			one.clock.ctc_numerator = (uint32_t)strtoul(argv[1], NULL, 0);
		} else {
			die("unknown option");
		}
	}
	if (argc != 1)
		die("one trace is needed");
	code = vt_pt_rawcode_new(&opt, &err);
	if (!code)
		die(err.text);
	trace = load_trace(*argv, &size);
	many = one;
	many.jobs = threads;
	run_engine(&vt_pt_fast, vt_pt_rawcode_code(code), &one, trace, size, false, &a);
	run_threads(vt_pt_rawcode_code(code), &many, trace, size, &b, &joined, &walked);
	same = same_result(&a, &b);
	printf("walked %zu joined %zu insns %" PRIu64 " marks %zu: %s\n", walked, joined, a.insns,
	       a.nmarks, same ? "the same" : "different");
	free_result(&a);
	free_result(&b);
	free(trace);
	vt_pt_rawcode_free(code);
	return same ? 0 : 1;
}
