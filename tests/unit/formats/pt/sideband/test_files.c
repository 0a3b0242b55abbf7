/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The files of a recording's images: which are found, what of them is shown, and what is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <elf.h>
#include <errno.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "formats/pt/sideband/files.h"
#include "stream/kinds.h"
#include "tests/unit/common/onerecord.h"
#include "tests/unit/common/toolbox.h"

/* ---- mapping ---- */

static void test_map(void **state)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_pt_file file = {NULL, 0, NULL, false};
	char *dir = toolbox_dir(), path[256];
	union {
		const void *from;
		void *to;
	} mapped;

	(void)state;
	toolbox_write(dir, "full", "some bytes");
	toolbox_write(dir, "one", "1");
	toolbox_write(dir, "empty", "");
	snprintf(path, sizeof(path), "%s/full", dir);
	assert_int_equal(vti_pt_file_map(&file, path, &err), 0);
	assert_int_equal(file.size, 10);
	assert_memory_equal(file.bytes, "some bytes", 10);
	assert_false(file.memory);
	assert_string_equal(file.path, path);
	assert_ptr_not_equal(file.path, path);
	mapped.from = file.bytes;
	vti_pt_file_unmap(&file);
	/* Of an address that is not mapped msync() says so. */
	assert_int_equal(msync(mapped.to, 10, MS_ASYNC), -1);
	assert_int_equal(errno, ENOMEM);
	assert_null(file.bytes);
	assert_null(file.path);
	assert_int_equal(file.size, 0);
	vti_pt_file_unmap(&file);
	assert_int_equal(vti_pt_file_map(&file, toolbox_path(dir, "one"), &err), 0);
	assert_int_equal(file.size, 1);
	vti_pt_file_unmap(&file);
	/* Nothing, a directory, a pipe that nobody writes to, and none. */
	assert_int_equal(vti_pt_file_map(&file, toolbox_path(dir, "empty"), &err), -VT_E_READ);
	assert_non_null(strstr(err.text, "empty: cannot be mapped: Invalid argument"));
	assert_int_equal(vti_pt_file_map(&file, dir, &err), -VT_E_READ);
	assert_non_null(strstr(err.text, "cannot be mapped: Invalid argument"));
	assert_int_equal(mkfifo(toolbox_path(dir, "pipe"), 0600), 0);
	assert_int_equal(vti_pt_file_map(&file, toolbox_path(dir, "pipe"), &err), -VT_E_READ);
	assert_int_equal(vti_pt_file_map(&file, toolbox_path(dir, "none"), &err), -VT_E_READ);
	assert_non_null(strstr(err.text, "none: No such file"));
	assert_null(file.bytes);
	toolbox_remove(dir);
}

/* ---- images ---- */

struct warned {
	char text[512];
	unsigned count;
};

static void warn(void *arg, const char *text)
{
	struct warned *w = arg;

	snprintf(w->text, sizeof(w->text), "%s", text);
	w->count++;
}

static void put_image(struct vt_pt_files *f, uint64_t id, unsigned type, const char *path,
		      size_t size, const void *buildid, size_t buildid_size)
{
	const uint64_t v[FIELDS] = {[VT_IMAGE_ID] = id, [VT_IMAGE_TYPE] = type};
	struct vt_error err = VT_ERROR_INIT;
	struct one_record r;

	assert_int_equal(
		vt_pt_files_image(
			f,
			make_record(&r, VT_IMAGE, v,
				    (struct field_bytes){VT_IMAGE_PATH, path, size},
				    (struct field_bytes){VT_IMAGE_BUILDID, buildid, buildid_size}),
			&err),
		0);
}

static void put_file(struct vt_pt_files *f, uint64_t id, const char *path)
{
	put_image(f, id, VT_IMAGE_FILE, path, strlen(path), NULL, 0);
}

static void check_file(struct vt_pt_files *f, uint64_t id, const char *text)
{
	const struct vt_pt_file *file = vt_pt_files_get(f, id);

	if (!text) {
		assert_null(file);
		return;
	}
	assert_non_null(file);
	assert_int_equal(file->size, strlen(text));
	assert_memory_equal(file->bytes, text, file->size);
}

