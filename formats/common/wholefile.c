/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/common/wholefile.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/common/decompress.h"

#define STEP ((size_t)1 << 20)

/* Maps the file if it is one that can be, and has been opened at its beginning. */
static bool map(struct vt_wholefile *f, const struct vt_input *in)
{
	struct stat st;
	void *p;

	if (in->pull || fstat(in->fd, &st) < 0 ||
	    lseek(in->fd, 0, SEEK_CUR) != (off_t)(in->offset + vt_input_have(in)))
		return false;
	/* Nothing but regular files has a size, and mmap() refuses one of 0. */
	p = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, in->fd, 0);
	if (p == MAP_FAILED)
		return false;
	*f = (struct vt_wholefile){p, (size_t)st.st_size, true};
	return true;
}

int vt_wholefile_take(struct vt_wholefile *f, struct vt_input *in, struct vt_error *err)
{
	size_t have = 0, want = STEP;
	int r = vt_gunzip_input(in, err);

	*f = (struct vt_wholefile){NULL, 0, false};
	if (r < 0 || map(f, in))
		return r;
	for (;;) {
		r = vt_input_fill(in, want, &have, err);
		if (r < 0)
			return r;
		if (have < want)
			break;
		if (have > VT_WHOLEFILE_MAX)
			return vt_error_set(err, VT_E_LIMIT, "%s: more than %llu bytes", in->name,
					    (unsigned long long)VT_WHOLEFILE_MAX);
		want = have + STEP;
	}
	/* The window, which has not been moved, becomes the caller's. */
	f->bytes = in->buf;
	f->size = have;
	in->buf = NULL;
	in->start = in->end = in->cap = 0;
	in->offset += have;
	return 0;
}

int vt_wholefile_open(struct vt_wholefile *f, const char *path, struct vt_error *err)
{
	struct vt_input in;
	int r;

	*f = (struct vt_wholefile){NULL, 0, false};
	r = vt_input_open(&in, path, err);
	if (r < 0)
		return r;
	r = vt_wholefile_take(f, &in, err);
	vt_input_close(&in);
	return r;
}

void vt_wholefile_fini(struct vt_wholefile *f)
{
	if (f->mapped)
		munmap(f->bytes, f->size);
	else
		free(f->bytes);
	*f = (struct vt_wholefile){NULL, 0, false};
}
