/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/archive/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/archive/tar.h"
#include "formats/common/decompress.h"

/* Directories within one another. */
#define DEPTH_MAX 64

struct unpack {
	struct vt_tar tar;
	struct vt_tar_member member;
	struct vt_unpack_limits left;
	const struct vt_unpack_limits *limits;
	int root;
};

/* Where a name leads: a directory, all of whose parents are directories, and a name in it. */
struct place {
	int dir; /* closed by close_place() */
	unsigned depth;
	char base[256]; /* "": the root */
};

/* ---- messages ---- */

static int refuse(const struct unpack *u, const char *why, struct vt_error *err)
{
	return vt_error_set(err, VT_E_FORMAT, "%s: member '%s' is refused: %s", u->tar.in->name,
			    u->member.name, why);
}

static int fail_member(const struct unpack *u, struct vt_error *err)
{
	return vt_error_errno(err, VT_E_WRITE, errno, "%s: member '%s' cannot be unpacked",
			      u->tar.in->name, u->member.name);
}

static int count_member(struct unpack *u, struct vt_error *err)
{
	if (!u->left.members)
		return vt_error_set(err, VT_E_LIMIT, "%s: member '%s': more than %llu files",
				    u->tar.in->name, u->member.name,
				    (unsigned long long)u->limits->members);
	u->left.members--;
	return 0;
}

/* ---- names ---- */

/* Takes the next component of a path; NULL: there is none.  "." and "" are passed over. */
static const char *next_component(const char **path, size_t *size)
{
	const char *p = *path;

	do {
		p += strspn(p, "/");
		*size = strcspn(p, "/");
		*path = p + *size;
		if (*size != 1 || *p != '.')
			return *size ? p : NULL;
		p = *path;
	} while (*p);
	return NULL;
}

static void close_place(struct place *p)
{
	if (p->dir >= 0)
		close(p->dir);
}

/* Goes down to p->base, which is made if `make` says so. */
static int descend(struct unpack *u, struct place *p, bool make, struct vt_error *err)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(p->dir, p->base, flags);

	if (fd < 0 && errno == ENOENT && make) {
		if (count_member(u, err) < 0)
			return -(int)err->code;
		if (mkdirat(p->dir, p->base, 0700) < 0)
			return fail_member(u, err);
		fd = openat(p->dir, p->base, flags);
	}
	if (fd < 0)
		return refuse(u, "a name leads through what is no directory", err);
	close(p->dir);
	p->dir = fd;
	p->depth++;
	if (p->depth > DEPTH_MAX)
		return refuse(u, "it is too deep", err);
	return 0;
}

/* Finds the place of a name; close_place() in any case. */
static int find_place(struct unpack *u, const char *name, bool make, struct place *p,
		      struct vt_error *err)
{
	const char *c;
	size_t size;