/* Files that are not ELF are shown if nobody said which they were. */
static void test_plain(void **state)
{
	static const struct vt_find_options find = {.symfs = NULL};
	struct warned w = {.count = 0};
	struct vt_pt_files *f = vt_pt_files_new(&find, warn, &w);
	char *dir = toolbox_dir(), *here, path[256], slashes[260];
	unsigned type = 99;
	size_t size;

	(void)state;
	toolbox_write(dir, "plain", "no ELF file");
	toolbox_write(dir, "other", "another one");
	size = (size_t)snprintf(path, sizeof(path), "%s/plain", dir);
	/* Ids that nobody knows. */
	assert_null(vt_pt_files_get(f, 1));
	assert_null(vt_pt_files_path(f, 1, &type));
	put_file(f, 1, path);
	assert_string_equal(vt_pt_files_path(f, 1, &type), path);
	assert_int_equal(type, VT_IMAGE_FILE);
	check_file(f, 1, "no ELF file");
	assert_string_equal(vt_pt_files_get(f, 1)->path, path);
	/* What comes later counts for those that are not mapped yet. */
	put_file(f, 1, toolbox_path(dir, "other"));
	check_file(f, 1, "no ELF file");
	assert_string_equal(vt_pt_files_path(f, 1, &type), path);
	put_file(f, 2, path);
	put_file(f, 2, toolbox_path(dir, "other"));
	check_file(f, 2, "another one");
	/* What is behind a zero byte does not belong to the path. */
	put_image(f, 3, VT_IMAGE_FILE, "/none\0else", 10, NULL, 0);
	assert_string_equal(vt_pt_files_path(f, 3, &type), "/none");
	put_image(f, 3, VT_IMAGE_FILE, "/nothing", 3, NULL, 0);
	assert_string_equal(vt_pt_files_path(f, 3, &type), "/no");
	path[size] = 0;
	path[size + 1] = 'x';
	put_image(f, 4, VT_IMAGE_FILE, path, size + 2, NULL, 0);
	check_file(f, 4, "no ELF file");
	put_image(f, 5, VT_IMAGE_FILE, NULL, 0, NULL, 0);
	assert_string_equal(vt_pt_files_path(f, 5, &type), "");
	assert_int_equal(w.count, 0);
	/* With a build-id it must be an ELF file, and a name without a directory is any file. */
	put_image(f, 6, VT_IMAGE_FILE, path, size, "\1", 1);
	check_file(f, 6, NULL);
	assert_int_equal(w.count, 1);
	assert_true(strncmp(w.text, path, size) == 0);
	assert_non_null(strstr(w.text, ": no code: "));
	check_file(f, 6, NULL);
	assert_int_equal(w.count, 1);
	here = toolbox_enter(dir);
	put_file(f, 7, "plain");
	check_file(f, 7, NULL);
	toolbox_leave(here);
	put_file(f, 8, toolbox_path(dir, "none"));
	check_file(f, 8, NULL);
	assert_int_equal(w.count, 3);
	/* Names of memory, as of what a program shares with others, are none of files. */
	snprintf(slashes, sizeof(slashes), "/%s", path);
	put_file(f, 11, slashes);
	check_file(f, 11, NULL);
	assert_int_equal(w.count, 4);
	/* Others are no files. */
	put_image(f, 9, VT_IMAGE_ANON, path, size, NULL, 0);
	put_image(f, 10, VT_IMAGE_KERNEL, path, size, NULL, 0);
	check_file(f, 9, NULL);
	check_file(f, 10, NULL);
	assert_string_equal(vt_pt_files_path(f, 10, &type), path);
	assert_int_equal(type, VT_IMAGE_KERNEL);
	assert_int_equal(w.count, 4);
	vt_pt_files_free(f);
	/* Nobody need hear of it. */
	f = vt_pt_files_new(&find, NULL, NULL);
	put_image(f, 6, VT_IMAGE_FILE, path, size, "\1", 1);
	check_file(f, 6, NULL);
	vt_pt_files_free(f);
	vt_pt_files_free(NULL);
	toolbox_remove(dir);
}

