/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/record/existing.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/hash.h"
#include "image/elf.h"

#define PATH_SIZE 64
#define COMM_SIZE 64

/* A file, and the build-id that it has. */
struct mapped_file {
	struct {
		uint64_t dev, ino;
	} key;
	size_t size; /* of the build-id; 0: none */
	uint8_t buildid[VT_PERFDATA_WRITE_BUILDID];
};

struct existing {
	struct vt_perfdata_writer *w;
	struct vt_perfdata_stamp stamp;
	struct vt_hash files; /* struct mapped_file */
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

static void read_buildid(const char *path, struct mapped_file *f)
{
	struct vt_error none = VT_ERROR_INIT; /* what is no program has no build-id */
	const struct vt_elf_info *info;
	struct vt_elf *elf;
	struct stat st;

	/* A device must not be opened. */
	if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
		return;
	elf = vt_elf_open(path, &none);
	info = elf ? vt_elf_info(elf) : NULL;

	if (info && info->buildid_size <= sizeof(f->buildid)) {
		f->size = info->buildid_size;
		memcpy(f->buildid, info->buildid, f->size);
	}
	if (elf)
		vt_elf_close(elf);
}

/*
 * Finds the build-id of the file that is mapped, not of the one that has its path: that may be
 * another, of another file system, or of a newer package.
 */
static int find_buildid(struct existing *x, struct vt_perfdata_map *m)
{
	struct mapped_file f = {.key = {(uint64_t)m->maj << 32 | m->min, m->ino}}, *known;
	char path[PATH_SIZE + 2 * 16];
	bool added;

	known = vt_hash_add(&x->files, &f.key, &added);
	if (!known)
		return vt_error_nomem(x->err);
	if (added) {
		snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64,
			 x->stamp.pid, m->start, m->start + m->length);
		read_buildid(path, known);
	}
	m->buildid = known->buildid;
	m->buildid_size = known->size;
	return 0;
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
	if (m.ino && find_buildid(x, &m) < 0)
		return -VT_E_NOMEM;
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
	struct existing x = {.w = w, .stamp = *stamp, .err = err};
	int rc;

	vt_hash_init(&x.files, sizeof(struct mapped_file), sizeof(((struct mapped_file *)0)->key));
	rc = pid < 0 ? each_number("/proc", put_process, &x) : put_process(&x, pid);
	vt_hash_fini(&x.files);
	return rc;
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
	struct existing x = {.w = w, .stamp = *stamp, .err = err};
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
