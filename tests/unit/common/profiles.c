/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/common/profiles.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/common/streams.h"

void read_context(struct vt_context *c, int fd, struct vt_writer *w)
{
	struct vt_reader *r = reread_stream(fd, w);
	struct vt_error err = VT_ERROR_INIT;
	const struct vt_block *block;
	uint32_t first, count;
	int rc;

	while ((rc = vt_reader_next_run(r, &block, &first, &count, &err)) == 1)
		assert_int_equal(vt_context_feed(c, block, first, count, &err), 0);
	assert_int_equal(rc, 0);
	vt_reader_close(r);
	close(fd);
}

struct vt_profile *new_profile(struct vt_images *images)
{
	struct vt_context *c = vt_context_new(images);
	struct vt_profile *p;

	assert_non_null(c);
	p = vt_profile_new(c);
	assert_non_null(p);
	vt_context_add(c, &(struct vt_consumer){.take = vt_profile_feed, .arg = p});
	return p;
}

void free_profile(struct vt_profile *p)
{
	struct vt_context *c = vt_profile_context(p);

	vt_profile_free(p);
	vt_context_free(c);
}
