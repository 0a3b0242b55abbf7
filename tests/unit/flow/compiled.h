/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_UNIT_FLOW_COMPILED_H
#define TESTS_UNIT_FLOW_COMPILED_H

#include "flow/cfg.h"
#include "image/images.h"

/* A program that gcc made, and its procedures. Each function fails the running test when it cannot
 * do its work. */
struct compiled {
	char *dir;
	struct vt_images *images; /* the program is image 1 */
};

/* From C source code, with gcc's options. */
void compiled_make(struct compiled *p, const char *options, const char *text);
void compiled_free(struct compiled *p);

/* The graph of a procedure, for vt_cfg_free(). */
struct vt_cfg *compiled_graph(struct compiled *p, const char *name);

#endif
