/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Raw traces of Intel PT: where their code is, and what is decoded of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "formats/pt/raw/code.h"
#include "formats/pt/raw/decode.h"
#include "stream/kinds.h"
#include "tests/unit/common/pttrace.h"
#include "tests/unit/common/streams.h"

/* ---- files ---- */

static char dir[] = "/tmp/vt-raw-XXXXXX";

static int enter_dir(void **state)
{
	(void)state;
	return !mkdtemp(dir) || chdir(dir);
}

static int leave_dir(void **state)
{
	(void)state;
	return chdir("/") || rmdir(dir);
}

static void write_file(const char *name, const void *bytes, size_t size)
{
	FILE *f = fopen(name, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
}

/* ---- what is mapped ---- */

static void say(struct vt_buf *to, const struct vt_record *rec)
{
	struct vt_bytes text;

	if (rec->kind == VT_IMAGE) {
		text = vt_record_bytes(rec, VT_IMAGE_PATH);
		/* In that folder, by its whole path. */
		if (text.size > strlen(dir) && memcmp(text.data, dir, strlen(dir)) == 0) {
			text.data += strlen(dir);
			text.size -= strlen(dir);
		}
		vt_buf_printf(to, "image %u type %u machine %u %.*s; ",
			      (unsigned)vt_record_u64(rec, VT_IMAGE_ID),
			      (unsigned)vt_record_u64(rec, VT_IMAGE_TYPE),
			      (unsigned)vt_record_u64(rec, VT_IMAGE_MACHINE), (int)text.size,
			      (const char *)text.data);
	} else if (rec->kind == VT_MAP) {
		vt_buf_printf(to, "map %d/%d %llx+%llx at %llx of %u prot %u; ",
			      (int)vt_record_i64(rec, VT_MAP_PID),
			      (int)vt_record_i64(rec, VT_MAP_TID),
			      (unsigned long long)vt_record_u64(rec, VT_MAP_START),
			      (unsigned long long)vt_record_u64(rec, VT_MAP_LENGTH),
			      (unsigned long long)vt_record_u64(rec, VT_MAP_OFFSET),
			      (unsigned)vt_record_u64(rec, VT_MAP_IMAGE),
			      (unsigned)vt_record_u64(rec, VT_MAP_PROT));
	} else if (rec->kind == VT_EXEC) {
		vt_buf_printf(to, "exec %d/%d %u; ", (int)vt_record_i64(rec, VT_EXEC_PID),
			      (int)vt_record_i64(rec, VT_EXEC_TID),
			      (unsigned)vt_record_u64(rec, VT_EXEC_INSNS));
	} else if (rec->kind == VT_GAP) {
		text = vt_record_bytes(rec, VT_GAP_REASON);
		vt_buf_printf(to, "[%.*s at %x] ", (int)text.size, (const char *)text.data,
			      (unsigned)vt_record_u64(rec, VT_GAP_ADDR));
	} else if (rec->kind == VT_PACKETS) {
		text = vt_record_bytes(rec, VT_PACKETS_NAME);
		vt_buf_printf(to, "%.*s %u in %u; ", (int)text.size, (const char *)text.data,
			      (unsigned)vt_record_u64(rec, VT_PACKETS_COUNT),
			      (unsigned)vt_record_u64(rec, VT_PACKETS_BYTES));
	}
}

static void expect_records(struct vt_reader *r, const char *want)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_buf text = VT_BUF_INIT;
	struct vt_record rec;

	while (vt_reader_next(r, &rec, &err) > 0)
		say(&text, &rec);
	vt_reader_close(r);
	assert_string_equal(vt_buf_str(&text), want);
	vt_buf_free(&text);
}

/* The images, or if there is none the pages, that an argument names; and their code at an address.
 */
static void expect_code(const char *image, const char *pages, const char *want, uint64_t at,
			const char *bytes)
{
	struct vt_pt_decode_options opt = {.images = &image,
					   .nimages = image != NULL,
					   .pages = &pages,
					   .npages = pages != NULL};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_pt_rawcode *c = vt_pt_rawcode_new(&opt, &err);
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	uint8_t got[16];

	if (!c)
		fail_msg("%s", err.text);
	vt_pt_rawcode_write(c, w, 9);
	expect_records(reread_stream(fd, w), want);
	assert_int_equal(vt_pt_code_read(vt_pt_rawcode_code(c), at, got, strlen(bytes)),
			 strlen(bytes));
	assert_memory_equal(got, bytes, strlen(bytes));
	vt_pt_rawcode_free(c);
	close(fd);
}

