/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Packed images: what is known of them, what is not, and what is refused. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "image/imagedata.h"
#include "image/images.h"
#include "image/lines.h"
#include "image/packed.h"
#include "image/packs.h"
#include "stream/kinds.h"
#include "tests/unit/common/streams.h"

#define TOTAL 0x3000
#define CODE  0x1000 /* of 0x200 bytes, at vaddr 0x401000 */

/* A stream of records of image 1, and the images that read it. */
struct packed {
	int fd;
	struct vt_writer *w;
	struct vt_reader *r;
	struct vt_images *images;
	int refused; /* the code of the last record that was */
};

static void begin(struct packed *p)
{
	uint64_t *row;

	memset(p, 0, sizeof(*p));
	p->fd = scratch_file();
	p->w = start_stream(p->fd);
	row = vt_writer_row(p->w, VT_IMAGE);
	row[VT_IMAGE_ID] = 1;
	row[VT_IMAGE_TYPE] = VT_IMAGE_FILE;
	vt_writer_text(p->w, VT_IMAGE_PATH, "/no/such/p");
}

static void put_file(struct packed *p, uint64_t image, uint64_t total, uint64_t offset,
		     const void *data, size_t size)
{
	uint64_t *row = vt_writer_row(p->w, VT_FILE);

	row[VT_FILE_IMAGE] = image;
	row[VT_FILE_FLAGS] = VT_FILE_VERIFIED | VT_FILE_LINES;
	row[VT_FILE_TOTAL] = total;
	row[VT_FILE_OFFSET] = offset;
	vt_writer_bytes(p->w, VT_FILE_DATA, data, size);
}

/* A program with one segment of code, without sections. */
static void put_headers(struct packed *p)
{
	struct {
		Elf64_Ehdr e;
		Elf64_Phdr p;
	} h = {.e = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		     .e_type = ET_EXEC,
		     .e_machine = EM_X86_64,
		     .e_version = EV_CURRENT,
		     .e_phoff = sizeof(Elf64_Ehdr),
		     .e_ehsize = sizeof(Elf64_Ehdr),
		     .e_phentsize = sizeof(Elf64_Phdr),
		     .e_phnum = 1},
	       .p = {.p_type = PT_LOAD,
		     .p_flags = PF_R | PF_X,
		     .p_offset = CODE,
		     .p_vaddr = 0x401000,
		     .p_filesz = 0x200,
		     .p_memsz = 0x200}};

	put_file(p, 1, TOTAL, 0, &h, sizeof(h));
}

static void put_symbol(struct packed *p, uint64_t addr, uint64_t size, uint64_t flags,
		       const char *name)
{
	uint64_t *row = vt_writer_row(p->w, VT_SYMBOL);

	row[VT_SYMBOL_IMAGE] = 1;
	row[VT_SYMBOL_ADDR] = addr;
	row[VT_SYMBOL_SIZE] = size;
	row[VT_SYMBOL_FLAGS] = flags;
	vt_writer_text(p->w, VT_SYMBOL_NAME, name);
}

static void put_line(struct packed *p, uint64_t addr, uint64_t size, uint64_t depth,
		     const char *function, uint64_t line, uint64_t flags)
{
	uint64_t *row = vt_writer_row(p->w, VT_LINE);

	row[VT_LINE_IMAGE] = 1;
	row[VT_LINE_ADDR] = addr;
	row[VT_LINE_SIZE] = size;
	row[VT_LINE_DEPTH] = depth;
	row[VT_LINE_FLAGS] = flags;
	row[VT_LINE_LINE] = line;
	row[VT_LINE_COLUMN] = line + 1;
	row[VT_LINE_DISCRIMINATOR] = line + 2;
	vt_writer_text(p->w, VT_LINE_FUNCTION, function);
	vt_writer_text(p->w, VT_LINE_FILE, "/src/p.c");
}

static void read_back(struct packed *p)
{
	const struct vt_images_options opt = {.find = {.symfs = NULL}};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_record rec;
	int code;

	p->r = reread_stream(p->fd, p->w);
	p->images = vt_images_new(&opt, &err);
	while (vt_reader_next(p->r, &rec, &err) > 0) {
		code = vt_images_feed(p->images, &rec, &err);
		p->refused = code ? code : p->refused;
	}
}

static void end(struct packed *p)
{
	vt_images_free(p->images);
	vt_reader_close(p->r);
	close(p->fd);
}

