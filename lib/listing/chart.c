/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listing/chart.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/escape.h"

/* The picture, in pixels. */
#define WIDTH	    800
#define PLOT_LEFT   70
#define PLOT_TOP    40
#define PLOT_WIDTH  700
#define PLOT_HEIGHT 360
#define LEGEND_TOP  (PLOT_TOP + PLOT_HEIGHT + 62)
#define LEGEND_LINE 18

/* Colours that people with colour blindness tell apart too: M. Okabe and K. Ito, 2008. */
static const char *const colors[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
				     "#e69f00", "#56b4e9", "#000000"};
#define NCOLORS (sizeof(colors) / sizeof(colors[0]))

/* When the colours are used up, lines are broken in another way. */
static const char *const dashes[] = {"", "7 3", "2 3", "9 3 2 3"};
#define NDASHES (sizeof(dashes) / sizeof(dashes[0]))

static void put_svg_text(struct vt_output *out, const char *text)
{
	struct vt_buf b = VT_BUF_INIT;
	const char *s;

	vt_escape_str(&b, text);
	for (s = vt_buf_str(&b); *s; s++) {
		if (*s == '&')
			vt_output_text(out, "&amp;");
		else if (*s == '<')
			vt_output_text(out, "&lt;");
		else if (*s == '>')
			vt_output_text(out, "&gt;");
		else
			vt_output_put(out, s, 1);
	}
	vt_buf_free(&b);
}

/* `how` is the attributes that are not its place. */
static void put_chart_label(struct vt_output *out, double x, double y, const char *how,
			    const char *text)
{
	vt_output_printf(out, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, how);
	put_svg_text(out, text);
	vt_output_text(out, "</text>\n");
}

static double clamp_to_axis(double v, double max)
{
	return v > max ? max : v > 0 ? v : 0;
}

static double x_of(const struct vt_chart *c, double x)
{
	return PLOT_LEFT + PLOT_WIDTH * clamp_to_axis(x, c->x_max) / c->x_max;
}

static double y_of(const struct vt_chart *c, double y)
{
	return PLOT_TOP + PLOT_HEIGHT * (1 - clamp_to_axis(y, c->y_max) / c->y_max);
}

/* The distance of grid lines: 1, 2 or 5 times a power of ten, so that there are five to ten. */
static double grid_step(double max)
{
	double step = pow(10, floor(log10(max / 5)));

	if (max / step >= 25)
		return 5 * step;
	return max / step > 10 ? 2 * step : step;
}

/* The middle of a bar. */
static double middle_of_bar(const struct vt_chart *c, size_t i)
{
	return PLOT_LEFT + PLOT_WIDTH * ((double)i + 0.5) / (double)c->nbars;
}

static void put_x_labels(const struct vt_chart *c, struct vt_output *out)
{
	double step = c->bars ? 0 : grid_step(c->x_max), v;
	char text[32];
	size_t k;
	int i;

	for (k = 0; k < c->nbars; k++)
		put_chart_label(out, middle_of_bar(c, k), PLOT_TOP + PLOT_HEIGHT + 18,
				"text-anchor=\"middle\"", c->bars[k]);
	for (i = 0; !c->bars && (v = i * step) <= c->x_max * 1.0001; i++) {
		snprintf(text, sizeof(text), "%g", v);
		put_chart_label(out, x_of(c, v), PLOT_TOP + PLOT_HEIGHT + 18,
				"text-anchor=\"middle\"", text);
	}
}

static void put_grid(const struct vt_chart *c, struct vt_output *out)
{
	double step = c->bars ? 0 : grid_step(c->x_max), v;
	char text[32];
	int i;

	vt_output_text(out, "<g stroke=\"#dddddd\" stroke-width=\"1\">\n");
	for (i = 0; !c->bars && (v = i * step) <= c->x_max * 1.0001; i++)
		vt_output_printf(out, "<path d=\"M%.1f %d V%d\"/>\n", x_of(c, v), PLOT_TOP,
				 PLOT_TOP + PLOT_HEIGHT);
	for (i = 0; (v = i * grid_step(c->y_max)) <= c->y_max * 1.0001; i++)
		vt_output_printf(out, "<path d=\"M%d %.1f H%d\"/>\n", PLOT_LEFT, y_of(c, v),
				 PLOT_LEFT + PLOT_WIDTH);
	vt_output_text(out, "</g>\n");
	put_x_labels(c, out);
	for (i = 0; (v = i * grid_step(c->y_max)) <= c->y_max * 1.0001; i++) {
		snprintf(text, sizeof(text), "%g", v);
		put_chart_label(out, PLOT_LEFT - 8, y_of(c, v) + 4, "text-anchor=\"end\"", text);
	}
	vt_output_printf(out,
			 "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" "
			 "stroke=\"#444444\"/>\n",
			 PLOT_LEFT, PLOT_TOP, PLOT_WIDTH, PLOT_HEIGHT);
}