static void expect_error(const char *image, const char *pages, int code, const char *want)
{
	struct vt_pt_decode_options opt = {.images = &image,
					   .nimages = image != NULL,
					   .pages = &pages,
					   .npages = pages != NULL};
	struct vt_error err = VT_ERROR_INIT;

	assert_null(vt_pt_rawcode_new(&opt, &err));
	assert_int_equal(err.code, code);
	assert_string_equal(err.text, want);
}

static void expect_damaged(const char *image)
{
	struct vt_pt_decode_options opt = {.images = &image, .nimages = 1};
	struct vt_error err = VT_ERROR_INIT;

	assert_null(vt_pt_rawcode_new(&opt, &err));
	assert_true(err.code == VT_E_DAMAGED || err.code == VT_E_FORMAT);
}

static void test_images(void **state)
{
	(void)state;
	write_file("code", "0123456789", 10);
	write_file("code:1", "abc", 3);
	write_file("empty", "", 0);
	expect_code("code:0x1000", NULL,
		    "image 0 type 4 machine 62 //anon; map 9/9 1000+a at 1000 of 0 prot 5; ",
		    0x1000, "0123456789");
	expect_code("code:0x1000:3:4", NULL,
		    "image 0 type 4 machine 62 //anon; map 9/9 1000+4 at 1000 of 0 prot 5; ",
		    0x1000, "3456");
	expect_code("code:0x1000:3:7", NULL,
		    "image 0 type 4 machine 62 //anon; map 9/9 1000+7 at 1000 of 0 prot 5; ",
		    0x1000, "3456789");
	/* The last number is the address, what is before it the name. */
	expect_code("code:1:0x2000", NULL,
		    "image 0 type 4 machine 62 //anon; map 9/9 2000+3 at 2000 of 0 prot 5; ",
		    0x2000, "abc");
	expect_error("code:1:3:8", NULL, VT_E_USAGE,
		     "--image: code: 8 bytes from offset 3 are not within its 10 bytes");
	expect_error("code:1:11:1", NULL, VT_E_USAGE,
		     "--image: code: 1 bytes from offset 11 are not within its 10 bytes");
	expect_error("code:1:3:0", NULL, VT_E_USAGE,
		     "--image: code: 0 bytes from offset 3 are not within its 10 bytes");
	expect_error("code", NULL, VT_E_USAGE,
		     "--image: 'code' is not FILE:ADDR or FILE:ADDR:OFFSET:SIZE");
	expect_error(":5", NULL, VT_E_USAGE,
		     "--image: ':5' is not FILE:ADDR or FILE:ADDR:OFFSET:SIZE");
	expect_error("empty:1", NULL, VT_E_FORMAT, "empty: the file is empty");
	expect_error("empty:1:0:1", NULL, VT_E_USAGE,
		     "--image: empty: 1 bytes from offset 0 are not within its 0 bytes");
	expect_error("none:1", NULL, VT_E_READ, "none: No such file or directory");
	expect_error("code:0xfffffffffffffff7", NULL, VT_E_FORMAT,
		     "code: code of 0xa bytes at 0xfffffffffffffff7: not within the address space");
	expect_code("code:0xfffffffffffffff6", NULL,
		    "image 0 type 4 machine 62 //anon; "
		    "map 9/9 fffffffffffffff6+a at fffffffffffffff6 of 0 prot 5; ",
		    0xfffffffffffffff6, "0123456789");
	unlink("code");
	unlink("code:1");
	unlink("empty");
}

static void put_number(uint8_t *to, uint64_t value, unsigned size)
{
	for (; size; size--, value >>= 8)
		*to++ = (uint8_t)value;
}

/* A program header: PT_LOAD, with these flags (1: executable). */
static void put_segment(uint8_t *to, unsigned flags, uint64_t offset, uint64_t vaddr, uint64_t size)
{
	put_number(to, 1, 4);
	put_number(to + 4, flags, 4);
	put_number(to + 8, offset, 8);
	put_number(to + 16, vaddr, 8);
	put_number(to + 24, vaddr, 8);
	put_number(to + 32, size, 8);
	put_number(to + 40, size, 8);
	put_number(to + 48, 0x1000, 8);
}

struct segment {
	unsigned flags; /* 4: readable, 2: writable, 1: executable */
	uint64_t offset, vaddr, size;
};

