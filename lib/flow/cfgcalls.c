/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "flow/cfg_internal.h"

/* Procedures of libraries that never return, by their manual pages and headers (noreturn). */
static const char *const ends[] = {
	"_Exit",
	"_Unwind_Resume",
	"_ZSt10unexpectedv",
	"_ZSt9terminatev",
	"__assert",
	"__assert_fail",
	"__assert_perror_fail",
	"__chk_fail",
	"__cxa_bad_cast",
	"__cxa_bad_typeid",
	"__cxa_call_unexpected",
	"__cxa_pure_virtual",
	"__cxa_rethrow",
	"__cxa_throw",
	"__cxa_throw_bad_array_new_length",
	"__fortify_fail",
	"__libc_fatal",
	"__libc_start_main",
	"__longjmp_chk",
	"__siglongjmp",
	"__stack_chk_fail",
	"__stack_chk_fail_local",
	"_exit",
	"_longjmp",
	"abort",
	"err",
	"errx",
	"exit",
	"longjmp",
	"pthread_exit",
	"quick_exit",
	"siglongjmp",
	"thrd_exit",
	"verr",
	"verrx",
};

/* What a procedure linkage table's symbols end in (symbols.h). */
static const char plt[] = "@plt";

static bool name_ends(const char *name)
{
	size_t size = strlen(name), i;

	if (size >= strlen(plt) && strcmp(name + size - strlen(plt), plt) == 0)
		size -= strlen(plt);
	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (strlen(ends[i]) == size && memcmp(ends[i], name, size) == 0)
			return true;
	/* libstdc++'s std::__throw_bad_alloc() … */
	return strncmp(name, "_ZSt", 4) == 0 && strstr(name, "__throw_") != NULL;
}

bool vti_call_ends(const struct vt_cfg_source *src, uint64_t target)
{
	const struct vt_symbol *sym;
	struct vt_symbols *symbols;
	enum vt_unknown why;

	if (!src->images)
		return false;
	symbols = vt_images_symbols(src->images, src->image, 0, &why);
	if (!symbols)
		return false;
	sym = vt_symbols_find(symbols, target);
	return sym && sym->start == target && name_ends(sym->name);
}