/* Below another directory, which mirrors /. */
static void test_symfs(void **state)
{
	char *dir = toolbox_dir();
	const struct vt_find_options find = {.symfs = dir};
	struct vt_pt_files *f = vt_pt_files_new(&find, NULL, NULL);

	(void)state;
	toolbox_write(dir, "plain", "no ELF file");
	toolbox_write(dir, "damaged", "\177ELF\2\1");
	put_file(f, 1, "/plain");
	check_file(f, 1, "no ELF file");
	/* Nor need it be a whole one. */
	put_file(f, 2, "/damaged");
	check_file(f, 2, "\177ELF\2\1");
	vt_pt_files_free(f);
	toolbox_remove(dir);
}

/* An ELF file, by its path; a wrong build-id refuses it, and the right one does not. */
static void test_elf(void **state)
{
	static const struct vt_find_options find = {.symfs = NULL};
	struct warned w = {.count = 0};
	struct vt_pt_files *f = vt_pt_files_new(&find, warn, &w);
	struct vt_error err = VT_ERROR_INIT;
	const struct vt_elf_info *info;
	uint8_t id[VT_BUILDID_MAX + 1];
	struct vt_elf *elf;
	char path[4096];
	uint8_t *self;
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path));
	size_t size;

	(void)state;
	assert_in_range(n, 1, sizeof(path) - 1);
	path[n] = 0;
	self = toolbox_read_self(&size);
	put_file(f, 1, path);
	assert_non_null(vt_pt_files_get(f, 1));
	assert_int_equal(vt_pt_files_get(f, 1)->size, size);
	assert_memory_equal(vt_pt_files_get(f, 1)->bytes, self, size);
	assert_string_equal(vt_pt_files_get(f, 1)->path, path);
	elf = vt_elf_open(path, &err);
	assert_non_null(elf);
	info = vt_elf_info(elf);
	if (info->buildid_size) {
		memcpy(id, info->buildid, info->buildid_size);
		put_image(f, 2, VT_IMAGE_FILE, path, (size_t)n, id, info->buildid_size);
		assert_non_null(vt_pt_files_get(f, 2));
		assert_int_equal(w.count, 0);
		id[info->buildid_size - 1] ^= 1;
		put_image(f, 3, VT_IMAGE_FILE, path, (size_t)n, id, info->buildid_size);
		assert_null(vt_pt_files_get(f, 3));
		assert_int_equal(w.count, 1);
		assert_non_null(strstr(w.text, "was recorded"));
	}
	/* Of one that is too long the first bytes count. */
	memset(id, 7, sizeof(id));
	put_image(f, 4, VT_IMAGE_FILE, path, (size_t)n, id, sizeof(id));
	assert_int_equal(vt_pt_files_get(f, 4) != NULL, !info->buildid_size);
	vt_elf_close(elf);
	free(self);
	vt_pt_files_free(f);
}

/* ---- the vdso ---- */

/* Its build-id, from the notes that its program headers show; 0: there is none. */
static size_t vdso_id(const uint8_t *p, uint8_t *id)
{
	Elf64_Ehdr head;
	Elf64_Phdr part;
	Elf64_Nhdr note;
	unsigned i;
	size_t at;

	memcpy(&head, p, sizeof(head));
	for (i = 0; i < head.e_phnum; i++) {
		memcpy(&part, p + head.e_phoff + i * sizeof(part), sizeof(part));
		if (part.p_type != PT_NOTE)
			continue;
		for (at = part.p_offset; at < part.p_offset + part.p_filesz;
		     at +=
		     sizeof(note) + ((note.n_namesz + 3) & ~3U) + ((note.n_descsz + 3) & ~3U)) {
			memcpy(&note, p + at, sizeof(note));
			if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4)
				continue;
			memcpy(id, p + at + sizeof(note) + 4, note.n_descsz);
			return note.n_descsz;
		}
	}
	return 0;
}

