/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "image/addrspace.h"
#include "tests/unit/common/streams.h"
#include "tests/unit/value/collected.h"
#include "value/carried_code.h"

#define WRITABLE 7 /* PROT_READ, PROT_WRITE and PROT_EXEC of sys/mman.h */

static struct vt_error err;

/* A file has all blocks but number 1, as long as nothing can write to them. */
static bool file_has(void *arg, const struct vt_bblock *b)
{
	const struct vt_map *m =
		vt_addrspace_find(vt_context_space(arg), (int32_t)b->pid, b->addr, 0);

	return m && !m->writes && b->id != 1;
}

static void map_image(struct vt_writer *w, uint64_t image, uint64_t start, uint64_t prot)
{
	uint64_t *row = vt_writer_row(w, VT_MAP);

	row[VT_MAP_PID] = row[VT_MAP_TID] = PID;
	row[VT_MAP_START] = start;
	row[VT_MAP_LENGTH] = 0x1000;
	row[VT_MAP_IMAGE] = image;
	row[VT_MAP_PROT] = prot;
	row[VT_MAP_OFFSET] = start - BASE;
}

/* Three blocks on pages of their own; then some pages are mapped anew.  Addresses of code carried.
 */
static size_t carry(uint64_t image, uint64_t prot, uint64_t addresses[4])
{
	const struct collected_block b = {
		.ninsns = 1, .lengths = {1}, .end = VT_END_FALL, .code = {0x90}, .has_code = 1};
	struct vt_carried_code c = {.file_has = file_has};
	struct vt_context *context = vt_context_new(NULL);
	struct collected_profile p;
	struct vt_record rec;
	struct vt_writer *w;
	struct vt_reader *r;
	int fd = scratch_file();
	size_t n = 0;
	uint64_t id;

	collected_open(&p, ALL, false);
	c.arg = context;
	c.sites = p.sites;
	vt_collect_begin(p.collect, context);
	vt_carried_code_begin(&c, context);
	w = collected_begin(fd);
	collected_image(w, 1, "/bin/program");
	collected_image(w, 2, "/bin/other");
	for (id = 0; id < 3; id++)
		map_image(w, 1, BASE + 0x1000 * id, 5);
	for (id = 0; id < 3; id++)
		collected_block(w, &b, id);
	map_image(w, image, BASE + 0x2000, prot);
	r = reread_stream(fd, w);
	while (vt_reader_next(r, &rec, &err) > 0)
		assert_int_equal(vt_context_feed(context, rec.block, rec.row, 1, &err), 0);
	vt_reader_close(r);
	close(fd);
	fd = scratch_file();
	w = collected_begin(fd);
	assert_int_equal(vt_sites_write(p.sites, w, &err), 0);
	r = reread_stream(fd, w);
	while (vt_reader_next(r, &rec, &err) > 0)
		if (rec.kind == VT_BLOCK)
			addresses[n++] = vt_record_u64(&rec, VT_BLOCK_ADDR);
	vt_reader_close(r);
	close(fd);
	vt_carried_code_fini(&c);
	collected_close(&p);
	vt_context_free(context);
	return n;
}

/* Code that no file has is carried; other code is not. */
static void test_generated_code(void **state)
{
	uint64_t addresses[4] = {0};

	(void)state;
	assert_int_equal(carry(1, 5, addresses), 1);
	assert_int_equal(addresses[0], BASE + 0x1000);
}

/* What ran on a page before it became writable goes along; other pages' code does not. */
static void test_page_becomes_writable(void **state)
{
	uint64_t addresses[4] = {0};

	(void)state;
	assert_int_equal(carry(1, WRITABLE, addresses), 2);
	assert_int_equal(addresses[0], BASE + 0x1000);
	assert_int_equal(addresses[1], BASE + 0x2000);
}

/* Another image there says nothing of the code that ran. */
static void test_other_image(void **state)
{
	uint64_t addresses[4] = {0};

	(void)state;
	assert_int_equal(carry(2, WRITABLE, addresses), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_generated_code),
		cmocka_unit_test(test_page_becomes_writable),
		cmocka_unit_test(test_other_image),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
