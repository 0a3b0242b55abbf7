/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/common/tempfile.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"

int vt_tempfile(const char *dir, struct vt_error *err)
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

int vt_tempfile_put(int fd, const char *dir, const uint8_t *p, size_t size, struct vt_error *err)
{
	while (size) {
		ssize_t n = write(fd, p, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return vt_error_errno(err, VT_E_WRITE, errno, "%s: temporary file", dir);
		p += n;
		size -= (size_t)n;
	}
	return 0;
}
