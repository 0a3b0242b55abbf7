/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/common/symfs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "cmd/common/find.h"
#include "formats/archive/unpack.h"

struct app_archive {
	struct app_archive *next;
	char *path;
	struct vt_buf dir;
	pid_t remover;
	int leash; /* the remover sees it closed when this process ends */
};

/* ---- the process that removes a directory ---- */

/* In the child of a program that may have threads: only what is safe in signal handlers. */
static void become_remover(int leash, const char *dir)
{
	static const char script[] = "read -r line; exec rm -rf -- \"$1\"";
	int null = open("/dev/null", O_RDWR), fd;

	/* Neither a terminal's signals nor the end of a pipeline are its concern. */
	setsid();
	signal(SIGPIPE, SIG_DFL);
	if (null < 0 || dup2(leash, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 ||
	    dup2(null, STDERR_FILENO) < 0)
		_exit(1);
	for (fd = STDERR_FILENO + 1; fd < 1024; fd++)
		close(fd);
	execl("/bin/sh", "sh", "-c", script, "sh", dir, (char *)NULL);
	_exit(1);
}

static int start_remover(struct app_archive *r, struct vt_error *err)
{
	const char *dir = vt_buf_str(&r->dir);
	int ends[2];

	if (pipe(ends) < 0)
		return vt_error_errno(err, VT_E_SYSTEM, errno, "%s: pipe", r->path);
	fcntl(ends[1], F_SETFD, FD_CLOEXEC);
	r->remover = fork();
	if (r->remover == 0)
		become_remover(ends[0], dir);
	close(ends[0]);
	r->leash = ends[1];
	if (r->remover < 0)
		return vt_error_errno(err, VT_E_SYSTEM, errno, "%s: fork", r->path);
	return 0;
}

static void free_archive(struct app_archive *r)
{
	int status;

	if (r->leash >= 0)
		close(r->leash);
	while (r->remover > 0 && waitpid(r->remover, &status, 0) < 0 && errno == EINTR)
		;
	vt_buf_free(&r->dir);
	free(r->path);
	free(r);
}

void app_archives_free(struct app_archive *archives)
{
	while (archives) {
		struct app_archive *next = archives->next;

		free_archive(archives);
		archives = next;
	}
}

/* ---- archives ---- */

/* Makes the directory, and sees to its end. */
static int make_dir(struct app_archive *r, struct vt_error *err)
{
	vt_buf_printf(&r->dir, "%s/vtrace-symfs.XXXXXX", app_tmpdir());
	if (r->dir.failed)
		return vt_error_nomem(err);
	/* The template is writable. */
	(void)vt_buf_str(&r->dir);
	if (!mkdtemp((char *)r->dir.data))
		return vt_error_errno(err, VT_E_WRITE, errno, "%s", vt_buf_str(&r->dir));
	if (start_remover(r, err) == 0)
		return 0;
	rmdir(vt_buf_str(&r->dir));
	return -(int)err->code;
}

static struct app_archive *open_archive(const char *path, struct vt_error *err)
{
	static const struct vt_unpack_limits limits = VT_UNPACK_LIMITS;
	struct app_archive *r = calloc(1, sizeof(*r));
	struct vt_input in;

	if (!r || vt_input_open(&in, path, err) < 0) {
		if (!r)
			vt_error_nomem(err);
		free(r);
		return NULL;
	}
	r->leash = -1;
	r->path = strdup(path);
	if (!r->path)
		vt_error_nomem(err);
	else if (make_dir(r, err) == 0)
		vt_unpack(&in, vt_buf_str(&r->dir), &limits, err);
	vt_input_close(&in);
	if (err->code == VT_OK)
		return r;
	free_archive(r);
	return NULL;
}

const char *app_symfs_dir(struct app_archive **archives, const char *symfs, struct vt_error *err)
{
	struct app_archive *r;
	struct stat st;

	if (!symfs || stat(symfs, &st) < 0 || !S_ISREG(st.st_mode))
		return symfs;
	for (r = *archives; r; r = r->next)
		if (strcmp(r->path, symfs) == 0)
			return vt_buf_str(&r->dir);
	r = open_archive(symfs, err);
	if (!r)
		return NULL;
	r->next = *archives;
	*archives = r;
	return vt_buf_str(&r->dir);
}
