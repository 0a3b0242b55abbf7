/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_STREAM_FRAME_INTERNAL_H
#define VT_STREAM_FRAME_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "stream/writer.h"

/* The bytes on the wire, as formats/vt.md describes them: preamble, block headers, limits. */

#define VTI_PREAMBLE_SIZE 16
#define VTI_BLOCK_SIZE	  40 /* of a block's header */
#define VTI_VERSION_MAJOR 1
#define VTI_VERSION_MINOR 0

/* Kinds of block that hold no records. */
#define VTI_BLOCK_HEADER 0
#define VTI_BLOCK_ORDER	 1
#define VTI_BLOCK_END	 2

/*
 * What bounds a reader: a frame has at most so many records, and so many bytes once decoded, where
 * a number of a column that is not constant counts 8.
 */
#define VTI_MAX_FRAME_RECORDS 65536
#define VTI_MAX_FRAME_BYTES   ((size_t)32 << 20)
#define VTI_MAX_STORED	      ((size_t)40 << 20)

#define VTI_LAST_OF_FRAME 1 /* flag */

struct vti_block_head {
	uint32_t payload_crc;
	uint32_t stored_size;
	uint32_t raw_size;
	uint32_t nrecords;
	uint16_t kind;
	uint8_t compression;
	uint8_t flags;
	uint32_t frame;
	uint64_t first_record; /* records in all frames before this one */
};

void vti_preamble_encode(uint8_t out[VTI_PREAMBLE_SIZE]);

/* VT_E_FORMAT (another kind of file) or VT_E_VERSION. */
int vti_preamble_check(const uint8_t in[VTI_PREAMBLE_SIZE], struct vt_error *err);

void vti_block_encode(uint8_t out[VTI_BLOCK_SIZE], const struct vti_block_head *h);

/* False if these bytes are no block header: wrong mark, wrong CRC, a size over its limit. */
bool vti_block_decode(const uint8_t in[VTI_BLOCK_SIZE], struct vti_block_head *h);

/* The offset of the next sync mark in the data, or `size` less the 3 bytes that may begin one. */
size_t vti_find_mark(const uint8_t *data, size_t size);

#endif
