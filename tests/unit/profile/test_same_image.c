/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which image of one stream is which of another: by build-id, or else by type and path. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "profile/same_image.h"

static struct vt_error err;

static void add(struct vt_images *im, uint32_t id, unsigned type, const char *path, const char *id2)
{
	assert_int_equal(vt_images_add(im, id, type, path, strlen(path), (const uint8_t *)id2,
				       strlen(id2), &err),
			 0);
}

static void test_same(void **state)
{
	static const struct vt_images_options none = {.warn = NULL};
	static const struct {
		uint32_t id, same; /* 0: none */
	} rows[] = {{1, 11}, {2, 13}, {3, 0}, {4, 0}, {5, 15}, {6, 14}, {99, 0}};
	struct vt_images *from = vt_images_new(&none, &err), *to = vt_images_new(&none, &err);
	unsigned i;

	(void)state;
	assert_true(from && to);
	add(from, 1, VT_IMAGE_FILE, "/a", "");
	add(from, 2, VT_IMAGE_FILE, "/elsewhere", "\x12\x34");
	add(from, 3, VT_IMAGE_FILE, "/b", "\x56");
	add(from, 4, VT_IMAGE_FILE, "/none", "");
	add(from, 5, VT_IMAGE_FILE, "/c", "\x77");
	add(from, 6, VT_IMAGE_VDSO, "/a", "");
	add(to, 11, VT_IMAGE_FILE, "/a", "");
	add(to, 12, VT_IMAGE_FILE, "/b", "\x78");
	add(to, 13, VT_IMAGE_FILE, "/x", "\x12\x34");
	add(to, 14, VT_IMAGE_VDSO, "/a", "\x99");
	add(to, 15, VT_IMAGE_FILE, "/c", "");
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		uint32_t same = 0;

		assert_int_equal(vt_same_image(from, rows[i].id, to, &same), rows[i].same != 0);
		assert_int_equal(same, rows[i].same);
	}
	vt_images_free(from);
	vt_images_free(to);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
