/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "image/find.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"

#define DELETED " (deleted)"

/* A search for a file. */
struct file_search {
	const struct vt_find_options *opt;
	const uint8_t *buildid;
	size_t buildid_size;
	char hex[2 * VT_BUILDID_MAX + 1];
	struct vt_buf path;
	struct vt_error first; /* the first error of a candidate */
	struct vt_elf *other;  /* a file with another build-id, if accepted */
	bool code;	       /* files without code are rejected */
	bool verified;
};

static void begin_search(struct file_search *s, const struct vt_find_options *opt,
			 const uint8_t *buildid, size_t buildid_size)
{
	*s = (struct file_search){.opt = opt, .buildid = buildid, .buildid_size = buildid_size};
	vt_buildid_format(buildid, buildid_size, s->hex);
}

/* Formats a candidate's path.  Borrowed until the next call. */
static const char *VT_PRINTF(2, 3) format_path(struct file_search *s, const char *fmt, ...)
{
	va_list ap;

	s->path.size = 0;
	va_start(ap, fmt);
	vt_buf_vprintf(&s->path, fmt, ap);
	va_end(ap);
	return vt_buf_str(&s->path);
}

/* Returns the path ROOT DIR/.build-id/xx/yyyySUFFIX, or NULL without a build-id. */
static const char *format_buildid_path(struct file_search *s, const char *root, const char *dir,
				       const char *suffix)
{
	if (s->buildid_size < 2)
		return NULL;
	return format_path(s, "%s%s/.build-id/%.2s/%s%s", root, dir, s->hex, s->hex + 2, suffix);
}

static void note_search_error(struct file_search *s, const struct vt_error *err)
{
	/* A wrong ELF file is a better reason than one that is not ELF. */
	if (s->first.code == VT_OK ||
	    (err->code == VT_E_MISMATCH && s->first.code != VT_E_MISMATCH))
		s->first = *err;
}

/* Opens a candidate if it exists.  Keeps its error. */
static struct vt_elf *open_candidate(struct file_search *s, const char *path)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_elf *elf;
	struct stat st;

	if (!path || s->path.failed)
		return NULL;
	if (stat(path, &st) != 0) {
		if (errno != ENOENT && errno != ENOTDIR && errno != ENAMETOOLONG) {
			vt_error_errno(&err, VT_E_READ, errno, "%s", path);
			note_search_error(s, &err);
		}
		return NULL;
	}
	if (S_ISDIR(st.st_mode))
		return NULL;
	elf = vt_elf_open(path, &err);
	if (!elf)
		note_search_error(s, &err);
	return elf;
}

/*
 * Opens a candidate and returns it if it is the recorded file or, unless `strict`, if nothing shows
 * that it is not.
 */
static struct vt_elf *try_path(struct file_search *s, const char *path, bool strict)
{
	struct vt_elf *elf = open_candidate(s, path);
	const struct vt_elf_info *info;
	struct vt_error err = VT_ERROR_INIT;
	char found[2 * VT_BUILDID_MAX + 1];

	if (!elf)
		return NULL;
	info = vt_elf_info(elf);
	if (s->code && info->only_debug) {
		vt_error_set(&err, VT_E_ABSENT, "%s has debug information only, not the code",
			     path);
		note_search_error(s, &err);
		vt_elf_close(elf);
		return NULL;
	}
	if (s->buildid_size && info->buildid_size) {
		s->verified = vt_buildid_equal(info->buildid, info->buildid_size, s->buildid,
					       s->buildid_size);
		if (s->verified)
			return elf;
		vt_buildid_format(info->buildid, info->buildid_size, found);
		vt_error_set(&err, VT_E_MISMATCH, "%s has build-id %s, but %s was recorded", path,
			     found, s->hex);
		note_search_error(s, &err);
		if (s->opt->accept_mismatch && !s->other) {
			s->other = elf;
			return NULL;
		}
	} else if (!strict) {
		return elf;
	}
	vt_elf_close(elf);
	return NULL;
}

static struct vt_elf *try_cache(struct file_search *s)
{
	static const char *const names[] = {"/elf", "/vdso", ""};
	struct vt_elf *elf = NULL;
	size_t i;

	for (i = 0; s->opt->buildid_cache && !elf && i < sizeof(names) / sizeof(*names); i++)
		elf = try_path(s, format_buildid_path(s, "", s->opt->buildid_cache, names[i]),
			       false);
	return elf;
}

