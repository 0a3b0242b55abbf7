/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a processor that issues out of order fetches where the program did not go: its images' code.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "image/elf.h"
#include "image/images.h"
#include "tests/unit/common/simruns.h"

/* Two pages of nops in this program's text. */
#define PAGE 4096
__asm__(".text\n"
	".p2align 12\n"
	"test_nops:\n"
	".fill 8192, 1, 0x90\n");
extern const char test_nops[], __executable_start[];

static struct vt_error err;
static char self[4096];
static uint64_t offset; /* of the nops in the file */

static int find_self(void **state)
{
	ssize_t size = readlink("/proc/self/exe", self, sizeof(self) - 1);
	uint64_t vaddr = (uint64_t)(test_nops - __executable_start);
	const struct vt_elf_segment *s;
	struct vt_elf *e;
	size_t i, n;

	(void)state;
	assert_true(size > 0);
	self[size] = '\0';
	e = vt_elf_open(self, &err);
	assert_non_null(e);
	s = vt_elf_segments(e, &n);
	for (i = 0; i < n; i++)
		if (s[i].exec)
			offset = vaddr - s[i].vaddr + s[i].offset;
	vt_elf_close(e);
	assert_int_equal(offset % PAGE, 0);
	return 0;
}

/*
 * 20000: 48 85 c0  test %rax,%rax
 * 20003: 74 1b     je 20020, taken for the first time
 * 20020: eb ..     jmp to where the code behind the branch goes on
 *        90        nop
 */
#define START 0x20000

static bool mapped;
static uint64_t skipped; /* from the branch to the nop */

static void put_branch(struct vt_writer *w)
{
	static const uint8_t test[] = {0x48, 0x85, 0xc0, 0x74, 0x1b}, nop[] = {0x90};
	static const uint8_t jump[] = {0xe9, 0, 0, 0, 0};
	const uint64_t to = START + 3 + skipped;
	const struct block blocks[] = {
		{START, START + 0x20, test, 5, 2, {3, 2}, 0, {0}, VT_END_BRANCH},
		{START + 0x20, to, jump, 5, 1, {5}, 0, {0}, VT_END_JUMP},
		{to, 0, nop, 1, 1, {1}, 0, {0}, VT_END_FALL},
	};
	const struct run r = {PID, PID, 0, 4, "012", 0, 0};
	uint64_t *row = vt_writer_row(w, VT_IMAGE), id;

	row[VT_IMAGE_ID] = 1;
	row[VT_IMAGE_TYPE] = VT_IMAGE_FILE;
	vt_writer_text(w, VT_IMAGE_PATH, self);
	row = vt_writer_row(w, VT_MAP);
	row[VT_MAP_PID] = row[VT_MAP_TID] = PID;
	row[VT_MAP_START] = mapped ? START : START + 0x100000;
	row[VT_MAP_LENGTH] = PAGE;
	row[VT_MAP_OFFSET] = offset;
	row[VT_MAP_IMAGE] = 1;
	row[VT_MAP_PROT] = 5;
	for (id = 0; id < 3; id++)
		put_block(w, id, &blocks[id], PID, true);
	put_exec(w, &r);
}

/* Does the nop miss the cache? */
static bool misses(bool images)
{
	const struct vt_simulate_event event = {VT_SIMULATE_IMISS,
						vt_interval_make(VT_INTERVAL_FIXED, 1)};
	const struct vt_images_options none = {.warn = NULL};
	struct vt_core core = plain_core();
	struct vt_simulate_options options = {.core = &core, .events = &event, .nevents = 1};
	struct vt_images *files = images ? vt_images_new(&none, &err) : NULL;
	static struct out o;
	unsigned i;

	core.order = VT_OUT_OF_ORDER;
	core.front = core.fetch = core.decode = core.issue = core.retire = 4;
	core.rob = 128;
	core.queue = 64;
	core.stores = 8;
	core.predictor = VT_PREDICT_BIMODAL;
	core.predictor_bits = 8;
	core.icache = (struct vt_cache_shape){.size = 8192, .line = 64, .ways = 8, .latency = 1};
	core.memory = 100;
	/* It takes long until it is known which way the branch goes. */
	for (i = 0; i < VT_NOPCLASSES; i++)
		core.classes[i].latency = 1000;
	options.context = vt_context_new(files);
	run_options(put_branch, &options, false, &o);
	vt_images_free(files);
	assert_int_equal(o.finished, 0);
	assert_int_equal(o.totals.insns, 4);
	return count_samples(&o, EVENT, START + 3 + skipped);
}

static void test_wrong_path(void **state)
{
	(void)state;
	mapped = true;
	skipped = 0x42;
	assert_false(misses(true));
	assert_true(misses(false));
	/* Further than the reorder buffer is long. */
	skipped = 0x142;
	assert_true(misses(true));
	/* Where no image is, nothing is known. */
	mapped = false;
	skipped = 0x42;
	assert_true(misses(true));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wrong_path),
	};

	return cmocka_run_group_tests(tests, find_self, NULL);
}
