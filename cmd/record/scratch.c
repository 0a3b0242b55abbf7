/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/record/scratch.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"
#include "cmd/common/find.h"

/* With `fd`, a file. */
static char *scratch_make(struct app *a, int *fd)
{
	const char *chosen = getenv("VTRACE_TMPDIR");
	const char *places[] = {chosen && *chosen ? chosen : "/dev/shm", app_tmpdir()};
	struct vt_error err = VT_ERROR_INIT;
	size_t i;

	for (i = 0; i < 2; i++) {
		struct vt_buf path = VT_BUF_INIT;
		bool made;

		vt_buf_printf(&path, "%s/vtrace.XXXXXX", places[i]);
		vt_buf_put_u8(&path, 0);
		made = !path.failed && (fd ? (*fd = mkstemp((char *)path.data)) >= 0
					   : mkdtemp((char *)path.data) != NULL);
		if (made)
			return (char *)path.data;
		vt_error_errno(&err, VT_E_SYSTEM, errno, "%s", places[i]);
		vt_buf_free(&path);
		if (i == 0)
			app_say(a, "%s", err.text);
	}
	app_fail(a, &err);
	return NULL;
}

char *scratch_make_directory(struct app *a)
{
	return scratch_make(a, NULL);
}

char *scratch_make_file(struct app *a, int *fd)
{
	return scratch_make(a, fd);
}