static void put_titles(const struct vt_chart *c, struct vt_output *out)
{
	char how[96];

	put_chart_label(out, PLOT_LEFT + PLOT_WIDTH / 2.0, 24,
			"text-anchor=\"middle\" font-size=\"15\" font-weight=\"bold\"", c->title);
	put_chart_label(out, PLOT_LEFT + PLOT_WIDTH / 2.0, PLOT_TOP + PLOT_HEIGHT + 40,
			"text-anchor=\"middle\"", c->x_label);
	snprintf(how, sizeof(how), "text-anchor=\"middle\" transform=\"rotate(-90 20 %d)\"",
		 PLOT_TOP + PLOT_HEIGHT / 2);
	put_chart_label(out, 20, PLOT_TOP + PLOT_HEIGHT / 2.0, how, c->y_label);
}

static void put_series_line(const struct vt_chart *c, const struct vt_chart_series *s, size_t k,
			    struct vt_output *out)
{
	size_t i;

	vt_output_printf(out, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.8\"",
			 colors[k % NCOLORS]);
	if (k >= NCOLORS)
		vt_output_printf(out, " stroke-dasharray=\"%s\"", dashes[k / NCOLORS % NDASHES]);
	vt_output_text(out, " points=\"");
	for (i = 0; i < s->n; i++)
		vt_output_printf(out, "%s%.1f,%.1f", i ? " " : "", x_of(c, s->x[i]),
				 y_of(c, s->y[i]));
	vt_output_text(out, "\"/>\n");
}

static void put_series_dots(const struct vt_chart *c, const struct vt_chart_series *s, size_t k,
			    struct vt_output *out)
{
	size_t i;

	/* A line of no length with a round end is a dot. */
	vt_output_printf(out,
			 "<path fill=\"none\" stroke=\"%s\" stroke-width=\"3\" "
			 "stroke-linecap=\"round\" stroke-opacity=\"0.6\" d=\"",
			 colors[k % NCOLORS]);
	for (i = 0; i < s->n; i++)
		vt_output_printf(out, "M%.1f %.1fh0", x_of(c, s->x[i]), y_of(c, s->y[i]));
	vt_output_text(out, "\"/>\n");
}

/* Its part of each bar, on those of the series before. */
static void put_series_bars(const struct vt_chart *c, size_t k, struct vt_output *out)
{
	double width = PLOT_WIDTH / (double)c->nbars * 0.7;
	size_t i, j;

	vt_output_printf(out, "<g fill=\"%s\">\n", colors[k % NCOLORS]);
	for (i = 0; i < c->nbars; i++) {
		double below = 0, top;

		for (j = 0; j < k; j++)
			below += c->series[j].y[i];
		top = y_of(c, below + c->series[k].y[i]);
		vt_output_printf(out,
				 "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n",
				 middle_of_bar(c, i) - width / 2, top, width, y_of(c, below) - top);
	}
	vt_output_text(out, "</g>\n");
}

static void put_chart_legend(const struct vt_chart *c, struct vt_output *out)
{
	int row = 0;
	size_t k;

	for (k = 0; k < c->nseries; k++) {
		int y = LEGEND_TOP + LEGEND_LINE * row;

		if (!c->series[k].label[0])
			continue;
		vt_output_printf(out, "<path stroke=\"%s\" stroke-width=\"3\"",
				 colors[k % NCOLORS]);
		if (k >= NCOLORS)
			vt_output_printf(out, " stroke-dasharray=\"%s\"",
					 dashes[k / NCOLORS % NDASHES]);
		vt_output_printf(out, " d=\"M%d %d h28\"/>\n", PLOT_LEFT, y);
		put_chart_label(out, PLOT_LEFT + 36, y + 4, "", c->series[k].label);
		row++;
	}
}

void vt_chart_write(const struct vt_chart *c, struct vt_output *out)
{
	size_t k, rows = 0;
	int height;

	for (k = 0; k < c->nseries; k++)
		rows += c->series[k].label[0] != '\0';
	height = LEGEND_TOP + LEGEND_LINE * (int)rows;
	vt_output_printf(out,
			 "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
			 "viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\">\n"
			 "<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n",
			 WIDTH, height, WIDTH, height, WIDTH, height);
	put_titles(c, out);
	put_grid(c, out);
	for (k = 0; k < c->nseries; k++) {
		if (c->bars)
			put_series_bars(c, k, out);
		else if (c->dots)
			put_series_dots(c, &c->series[k], k, out);
		else
			put_series_line(c, &c->series[k], k, out);
	}
	put_chart_legend(c, out);
	vt_output_text(out, "</svg>\n");
}
