/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/pipeline/timing.h"

#include <string.h>

#include "machine/insn/form.h"
#include "machine/pipeline/core_text.h"

/* ---- finding a line ---- */

/* Compares the line at `p` with the form; what stands before the rows is less than all of them. */
static int compare_forms(const char *p, const char *form, size_t n)
{
	int c;

	if (*p == '#')
		return -1;
	c = strncmp(p, form, n);
	return c ? c : p[n] == '\t' ? 0 : 1;
}

static const char *line_of(const struct vti_text *t, const char *form)
{
	const char *low = t->text, *high = t->text + t->size;
	size_t n = strlen(form);

	while (low < high) {
		const char *p = low + (high - low) / 2;
		const char *end;
		int c;

		while (p > low && p[-1] != '\n')
			p--;
		end = memchr(p, '\n', (size_t)(t->text + t->size - p));
		c = compare_forms(p, form, n);
		if (c == 0)
			return p + n + 1;
		if (c < 0)
			low = end ? end + 1 : high;
		else
			high = p;
	}
	return NULL;
}

/* ---- reading it ---- */

static bool parse_timing_number(const char **p, uint16_t *v)
{
	unsigned n = 0;

	if (**p < '0' || **p > '9')
		return false;
	for (; **p >= '0' && **p <= '9'; ++*p)
		if (n <= UINT16_MAX)
			n = n * 10 + (unsigned)(**p - '0');
	*v = n < UINT16_MAX ? (uint16_t)n : UINT16_MAX;
	return true;
}

static bool parse_unit_name(const struct vt_core *m, const char **p, uint32_t *units)
{
	size_t n = strcspn(*p, "/ \n");
	unsigned i;

	for (i = 0; i < m->nunits; i++) {
		if (strlen(m->units[i].name) == n && strncmp(m->units[i].name, *p, n) == 0) {
			*units |= 1u << i;
			*p += n;
			return true;
		}
	}
	return false;
}

/* "2*p0/p1", and moves behind it and one blank. */
static bool parse_unit_set(const struct vt_core *m, const char **p, uint32_t *units, uint16_t *busy)
{
	*units = 0;
	*busy = 1;
	if (parse_timing_number(p, busy)) {
		if (**p != '*')
			return false;
		++*p;
	}
	do {
		if (!parse_unit_name(m, p, units))
			return false;
	} while (*(*p)++ == '/');
	--*p;
	if (**p == ' ')
		++*p;
	return true;
}

bool vt_timing_find(const struct vt_core *m, const char *form, struct vt_timing_row *row)
{
	const char *p = m->table ? line_of(m->table, form) : NULL;

	memset(row, 0, sizeof(*row));
	if (!p || !parse_timing_number(&p, &row->latency) || *p++ != '\t' ||
	    !parse_timing_number(&p, &row->uops) || *p++ != '\t')
		return false;
	if (*p == '-')
		return true;
	while (*p && *p != '\n' && row->nsets < VT_TIMING_SETS) {
		if (!parse_unit_set(m, &p, &row->sets[row->nsets].units,
				    &row->sets[row->nsets].busy))
			return false;
		row->nsets++;
	}
	return true;
}

bool vt_timing_of(const struct vt_core *m, const char *form, struct vt_timing_row *row)
{
	/* What a lock adds is the machine's class of operations that wait for all others. */
	const char *p = strncmp(form, "lock ", 5) == 0 ? form + 5 : form;
	char twin[VT_FORM_SIZE];
	unsigned n;

	for (n = 0; m->table && vt_form_twin(p, n, twin); n++)
		if (vt_timing_find(m, twin, row))
			return true;
	return vt_timing_find(m, p, row);
}
