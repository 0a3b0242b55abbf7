/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listing/chart.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "tests/unit/common/streams.h"

/* The picture as a text; owned by the caller. */
static char *draw(const struct vt_chart *c)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_output out;
	int fd = scratch_file();
	char *text;
	size_t size;

	assert_int_equal(vt_output_open_fd(&out, fd, "chart", &err), 0);
	vt_chart_write(c, &out);
	assert_int_equal(vt_output_close(&out, &err), 0);
	text = (char *)slurp(fd, &size);
	text = realloc(text, size + 1);
	assert_non_null(text);
	text[size] = 0;
	close(fd);
	return text;
}

/* The plot is 700 by 360 pixels, from (70, 40) on; y goes up. */
static void put_grid(struct vt_buf *b, double x_max, double x_step, double y_max, double y_step)
{
	int i, nx = (int)(x_max / x_step + 0.001), ny = (int)(y_max / y_step + 0.001);

	vt_buf_printf(b, "<g stroke=\"#dddddd\" stroke-width=\"1\">\n");
	for (i = 0; i <= nx; i++)
		vt_buf_printf(b, "<path d=\"M%.1f 40 V400\"/>\n", 70 + 700 * (i * x_step) / x_max);
	for (i = 0; i <= ny; i++)
		vt_buf_printf(b, "<path d=\"M70 %.1f H770\"/>\n",
			      40 + 360 * (1 - i * y_step / y_max));
	vt_buf_printf(b, "</g>\n");
	for (i = 0; i <= nx; i++)
		vt_buf_printf(b, "<text x=\"%.1f\" y=\"418.0\" text-anchor=\"middle\">%g</text>\n",
			      70 + 700 * (i * x_step) / x_max, i * x_step);
	for (i = 0; i <= ny; i++)
		vt_buf_printf(b, "<text x=\"62.0\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n",
			      44 + 360 * (1 - i * y_step / y_max), i * y_step);
	vt_buf_printf(b, "<rect x=\"70\" y=\"40\" width=\"700\" height=\"360\" fill=\"none\" "
			 "stroke=\"#444444\"/>\n");
}

static void draws_lines(void **state)
{
	static const double x[] = {0, 5, 12, -1}, y[] = {0, 5, 21, -1};
	static const struct vt_chart_series series[] = {
		{"a<b", x, y, 4}, {"", x, y, 1}, {"c", x, y, 0}};
	const struct vt_chart c = {"R&D", "x > y", "an \"y\"", 10, 20, false, NULL, 0, series, 3};
	struct vt_buf want = VT_BUF_INIT;
	char *text = draw(&c);

	(void)state;
	vt_buf_printf(&want,
		      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"800\" height=\"498\" "
		      "viewBox=\"0 0 800 498\" font-family=\"sans-serif\" font-size=\"12\">\n"
		      "<rect width=\"800\" height=\"498\" fill=\"#ffffff\"/>\n"
		      "<text x=\"420.0\" y=\"24.0\" text-anchor=\"middle\" font-size=\"15\" "
		      "font-weight=\"bold\">R&amp;D</text>\n"
		      "<text x=\"420.0\" y=\"440.0\" text-anchor=\"middle\">x &gt; y</text>\n"
		      "<text x=\"20.0\" y=\"220.0\" text-anchor=\"middle\" "
		      "transform=\"rotate(-90 20 220)\">an \"y\"</text>\n");
	put_grid(&want, 10, 1, 20, 2);
	vt_buf_printf(&want, "<polyline fill=\"none\" stroke=\"#0072b2\" stroke-width=\"1.8\" "
			     "points=\"70.0,400.0 420.0,310.0 770.0,40.0 70.0,400.0\"/>\n"
			     "<polyline fill=\"none\" stroke=\"#d55e00\" stroke-width=\"1.8\" "
			     "points=\"70.0,400.0\"/>\n"
			     "<polyline fill=\"none\" stroke=\"#009e73\" stroke-width=\"1.8\" "
			     "points=\"\"/>\n"
			     "<path stroke=\"#0072b2\" stroke-width=\"3\" d=\"M70 462 h28\"/>\n"
			     "<text x=\"106.0\" y=\"466.0\" >a&lt;b</text>\n"
			     "<path stroke=\"#009e73\" stroke-width=\"3\" d=\"M70 480 h28\"/>\n"
			     "<text x=\"106.0\" y=\"484.0\" >c</text>\n"
			     "</svg>\n");
	assert_string_equal(text, vt_buf_str(&want));
	free(text);
	vt_buf_free(&want);
}