/* Tries what a mirror, or a copy of perf's build-id cache, has by build-id below symfs. */
static struct vt_elf *try_symfs_buildid(struct file_search *s)
{
	static const char *const names[] = {"", "/elf", "/vdso"};
	struct vt_elf *elf = NULL;
	size_t i;

	for (i = 0; !elf && i < sizeof(names) / sizeof(*names); i++)
		elf = try_path(s, format_buildid_path(s, s->opt->symfs, "", names[i]), true);
	return elf;
}

static struct vt_elf *try_symfs(struct file_search *s, const char *path)
{
	const char *symfs = s->opt->symfs, *base = strrchr(path, '/');
	struct vt_elf *elf = try_path(s, format_path(s, "%s/%s", symfs, path), false);

	if (!elf)
		elf = try_path(s, format_path(s, "%s/%s", symfs, base ? base + 1 : path), false);
	return elf ? elf : try_symfs_buildid(s);
}

/* Tries what is kept elsewhere. */
static struct vt_elf *try_fetch(struct file_search *s, enum vt_find_kind kind)
{
	const struct vt_find_options *o = s->opt;
	struct vt_elf *elf;
	char *path;

	if (!o->fetch || s->buildid_size < 2)
		return NULL;
	path = o->fetch(o->fetch_arg, s->buildid, s->buildid_size, kind);
	elf = try_path(s, path, true);
	free(path);
	return elf;
}

/* Ends a search.  Returns `elf`, or the next best file, or NULL and the reason. */
static struct vt_elf *end_search(struct file_search *s, struct vt_elf *elf, const char *what,
				 struct vt_error *err)
{
	vt_buf_free(&s->path);
	if (elf) {
		vt_elf_close(s->other);
		return elf;
	}
	if (s->other)
		return s->other;
	if (s->first.code != VT_OK)
		*err = s->first;
	else
		vt_error_set(err, VT_E_NOTFOUND, "%s: no such file", what);
	return NULL;
}

int vt_find_check(const struct vt_find_options *opt, struct vt_error *err)
{
	DIR *d;

	if (!opt->symfs)
		return 0;
	d = opendir(opt->symfs);
	if (!d)
		return vt_error_errno(err, VT_E_READ, errno, "%s", opt->symfs);
	closedir(d);
	return 0;
}

enum vt_image_type vt_find_type(const void *path, size_t size)
{
	/* From perf's is_anon_memory() and the kernel's names of mappings. */
	static const struct {
		const char *begin;
		enum vt_image_type type;
	} names[] = {
		{"[vdso", VT_IMAGE_VDSO},     {"[vsyscall]", VT_IMAGE_VDSO},
		{"[", VT_IMAGE_ANON},	      {"//anon", VT_IMAGE_ANON},
		{"/dev/zero", VT_IMAGE_ANON}, {"/anon_hugepage", VT_IMAGE_ANON},
		{"/SYSV", VT_IMAGE_ANON},     {"anon_inode:", VT_IMAGE_ANON},
		{"/memfd:", VT_IMAGE_ANON},
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		size_t n = strlen(names[i].begin);

		if (size >= n && memcmp(path, names[i].begin, n) == 0)
			return names[i].type;
	}
	return size ? VT_IMAGE_FILE : VT_IMAGE_ANON;
}

struct vt_elf *vt_find_image(const struct vt_find_options *opt, const char *path,
			     const uint8_t *buildid, size_t buildid_size, bool *verified,
			     struct vt_error *err)
{
	size_t n = strlen(path), tail = strlen(DELETED);
	bool deleted = n > tail && !strcmp(path + n - tail, DELETED);
	struct vt_elf *elf = NULL;
	char *plain = strdup(path);
	struct file_search s;

	if (!plain) {
		vt_error_set(err, VT_E_NOMEM, "%s: out of memory", path);
		return NULL;
	}
	if (deleted)
		plain[n - tail] = 0;
	begin_search(&s, opt, buildid, buildid_size);
	s.code = true;
	if (opt->symfs)
		elf = try_symfs(&s, plain);
	if (!elf)
		elf = try_cache(&s);
	/* [vdso] and //anon are not files. */
	if (!elf && plain[0] != '[' && strncmp(plain, "//", 2) != 0)
		elf = try_path(&s, plain, deleted || opt->symfs || plain[0] != '/');
	if (!elf)
		elf = try_fetch(&s, VT_FIND_CODE);
	elf = end_search(&s, elf, path, err);
	*verified = elf && s.verified;
	free(plain);
	return elf;
}

