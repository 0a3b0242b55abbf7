/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <pprof.pb-c.h>
#include <zlib.h>

#include "formats/export/export.h"

static struct vt_error err;

static Vti__Pprof__Profile *write_and_read(const struct vt_stacks *s)
{
	static uint8_t packed[65536], plain[65536];
	FILE *file = tmpfile();
	z_stream zip = {.next_in = packed, .next_out = plain, .avail_out = sizeof(plain)};
	struct vt_output out;
	Vti__Pprof__Profile *p;
	ssize_t size;

	assert_non_null(file);
	assert_int_equal(vt_output_open_fd(&out, fileno(file), "file", &err), 0);
	assert_int_equal(vti_export_pprof.write(s, "title", &out, &err), 0);
	assert_int_equal(vt_output_close(&out, &err), 0);
	size = pread(fileno(file), packed, sizeof(packed), 0);
	assert_true(size > 18);
	zip.avail_in = (uInt)size;
	assert_int_equal(inflateInit2(&zip, MAX_WBITS + 16), Z_OK);
	assert_int_equal(inflate(&zip, Z_FINISH), Z_STREAM_END);
	p = vti__pprof__profile__unpack(NULL, zip.total_out, plain);
	assert_non_null(p);
	inflateEnd(&zip);
	fclose(file);
	return p;
}

static const char *text(const Vti__Pprof__Profile *p, int64_t id)
{
	assert_true(id >= 0 && (size_t)id < p->n_string_table);
	return p->string_table[id];
}

/* main calls work, into which step is inlined; both values, and labels. */
static struct vt_stacks *make_stacks(void)
{
	const struct vt_stack_image other = {"/lib/other.so", "", 0, 0, 0};
	const struct vt_stack_image prog = {"/bin/prog", "abcd", 0x1000, 0x2000, 0x40};
	const struct vt_stack_line start[] = {{"main", "", "a.c", 3, 1}};
	const struct vt_stack_line work[] = {{"step", "_Z4step", "b.c", 7, 0},
					     {"work\xff", "_Z4work", "a.c", 12, 10}};
	const struct vt_stack_place places[] = {{.image = 1, .address = 0x1010},
						{.image = 1, .address = 0x1020}};
	const struct vt_stack_label label = {"thread", 7, 8, -1};
	struct vt_stacks *s = vt_stacks_new();
	uint32_t node;

	assert_non_null(s);
	vt_stacks_add_value(s, "cycles", "count");
	vt_stacks_add_value(s, "cycles/period", "cycles");
	vt_stacks_set_period(s, 1000, "cycles", "cycles");
	vt_stacks_add_image(s, &other);
	vt_stacks_add_image(s, &prog);
	node = vt_stacks_add_root(s, &label);
	node = vt_stacks_push(s, node, vt_stacks_add_place(s, &places[0], start, 1));
	vt_stacks_count(s, node, 1, UINT64_MAX);
	node = vt_stacks_push(s, node, vt_stacks_add_place(s, &places[1], work, 2));
	vt_stacks_count(s, node, 0, 3);
	vt_stacks_count(s, node, 1, 3000);
	return s;
}

static void samples_have_values_and_labels(void **state)
{
	struct vt_stacks *s = make_stacks();
	Vti__Pprof__Profile *p = write_and_read(s);
	const Vti__Pprof__Sample *sample;

	(void)state;
	assert_int_equal(p->n_sample_type, 2);
	assert_string_equal(text(p, p->sample_type[0]->type), "cycles");
	assert_string_equal(text(p, p->sample_type[0]->unit), "count");
	assert_string_equal(text(p, p->sample_type[1]->type), "cycles/period");
	assert_string_equal(text(p, p->default_sample_type), "cycles");
	assert_int_equal(p->period, 1000);
	assert_string_equal(text(p, p->period_type->unit), "cycles");
	assert_string_equal(p->string_table[0], "");
	assert_int_equal(p->n_sample, 2);
	assert_int_equal(p->sample[0]->value[1], INT64_MAX);
	sample = p->sample[1];
	assert_int_equal(sample->n_location_id, 2);
	assert_int_equal(sample->location_id[0], 2);
	assert_int_equal(sample->location_id[1], 1);
	assert_int_equal(sample->value[0], 3);
	assert_int_equal(sample->value[1], 3000);
	assert_int_equal(sample->n_label, 3);
	assert_string_equal(text(p, sample->label[0]->key), "comm");
	assert_string_equal(text(p, sample->label[0]->str), "thread");
	assert_string_equal(text(p, sample->label[2]->key), "tid");
	assert_int_equal(sample->label[2]->num, 8);
	vti__pprof__profile__free_unpacked(p, NULL);
	vt_stacks_free(s);
}

static void places_have_lines_and_images(void **state)
{
	struct vt_stacks *s = make_stacks();
	Vti__Pprof__Profile *p = write_and_read(s);
	const Vti__Pprof__Mapping *m = p->mapping[0];
	const Vti__Pprof__Location *l = p->location[1];
	const Vti__Pprof__Function *f;

	(void)state;
	/* The program, which has most samples, comes first. */
	assert_int_equal(p->n_mapping, 2);
	assert_int_equal(m->id, 2);
	assert_string_equal(text(p, m->filename), "/bin/prog");
	assert_string_equal(text(p, m->build_id), "abcd");
	assert_int_equal(m->memory_start, 0x1000);
	assert_int_equal(m->memory_limit, 0x2000);
	assert_int_equal(m->file_offset, 0x40);
	assert_true(m->has_functions && m->has_filenames && m->has_line_numbers &&
		    m->has_inline_frames);
	assert_false(p->mapping[1]->has_functions || p->mapping[1]->has_inline_frames);
	assert_int_equal(l->id, 2);
	assert_int_equal(l->mapping_id, 2);
	assert_int_equal(l->address, 0x1020);
	assert_int_equal(l->n_line, 2);
	assert_int_equal(l->line[0]->line, 7);
	assert_int_equal(l->line[1]->line, 12);
	assert_int_equal(p->n_function, 3);
	f = p->function[l->line[1]->function_id - 1];
	assert_string_equal(text(p, f->name), "work\\xff");
	assert_string_equal(text(p, f->system_name), "_Z4work");
	assert_string_equal(text(p, f->filename), "a.c");
	assert_int_equal(f->start_line, 10);
	f = p->function[p->location[0]->line[0]->function_id - 1];
	assert_string_equal(text(p, f->system_name), "main");
	vti__pprof__profile__free_unpacked(p, NULL);
	vt_stacks_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_have_values_and_labels),
		cmocka_unit_test(places_have_lines_and_images),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
