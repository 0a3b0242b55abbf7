/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Any bytes as what a recorder left in a ring: a u16 each that says how many bytes of ids and of
 * data there are, in fours; those; the rest is events.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "formats/recording/recording.h"
#include "formats/recording/ring.h"

#define PID   7
#define START 8192 /* of the areas: behind the header */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The ring's file: one full buffer with all of the input. */
static void make_ring(int fd, const uint8_t *data, size_t size)
{
	struct vt_cursor c = vt_cursor_make(data, size, false);
	struct vt_ring h = {.magic = VT_RING_MAGIC, .pid = PID, .nbuffers = 1};
	struct vt_ring_buffer *b = &h.buffers[0];

	b->ids = 4u * vt_cursor_u16(&c);
	b->data = 4u * vt_cursor_u16(&c);
	b->ids = b->ids < vt_cursor_left(&c) ? b->ids : 0;
	b->data = b->ids + b->data < vt_cursor_left(&c) ? b->data : 0;
	b->events = (uint32_t)vt_cursor_left(&c) - b->ids - b->data;
	b->state = VT_RING_FULL;
	b->tid = PID;
	b->ids_offset = START;
	b->data_offset = b->ids_offset + (b->ids + 7) / 8 * 8;
	b->events_offset = b->data_offset + (b->data + 7) / 8 * 8;
	b->ids_size = b->ids;
	b->data_size = b->data;
	b->events_size = b->events;
	if (ftruncate(fd, (off_t)(b->events_offset + b->events)) < 0 ||
	    pwrite(fd, &h, sizeof(h), 0) < 0 || pwrite(fd, c.p, b->ids, START) < 0 ||
	    pwrite(fd, c.p + b->ids, b->data, (off_t)b->data_offset) < 0 ||
	    pwrite(fd, c.p + b->ids + b->data, b->events, (off_t)b->events_offset) < 0)
		abort();
}

static void read_ring(int dirfd, struct vt_recording *r, const uint8_t *data, size_t size)
{
	const struct vt_ring_message hello = {.type = VT_RING_HELLO, .pid = PID};
	struct vt_error err = VT_ERROR_INIT;
	int control = openat(dirfd, "control", O_WRONLY | O_NONBLOCK);
	int fd = openat(dirfd, "ring.7.0", O_RDWR | O_CREAT | O_EXCL, 0600);

	if (control < 0 || fd < 0)
		abort();
	make_ring(fd, data, size);
	if (write(control, &hello, sizeof(hello)) < 0)
		abort();
	vt_recording_read(r, &err);
	vt_recording_dead(r, PID, &err);
	close(fd);
	close(control);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct vt_writer_options how = {.compression = VT_COMPRESS_NONE};
	const struct vt_recording_options opt = {
		.skip = size % 5, .count = size % 7 * 10, .toggle = size % 11 == 0};
	char dir[] = "/tmp/vt-fuzz.XXXXXX";
	struct vt_error err = VT_ERROR_INIT;
	int out = open("/dev/null", O_WRONLY);
	struct vt_recording *r;
	struct vt_writer *w;
	int dirfd;

	if (out < 0 || !mkdtemp(dir))
		abort();
	dirfd = open(dir, O_RDONLY | O_DIRECTORY);
	w = vt_writer_open_fd(out, "null", &how, &err);
	r = w ? vt_recording_open(dir, w, &opt, &err) : NULL;
	if (r)
		read_ring(dirfd, r, data, size);
	vt_recording_close(r);
	vt_writer_abandon(w);
	close(dirfd);
	close(out);
	rmdir(dir);
	return 0;
}