/* Opens a candidate for .gnu_debuglink, whose checksum must match. */
static struct vt_elf *try_debuglink(struct file_search *s, const struct vt_elf *elf,
				    const char *path)
{
	const struct vt_elf_info *info = vt_elf_info(elf);
	struct vt_elf *debug = open_candidate(s, path);

	if (debug && vt_elf_crc(debug) == info->debuglink_crc)
		return debug;
	vt_elf_close(debug);
	return NULL;
}

static struct vt_elf *find_debuglink(struct file_search *s, const struct vt_elf *elf)
{
	const struct vt_elf_info *info = vt_elf_info(elf);
	const char *slash = strrchr(info->path, '/');
	struct vt_elf *debug;
	char *dir;
	size_t i;

	/* Reject names that would lead out of the fixed directories. */
	if (!info->debuglink || !info->debuglink[0] || strchr(info->debuglink, '/'))
		return NULL;
	dir = slash ? strdup(info->path) : strdup("./");
	if (!dir)
		return NULL;
	if (slash)
		dir[slash - info->path + 1] = 0;
	debug = try_debuglink(s, elf, format_path(s, "%s%s", dir, info->debuglink));
	if (!debug)
		debug = try_debuglink(s, elf, format_path(s, "%s.debug/%s", dir, info->debuglink));
	for (i = 0; !debug && dir[0] == '/' && i < s->opt->ndebugdirs; i++)
		debug = try_debuglink(
			s, elf,
			format_path(s, "%s%s%s", s->opt->debugdirs[i], dir, info->debuglink));
	free(dir);
	return debug;
}

/* Tries the debug directories below `root`. */
static struct vt_elf *try_debugdirs(struct file_search *s, const char *root)
{
	struct vt_elf *debug = NULL;
	size_t i;

	for (i = 0; !debug && i < s->opt->ndebugdirs; i++)
		debug = try_path(s, format_buildid_path(s, root, s->opt->debugdirs[i], ".debug"),
				 true);
	return debug;
}

/* Tries the places below symfs: beside the image's file, in the cache it may be, in its /usr. */
static struct vt_elf *try_symfs_debug(struct file_search *s)
{
	static const char *const names[] = {".debug", "/debug"};
	struct vt_elf *debug = NULL;
	size_t i;

	for (i = 0; !debug && i < sizeof(names) / sizeof(*names); i++)
		debug = try_path(s, format_buildid_path(s, s->opt->symfs, "", names[i]), true);
	return debug ? debug : try_debugdirs(s, s->opt->symfs);
}

struct vt_elf *vt_find_debug(const struct vt_find_options *opt, const struct vt_elf *elf,
			     const uint8_t *buildid, size_t buildid_size, struct vt_error *err)
{
	struct vt_elf *debug = NULL;
	struct file_search s;

	begin_search(&s, opt, buildid, buildid_size);
	if (opt->symfs)
		debug = try_symfs_debug(&s);
	if (!debug)
		debug = try_debugdirs(&s, "");
	if (!debug && opt->buildid_cache)
		debug = try_path(&s, format_buildid_path(&s, "", opt->buildid_cache, "/debug"),
				 true);
	if (!debug && elf)
		debug = find_debuglink(&s, elf);
	if (!debug && elf)
		debug = try_fetch(&s, VT_FIND_DEBUG);
	vt_elf_close(s.other);
	s.other = NULL;
	s.first.code = VT_OK;
	return end_search(&s, debug, "debug file", err);
}

struct vt_elf *vt_find_vmlinux(const struct vt_find_options *opt, const uint8_t *buildid,
			       size_t buildid_size, struct vt_error *err)
{
	struct vt_elf *elf = NULL;
	struct file_search s;

	begin_search(&s, opt, buildid, buildid_size);
	if (opt->symfs)
		elf = try_symfs_buildid(&s);
	if (!elf)
		elf = try_cache(&s);
	elf = end_search(&s, elf, "vmlinux", err);
	return elf ? elf : vt_find_debug(opt, NULL, buildid, buildid_size, err);
}

