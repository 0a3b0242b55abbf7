/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/common/plugin.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "cmd/common/stream.h"

/* Relative to the directory of the program: the same when built and installed. */
#define OWN_MODULES "../lib/vtrace"

/* A shared object has few program headers; more are not believed. */
#define MAX_PHDRS 256

/* ---- where a module is ---- */

static bool is_there(struct vt_buf *path)
{
	return !path->failed && access(vt_buf_str(path), F_OK) == 0;
}

static bool find_own(struct vt_buf *path, const char *name)
{
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (n <= 0)
		return false;
	self[n] = '\0';
	slash = strrchr(self, '/');
	path->size = 0;
	if (slash)
		vt_buf_printf(path, "%.*s/" OWN_MODULES "/%s", (int)(slash - self), self, name);
	return slash && is_there(path);
}

static int find(struct vt_buf *path, const char *name, struct vt_error *err)
{
	const char *dirs = getenv("VTRACE_PLUGINS");

	if (strchr(name, '/')) {
		vt_buf_printf(path, "%s", name);
		return 0;
	}
	while (dirs && *dirs) {
		size_t size = strcspn(dirs, ":");

		path->size = 0;
		vt_buf_printf(path, "%.*s/%s", (int)size, dirs, name);
		if (size && is_there(path))
			return 0;
		dirs += size;
		dirs += *dirs == ':';
	}
	if (find_own(path, name))
		return 0;
	return vt_error_set(err, VT_E_NOTFOUND,
			    "module %s: no such file in VTRACE_PLUGINS, nor among vtrace's own "
			    "modules (a path has a '/')",
			    name);
}

/* ---- whether it is one ---- */

/* All that will be mapped is there: the loader does not look, and reading beyond is a crash. */
static bool is_whole(int fd, const Elf64_Ehdr *e, uint64_t size)
{
	Elf64_Phdr p;
	unsigned i;

	if (e->e_phentsize != sizeof(p) || e->e_phnum > MAX_PHDRS || e->e_phoff > size)
		return false;
	for (i = 0; i < e->e_phnum; i++) {
		if (pread(fd, &p, sizeof(p), (off_t)(e->e_phoff + i * sizeof(p))) != sizeof(p))
			return false;
		if (p.p_type == PT_LOAD && (p.p_offset > size || p.p_filesz > size - p.p_offset))
			return false;
	}
	return true;
}

static int check_open(int fd, struct vt_error *err)
{
	struct stat st;
	Elf64_Ehdr e;

	if (fstat(fd, &st) < 0)
		return vt_error_errno(err, VT_E_READ, errno, "cannot be looked at");
	if (!S_ISREG(st.st_mode))
		return vt_error_set(err, VT_E_FORMAT, "not a regular file");
	if (pread(fd, &e, sizeof(e), 0) != sizeof(e) || memcmp(e.e_ident, ELFMAG, SELFMAG) != 0)
		return vt_error_set(err, VT_E_FORMAT, "not a shared object (no ELF file)");
	if (e.e_ident[EI_CLASS] != ELFCLASS64 || e.e_ident[EI_DATA] != ELFDATA2LSB ||
	    e.e_type != ET_DYN || e.e_machine != EM_X86_64)
		return vt_error_set(err, VT_E_FORMAT, "not a shared object for x86-64");
	if (!is_whole(fd, &e, (uint64_t)st.st_size))
		return vt_error_set(err, VT_E_TRUNC, "a shared object that is cut off");
	return 0;
}

static int check_file(const char *path, struct vt_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), code;

	if (fd < 0)
		return vt_error_errno(err, errno == ENOENT ? VT_E_NOTFOUND : VT_E_READ, errno,
				      "cannot be opened");
	code = check_open(fd, err);
	close(fd);
	return code;
}

/* ---- loading ---- */

static int load(struct app_plugins *p, const char *path, const char *name, const char *options,
		struct vt_error *err)
{
	const struct vtrace_plugin *plugin;
	void *handle;

	if (check_file(path, err) < 0)
		return vt_error_prefix(err, "module %s", path);
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		return vt_error_set(err, VT_E_FORMAT, "module %s: cannot be loaded: %s", path,
				    dlerror());
	p->handles[p->nhandles++] = handle;
	plugin = dlsym(handle, "vtrace_plugin");
	if (!plugin)
		return vt_error_set(err, VT_E_FORMAT,
				    "module %s: no module for vtrace: it has no symbol "
				    "\"vtrace_plugin\"",
				    path);
	return vt_modules_add(p->modules, plugin, name, options, err);
}

/* MODULE[:OPTIONS]: a colon in a directory's name belongs to that. */
static int open_one(struct app_plugins *p, const char *arg, struct vt_error *err)
{
	const char *slash = strrchr(arg, '/');
	const char *colon = strchr(slash ? slash : arg, ':');
	struct vt_buf name = VT_BUF_INIT, path = VT_BUF_INIT;
	int code;

	vt_buf_printf(&name, "%.*s", (int)(colon ? (size_t)(colon - arg) : strlen(arg)), arg);
	code = find(&path, vt_buf_str(&name), err);
	if (code == 0 && (name.failed || path.failed))
		code = vt_error_nomem(err);
	if (code == 0)
		code = load(p, vt_buf_str(&path), vt_buf_str(&name), colon ? colon + 1 : "", err);
	vt_buf_free(&name);
	vt_buf_free(&path);
	return code;
}