static void write_segments(const struct segment *all, unsigned n, unsigned machine, size_t size)
{
	static const uint8_t magic[] = {0x7f, 'E', 'L', 'F', 2, 1, 1};
	static const uint8_t four[] = {'c', 'o', 'd', 'e'};
	static uint8_t elf[0x3000];
	unsigned i;

	memset(elf, 0, sizeof(elf));
	for (i = 0x800; i < sizeof(elf); i++)
		elf[i] = (uint8_t)('A' + (i >> 8));
	memcpy(elf, magic, sizeof(magic));
	put_number(elf + 16, 3, 2); /* ET_DYN */
	put_number(elf + 18, machine, 2);
	put_number(elf + 20, 1, 4);
	put_number(elf + 32, 64, 8); /* where the program headers are */
	put_number(elf + 52, 64, 2);
	put_number(elf + 54, 56, 2);
	put_number(elf + 56, n, 2);
	put_number(elf + 58, 64, 2);
	for (i = 0; i < n; i++)
		put_segment(elf + 64 + 56 * i, all[i].flags, all[i].offset, all[i].vaddr,
			    all[i].size);
	memcpy(elf + 0x1010, four, sizeof(four));
	write_file("elf", elf, size);
}

/* An ELF file with data and code, a page apart in the file and two in memory. */
static void write_elf(unsigned code_flags)
{
	const struct segment all[] = {{6, 0, 0x10000, 0x100}, {code_flags, 0x1010, 0x12010, 0x20}};

	write_segments(all, 2, 62, 0x1030);
}

/* Whole pages of executable segments; the lowest segment is at the address that is named. */
static void test_elf(void **state)
{
	char path[64];

	(void)state;
	write_elf(5);
	expect_code("elf:0x700000", NULL,
		    "image 0 type 0 machine 62 /elf; map 9/9 702000+30 at 1000 of 0 prot 5; ",
		    0x702010, "code");
	/* Where none is executable all are meant. */
	write_elf(4);
	expect_code("elf:0x700000", NULL,
		    "image 0 type 0 machine 62 /elf; map 9/9 700000+1000 at 0 of 0 prot 5; "
		    "map 9/9 702000+30 at 1000 of 0 prot 5; ",
		    0x702010, "code");
	/* So they are where those have no bytes in the file. */
	write_segments((const struct segment[]){{5, 0, 0x10000, 0}, {4, 0x1000, 0x11000, 4}}, 2, 62,
		       0x3000);
	expect_code("elf:0x700000", NULL,
		    "image 0 type 0 machine 62 /elf; map 9/9 701000+1000 at 1000 of 0 prot 5; ",
		    0x701010, "code");
	/* Another machine's; a segment that ends with its page, or begins elsewhere in it. */
	write_segments((const struct segment[]){{5, 0x1000, 0x5000, 0x1000},
						{5, 0x1010, 0x8020, 0x20},
						{5, 0x2001, 0x9001, 0xfff}},
		       3, 183, 0x3000);
	expect_code("elf:0x700000", NULL,
		    "image 0 type 0 machine 183 /elf; map 9/9 700000+1000 at 1000 of 0 prot 5; "
		    "map 9/9 703020+20 at 1010 of 0 prot 5; "
		    "map 9/9 704000+1000 at 2000 of 0 prot 5; ",
		    0x703020, "code");
	/* None at all, and one that is cut. */
	write_segments(NULL, 0, 62, 0x3000);
	expect_error("elf:0x700000", NULL, VT_E_FORMAT,
		     "elf: an ELF file without loadable segments");
	write_segments(NULL, 0, 62, 30);
	expect_damaged("elf:0x700000");
	/* By its whole path, and by one from the root of all. */
	write_elf(5);
	snprintf(path, sizeof(path), "%s/elf:0x700000", dir);
	expect_code(path, NULL,
		    "image 0 type 0 machine 62 /elf; map 9/9 702000+30 at 1000 of 0 prot 5; ",
		    0x702010, "code");
	assert_int_equal(chdir("/"), 0);
	expect_code(path + 1, NULL,
		    "image 0 type 0 machine 62 /elf; map 9/9 702000+30 at 1000 of 0 prot 5; ",
		    0x702010, "code");
	assert_int_equal(chdir(dir), 0);
	/* As bytes. */
	write_elf(4);
	expect_code("elf:0x700000:0x1010:4", NULL,
		    "image 0 type 0 machine 62 /elf; map 9/9 700000+4 at 1010 of 0 prot 5; ",
		    0x700000, "code");
	unlink("elf");
}

