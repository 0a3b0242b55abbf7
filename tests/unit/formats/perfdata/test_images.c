/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "formats/perfdata/session.h"
#include "tests/unit/formats/perfdata/pdsession.h"

static int64_t image(struct pdsession *p, const char *path, bool kernel)
{
	return vti_pd_image(&p->s, (const uint8_t *)path, strlen(path), kernel, NULL);
}

static void buildid(struct pdsession *p, const char *path, bool kernel, const char *bytes)
{
	struct pd_buildid id = {.size = (uint8_t)strlen(bytes)};

	memcpy(id.bytes, bytes, id.size);
	assert_int_equal(
		vti_pd_buildid_add(&p->s, (const uint8_t *)path, strlen(path), kernel, &id), 0);
}

/* File 0, kernel 1, module 2, vdso 3, memory without a file 4, BPF 5. */
static void tells_kinds_of_images(void **state)
{
	static const struct {
		const char *path;
		bool kernel;
		unsigned type;
		const char *shown;
	} cases[] = {
		{"[kernel.kallsyms]_stext", true, 1, "[kernel.kallsyms]"},
		{"[kernel.kallsyms", true, 1, NULL},
		{"[guest.kernel.kallsyms.12]x", true, 1, "[guest.kernel.kallsyms.12]"},
		{"[kernel.vmlinux]", true, 1, NULL},
		{"[kernel]", true, 2, NULL},
		{"/boot/vmlinux", true, 2, NULL},
		{"[ext4]x", true, 2, NULL},
		{"bpf_prog_1", true, 5, NULL},
		{"bpf", true, 2, NULL},
		{"[bpf]", true, 5, NULL},
		{"[kernel.kallsyms]", false, 4, NULL},
		{"bpf_prog_1", false, 0, NULL},
		{"[vdso]", false, 3, NULL},
		{"[vdso32]", false, 3, NULL},
		{"[vsyscall]", false, 3, NULL},
		{"[vsyscall", false, 4, NULL},
		{"[heap]", false, 4, NULL},
		{"//anon", false, 4, NULL},
		{"/anon", false, 0, NULL},
		{"/dev/zero", false, 4, NULL},
		{"/dev/zer", false, 0, NULL},
		{"/anon_hugepage (deleted)", false, 4, NULL},
		{"/SYSV00000000", false, 4, NULL},
		{"anon_inode:[perf_event]", false, 4, NULL},
		{"/memfd:x", false, 4, NULL},
		{"/bin/[", false, 0, NULL},
		{"", false, 4, ""},
		{"", true, 2, ""},
	};
	char line[200], type[16], path[80];
	struct pdsession p;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *shown = cases[i].shown ? cases[i].shown : cases[i].path;

		pdsession_init(&p, PD_SAMPLE_IP);
		p.s.machine = 62;
		assert_int_equal(image(&p, cases[i].path, cases[i].kernel), 0);
		assert_int_equal(image(&p, cases[i].path, cases[i].kernel), 0);
		snprintf(type, sizeof(type), " type=%u", cases[i].type);
		snprintf(path, sizeof(path), " path=%s", shown);
		snprintf(line, sizeof(line), "IMAGE%s%s machine=62\n", cases[i].type ? type : "",
			 *shown ? path : "");
		pdsession_expect(&p, line);
		pdsession_fini(&p);
	}
}

/* A name is cut to the length that the kernel allows. */
static void cuts_long_names(void **state)
{
	static char path[4098];
	struct pdsession p;
	uint32_t id;

	(void)state;
	memset(path, 'x', sizeof(path));
	pdsession_init(&p, PD_SAMPLE_IP);
	id = vti_pd_string(&p.s, path, 4096);
	assert_int_equal(vti_pd_string(&p.s, path, 4097), id);
	assert_int_not_equal(vti_pd_string(&p.s, path, 4095), id);
	assert_int_equal(vt_intern_size(p.s.strings, id), 4096);
	pdsession_fini(&p);
}

