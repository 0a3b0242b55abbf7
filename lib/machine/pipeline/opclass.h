/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_PIPELINE_OPCLASS_H
#define VT_MACHINE_PIPELINE_OPCLASS_H

#include <stdbool.h>
#include <string.h>

#include "machine/insn/insn.h"
#include "machine/pipeline/core.h"

/* The beginning of a mnemonic, or all of it, and what it means. */
struct vti_word {
	const char *text;
	uint8_t size; /* of what must agree: the final 0 is part of it if all must */
	uint8_t meaning;
};

#define VTI_BEGINS(text, meaning)                                                                  \
	{                                                                                          \
		text, sizeof(text) - 1, meaning                                                    \
	}
#define VTI_IS(text, meaning)                                                                      \
	{                                                                                          \
		text, sizeof(text), meaning                                                        \
	}

/* The meaning of the first of n words that fits the mnemonic, or -1. */
static inline int vti_word_find(const struct vti_word *words, size_t n, const char *mnemonic)
{
	size_t i;

	/* Most differ in their first letter. */
	for (i = 0; i < n; i++)
		if (words[i].text[0] == mnemonic[0] &&
		    strncmp(words[i].text, mnemonic, words[i].size) == 0)
			return words[i].meaning;
	return -1;
}

/* An instruction's mnemonic without the v of VEX and EVEX. */
static inline const char *vti_stem(const struct vt_facts *f)
{
	return f->mnemonic[0] == 'v' ? f->mnemonic + 1 : f->mnemonic;
}

/* The class of what an instruction does beside loading and storing. */
enum vt_op_class vti_op_class(const struct vt_facts *f);

#endif
