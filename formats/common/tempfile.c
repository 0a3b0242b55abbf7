/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/common/tempfile.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"

#define NAME "records put aside"

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

int vt_spool_open(struct vt_spool *s, const char *tmpdir, const struct vt_reader *in,
		  struct vt_error *err)
{
	struct vt_writer_options o = {
		.compression = VT_COMPRESS_NONE, .inputs = &in, .ninputs = in ? 1 : 0};

	*s = (struct vt_spool){.dir = tmpdir, .fd = vt_tempfile(tmpdir, err)};
	if (s->fd < 0)
		return s->fd;
	s->w = vt_writer_open_fd(s->fd, NAME, &o, err);
	if (s->w)
		return 0;
	vt_spool_close(s);
	return -(int)err->code;
}

int vt_spool_rewind(struct vt_spool *s, struct vt_error *err)
{
	int code = s->w ? vt_writer_close(s->w, VT_STATUS_COMPLETE, err) : 0;

	s->w = NULL;
	vt_reader_close(s->r);
	s->r = NULL;
	if (code < 0)
		return code;
	if (lseek(s->fd, 0, SEEK_SET) < 0)
		return vt_error_errno(err, VT_E_READ, errno, "%s: temporary file", s->dir);
	s->r = vt_reader_open_fd(s->fd, NAME, err);
	return s->r ? 0 : -(int)err->code;
}

void vt_spool_close(struct vt_spool *s)
{
	if (s->w)
		vt_writer_abandon(s->w);
	vt_reader_close(s->r);
	if (s->fd >= 0)
		close(s->fd);
	*s = (struct vt_spool){.fd = -1};
}