	*p = (struct place){.dir = openat(u->root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
	if (p->dir < 0)
		return fail_member(u, err);
	if (*name == '/')
		return refuse(u, "a name is absolute", err);
	while ((c = next_component(&name, &size))) {
		if (size == 2 && memcmp(c, "..", 2) == 0)
			return refuse(u, "a name has '..'", err);
		if (size >= sizeof(p->base))
			return refuse(u, "a name is too long", err);
		if (*p->base && descend(u, p, make, err) < 0)
			return -(int)err->code;
		memcpy(p->base, c, size);
		p->base[size] = '\0';
	}
	return 0;
}

/*
 * Whether a symbolic link in a directory at this depth stays in the tree: it goes up first, and by
 * no more than that, then only down.  Where it goes down through another link, the same is true of
 * that.
 */
static bool stays_inside(const char *link, unsigned depth)
{
	bool down = false;
	const char *c;
	size_t size;

	if (*link == '/' || !*link)
		return false;
	while ((c = next_component(&link, &size))) {
		bool up = size == 2 && memcmp(c, "..", 2) == 0;

		if (up && (down || !depth))
			return false;
		depth -= up;
		down = !up;
	}
	return true;
}

/* ---- members ---- */

/* Makes way for a member; a directory stays. */
static int remove_earlier(struct unpack *u, const struct place *p, struct vt_error *err)
{
	if (!*p->base)
		return refuse(u, "it has no name", err);
	if (unlinkat(p->dir, p->base, 0) < 0 && errno != ENOENT)
		return refuse(u, "a directory has its name", err);
	return 0;
}

static int unpack_dir(struct unpack *u, const struct place *p, struct vt_error *err)
{
	struct stat st;

	if (!*p->base || mkdirat(p->dir, p->base, 0700) == 0)
		return 0;
	if (errno != EEXIST)
		return fail_member(u, err);
	if (fstatat(p->dir, p->base, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(st.st_mode))
		return refuse(u, "a file has its name", err);
	return 0;
}

static int unpack_symlink(struct unpack *u, const struct place *p, struct vt_error *err)
{
	if (!stays_inside(u->member.link, p->depth))
		return refuse(u, "the link leads out of the archive", err);
	if (remove_earlier(u, p, err) < 0)
		return -(int)err->code;
	return symlinkat(u->member.link, p->dir, p->base) < 0 ? fail_member(u, err) : 0;
}

static int make_hardlink(struct unpack *u, const struct place *from, const struct place *p,
			 struct vt_error *err)
{
	struct stat st, own;

	/* Elsewhere, what a symbolic link leads to would be something else. */
	if (!*from->base || fstatat(from->dir, from->base, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISREG(st.st_mode))
		return refuse(u, "it links to no file of the archive", err);
	if (fstatat(p->dir, p->base, &own, AT_SYMLINK_NOFOLLOW) == 0 && own.st_ino == st.st_ino)
		return 0;
	if (remove_earlier(u, p, err) < 0)
		return -(int)err->code;
	return linkat(from->dir, from->base, p->dir, p->base, 0) < 0 ? fail_member(u, err) : 0;
}

static int unpack_hardlink(struct unpack *u, const struct place *p, struct vt_error *err)
{
	struct place from;
	int r = find_place(u, u->member.link, false, &from, err);

	if (r >= 0)
		r = make_hardlink(u, &from, p, err);
	close_place(&from);
	return r;
}

static int write_all(int fd, const uint8_t *bytes, size_t size)
{
	while (size) {
		ssize_t n = write(fd, bytes, size);

		if (n < 0 && errno != EINTR)
			return -1;
		if (n > 0) {
			bytes += n;
			size -= (size_t)n;
		}
	}
	return 0;
}

static int unpack_file(struct unpack *u, const struct place *p, struct vt_error *err)
{
	const uint8_t *bytes;
	size_t size;
	int fd, r;

	if (u->member.size > u->left.bytes)
		return vt_error_set(err, VT_E_LIMIT, "%s: member '%s': more than %llu bytes in all",
				    u->tar.in->name, u->member.name,
				    (unsigned long long)u->limits->bytes);
	u->left.bytes -= u->member.size;
	if (remove_earlier(u, p, err) < 0)
		return -(int)err->code;
	fd = openat(p->dir, p->base, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return fail_member(u, err);
	while ((r = vt_tar_read(&u->tar, &bytes, &size, err)) > 0)
		if (write_all(fd, bytes, size) < 0) {
			r = fail_member(u, err);
			break;
		}
	if (close(fd) < 0 && r == 0)
		r = fail_member(u, err);
	return r;
}

static int unpack_member(struct unpack *u, struct vt_error *err)
{
	struct place p;
	int r = count_member(u, err);

	if (r < 0)
		return r;
	if (u->member.type == VT_TAR_OTHER)
		return refuse(u, "it is no file, directory or link", err);
	r = find_place(u, u->member.name, true, &p, err);
	if (r < 0)
		;
	else if (u->member.type == VT_TAR_DIR)
		r = unpack_dir(u, &p, err);
	else if (u->member.type == VT_TAR_SYMLINK)
		r = unpack_symlink(u, &p, err);
	else if (u->member.type == VT_TAR_HARDLINK)
		r = unpack_hardlink(u, &p, err);
	else
		r = unpack_file(u, &p, err);
	close_place(&p);
	return r;
}

int vt_unpack(struct vt_input *in, const char *dir, const struct vt_unpack_limits *limits,
	      struct vt_error *err)
{
	struct unpack u = {.tar = {.in = in}, .left = *limits, .limits = limits};
	int r = vt_decompress_input(in, err);

	if (r == 0)
		r = vt_tar_check(in, err);
	if (r == 0)
		return vt_error_set(err, VT_E_FORMAT,
				    "%s: neither a directory nor an archive of "
				    "tar, plain or compressed by bzip2, gzip, xz or zstd",
				    in->name);
	if (r < 0)
		return r;
	u.root = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (u.root < 0)
		return vt_error_errno(err, VT_E_WRITE, errno, "%s", dir);
	while ((r = vt_tar_next(&u.tar, &u.member, err)) > 0) {
		r = unpack_member(&u, err);
		if (r < 0)
			break;
	}
	vt_tar_fini(&u.tar);
	close(u.root);
	return r;
}
