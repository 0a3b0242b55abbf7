/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/pt/tempfile.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"

int vti_pt_tempfile(const char *dir, struct vt_error *err)
{
	struct vt_buf path = VT_BUF_INIT;
	int fd;

	vt_buf_printf(&path, "%s/vtrace.XXXXXX", dir);
	vt_buf_put_u8(&path, 0);
	if (path.failed) {
		vt_buf_free(&path);
		return vt_error_nomem(err);
	}
	fd = mkstemp((char *)path.data);
	if (fd < 0)
		vt_error_errno(err, VT_E_WRITE, errno, "%s: cannot make a temporary file", dir);
	else
		unlink((char *)path.data);
	vt_buf_free(&path);
	return fd < 0 ? -VT_E_WRITE : fd;
}