/* A name takes 64 bytes more than it is long: 8066 of 4096 fill 32 MiB. */
static void bounds_names(void **state)
{
	static uint8_t path[4096];
	struct pdsession p;
	uint32_t i, first = 0;

	(void)state;
	memset(path, 'x', sizeof(path));
	pdsession_init(&p, PD_SAMPLE_IP);
	p.in.offset = 5;
	for (i = 0; i < 8066; i++) {
		vt_put_le32(path, i);
		assert_int_not_equal(vti_pd_string(&p.s, path, sizeof(path)), 0);
		if (i == 0)
			first = vti_pd_string(&p.s, path, sizeof(path));
	}
	pdsession_expect(&p, "");
	vt_put_le32(path, i);
	assert_int_equal(vti_pd_string(&p.s, path, sizeof(path)), 0);
	assert_int_equal(vti_pd_string(&p.s, path, sizeof(path)), 0);
	vt_put_le32(path, 0);
	assert_int_equal(vti_pd_string(&p.s, path, sizeof(path)), first);
	pdsession_expect(&p, "GAP reason=too many names of images: further ones are left out "
			     "input=test offset=5\n");
	pdsession_fini(&p);
}

/* Further ones are all the same one, which has no name and no build-id. */
static void bounds_images(void **state)
{
	struct pd_buildid id = {.size = 1, .bytes = {'A'}};
	struct pdsession p;
	uint32_t i;

	(void)state;
	pdsession_init(&p, PD_SAMPLE_IP);
	for (i = 0; i < VT_PERFDATA_IMAGES_MAX; i++) {
		vt_put_le32(id.bytes + 1, i);
		id.size = 5;
		assert_int_equal(vti_pd_image(&p.s, (const uint8_t *)"x", 1, false, &id), i);
	}
	assert_int_equal(p.sum.damaged, 0);
	vt_put_le32(id.bytes + 1, 7);
	assert_int_equal(vti_pd_image(&p.s, (const uint8_t *)"x", 1, false, &id), 7);
	assert_int_equal(vti_pd_image(&p.s, (const uint8_t *)"y", 1, false, &id),
			 VT_PERFDATA_IMAGES_MAX);
	assert_int_equal(vti_pd_image(&p.s, (const uint8_t *)"z", 1, false, NULL),
			 VT_PERFDATA_IMAGES_MAX);
	assert_int_equal(p.sum.damaged, 1);
	pdsession_fini(&p);
}

static void bounds_build_ids(void **state)
{
	struct pdsession p;
	char path[16];
	uint32_t i;

	(void)state;
	pdsession_init(&p, PD_SAMPLE_IP);
	for (i = 0; i < VT_PERFDATA_IMAGES_MAX; i++) {
		snprintf(path, sizeof(path), "%u", i);
		buildid(&p, path, false, "A");
	}
	assert_int_equal(p.sum.damaged, 0);
	buildid(&p, "more", false, "A");
	assert_int_equal(p.sum.damaged, 1);
	assert_int_equal(p.s.buildids.count, VT_PERFDATA_IMAGES_MAX);
	pdsession_fini(&p);
}

/* A module's file stands for "[name]"; '-' is '_' there. The kernel's stands for the kernel. */
static void knows_images_by_other_names(void **state)
{
	static const struct {
		const char *path, *image;
		bool kernel, found;
	} cases[] = {
		{"/lib/a-b.ko.xz", "[a_b]", true, true},
		{"/lib/a-b.ko", "[a_b]", true, true},
		{"/lib/a_b.ko", "[a_b]", true, true},
		{"a.ko", "[a]", true, true},
		{".ko", "[]", true, true},
		{"/lib/a.k", "[a]", true, false},
		{"/lib/a.ko", "[b]", true, false},
		{"/lib/a.ko", "[a]", false, false},
		{"[a-b]", "[[a_b]]", true, true},
		{"[a_b]", "[a_b]", true, true},
		{"[a_b]", "/lib/modules/a-b.ko", true, true},
		{"/boot/vmlinux-6.1", "[kernel.kallsyms]_text", true, true},
		{"/boot/vmlinux-6.1", "[kernel.kallsyms]_text", false, false},
		{"[kernel.kallsyms]", "[kernel.kallsyms]_text", true, true},
	};
	struct pdsession p;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct pd_image *e;

		pdsession_init(&p, PD_SAMPLE_IP);
		buildid(&p, cases[i].path, cases[i].kernel, "ABC");
		assert_int_equal(image(&p, cases[i].image, true), 0);
		e = vt_hash_at(&p.s.images, 0);
		if (e->has_id != cases[i].found)
			fail_msg("%s %s", cases[i].path, cases[i].image);
		pdsession_fini(&p);
	}
}