static void test_vdso(void **state)
{
	static const struct vt_find_options find = {.symfs = NULL};
	union {
		unsigned long number;
		const uint8_t *bytes;
	} at = {getauxval(AT_SYSINFO_EHDR)};
	struct warned w = {.count = 0};
	struct vt_pt_files *f;
	uint8_t id[VT_BUILDID_MAX];
	const struct vt_pt_file *file;
	Elf64_Ehdr head;
	size_t n;

	(void)state;
	n = at.bytes ? vdso_id(at.bytes, id) : 0;
	if (!n)
		skip();
	memcpy(&head, at.bytes, sizeof(head));
	f = vt_pt_files_new(&find, warn, &w);
	put_image(f, 1, VT_IMAGE_VDSO, "[vdso]", 6, id, n);
	file = vt_pt_files_get(f, 1);
	assert_non_null(file);
	assert_int_equal(file->size, head.e_shoff + (uint64_t)head.e_shnum * head.e_shentsize);
	assert_memory_equal(file->bytes, at.bytes, file->size);
	assert_true(file->memory);
	assert_null(file->path);
	assert_int_equal(w.count, 0);
	/* Another kernel's, one of which nobody knows, and one that is no vdso. */
	id[n - 1] ^= 1;
	put_image(f, 2, VT_IMAGE_VDSO, "[vdso]", 6, id, n);
	assert_null(vt_pt_files_get(f, 2));
	put_image(f, 3, VT_IMAGE_VDSO, "[vdso]", 6, NULL, 0);
	assert_null(vt_pt_files_get(f, 3));
	id[n - 1] ^= 1;
	put_image(f, 4, VT_IMAGE_FILE, "[vdso]", 6, id, n);
	assert_null(vt_pt_files_get(f, 4));
	assert_int_equal(w.count, 3);
	assert_string_equal(w.text, "[vdso]: no code: [vdso]: no such file");
	vt_pt_files_free(f);
}

/* ---- what a program has changed ---- */

static void test_differ(void **state)
{
	static const struct vt_find_options find = {.symfs = NULL};
	struct vt_pt_files *f = vt_pt_files_new(&find, NULL, NULL);
	struct vt_map m = {.start = 0x1000, .end = 0x2000, .base = 0x1000, .image = 1};
	const uint8_t *same = (const uint8_t *)"0123456789";
	char *dir = toolbox_dir();

	(void)state;
	toolbox_write(dir, "code", "0123456789");
	put_file(f, 1, toolbox_path(dir, "code"));
	assert_false(vt_pt_files_differ(f, &m, 0x1000, same, 10));
	assert_false(vt_pt_files_differ(f, &m, 0x1003, same + 3, 7));
	assert_false(vt_pt_files_differ(f, &m, 0x1009, same + 9, 1));
	assert_true(vt_pt_files_differ(f, &m, 0x1003, same + 4, 3));
	assert_true(vt_pt_files_differ(f, &m, 0x1003, (const uint8_t *)"345x", 4));
	assert_false(vt_pt_files_differ(f, &m, 0x1003, (const uint8_t *)"345x", 3));
	/* Behind the end. */
	assert_true(vt_pt_files_differ(f, &m, 0x1000, (const uint8_t *)"0123456789\0", 11));
	assert_true(vt_pt_files_differ(f, &m, 0x1009, (const uint8_t *)"9\0", 2));
	assert_false(vt_pt_files_differ(f, &m, 0x100a, same, 0));
	assert_true(vt_pt_files_differ(f, &m, 0x100b, same, 0));
	assert_true(vt_pt_files_differ(f, &m, 0xfff, same, 1));
	/* Of what is no file, or none that is there, nothing differs. */
	m.image = 2;
	assert_false(vt_pt_files_differ(f, &m, 0x1003, same, 3));
	m.image = 1;
	m.type = VT_IMAGE_ANON;
	assert_false(vt_pt_files_differ(f, &m, 0x1003, same, 3));
	vt_pt_files_free(f);
	toolbox_remove(dir);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_map),   cmocka_unit_test(test_plain),
		cmocka_unit_test(test_symfs), cmocka_unit_test(test_elf),
		cmocka_unit_test(test_vdso),  cmocka_unit_test(test_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
