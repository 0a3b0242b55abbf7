/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/formats/perfdata/pdexpect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "formats/perfdata/abi.h"

#define LINES 400

const struct pdfile_attr pdexpect_plain = {.type = 4,
					   .config = 461,
					   .period = 1000,
					   .sample_type = PD_SAMPLE_IP | PD_SAMPLE_TIME,
					   .flags = PD_ATTR_SAMPLE_ID_ALL,
					   .first_id = 11,
					   .nids = 1};

static struct {
	char text[LINES][240];
	const char *at[LINES];
	size_t n;
} want;

struct pdfile pdexpect_form(unsigned form)
{
	static const size_t pieces[] = {0, 1, 100};

	return (struct pdfile){.big = form & 1, .pipe = form & 2, .piece = pieces[form / 4 % 3]};
}

size_t pdexpect_place(const struct pdfile *f)
{
	return (f->pipe ? 16 : 104 + f->ids.size + f->attrs.size) + f->data.size;
}

void pdexpect_put_words(struct pdfile *f, uint32_t type, const uint64_t *words, size_t n)
{
	size_t i;

	pdfile_begin(f, type, 0);
	for (i = 0; i < n; i++)
		pdfile_u64(f, &f->data, words[i]);
	pdfile_end(f);
}

void pdexpect_put_samples(struct pdfile *f, unsigned from, unsigned n)
{
	unsigned i;

	for (i = from; i < from + n; i++) {
		pdfile_begin(f, PD_SAMPLE, 2);
		pdfile_u64(f, &f->data, 600);
		pdfile_u64(f, &f->data, i);
		pdfile_end(f);
	}
}

void pdexpect_put_junk(struct pdfile *f, size_t n)
{
	while (n--)
		vt_buf_put_u8(&f->data, 0xff);
}

void pdexpect_set_size(struct pdfile *f, uint16_t size)
{
	vt_put_le16(f->data.data + f->record + 6, f->big ? __builtin_bswap16(size) : size);
}

void pdexpect_put_wrong(struct pdfile *f, uint32_t type, uint16_t size)
{
	pdfile_begin(f, type, 0);
	pdexpect_put_junk(f, 24);
	pdfile_end(f);
	pdexpect_set_size(f, size);
}

void pdexpect(const char *fmt, ...)
{
	va_list ap;

	assert_true(want.n < LINES);
	va_start(ap, fmt);
	vsnprintf(want.text[want.n], sizeof(want.text[0]), fmt, ap);
	va_end(ap);
	want.at[want.n] = want.text[want.n];
	want.n++;
}

void pdexpect_samples(unsigned from, unsigned n)
{
	unsigned i;

	for (i = from; i < from + n; i++)
		pdexpect("SAMPLE time=%u ip=600 period=1000 misc=2 has=5", i);
}

struct vt_format_summary pdexpect_check_but(struct pdfile *f, const char *but)
{
	struct vt_format_summary sum = pdfile_expect(f, but, want.at, want.n);

	pdfile_free(f);
	want.n = 0;
	return sum;
}

struct vt_format_summary pdexpect_check(struct pdfile *f)
{
	return pdexpect_check_but(f, "EVENT ");
}

int pdexpect_nothing(void **state)
{
	(void)state;
	want.n = 0;
	return 0;
}