/* ---- pages ---- */

static uint8_t dump[3 * 4096];

static void write_list(const uint64_t *at, size_t size)
{
	write_file("list", at, size);
}

static void test_pages(void **state)
{
	static const uint64_t mixed[] = {0x3000, 0x2000, 0x4000}, run[] = {0x2000, 0x3000, 0x8000};
	static const uint64_t twice[] = {0x2000, 0x2000, 0x2fff};

	(void)state;
	memset(dump, 'a', 4096);
	memset(dump + 4096, 'b', 4096);
	memset(dump + 8192, 'c', 4096);
	write_file("dump", dump, sizeof(dump));
	write_list(mixed, sizeof(mixed));
	expect_code(NULL, "dump,list",
		    "image 0 type 4 machine 62 //anon; map 9/9 2000+1000 at 2000 of 0 prot 5; "
		    "map 9/9 3000+1000 at 3000 of 0 prot 5; "
		    "map 9/9 4000+1000 at 4000 of 0 prot 5; ",
		    0x2ffe, "bbaa");
	write_list(run, sizeof(run));
	expect_code(NULL, "dump,list",
		    "image 0 type 4 machine 62 //anon; map 9/9 2000+2000 at 2000 of 0 prot 5; "
		    "map 9/9 8000+1000 at 8000 of 0 prot 5; ",
		    0x2ffe, "aabb");
	/* The last of the same address counts, wherever in the page that is. */
	write_list(twice, sizeof(twice));
	expect_code(NULL, "dump,list",
		    "image 0 type 4 machine 62 //anon; map 9/9 2000+1000 at 2000 of 0 prot 5; "
		    "map 9/9 2000+1000 at 2000 of 0 prot 5; "
		    "map 9/9 2000+1000 at 2000 of 0 prot 5; ",
		    0x2000, "cc");
	write_list(run, 17);
	expect_error(NULL, "dump,list", VT_E_FORMAT,
		     "list: 17 bytes are no list of 8-byte addresses");
	write_list(run, 16);
	expect_error(NULL, "dump,list", VT_E_FORMAT,
		     "dump: 12288 bytes are not the 2 pages of 4096 bytes that list lists");
	write_list(run, 0);
	write_file("dump", dump, 0);
	expect_error(NULL, "dump,list", VT_E_FORMAT, "list: the list is empty");
	write_list(run, 8);
	write_file("dump", dump, 4097);
	expect_error(NULL, "dump,list", VT_E_FORMAT,
		     "dump: 4097 bytes are not the 1 pages of 4096 bytes that list lists");
	expect_error(NULL, "none,list", VT_E_READ, "none: No such file or directory");
	expect_error(NULL, "dump,none", VT_E_READ, "none: No such file or directory");
	expect_error(NULL, "dump", VT_E_USAGE, "--pages: 'dump' is not DUMP,ADDRS");
	expect_error(NULL, ",list", VT_E_USAGE, "--pages: ',list' is not DUMP,ADDRS");
	expect_error(NULL, "dump,", VT_E_USAGE, "--pages: 'dump,' is not DUMP,ADDRS");
	unlink("dump");
	unlink("list");
}

/* ---- decoding ---- */

static unsigned warnings;

static void count_warning(void *arg, const char *text)
{
	(void)arg;
	assert_string_equal(text, "no code is named: see --image and --pages");
	warnings++;
}

static struct vt_format_summary summary;

static void expect_decoded(const struct trace *t, const struct vt_pt_decode_options *pt,
			   const char *want)
{
	const struct vt_format_options opt = {.pt = pt, .warn = count_warning};
	struct vt_error err = VT_ERROR_INIT;
	int in_fd = scratch_file(), fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_input in;

	assert_int_equal(write(in_fd, t->bytes, size_of(t)), size_of(t));
	assert_int_equal(lseek(in_fd, 0, SEEK_SET), 0);
	assert_int_equal(vt_input_open_fd(&in, in_fd, "in", &err), 0);
	warnings = 0;
	summary = (struct vt_format_summary){.records = 0};
	if (vt_pt_decode(&in, w, &opt, &summary, &err) < 0)
		fail_msg("%s", err.text);
	vt_input_close(&in);
	expect_records(reread_stream(fd, w), want);
	close(in_fd);
	close(fd);
}

