/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PT_RAW_CODE_H
#define FORMATS_PT_RAW_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "formats/pt/code.h"
#include "formats/pt/options.h"
#include "stream/writer.h"

/*
 * The code of a raw trace, as named on the command line:
 *
 *	FILE:ADDR		an ELF file: its loadable segments, the lowest page of them at ADDR;
 *				any other file: all of it at ADDR
 *	FILE:ADDR:OFFSET:SIZE	SIZE bytes from OFFSET on of any file, at ADDR
 *	DUMP,ADDRS		pages of 4096 bytes; ADDRS has one little-endian 64-bit address for
 *				each page of DUMP, whose low 12 bits are ignored
 *
 * Numbers are decimal or 0x hexadecimal.  Each file may be gzip-compressed.  A later argument
 * replaces what it covers of earlier ones, and pages replace images.
 */

#define VT_PT_PAGE 4096

struct vt_pt_rawcode;

/* Reads and maps the files.  Owned by the caller; NULL: VT_E_USAGE, VT_E_READ, VT_E_FORMAT, … */
struct vt_pt_rawcode *vt_pt_rawcode_new(const struct vt_pt_decode_options *opt,
					struct vt_error *err);
void vt_pt_rawcode_free(struct vt_pt_rawcode *r);

/* The code of all of them; borrowed until `r` is freed. */
const struct vt_pt_code *vt_pt_rawcode_code(const struct vt_pt_rawcode *r);

/* Writes the files and mappings as IMAGE and MAP records of a process; errors stick to `w`. */
void vt_pt_rawcode_write(const struct vt_pt_rawcode *r, struct vt_writer *w, int64_t pid);

#endif