static void only_pieces_are_known(void **state)
{
	static const uint8_t code[3] = {0x90, 0x90, 0xc3};
	uint8_t line[VT_IMAGEDATA_LINE];
	const struct vt_elf *elf;
	enum vt_unknown why;
	struct packed p;
	size_t avail;
	bool known;

	(void)state;
	begin(&p);
	put_headers(&p);
	put_file(&p, 1, TOTAL, CODE + 0x10, code, 3);
	put_file(&p, 1, TOTAL, CODE + 0x13, code, 2); /* touches it */
	put_file(&p, 1, TOTAL, CODE + 0x20, code, 3);
	read_back(&p);
	assert_int_equal(p.refused, 0);
	elf = vt_images_elf(p.images, 1, &why);
	assert_non_null(elf);
	assert_true(vt_images_verified(p.images, 1));
	assert_false(vt_images_changed(p.images, 1));
	assert_null(vt_elf_bytes(elf, 0x40100f, &avail));
	assert_int_equal(avail, 0);
	assert_memory_equal(vt_elf_bytes(elf, 0x401010, &avail), code, 3);
	assert_int_equal(avail, 5);
	assert_non_null(vt_elf_bytes(elf, 0x401014, &avail));
	assert_int_equal(avail, 1);
	assert_null(vt_elf_bytes(elf, 0x401015, &avail));
	assert_int_equal(vt_elf_holds(elf, 0x401015, 100, &known), 11);
	assert_false(known);
	assert_int_equal(vt_elf_holds(elf, 0x401010, 100, &known), 5);
	assert_true(known);
	assert_int_equal(vt_elf_holds(elf, 0x401023, 100, &known), 100);
	assert_false(known);
	assert_true(vt_elf_is_code(elf, 0x40100f));
	assert_int_equal(vt_imagedata_line(vt_images_data(p.images, 1), 0, 0x401000, true, line),
			 UINT64_C(0x1f) << 0x10 | UINT64_C(7) << 0x20);
	assert_int_equal(vt_imagedata_code(vt_images_data(p.images, 1), 0x401012, line, 64), 3);
	assert_int_equal(vt_imagedata_code(vt_images_data(p.images, 1), 0x401030, line, 64), 0);
	end(&p);
}

/* The size of the build-id of a file whose notes have `size` bytes, the first of which is one. */
static size_t buildid_of(uint64_t size)
{
	static const uint8_t note[] = {4, 0, 0,	  0,   4,   0, 0, 0, 3, 0,
				       0, 0, 'G', 'N', 'U', 0, 1, 2, 3, 4};
	struct {
		Elf64_Ehdr e;
		Elf64_Phdr p;
	} h = {.e = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		     .e_type = ET_EXEC,
		     .e_machine = EM_X86_64,
		     .e_version = EV_CURRENT,
		     .e_phoff = sizeof(Elf64_Ehdr),
		     .e_ehsize = sizeof(Elf64_Ehdr),
		     .e_phentsize = sizeof(Elf64_Phdr),
		     .e_phnum = 1},
	       .p = {.p_type = PT_NOTE, .p_offset = CODE, .p_filesz = size, .p_align = 4}};
	const struct vt_elf *elf;
	enum vt_unknown why;
	struct packed p;
	size_t found;

	begin(&p);
	put_file(&p, 1, UINT64_C(1) << 35, 0, &h, sizeof(h));
	put_file(&p, 1, UINT64_C(1) << 35, CODE, note, sizeof(note));
	read_back(&p);
	elf = vt_images_elf(p.images, 1, &why);
	assert_non_null(elf);
	found = vt_elf_info(elf)->buildid_size;
	end(&p);
	return found;
}

static void endless_notes_are_not_read(void **state)
{
	(void)state;
	assert_int_equal(buildid_of(20), 4);
	assert_int_equal(buildid_of(1 << 20), 4);
	assert_int_equal(buildid_of((1 << 20) + 4), 0);
	assert_int_equal(buildid_of(UINT64_C(1) << 34), 0);
}

static void symbols_and_aliases(void **state)
{
	struct vt_location loc;
	struct vt_symbols *t;
	enum vt_unknown why;
	struct packed p;
	uint64_t addr;

	(void)state;
	begin(&p);
	put_headers(&p);
	put_symbol(&p, 0x401010, 0x20, VT_SYMBOL_GLOBAL, "work");
	put_symbol(&p, 0x401010, 0, VT_SYMBOL_ALIAS, "labour");
	put_symbol(&p, 0x401090, 0, VT_SYMBOL_ENDS, "");
	read_back(&p);
	assert_int_equal(vt_images_symbol(p.images, 1, 0, CODE + 0x2f, &loc), VT_KNOWN);
	assert_string_equal(loc.symbol->name, "work");
	assert_int_equal(loc.vaddr, 0x40102f);
	assert_int_equal(vt_images_symbol(p.images, 1, 0, CODE + 0x30, &loc), VT_UNKNOWN_NO_SYMBOL);
	t = vt_images_symbols(p.images, 1, 0, &why);
	assert_int_equal(vt_symbols_count(t), 1);
	assert_true(vt_symbols_address_of(t, "labour", &addr));
	assert_int_equal(addr, 0x401010);
	end(&p);
}

