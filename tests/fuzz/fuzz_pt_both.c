/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Both engines of Intel PT on any trace and code (tests/tools/pt_fuzz.h), and ours without its
 * cache of runs: they give the same.
 */
#include "tests/tools/pt_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct vt_pt_engine_ops *const engines[] = {&vt_pt_libipt, &vt_pt_careful,
								 &vt_pt_fast};
	struct result results[3] = {{.nblocks = 0}};
	struct fuzz_input in;
	unsigned i;

	fuzz_parse(&in, data, size);
	for (i = 0; i < 3; i++) {
		run_engine(engines[i], in.code, &in.opt, in.trace, in.size, false, &results[i]);
		if (!same_result(&results[0], &results[i]))
			die(engines[i]->name);
	}
	for (i = 0; i < 3; i++)
		free_result(&results[i]);
	vt_pt_code_free(in.code);
	return 0;
}