char *vt_find_read(const char *path, size_t limit, size_t *size, struct vt_error *err)
{
	struct vt_buf b = VT_BUF_INIT;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = 1;

	if (fd < 0) {
		vt_error_errno(err, errno == ENOENT || errno == ENOTDIR ? VT_E_NOTFOUND : VT_E_READ,
			       errno, "%s", path);
		return NULL;
	}
	/* Files in /proc have no size: read to the end. */
	while (n > 0 && b.size <= limit) {
		uint8_t *to = vt_buf_reserve(&b, 65537);

		n = to ? read(fd, to, 65536) : -1;
		if (n < 0 && to && errno == EINTR)
			n = 1;
		else if (n > 0)
			b.size += (size_t)n;
	}
	if (b.failed)
		vt_error_set(err, VT_E_NOMEM, "%s: out of memory", path);
	else if (n < 0)
		vt_error_errno(err, VT_E_READ, errno, "%s", path);
	else if (b.size > limit)
		vt_error_set(err, VT_E_LIMIT, "%s: more than %zu bytes", path, limit);
	close(fd);
	if (b.failed || n < 0 || b.size > limit) {
		vt_buf_free(&b);
		return NULL;
	}
	b.data[b.size] = 0;
	*size = b.size;
	return (char *)b.data;
}

/* Returns true if the running kernel has this build-id. */
static bool is_running_kernel(const uint8_t *buildid, size_t buildid_size)
{
	struct vt_error err = VT_ERROR_INIT;
	size_t size;
	char *notes = vt_find_read("/sys/kernel/notes", 1 << 20, &size, &err);
	bool same = notes && vt_buildid_in_notes(notes, size, buildid, buildid_size);

	free(notes);
	return same;
}

/* Reads the list of symbols that perf's cache in a directory has by build-id. */
static char *read_cached_kallsyms(struct file_search *s, const char *dir, size_t *size,
				  struct vt_error *err)
{
	const char *path = format_buildid_path(s, "", dir, "/kallsyms");
	char *text = path ? vt_find_read(path, VT_KALLSYMS_LIMIT, size, err) : NULL;

	if (text || !s->buildid_size)
		return text;
	return vt_find_read(format_path(s, "%s/[kernel.kallsyms]/%s/kallsyms", dir, s->hex),
			    VT_KALLSYMS_LIMIT, size, err);
}

char *vt_find_kallsyms(const struct vt_find_options *opt, const uint8_t *buildid,
		       size_t buildid_size, size_t *size, struct vt_error *err)
{
	char *text = NULL;
	struct file_search s;

	begin_search(&s, opt, buildid, buildid_size);
	vt_error_set(err, VT_E_NOTFOUND, "no kallsyms of kernel %s",
		     buildid_size ? s.hex : "without build-id");
	if (opt->symfs)
		text = read_cached_kallsyms(&s, opt->symfs, size, err);
	if (!text && opt->buildid_cache)
		text = read_cached_kallsyms(&s, opt->buildid_cache, size, err);
	if (!text && opt->symfs)
		text = vt_find_read(format_path(&s, "%s/proc/kallsyms", opt->symfs),
				    VT_KALLSYMS_LIMIT, size, err);
	if (!text && buildid_size && is_running_kernel(buildid, buildid_size))
		text = vt_find_read("/proc/kallsyms", VT_KALLSYMS_LIMIT, size, err);
	vt_buf_free(&s.path);
	return text;
}

struct vt_kcore *vt_find_kcore(const struct vt_find_options *opt, const uint8_t *buildid,
			       size_t buildid_size, uint64_t text, uint64_t etext,
			       struct vt_error *err)
{
	struct vt_kcore *k = NULL;
	struct file_search s;

	begin_search(&s, opt, buildid, buildid_size);
	vt_error_set(err, VT_E_NOTFOUND, "/proc/kcore is not that kernel's");
	if (opt->symfs)
		k = vt_kcore_open(format_path(&s, "%s/proc/kcore", opt->symfs), text, etext, err);
	if (!k && buildid_size && is_running_kernel(buildid, buildid_size))
		k = vt_kcore_open("/proc/kcore", text, etext, err);
	vt_buf_free(&s.path);
	return k;
}