static void lines_and_inlined_calls(void **state)
{
	struct vt_frame f[VT_MAX_INLINE];
	struct vt_lines *l;
	struct packed p;
	struct vt_line line;

	(void)state;
	begin(&p);
	put_headers(&p);
	/* Out of order, as after a merge: a point in a range that another run had whole. */
	put_line(&p, 0x401014, 1, 0, "deep", 7, VT_LINE_KNOWN | VT_LINE_FRAME);
	put_line(&p, 0x401014, 1, 1, "work", 20, VT_LINE_FRAME);
	put_line(&p, 0x401010, 8, 1, "work", 20, VT_LINE_FRAME);
	put_line(&p, 0x401010, 8, 0, "deep", 7, VT_LINE_KNOWN | VT_LINE_FRAME | VT_LINE_STATEMENT);
	put_line(&p, 0x401018, 4, 0, "", 21, VT_LINE_KNOWN);
	put_line(&p, 0x401010, 0x10, 0, "work", 19, VT_LINE_DECLARED);
	read_back(&p);
	l = vt_images_lines(p.images, 1);
	assert_non_null(l);
	assert_false(vt_lines_at(l, 0x40100f, &line));
	assert_true(vt_lines_at(l, 0x401010, &line));
	assert_string_equal(line.file, "/src/p.c");
	assert_int_equal(line.line, 7);
	assert_int_equal(line.column, 8);
	assert_int_equal(line.discriminator, 9);
	assert_true(line.is_stmt);
	assert_int_equal(vt_lines_frames(l, 0x401013, f, VT_MAX_INLINE), 2);
	assert_string_equal(f[0].function, "deep");
	assert_true(f[0].inlined);
	assert_string_equal(f[1].function, "work");
	assert_int_equal(f[1].line, 20);
	assert_false(f[1].inlined);
	assert_int_equal(vt_lines_frames(l, 0x401013, f, 1), 1);
	assert_true(f[0].inlined);
	assert_int_equal(vt_lines_frames(l, 0x401017, f, VT_MAX_INLINE), 2);
	assert_true(vt_lines_at(l, 0x401018, &line));
	assert_int_equal(line.line, 21);
	assert_int_equal(vt_lines_frames(l, 0x401018, f, VT_MAX_INLINE), 0);
	assert_false(vt_lines_at(l, 0x40101c, &line));
	assert_int_equal(vt_lines_change(l, 0x401010), 0x401014);
	assert_int_equal(vt_lines_change(l, 0x401018), 0x40101c);
	assert_true(vt_lines_function(l, 0x40101f, &f[0]));
	assert_int_equal(f[0].line, 19);
	assert_false(vt_lines_function(l, 0x401020, &f[0]));
	end(&p);
}

static void nothing_outside_its_file(void **state)
{
	struct packed p;

	(void)state;
	begin(&p);
	put_file(&p, 1, 16, 10, "1234567", 7);
	read_back(&p);
	assert_int_equal(p.refused, -VT_E_FORMAT);
	end(&p);
	begin(&p);
	put_file(&p, 1, 16, 0, "1", 1);
	put_file(&p, 1, 17, 0, "1", 1);
	read_back(&p);
	assert_int_equal(p.refused, -VT_E_FORMAT);
	end(&p);
	begin(&p);
	put_file(&p, 1, UINT64_C(1) << 37, 0, "1", 1);
	read_back(&p);
	assert_int_equal(p.refused, -VT_E_LIMIT);
	end(&p);
	begin(&p);
	put_file(&p, 2, 16, 0, "1", 1);
	read_back(&p);
	assert_int_equal(p.refused, -VT_E_FORMAT);
	end(&p);
}

/* Reads the stream again, as one of several that are merged, and writes image 1 as image 7. */
static struct vt_reader *merge(struct packed *p, const struct packed *other, int out)
{
	struct vt_packs *packs = vt_packs_new();
	const struct packed *from[2] = {p, other};
	struct vt_error err = VT_ERROR_INIT;
	const struct vt_block *b;
	uint32_t first, count;
	struct vt_writer *w;
	size_t i;

