/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The reference engine of Intel PT on any trace and code (tests/tools/pt_fuzz.h): what it gives
 * keeps to its own rules, and stopping on the way changes nothing.
 */
#include "tests/tools/pt_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct result whole = {.nblocks = 0}, pieces = {.nblocks = 0};
	struct fuzz_input in;

	fuzz_parse(&in, data, size);
	run_engine(&vt_pt_libipt, in.code, &in.opt, in.trace, in.size, false, &whole);
	run_engine(&vt_pt_libipt, in.code, &in.opt, in.trace, in.size, true, &pieces);
	if (!same_result(&whole, &pieces))
		die("stopping changes what is decoded");
	free_result(&whole);
	free_result(&pieces);
	vt_pt_code_free(in.code);
	return 0;
}
