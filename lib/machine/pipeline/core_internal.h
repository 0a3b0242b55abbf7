/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_PIPELINE_CORE_INTERNAL_H
#define VT_MACHINE_PIPELINE_CORE_INTERNAL_H

#include "machine/pipeline/core.h"

/* Sets the id that equal instructions have. */
void vti_core_identify(const uint8_t *code, size_t size, struct vt_mop *op);

/* Sets that, where an instruction loads and stores, and what it leaves in registers. */
void vti_core_values(const struct vt_facts *f, const uint8_t *code, struct vt_mop *op);

#endif
