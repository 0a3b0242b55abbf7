/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/record/existing.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/buf.h"

#define PATH_SIZE 64
#define COMM_SIZE 64

struct existing {
	struct vt_perfdata_writer *w;
	struct vt_perfdata_stamp stamp;
	struct vt_error *err;
};

/* ---- processes ---- */

typedef int number_fn(void *arg, pid_t n);

/* Calls `fn` for the entries of a directory whose names are numbers. */
static int each_number(const char *path, number_fn *fn, void *arg)
{
	DIR *dir = opendir(path);
	const struct dirent *e;
	int rc = 0;
	char *end;
	long n;

	while (rc == 0 && dir && (e = readdir(dir))) {
		n = strtol(e->d_name, &end, 10);
		if (n > 0 && !*end)
			rc = fn(arg, (pid_t)n);
	}
	if (dir)
		closedir(dir);
	return rc;
}

int each_existing_thread(pid_t pid, existing_thread_fn *fn, void *arg)
{
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	return each_number(path, fn, arg);
}

static int put_thread(void *arg, pid_t tid)
{
	struct existing *x = arg;
	char path[PATH_SIZE], name[COMM_SIZE] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", x->stamp.pid, tid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (!fgets(name, sizeof(name), f))
		name[0] = 0;
	fclose(f);
	x->stamp.tid = tid;
	return vt_perfdata_put_comm(x->w, &x->stamp, name, strcspn(name, "\n"), false, x->err);
}

/* A line of /proc/PID/maps, as in proc(5). */
static int put_mapping(struct existing *x, char *line)
{
	struct vt_perfdata_map m = {.flags = MAP_PRIVATE};
	uint64_t end;
	char prot[5];
	int path = 0;

	line[strcspn(line, "\n")] = 0;
	if (sscanf(line,
		   "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %" SCNx32 ":%" SCNx32 " %" SCNu64 " %n",
		   &m.start, &end, prot, &m.offset, &m.maj, &m.min, &m.ino, &path) != 7 ||
	    end <= m.start)
		return 0;
	m.prot = (prot[0] == 'r' ? PROT_READ : 0) | (prot[1] == 'w' ? PROT_WRITE : 0) |
		 (prot[2] == 'x' ? PROT_EXEC : 0);
	if (prot[3] == 's')
		m.flags = MAP_SHARED;
	m.length = end - m.start;
	m.path = line[path] ? line + path : "//anon";
	m.path_size = strlen(m.path);
	if (!m.prot || m.path_size > VT_PERFDATA_WRITE_PATH ||
	    (!(m.prot & PROT_EXEC) && m.path[0] != '/'))
		return 0;
	return vt_perfdata_put_map(x->w, &x->stamp, &m, x->err);
}

static int put_process(void *arg, pid_t pid)
{
	struct existing *x = arg;
	char path[PATH_SIZE], *line = NULL;
	size_t cap = 0;
	FILE *f;
	int rc;

	x->stamp.pid = pid;
	rc = each_existing_thread(pid, put_thread, x);
	x->stamp.tid = pid;
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "re");
	while (rc == 0 && f && getline(&line, &cap, f) > 0)
		rc = put_mapping(x, line);
	free(line);
	if (f)
		fclose(f);
	return rc;
}

int put_existing_processes(struct vt_perfdata_writer *w, const struct vt_perfdata_stamp *stamp,
			   pid_t pid, struct vt_error *err)
{
	struct existing x = {w, *stamp, err};

	return pid < 0 ? each_number("/proc", put_process, &x) : put_process(&x, pid);
}

/* ---- the kernel ---- */

/* MMAP as in perf_event_open(2). */
static int put_kernel_map(struct existing *x, uint64_t start, uint64_t length, uint64_t offset,
			  const char *name)
{
	struct vt_buf b = VT_BUF_INIT;
	int rc;

	vt_buf_put_le32(&b, UINT32_MAX); /* pid -1 */
	vt_buf_put_le32(&b, 0);
	vt_buf_put_le64(&b, start);
	vt_buf_put_le64(&b, length);
	vt_buf_put_le64(&b, offset);
	vt_buf_put(&b, name, strlen(name) + 1);
	while (!b.failed && b.size % 8)
		vt_buf_put(&b, "", 1);
	rc = b.failed ? vt_error_nomem(x->err)
		      : vt_perfdata_put_record(x->w, PD_MMAP, PD_MISC_KERNEL, &x->stamp, b.data,
					       b.size, x->err);
	vt_buf_free(&b);
	return rc;
}

/* Lines of /proc/modules, as in proc(5): name, size, uses, users, state, address. */
static int put_modules(struct existing *x)
{
	FILE *f = fopen("/proc/modules", "re");
	char name[COMM_SIZE], image[COMM_SIZE + 2], *line = NULL;
	uint64_t size, start;
	size_t cap = 0;
	int rc = 0;

	while (rc == 0 && f && getline(&line, &cap, f) > 0) {
		if (sscanf(line, "%63s %" SCNu64 " %*s %*s %*s %" SCNx64, name, &size, &start) !=
			    3 ||
		    !start || !size)
			continue;
		snprintf(image, sizeof(image), "[%s]", name);
		rc = put_kernel_map(x, start, size, 0, image);
	}
	free(line);
	if (f)
		fclose(f);
	return rc;
}

#define KERNEL "[kernel.kallsyms]"

int put_existing_kernel(struct vt_perfdata_writer *w, const struct vt_perfdata_stamp *stamp,
			const struct running_kernel *k, struct vt_error *err)
{
	struct existing x = {w, *stamp, err};
	int rc;

	x.stamp.pid = -1;
	x.stamp.tid = 0;
	if (!k->text || k->etext <= k->text)
		return 0;
	rc = put_kernel_map(&x, k->text, k->etext - k->text, k->text, KERNEL "_text");
	if (rc == 0 && k->id_size)
		rc = vt_perfdata_put_buildid(w, k->id, k->id_size, KERNEL, strlen(KERNEL), err);
	return rc < 0 ? rc : put_modules(&x);
}
