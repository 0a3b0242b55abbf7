/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The images of a recording: what they are, and how many are told apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "formats/recording/images.h"
#include "stream/reader.h"
#include "tests/unit/common/streams.h"

static void number_of_images(void **state)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_record rec;
	struct rc_images t;
	struct vt_reader *r;
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	uint32_t i, images = 0;

	(void)state;
	assert_int_equal(vti_rc_images_init(&t, &err), 0);
	for (i = 0; i < RC_MAX_IMAGES; i++)
		assert_int_equal(vti_rc_image(&t, w, "[heap]", 6, i % 7, 1 + i), i);
	/* All further ones are one, of no name. */
	assert_int_equal(vti_rc_image(&t, w, "[vdso]", 6, 1, 1), RC_MAX_IMAGES);
	assert_int_equal(vti_rc_image(&t, w, "[heap]", 6, 2, 2), RC_MAX_IMAGES);
	vti_rc_images_fini(&t);
	r = reread_stream(fd, w);
	while (vt_reader_next(r, &rec, &err) == 1) {
		assert_int_equal(rec.kind, VT_IMAGE);
		assert_int_equal(vt_record_u64(&rec, VT_IMAGE_ID), images++);
		assert_int_equal(vt_record_u64(&rec, VT_IMAGE_TYPE), VT_IMAGE_ANON);
		assert_int_equal(vt_record_bytes(&rec, VT_IMAGE_PATH).size, 6);
	}
	assert_int_equal(images, RC_MAX_IMAGES + 1);
	vt_reader_close(r);
	close(fd);
}

/* Generated code lies in memory that has a name, too. */
static void types_of_images(void **state)
{
	static const struct {
		const char *path;
		uint64_t type;
	} rows[] = {{"/memfd:code (deleted)", VT_IMAGE_ANON},
		    {"/no/such", VT_IMAGE_FILE},
		    {"[vdso]", VT_IMAGE_VDSO}};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_record rec;
	struct rc_images t;
	struct vt_reader *r;
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	uint32_t i;

	(void)state;
	assert_int_equal(vti_rc_images_init(&t, &err), 0);
	for (i = 0; i < 3; i++)
		assert_int_equal(vti_rc_image(&t, w, rows[i].path, strlen(rows[i].path), 1, 1), i);
	vti_rc_images_fini(&t);
	r = reread_stream(fd, w);
	for (i = 0; vt_reader_next(r, &rec, &err) == 1; i++)
		assert_int_equal(vt_record_u64(&rec, VT_IMAGE_TYPE), rows[i].type);
	assert_int_equal(i, 3);
	vt_reader_close(r);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(number_of_images),
		cmocka_unit_test(types_of_images),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
