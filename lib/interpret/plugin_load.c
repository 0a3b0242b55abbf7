/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "interpret/plugins_internal.h"

/* A shared object has few program headers; more are not believed. */
#define MAX_PHDRS 256

/* Without the members that were added later. */
#define FIRST_SIZE offsetof(struct vtrace_plugin, fact)

#define MAX_DESCRIPTION 200

/* ---- where a plugin is ---- */

static bool is_there(struct vt_buf *path)
{
	return !path->failed && access(vt_buf_str(path), F_OK) == 0;
}

static int find_file(struct vt_buf *path, const char *name, const struct vt_plugin_path *where,
		     struct vt_error *err)
{
	const char *dirs = where->dirs;

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
	path->size = 0;
	vt_buf_printf(path, "%s/%s", where->own ? where->own : "", name);
	if (where->own && is_there(path))
		return 0;
	return vt_error_set(err, VT_E_NOTFOUND,
			    "plugin %s: no such file in VTRACE_PLUGINS, nor among vtrace's own "
			    "plugins (a path has a '/')",
			    name);
}

/* ---- whether its file can be loaded ---- */

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

static int check_elf(int fd, struct vt_error *err)
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

static int check_plugin_file(const char *path, struct vt_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), code;

	if (fd < 0)
		return vt_error_errno(err, errno == ENOENT ? VT_E_NOTFOUND : VT_E_READ, errno,
				      "cannot be opened");
	code = check_elf(fd, err);
	close(fd);
	return code;
}

/* ---- whether it keeps to <vtrace/plugin.h> ---- */

/* A text of 1 to `max` printable ASCII characters. */
static bool is_name(const char *text, size_t max)
{
	size_t i;

	if (!text || !*text)
		return false;
	for (i = 0; text[i]; i++)
		if (i == max || text[i] < 0x20 || text[i] > 0x7e)
			return false;
	return true;
}

static const char *wrong_kind(const struct vtrace_plugin *p)
{
	uint32_t i;

	if (!p->kinds || !p->nkinds || p->nkinds > VTRACE_MAX_KINDS)
		return "no kinds of values, or too many";
	for (i = 0; i < p->nkinds; i++) {
		if (!is_name(p->kinds[i].name, VTRACE_MAX_NAME))
			return "a kind of value without a proper name";
		if ((unsigned)p->kinds[i].format > VTRACE_ADDRESS)
			return "a kind of value with a format that does not exist";
	}
	return NULL;
}

static const char *wrong_rule(const struct vtrace_plugin *p)
{
	uint32_t i;

	if (!p->rules || !p->nrules || p->nrules > VTRACE_MAX_RULES)
		return "no rules what to capture, or too many";
	for (i = 0; i < p->nrules; i++) {
		const struct vtrace_rule *r = &p->rules[i];

		if (r->what >> VTRACE_NWHATS || !r->what || !r->classes)
			return "a rule that captures nothing, or what does not exist";
		if (r->what & VTRACE_BIT(VTRACE_REGISTER) && r->reg > VTRACE_REG_SP &&
		    (r->reg < VTRACE_REG_R8 || r->reg > VTRACE_REG_R15))
			return "a rule that names no general register";
	}
	return NULL;
}

int vti_plugin_check(const struct vtrace_plugin *p, struct vt_error *err)
{
	const char *wrong;

	if (p->abi != VTRACE_PLUGIN_ABI)
		return vt_error_set(err, VT_E_VERSION,
				    "made for version %" PRIu32
				    " of <vtrace/plugin.h>, this program has version %u",
				    p->abi, VTRACE_PLUGIN_ABI);
	if (p->size < FIRST_SIZE)
		return vt_error_set(err, VT_E_VERSION,
				    "its struct vtrace_plugin has %" PRIu32 " bytes, not %zu",
				    p->size, sizeof(*p));
	if (!is_name(p->name, VTRACE_MAX_NAME))
		return vt_error_set(err, VT_E_FORMAT, "no proper name");
	if (!is_name(p->description, MAX_DESCRIPTION))
		return vt_error_set(err, VT_E_FORMAT, "no proper description");
	if (!p->process)
		return vt_error_set(err, VT_E_FORMAT, "no function `process'");
	wrong = wrong_kind(p);
	if (!wrong)
		wrong = wrong_rule(p);
	return wrong ? vt_error_set(err, VT_E_FORMAT, "%s", wrong) : 0;
}

/* ---- loading ---- */

static int open_plugin(const char *path, void **handle, const struct vtrace_plugin **plugin,
		       struct vt_error *err)
{
	if (check_plugin_file(path, err) < 0)
		return vt_error_prefix(err, "plugin %s", path);
	*handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!*handle)
		return vt_error_set(err, VT_E_FORMAT, "plugin %s: cannot be loaded: %s", path,
				    dlerror());
	*plugin = dlsym(*handle, "vtrace_plugin");
	if (*plugin)
		return 0;
	dlclose(*handle);
	return vt_error_set(err, VT_E_FORMAT,
			    "plugin %s: no plugin for vtrace: it has no symbol "
			    "\"vtrace_plugin\"",
			    path);
}

int vti_plugin_load(const char *name, const struct vt_plugin_path *where, void **handle,
		    const struct vtrace_plugin **plugin, struct vt_error *err)
{
	struct vt_buf path = VT_BUF_INIT;
	int code = find_file(&path, name, where, err);

	if (code == 0 && path.failed)
		code = vt_error_nomem(err);
	if (code == 0)
		code = open_plugin(vt_buf_str(&path), handle, plugin, err);
	vt_buf_free(&path);
	return code;
}