static void draws_dots(void **state)
{
	static const double x[] = {0, 5}, y[] = {0, 5};
	static const struct vt_chart_series series[] = {{"", x, y, 2}, {"", x, y, 1}};
	const struct vt_chart c = {"", "", "", 10, 20, true, NULL, 0, series, 2};
	char *text = draw(&c);

	(void)state;
	assert_non_null(strstr(text, "<path fill=\"none\" stroke=\"#0072b2\" stroke-width=\"3\" "
				     "stroke-linecap=\"round\" stroke-opacity=\"0.6\" "
				     "d=\"M70.0 400.0h0M420.0 310.0h0\"/>\n"
				     "<path fill=\"none\" stroke=\"#d55e00\" stroke-width=\"3\" "
				     "stroke-linecap=\"round\" stroke-opacity=\"0.6\" "
				     "d=\"M70.0 400.0h0\"/>\n"
				     "</svg>\n"));
	assert_null(strstr(text, "polyline"));
	free(text);
}

/* Of 360 pixels for 20, the parts of two bars are 5 and 15, and 10 and 0. */
static void draws_bars(void **state)
{
	static const double low[] = {5, 10}, high[] = {15, 0};
	static const struct vt_chart_series series[] = {{"", NULL, low, 2}, {"", NULL, high, 2}};
	static const char *const bars[] = {"a<b", "c"};
	const struct vt_chart c = {"", "", "", 1, 20, false, bars, 2, series, 2};
	char *text = draw(&c);

	(void)state;
	assert_non_null(strstr(text,
			       "</g>\n"
			       "<text x=\"245.0\" y=\"418.0\" text-anchor=\"middle\">a&lt;b"
			       "</text>\n"
			       "<text x=\"595.0\" y=\"418.0\" text-anchor=\"middle\">c</text>\n"
			       "<text x=\"62.0\" "));
	assert_non_null(strstr(text,
			       "<g fill=\"#0072b2\">\n"
			       "<rect x=\"122.5\" y=\"310.0\" width=\"245.0\" height=\"90.0\"/>\n"
			       "<rect x=\"472.5\" y=\"220.0\" width=\"245.0\" height=\"180.0\"/>\n"
			       "</g>\n"
			       "<g fill=\"#d55e00\">\n"
			       "<rect x=\"122.5\" y=\"40.0\" width=\"245.0\" height=\"270.0\"/>\n"
			       "<rect x=\"472.5\" y=\"220.0\" width=\"245.0\" height=\"0.0\"/>\n"
			       "</g>\n"
			       "</svg>\n"));
	/* No grid lines go up. */
	assert_null(strstr(text, " V400"));
	free(text);
}

/* Grid lines are 1, 2 or 5 times a power of ten apart: five to ten spaces. */
static void chooses_grids(void **state)
{
	static const struct {
		double max, step;
	} cases[] = {{5, 1},   {10, 1},	  {10.5, 2}, {24.9, 2},	 {25, 5},    {49, 5},
		     {50, 10}, {0.5, .1}, {1, 0.1},  {1e6, 1e5}, {3e6, 5e5}, {0.015, 0.002}};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct vt_chart c = {"",	  "",	"", cases[i].max, cases[i].max,
					   false, NULL, 0,  NULL,	  0};
		struct vt_buf want = VT_BUF_INIT;
		char *text = draw(&c);

		put_grid(&want, cases[i].max, cases[i].step, cases[i].max, cases[i].step);
		if (!strstr(text, vt_buf_str(&want)))
			assert_string_equal(text, vt_buf_str(&want));
		free(text);
		vt_buf_free(&want);
	}
}

/* Seven colours; behind them lines are broken in three ways, and again not at all. */
static void draws_many_series(void **state)
{
	static const char *const dashes[] = {"7 3", "2 3", "9 3 2 3", "", "7 3"};
	static const char *const colors[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
					     "#e69f00", "#56b4e9", "#000000"};
	static const double one = 1;
	struct vt_chart_series series[36];
	const struct vt_chart c = {"", "", "", 1, 1, false, NULL, 0, series, 36};
	char *text, *at;
	size_t k;

	(void)state;
	for (k = 0; k < 36; k++)
		series[k] = (struct vt_chart_series){"s", &one, &one, 1};
	text = draw(&c);
	at = text;
	for (k = 0; k < 72; k++) {
		struct vt_buf want = VT_BUF_INIT;
		size_t i = k % 36;

		vt_buf_printf(&want,
			      k < 36 ? "<polyline fill=\"none\" stroke=\"%s\" "
				       "stroke-width=\"1.8\""
				     : "<path stroke=\"%s\" stroke-width=\"3\"",
			      colors[i % 7]);
		if (i >= 7)
			vt_buf_printf(&want, " stroke-dasharray=\"%s\"", dashes[i / 7 - 1]);
		if (k < 36)
			vt_buf_printf(&want, " points=\"770.0,40.0\"/>\n");
		else
			vt_buf_printf(&want, " d=\"M70 %zu h28\"/>\n", 462 + 18 * i);
		at = strstr(at, vt_buf_str(&want));
		assert_non_null(at);
		at += want.size;
		vt_buf_free(&want);
	}
	assert_non_null(strstr(text, " height=\"1110\" viewBox=\"0 0 800 1110\""));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(draws_lines),	     cmocka_unit_test(draws_dots),
		cmocka_unit_test(draws_bars),	     cmocka_unit_test(chooses_grids),
		cmocka_unit_test(draws_many_series),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
