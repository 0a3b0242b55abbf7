/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/input.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"

/* Size of one read(): a pipe seldom holds more, and a file needs few calls. */
#define READ_SIZE  ((size_t)64 * 1024)
#define LEAST_ROOM (READ_SIZE / 4)
#define READ_AHEAD ((size_t)64)

/* Size of a read() behind bytes that were left out: more of them may follow. */
#define SPARSE_READ ((size_t)1024)

static int init_input(struct vt_input *in, int fd, bool owned, const char *name,
		      struct vt_error *err)
{
	struct stat st;

	*in = (struct vt_input){.fd = fd, .owned = owned, .name = strdup(name)};
	if (!in->name) {
		vt_input_close(in);
		return vt_error_set(err, VT_E_NOMEM, "%s: out of memory", name);
	}
	if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
		vt_input_close(in);
		return vt_error_errno(err, VT_E_READ, EISDIR, "%s", name);
	}
	return 0;
}

int vt_input_open(struct vt_input *in, const char *path, struct vt_error *err)
{
	int fd;

	*in = (struct vt_input){.fd = -1};
	if (strcmp(path, "-") == 0)
		return init_input(in, STDIN_FILENO, false, "standard input", err);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return vt_error_errno(err, VT_E_READ, errno, "%s", path);
	return init_input(in, fd, true, path, err);
}

int vt_input_open_fd(struct vt_input *in, int fd, const char *name, struct vt_error *err)
{
	return init_input(in, fd, false, name, err);
}

void vt_input_close(struct vt_input *in)
{
	if (in->owned && in->fd >= 0)
		close(in->fd);
	if (in->pull_end)
		in->pull_end(in->pull_arg);
	free(in->name);
	free(in->buf);
	*in = (struct vt_input){.fd = -1};
}

/* Up to this size, the buffer grows instead of moving a large window to its front repeatedly. */
#define ROOMY ((size_t)2 * 1024 * 1024)

/* Makes room behind the window, by moving it to the front of the buffer or by growing the buffer.
 */
static int make_input_room(struct vt_input *in, struct vt_error *err)
{
	bool costly = in->end - in->start > in->start / 4 && in->cap < ROOMY;

	assert(in->start <= in->end && in->end <= in->cap);
	if (in->start && !costly && in->cap - in->end < LEAST_ROOM) {
		memmove(in->buf, in->buf + in->start, in->end - in->start);
		in->end -= in->start;
		in->start = 0;
	}
	if (in->cap - in->end < LEAST_ROOM &&
	    !vt_array_grow(&in->buf, &in->cap, in->end + READ_SIZE, 1))
		return vt_error_set(err, VT_E_NOMEM, "%s: out of memory", in->name);
	return 0;
}

/* Reads up to `room` bytes; *n is 0 at the end of the input. */
static int read_some(struct vt_input *in, uint8_t *out, size_t room, size_t *n,
		     struct vt_error *err)
{
	ssize_t r;

	if (in->pull)
		return in->pull(in, out, room, n, err);
	do {
		r = in->sparse ? pread(in->fd, out, room, in->next) : read(in->fd, out, room);
	} while (r < 0 && errno == EINTR);
	if (r < 0)
		return vt_error_errno(err, VT_E_READ, errno, "%s", in->name);
	in->next += r;
	*n = (size_t)r;
	return 0;
}

/*
 * The bytes that the next read may take, of which `missing` are needed: not all the room that
 * doubling made, for untouched memory is free, and behind a large piece few more, which are moved
 * later.
 */
static size_t limit_read(struct vt_input *in, size_t room, size_t missing)
{
	size_t most = missing < READ_SIZE ? READ_SIZE : missing + READ_AHEAD;

	if (room > most)
		room = most;
	if (!in->sparse || in->ahead >= READ_SIZE)
		return room;
	if (missing < in->ahead)
		missing = in->ahead;
	in->ahead *= 2;
	if (room > missing)
		room = missing;
	return room;
}

int vt_input_fill(struct vt_input *in, size_t need, size_t *have, struct vt_error *err)
{
	while (in->end - in->start < need && !in->eof) {
		size_t room, n = 0;
		int r;

		if (make_input_room(in, err) < 0)
			return -VT_E_NOMEM;
		room = limit_read(in, in->cap - in->end, need - (in->end - in->start));
		r = read_some(in, in->buf + in->end, room, &n, err);
		if (r < 0)
			return r;
		assert(n <= room && room <= in->cap - in->end);
		in->eof = n == 0;
		in->end += n;
	}
	*have = in->end - in->start;
	return 0;
}

bool vt_input_go_sparse(struct vt_input *in)
{
	struct stat st;

	if (in->pull || fstat(in->fd, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	in->next = lseek(in->fd, 0, SEEK_CUR);
	in->sparse = in->next >= 0;
	in->ahead = SPARSE_READ;
	return in->sparse;
}

int vt_input_leave_out(struct vt_input *in, size_t to, struct vt_error *err)
{
	size_t more = to - (in->end - in->start);

	assert(in->sparse && to >= in->end - in->start);
	if (make_input_room(in, err) < 0)
		return -VT_E_NOMEM;
	assert(more <= in->cap - in->end);
	in->end += more;
	in->next += (off_t)more;
	in->ahead = SPARSE_READ;
	return 0;
}

void vt_input_read_again(struct vt_input *in)
{
	assert(in->sparse);
	in->next -= (off_t)(in->end - in->start);
	in->end = in->start;
	in->eof = false;
	in->ahead = SPARSE_READ;
}
