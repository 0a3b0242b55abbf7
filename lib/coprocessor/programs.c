/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "coprocessor/programs.h"

#include <string.h>

const struct vti_text *vt_ucode_program(const char *name)
{
	const struct vti_text *t;

	for (t = vti_ucode_texts; t->name; t++)
		if (strcmp(t->name, name) == 0)
			return t;
	return NULL;
}

const char *vt_ucode_about(const struct vti_text *t, size_t *size)
{
	const char *line = strchr(t->text, '\n') + 1;

	line += strspn(line, "# ");
	*size = strcspn(line, "\n");
	return line;
}