static void test_decode(void **state)
{
	static struct trace t;
	const char *image = "code:0x400000";
	struct vt_pt_decode_options pt = {.images = &image, .nimages = 1, .jobs = 1};

	(void)state;
	/* nop; je back */
	write_file("code", "\x90\x74\xfd", 3);
	put_psb(start(&t), BASE);
	put_tnt(&t, "111");
	put_tnt(&t, "10");
	put_tnt(&t, "1");
	expect_decoded(&t, &pt,
		       "image 0 type 4 machine 62 //anon; map 1/1 400000+3 at 400000 of 0 prot 5; "
		       " 0 in 30; exec 1/1 10; [no code at 400003] ");
	assert_int_equal(warnings, 0);
	assert_true(summary.traced);
	assert_int_equal(summary.insns, 10);
	assert_int_equal(summary.damaged, 1);
	assert_int_equal(summary.unread, 1);
	pt.nimages = 0;
	pt.pid = 77;
	pt.packets = true;
	expect_decoded(&t, &pt,
		       " 7 in 30; PSB 1 in 16; PSBEND 1 in 2; TNT-8 3 in 3; FUP 1 in 7; "
		       "MODE.Exec 1 in 2; [no code at 400000] ");
	assert_int_equal(warnings, 1);
	assert_int_equal(summary.insns, 0);
	unlink("code");
}

/* Each engine does it, of no options the default one; without any there is no code. */
static void test_engines(void **state)
{
	static const char *const names[] = {"libipt", "fast", NULL};
	static struct trace t;
	const char *image = "code:0x400000";
	size_t i;

	(void)state;
	write_file("code", "\x90\x74\xfd", 3);
	put_psb(start(&t), BASE);
	put_tnt(&t, "111");
	for (i = 0; i < 3; i++) {
		struct vt_pt_decode_options pt = {
			.images = &image, .nimages = 1, .engine = names[i], .pid = 5};

		expect_decoded(&t, &pt,
			       "image 0 type 4 machine 62 //anon; map 5/5 400000+3 at 400000 of 0 "
			       "prot 5;  0 in 28; exec 5/5 6; ");
		assert_int_equal(summary.damaged, 0);
		assert_int_equal(summary.unread, 0);
	}
	expect_decoded(&t, NULL, " 0 in 28; [no code at 400000] ");
	assert_int_equal(warnings, 1);
	unlink("code");
}

/* What cannot be: no such engine, no such file of code. */
static void test_refused(void **state)
{
	static const char *const image = "nowhere:0x400000";
	const struct vt_pt_decode_options all[] = {{.engine = "fas"},
						   {.images = &image, .nimages = 1}};
	static const int codes[] = {-VT_E_USAGE, -VT_E_READ};
	static const char *const texts[] = {"--engine: 'fas' is none", "nowhere"};
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		const struct vt_format_options opt = {.pt = &all[i]};
		struct vt_error err = VT_ERROR_INIT;
		struct vt_format_summary sum = {.records = 0};
		int in_fd = scratch_file(), fd = scratch_file();
		struct vt_writer *w = start_stream(fd);
		struct vt_input in;

		assert_int_equal(vt_input_open_fd(&in, in_fd, "in", &err), 0);
		assert_int_equal(vt_pt_decode(&in, w, &opt, &sum, &err), codes[i]);
		assert_non_null(strstr(err.text, texts[i]));
		assert_false(sum.traced);
		vt_input_close(&in);
		vt_writer_abandon(w);
		close(in_fd);
		close(fd);
	}
}

static void test_probe(void **state)
{
	static const uint8_t psb[] = {2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82,
				      2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82};
	uint8_t bytes[100] = {0};
	unsigned i;

	(void)state;
	/* It must lie in the first 64 bytes, whatever there is behind them. */
	for (i = 0; i < 80; i++) {
		memset(bytes, 0, sizeof(bytes));
		memcpy(bytes + i, psb, sizeof(psb));
		assert_int_equal(vt_pt_probe(bytes, sizeof(bytes)), i <= 64 - 16);
		assert_int_equal(vt_pt_probe(bytes, i + 16), i <= 64 - 16);
		assert_false(vt_pt_probe(bytes, i + 15));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_images),	cmocka_unit_test(test_elf),
		cmocka_unit_test(test_pages),	cmocka_unit_test(test_decode),
		cmocka_unit_test(test_engines), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_probe),
	};

	return cmocka_run_group_tests(tests, enter_dir, leave_dir);
}
