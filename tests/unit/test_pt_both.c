/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The engines make the same of the kept traces (tests/fuzz/corpus/fuzz_pt_both) and of damaged
 * variants of them, which are the same at each run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <glob.h>

#include "tests/tools/pt_damage.h"
#include "tests/tools/pt_fuzz.h"

#define CORPUS	 "tests/fuzz/corpus/fuzz_pt_both/*"
#define VARIANTS 120

static const struct vt_pt_engine_ops *const engines[] = {&vt_pt_libipt, &vt_pt_careful,
							 &vt_pt_fast};

/* Of all engines, at once and with a stop before each note that can be waited for. */
static void compare(const struct fuzz_input *in, const struct victim *v, const char *path,
		    unsigned variant)
{
	struct result first = {.nblocks = 0}, other = {.nblocks = 0};
	unsigned i;

	run_engine(engines[0], in->code, &in->opt, v->data, v->size, false, &first);
	for (i = 1; i < 6; i++) {
		run_engine(engines[i % 3], in->code, &in->opt, v->data, v->size, i > 2, &other);
		if (!same_result(&first, &other))
			fail_msg("%s, variant %u: %s%s differs", path, variant,
				 engines[i % 3]->name, i > 2 ? " with stops" : "");
	}
	free_result(&first);
	free_result(&other);
}

static void test_file(const char *path)
{
	struct victim v = {.size = 0};
	struct fuzz_input in;
	struct vt_rng rng;
	size_t size;
	uint8_t *data = load_trace(path, &size);
	/* libipt reads behind the end of a trace that a corrupted TMA ends: that one stays whole.
	 */
	unsigned variant, n, variants = strstr(path, "skz84-end") ? 1 : VARIANTS;

	fuzz_parse(&in, data, size);
	vt_rng_init(&rng, 1);
	for (variant = 0; variant < variants; variant++) {
		v.size = in.size;
		v.data = grow(v.data, &v.cap, v.size, 1);
		memcpy(v.data, in.trace, v.size);
		find_packets(&v);
		for (n = variant ? 1 + (unsigned)vt_rng_below(&rng, 4) : 0; n; n--)
			damage(&v, &rng);
		if (variant)
			fuzz_set_model(&in, variant);
		compare(&in, &v, path, variant);
	}
	vt_pt_code_free(in.code);
	free(v.data);
	free(v.starts);
	free(v.ips);
	free(data);
}

static void test_corpus(void **state)
{
	glob_t files;
	size_t i;

	(void)state;
	assert_int_equal(glob(CORPUS, 0, NULL, &files), 0);
	assert_true(files.gl_pathc > 20);
	for (i = 0; i < files.gl_pathc; i++)
		test_file(files.gl_pathv[i]);
	globfree(&files);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_corpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