	for (i = 0; i < 2 && from[i]; i++) {
		struct vt_reader *r;

		lseek(from[i]->fd, 0, SEEK_SET);
		r = vt_reader_open_fd(from[i]->fd, "test", &err);
		while (vt_reader_next_run(r, &b, &first, &count, &err) > 0)
			assert_int_equal(vt_packs_feed(packs, b, first, count, &err), 0);
		vt_packs_end_stream(packs);
		vt_reader_close(r);
	}
	w = start_stream(out);
	vt_packs_write(packs, VT_IMAGE_FILE, "/no/such/p", 10, "", 0, 7, w);
	vt_packs_write(packs, VT_IMAGE_FILE, "/another", 8, "", 0, 8, w);
	vt_packs_free(packs);
	return reread_stream(out, w);
}

static void packs_are_joined(void **state)
{
	struct packed a, b;
	struct vt_error err = VT_ERROR_INIT;
	struct vt_record rec;
	struct vt_reader *r;
	unsigned kinds[VT_NKINDS] = {0};
	uint64_t bytes = 0;
	int out = scratch_file();

	(void)state;
	begin(&a);
	put_headers(&a);
	put_file(&a, 1, TOTAL, CODE, "\x90\x90", 2);
	put_symbol(&a, 0x401000, 2, 0, "a");
	read_back(&a);
	begin(&b);
	put_headers(&b);
	put_file(&b, 1, TOTAL, CODE + 2, "\x90\xc3", 2);
	put_symbol(&b, 0x401002, 2, 0, "b");
	put_line(&b, 0x401002, 2, 0, "b", 5, VT_LINE_KNOWN);
	put_line(&b, 0x401002, 2, 0, "b", 4, VT_LINE_DECLARED);
	read_back(&b);
	r = merge(&a, &b, out);
	while (vt_reader_next(r, &rec, &err) > 0) {
		kinds[rec.kind]++;
		assert_int_equal(vt_record_u64(&rec, 0), 7);
		if (rec.kind == VT_FILE)
			bytes += vt_record_bytes(&rec, VT_FILE_DATA).size;
	}
	assert_int_equal(kinds[VT_FILE], 3); /* the flags, the headers, the code */
	assert_int_equal(kinds[VT_SYMBOL], 2);
	assert_int_equal(kinds[VT_LINE], 2);
	assert_int_equal(bytes, sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr) + 4);
	vt_reader_close(r);
	close(out);
	end(&a);
	end(&b);
}

static void packs_that_lack_a_stream_are_left_out(void **state)
{
	struct packed a, b;
	struct vt_error err = VT_ERROR_INIT;
	struct vt_record rec;
	struct vt_reader *r;
	int out = scratch_file();

	(void)state;
	begin(&a);
	put_headers(&a);
	read_back(&a);
	begin(&b);
	read_back(&b);
	r = merge(&a, &b, out);
	assert_int_equal(vt_reader_next(r, &rec, &err), 0);
	vt_reader_close(r);
	close(out);
	end(&a);
	end(&b);
}

static void kernels_at_two_addresses_are_not(void **state)
{
	struct packed a, b;
	struct vt_error err = VT_ERROR_INIT;
	struct vt_record rec;
	struct vt_reader *r;
	uint64_t *row;
	int out = scratch_file();

	(void)state;
	begin(&a);
	vt_writer_row(a.w, VT_FILE)[VT_FILE_IMAGE] = 1;
	read_back(&a);
	begin(&b);
	row = vt_writer_row(b.w, VT_FILE);
	row[VT_FILE_IMAGE] = 1;
	row[VT_FILE_BASE] = 0x1000;
	read_back(&b);
	r = merge(&a, &b, out);
	if (vt_reader_next(r, &rec, &err) != 0)
		fail_msg("%s", err.text);
	vt_reader_close(r);
	close(out);
	end(&a);
	end(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_pieces_are_known),
		cmocka_unit_test(endless_notes_are_not_read),
		cmocka_unit_test(symbols_and_aliases),
		cmocka_unit_test(lines_and_inlined_calls),
		cmocka_unit_test(nothing_outside_its_file),
		cmocka_unit_test(packs_are_joined),
		cmocka_unit_test(packs_that_lack_a_stream_are_left_out),
		cmocka_unit_test(kernels_at_two_addresses_are_not),
	};

	return cmocka_run_group_tests_name("packed", tests, NULL, NULL);
}