/* What comes after the first use of an image is told in the end; a mapping's own has the word. */
static void gives_build_ids_later(void **state)
{
	const struct pd_buildid own = {.size = 2, .bytes = {'x', 'y'}};
	struct pdsession p;

	(void)state;
	pdsession_init(&p, PD_SAMPLE_IP);
	buildid(&p, "/a", false, "abc");
	image(&p, "/a", false);
	image(&p, "/b", false);
	image(&p, "/c", false);
	assert_int_equal(vti_pd_image(&p.s, (const uint8_t *)"/a", 2, false, &own), 3);
	pdsession_expect(&p, "IMAGE path=/a buildid=616263\nIMAGE id=1 path=/b\n"
			     "IMAGE id=2 path=/c\nIMAGE id=3 path=/a buildid=7879\n");
	buildid(&p, "/b", false, "de");
	buildid(&p, "/b", false, "f");
	vti_pd_images_finish(&p.s);
	pdsession_expect(&p, "IMAGE id=1 path=/b buildid=66\n");
	vti_pd_images_finish(&p.s);
	pdsession_expect(&p, "");
	pdsession_fini(&p);
}

/* A row: a process, 20 bytes and how many of them count, a path; the first perfs had no process. */
static void reads_rows_of_build_ids(void **state)
{
	static const struct {
		uint16_t misc;
		uint8_t size;
		bool old;
		const char *line;
	} cases[] = {
		{2, 3, false, "IMAGE path=/a buildid=4142434445464748494a4b4c4d4e4f5051525354\n"},
		{2 | 1 << 15, 3, false, "IMAGE path=/a buildid=414243\n"},
		{2 | 1 << 15, 20, false,
		 "IMAGE path=/a buildid=4142434445464748494a4b4c4d4e4f5051525354\n"},
		{2 | 1 << 15, 21, false,
		 "IMAGE path=/a buildid=4142434445464748494a4b4c4d4e4f5051525354\n"},
		{2 | 1 << 15, 4, true, "IMAGE path=/a buildid=41424344\n"},
	};
	struct pdsession p;
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t payload[40] = {0};
		struct pd_rec r = {.misc = cases[i].misc, .payload = payload, .size = 48};
		size_t at = cases[i].old ? 0 : 4;

		for (k = 0; k < 20; k++)
			payload[at + k] = (uint8_t)('A' + k);
		payload[at + 20] = cases[i].size;
		memcpy(payload + at + 24, "/a", 3);
		payload[at + 27] = 'b';
		r.left = at + 28;
		pdsession_init(&p, PD_SAMPLE_IP);
		assert_int_equal(vti_pd_buildid_record(&p.s, &r, cases[i].old), 0);
		image(&p, "/a", false);
		pdsession_expect(&p, cases[i].line);
		r.left = at + 23;
		assert_int_equal(vti_pd_buildid_record(&p.s, &r, cases[i].old), 0);
		assert_int_equal(p.sum.damaged, 1);
		pdsession_fini(&p);
	}
}

/* Of the kernel, of a guest's kernel; not of what else runs. */
static void tells_build_ids_of_kernels(void **state)
{
	unsigned mode;

	(void)state;
	for (mode = 0; mode < 8; mode++) {
		uint8_t payload[40] = {0};
		struct pd_rec r = {.misc = (uint16_t)mode, .payload = payload, .left = 40};
		struct pdsession p;

		memcpy(payload + 28, "/vmlinux", 9);
		pdsession_init(&p, PD_SAMPLE_IP);
		assert_int_equal(vti_pd_buildid_record(&p.s, &r, false), 0);
		assert_int_equal(p.s.buildids.count, mode == 1 || mode == 4 ? 2 : 1);
		pdsession_fini(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_kinds_of_images),
		cmocka_unit_test(cuts_long_names),
		cmocka_unit_test(bounds_names),
		cmocka_unit_test(bounds_images),
		cmocka_unit_test(bounds_build_ids),
		cmocka_unit_test(knows_images_by_other_names),
		cmocka_unit_test(gives_build_ids_later),
		cmocka_unit_test(reads_rows_of_build_ids),
		cmocka_unit_test(tells_build_ids_of_kernels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