bool app_plugins_open(struct app_plugins *p, struct app *a, const struct vt_opt_list *names)
{
	struct vt_error err = VT_ERROR_INIT;
	size_t i;

	*p = (struct app_plugins){.app = a, .modules = vt_modules_new()};
	p->handles = calloc(names->count + 1, sizeof(*p->handles));
	if (!p->modules || !p->handles)
		return app_no_memory(a);
	for (i = 0; i < names->count; i++)
		if (open_one(p, names->items[i], &err) < 0)
			return app_fail(a, &err);
	return true;
}

void app_plugins_close(struct app_plugins *p)
{
	if (p->writer)
		vt_writer_abandon(p->writer);
	if (p->spool)
		fclose(p->spool);
	vt_modules_free(p->modules);
	while (p->nhandles)
		dlclose(p->handles[--p->nhandles]);
	free(p->handles);
	*p = (struct app_plugins){.app = NULL};
}

/* ---- values that are settled at the end ---- */

struct vt_writer *app_plugins_begin(struct app_plugins *p, struct vt_writer *out,
				    struct vt_reader *const *inputs, size_t ninputs)
{
	const struct vt_writer_options opt = {
		.compression = VT_COMPRESS_ZSTD,
		.level = 1,
		.inputs = (const struct vt_reader *const *)inputs,
		.ninputs = ninputs,
	};
	struct vt_error err = VT_ERROR_INIT;

	vt_modules_declare(p->modules, out);
	if (!vt_modules_settle(p->modules))
		return out;
	p->spool = tmpfile();
	if (!p->spool) {
		vt_error_errno(&err, VT_E_WRITE, errno, "no temporary file");
		app_fail(p->app, &err);
		return NULL;
	}
	p->writer = vt_writer_open_fd(fileno(p->spool), "temporary file", &opt, &err);
	if (!p->writer)
		app_fail(p->app, &err);
	return p->writer;
}

static int copy_all(struct app_plugins *p, struct vt_writer *out, struct vt_reader *r,
		    struct vt_error *err)
{
	struct vt_record rec;
	int code = vt_writer_add_input(out, r, err);

	if (code < 0)
		return code;
	while ((code = vt_reader_next(r, &rec, err)) > 0) {
		if (rec.kind != VT_VALUE)
			vt_writer_copy(out, &rec);
		else if (vt_modules_copy(p->modules, &rec, out, err) < 0)
			return -(int)err->code;
	}
	return code;
}

/* The writer goes first in any case: what it has not written yet is in no file. */
static int copy_spool(struct app_plugins *p, struct vt_writer *out, struct vt_reader **r,
		      struct vt_error *err)
{
	struct vt_writer *w = p->writer;

	p->writer = NULL;
	if (vt_writer_close(w, VT_STATUS_COMPLETE, err) < 0)
		return -(int)err->code;
	if (lseek(fileno(p->spool), 0, SEEK_SET) < 0)
		return vt_error_errno(err, VT_E_READ, errno, "temporary file");
	*r = vt_reader_open_fd(fileno(p->spool), "temporary file", err);
	return *r ? copy_all(p, out, *r, err) : -(int)err->code;
}

/* Who looks for a module's values further down learns from the stream why there are none. */
static void tell_silent(struct app_plugins *p, struct vt_writer *out)
{
	struct vt_buf b = VT_BUF_INIT;
	size_t i;

	for (i = 0; i < vt_modules_count(p->modules); i++) {
		const char *why, *name = vt_modules_silent(p->modules, i, &why);

		if (!name)
			continue;
		b.size = 0;
		vt_buf_printf(&b, "module %s: no values: %s", name, why);
		app_say(p->app, "%s", vt_buf_str(&b));
		vt_writer_row(out, VT_META);
		vt_writer_text(out, VT_META_KEY, APP_SILENT_MODULE);
		vt_writer_text(out, VT_META_VALUE, vt_buf_str(&b));
	}
	vt_buf_free(&b);
}

bool app_plugins_end(struct app_plugins *p, struct vt_writer *out)
{
	const struct vt_modules_totals *t = vt_modules_totals(p->modules);
	struct vt_error err = VT_ERROR_INIT;
	struct vt_reader *r = NULL;
	int code = vt_modules_finish(p->modules, &err);

	if (code == 0 && p->writer)
		code = copy_spool(p, out, &r, &err);
	if (code == 0)
		code = vt_modules_label(p->modules, out, &err);
	vt_reader_close(r);
	if (code == 0)
		tell_silent(p, out);
	if (t->unlabeled)
		app_say(p->app,
			"%" PRIu64 " values have no label: more than %d distinct ones of a module",
			t->unlabeled, VT_MODULES_MAX_LABELS);
	return code < 0 ? app_fail(p->app, &err) : true;
}
