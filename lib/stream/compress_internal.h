/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_STREAM_COMPRESS_INTERNAL_H
#define VT_STREAM_COMPRESS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "stream/writer.h"

/*
 * Compression and checksums of payloads.  The libraries' working memory is made when it is first
 * needed and kept from block to block.  All zero: nothing made yet.
 */
struct vti_compressor {
	struct libdeflate_compressor *deflate;
	struct libdeflate_decompressor *inflate;
	struct ZSTD_CCtx_s *zstd;
	struct ZSTD_DCtx_s *unzstd;
};

void vti_compressor_fini(struct vti_compressor *p);

/*
 * Compresses into `out` (emptied first); the level is the same at each call.  Returns false when
 * memory runs out or nothing would be saved: the block is then stored plain.
 */
bool vti_compress(struct vti_compressor *p, struct vt_buf *out, enum vt_compression how, int level,
		  const void *data, size_t size);

/*
 * Decompresses exactly `raw_size` bytes into `out` (emptied first); false if the data are not that,
 * or memory runs out: then out->failed is set.
 */
bool vti_decompress(struct vti_compressor *p, struct vt_buf *out, unsigned how, const void *data,
		    size_t size, size_t raw_size);

/* CRC-32 as zlib and PNG have it, going on from `crc` (0 at the start). */
uint32_t vti_crc32(uint32_t crc, const void *data, size_t size);

#endif
