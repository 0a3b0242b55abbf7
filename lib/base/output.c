/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/output.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FLUSH_SIZE ((size_t)64 * 1024)

static int init_output(struct vt_output *out, int fd, bool owned, const char *name,
		       struct vt_error *err)
{
	struct stat st;

	*out = (struct vt_output){.fd = fd, .owned = owned, .name = strdup(name)};
	if (!out->name) {
		if (owned)
			close(fd);
		return vt_error_set(err, VT_E_NOMEM, "%s: out of memory", name);
	}
	out->regular = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
	out->tty = isatty(fd);
	return 0;
}

int vt_output_open(struct vt_output *out, const char *path, struct vt_error *err)
{
	int fd;

	if (strcmp(path, "-") == 0)
		return init_output(out, STDOUT_FILENO, false, "standard output", err);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		return vt_error_errno(err, VT_E_WRITE, errno, "%s", path);
	return init_output(out, fd, true, path, err);
}

int vt_output_open_fd(struct vt_output *out, int fd, const char *name, struct vt_error *err)
{
	return init_output(out, fd, false, name, err);
}

static void write_all(struct vt_output *out, const uint8_t *data, size_t size)
{
	while (size && out->err.code == VT_OK) {
		ssize_t n = write(out->fd, data, size);

		assert(n < 0 || (size_t)n <= size);
		if (n >= 0) {
			data += n;
			size -= (size_t)n;
		} else if (errno != EINTR) {
			vt_error_errno(&out->err, VT_E_WRITE, errno, "%s", out->name);
		}
	}
}

int vt_output_flush(struct vt_output *out)
{
	if (out->buf.failed && out->err.code == VT_OK)
		vt_error_set(&out->err, VT_E_NOMEM, "%s: out of memory", out->name);
	write_all(out, out->buf.data, out->buf.size);
	out->buf.size = 0;
	return -(int)out->err.code;
}

static void flush_if_full(struct vt_output *out)
{
	if (out->buf.size >= FLUSH_SIZE || out->buf.failed)
		vt_output_flush(out);
}

void vt_output_put(struct vt_output *out, const void *data, size_t size)
{
	if (size >= FLUSH_SIZE) {
		vt_output_flush(out);
		write_all(out, data, size);
		return;
	}
	vt_buf_put(&out->buf, data, size);
	flush_if_full(out);
}

void vt_output_text(struct vt_output *out, const char *text)
{
	vt_output_put(out, text, strlen(text));
}

void vt_output_printf(struct vt_output *out, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vt_buf_vprintf(&out->buf, fmt, ap);
	va_end(ap);
	flush_if_full(out);
}

int vt_output_close(struct vt_output *out, struct vt_error *err)
{
	int code;

	vt_output_flush(out);
	if (out->owned && close(out->fd) < 0 && out->err.code == VT_OK)
		vt_error_errno(&out->err, VT_E_WRITE, errno, "%s", out->name);
	code = -(int)out->err.code;
	if (code)
		*err = out->err;
	free(out->name);
	vt_buf_free(&out->buf);
	*out = (struct vt_output){.fd = -1};
	return code;
}
