/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE

#include "cmd/record/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "cmd/common/find.h"

#define NAME	 "vtrace."
#define TEMPLATE NAME "XXXXXX"

/*
 * Removes a file of a recorder that was killed: nobody has it locked.  An empty one may be about to
 * be locked.
 */
static void remove_abandoned(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size && st.st_uid == geteuid() &&
	    flock(fd, LOCK_EX | LOCK_NB) == 0)
		unlinkat(dir, name, 0);
	close(fd);
}

static void remove_all_abandoned(const char *place)
{
	DIR *dir = opendir(place);
	const struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (strncmp(e->d_name, NAME, strlen(NAME)) == 0 &&
		    strlen(e->d_name) == strlen(TEMPLATE))
			remove_abandoned(dirfd(dir), e->d_name);
	if (dir)
		closedir(dir);
}

/* A file that is locked. */
static int make_file(char *path)
{
	int fd = mkostemp(path, O_CLOEXEC);

	if (fd >= 0 && flock(fd, LOCK_EX) == 0)
		return fd;
	if (fd >= 0) {
		unlink(path);
		close(fd);
	}
	return -1;
}

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

		if (fd)
			remove_all_abandoned(places[i]);
		vt_buf_printf(&path, "%s/" TEMPLATE, places[i]);
		vt_buf_put_u8(&path, 0);
		made = !path.failed && (fd ? (*fd = make_file((char *)path.data)) >= 0
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
