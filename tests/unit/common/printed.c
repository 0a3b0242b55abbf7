/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/common/printed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static struct vt_error err;
static FILE *file;

void print_begin(struct vt_output *out)
{
	file = tmpfile();
	assert_non_null(file);
	assert_int_equal(vt_output_open_fd(out, fileno(file), "temporary file", &err), 0);
}

const char *print_end(struct vt_output *out)
{
	static char text[1 << 16];
	size_t n;

	assert_int_equal(vt_output_close(out, &err), 0);
	rewind(file);
	n = fread(text, 1, sizeof(text) - 1, file);
	text[n] = '\0';
	fclose(file);
	return text;
}

const char *print_table(const struct vt_table *t, enum vt_table_form form, bool color)
{
	struct vt_output out;

	print_begin(&out);
	assert_int_equal(vt_table_print(t, &out, form, color, &err), 0);
	return print_end(&out);
}
