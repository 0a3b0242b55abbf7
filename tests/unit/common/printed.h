/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_UNIT_COMMON_PRINTED_H
#define TESTS_UNIT_COMMON_PRINTED_H

#include <stdbool.h>

#include "base/output.h"
#include "base/table.h"

/* Text that is printed, read back. Each function fails the running test when it cannot do its work.
 */

/* What is written between the two calls; it holds until the next begin. */
void print_begin(struct vt_output *out);
const char *print_end(struct vt_output *out);

/* The same of a table alone. */
const char *print_table(const struct vt_table *t, enum vt_table_form form, bool color);

#endif
