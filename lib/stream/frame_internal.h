/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_STREAM_FRAME_INTERNAL_H
#define VT_STREAM_FRAME_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "stream/writer.h"

/* The encoded preamble and block headers of a stream, and its limits: formats/vt.md. */

#define VTI_PREAMBLE_SIZE 16
#define VTI_BLOCK_SIZE	  40 /* of a block's header */
#define VTI_VERSION_MAJOR 1
#define VTI_VERSION_MINOR 0

/* Kinds of blocks without records. */
#define VTI_BLOCK_HEADER 0
#define VTI_BLOCK_ORDER	 1
#define VTI_BLOCK_END	 2

/*
 * Limits of a frame, which bound a reader's memory: records, decoded bytes (8 for each number of a
 * column that is not constant), and bytes of a stored block.
 */
#define VTI_MAX_FRAME_RECORDS 65536
#define VTI_MAX_FRAME_BYTES   ((size_t)32 << 20)
#define VTI_MAX_STORED	      ((size_t)40 << 20)

#define VTI_LAST_OF_FRAME 1 /* flag of a block */

struct vti_block_head {
	uint32_t payload_crc;
	uint32_t stored_size;
	uint32_t raw_size;
	uint32_t nrecords;
	uint16_t kind;
	uint8_t compression;
	uint8_t flags;
	uint32_t frame;
	uint64_t first_record; /* number of records in all earlier frames */
};

void vti_preamble_encode(uint8_t out[VTI_PREAMBLE_SIZE]);

/* Returns 0, -VT_E_FORMAT for another kind of file, or -VT_E_VERSION. */
int vti_preamble_check(const uint8_t in[VTI_PREAMBLE_SIZE], struct vt_error *err);

void vti_block_encode(uint8_t out[VTI_BLOCK_SIZE], const struct vti_block_head *h);

/* Returns false for bytes that are no block header: wrong mark or CRC, or a size over its limit. */
bool vti_block_decode(const uint8_t in[VTI_BLOCK_SIZE], struct vti_block_head *h);

/* Returns the offset of the next sync mark, or `size` - 3 if there is none: a mark may begin there.
 */
size_t vti_find_mark(const uint8_t *data, size_t size);

#endif
