/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Draws a chart of any numbers, for the scripts that repeat papers' figures: chart_draw <TEXT >SVG.
 * A line begins with what it is,
 *
 *	title TEXT		x MAX LABEL		y MAX LABEL
 *	dots			series LABEL		X Y
 *	bar NAME
 *
 * Points belong to the series above them; with `dots` they are not joined.  With bars, each series
 * has a point for each of them, of which Y counts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "listing/chart.h"

#define MAX_LINE   4096
#define MAX_SERIES 64
#define MAX_BARS   64

struct points {
	double *x, *y;
	size_t n, x_cap, y_cap;
};

struct drawing {
	struct vt_chart chart;
	struct vt_chart_series series[MAX_SERIES];
	struct points points[MAX_SERIES];
	const char *bars[MAX_BARS];
};

/* The text behind a number, which is stored; NULL: there is none. */
static char *read_axis(char *text, double *max)
{
	char *end;

	*max = strtod(text, &end);
	return end > text && *end == ' ' && *max > 0 ? strdup(end + 1) : NULL;
}

static bool add_point(struct drawing *d, const char *line)
{
	struct points *p = &d->points[d->chart.nseries ? d->chart.nseries - 1 : 0];
	char *end;
	double x = strtod(line, &end), y = strtod(end, &end);

	if (!d->chart.nseries || end == line || *end ||
	    !vt_array_grow(&p->x, &p->x_cap, p->n + 1, sizeof(*p->x)) ||
	    !vt_array_grow(&p->y, &p->y_cap, p->n + 1, sizeof(*p->y)))
		return false;
	p->x[p->n] = x;
	p->y[p->n++] = y;
	return true;
}

static bool read_line(struct drawing *d, char *line)
{
	struct vt_chart *c = &d->chart;

	line[strcspn(line, "\n")] = '\0';
	if (strncmp(line, "title ", 6) == 0)
		return (c->title = strdup(line + 6)) != NULL;
	if (strncmp(line, "x ", 2) == 0)
		return (c->x_label = read_axis(line + 2, &c->x_max)) != NULL;
	if (strncmp(line, "y ", 2) == 0)
		return (c->y_label = read_axis(line + 2, &c->y_max)) != NULL;
	if (strcmp(line, "dots") == 0)
		return c->dots = true;
	if (strncmp(line, "bar ", 4) == 0 && c->nbars < MAX_BARS)
		return (d->bars[c->nbars++] = strdup(line + 4)) != NULL;
	if (strncmp(line, "series ", 7) == 0 && c->nseries < MAX_SERIES)
		return (d->series[c->nseries++].label = strdup(line + 7)) != NULL;
	return add_point(d, line);
}

int main(void)
{
	static struct drawing d;
	static char line[MAX_LINE];
	struct vt_error err = VT_ERROR_INIT;
	struct vt_output out;
	size_t i;

	while (fgets(line, sizeof(line), stdin)) {
		if (!read_line(&d, line)) {
			fprintf(stderr, "chart_draw: bad line: %s\n", line);
			return 2;
		}
	}
	if (!d.chart.title || !d.chart.x_label || !d.chart.y_label) {
		fprintf(stderr, "chart_draw: a title or an axis is missing\n");
		return 2;
	}
	for (i = 0; i < d.chart.nseries; i++) {
		if (d.chart.nbars && d.points[i].n != d.chart.nbars) {
			fprintf(stderr, "chart_draw: series %zu has no point for each bar\n",
				i + 1);
			return 2;
		}
		d.series[i].x = d.points[i].x;
		d.series[i].y = d.points[i].y;
		d.series[i].n = d.points[i].n;
	}
	d.chart.series = d.series;
	d.chart.bars = d.chart.nbars ? d.bars : NULL;
	if (vt_output_open(&out, "-", &err) == 0) {
		vt_chart_write(&d.chart, &out);
		if (vt_output_close(&out, &err) == 0)
			return 0;
	}
	fprintf(stderr, "chart_draw: %s\n", err.text);
	return 1;
}
