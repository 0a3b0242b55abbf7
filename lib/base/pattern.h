/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_BASE_PATTERN_H
#define VT_BASE_PATTERN_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Whether a pattern stands for a text: it equals the text, or matches it with `*` for any bytes,
 * `?` for one byte, and `\` before a byte that is meant as it stands.  Brackets mean themselves,
 * since names such as "[vdso]" have them.  The time is at most the product of both lengths.
 */
bool vt_pattern_matches(const char *pattern, const char *text);

/*
 * Whether a pattern stands for a procedure by its demangled name: in full, as tables show it,
 * without template arguments and parameters, or that without scopes: "std::sort<int*>", "sort",
 * "std::so*". False if memory runs out.
 */
bool vt_pattern_names(const char *pattern, const char *name);

#ifdef __cplusplus
}
#endif
#endif
