/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_STREAM_COMPRESS_INTERNAL_H
#define VT_STREAM_COMPRESS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "stream/writer.h"

/*
 * Compression and checksums of payloads.  The libraries' contexts are allocated when first needed
 * and reused for all blocks.  Initialize the struct with zeros.
 */
struct vti_compressor {
	struct libdeflate_compressor *deflate;
	struct libdeflate_decompressor *inflate;
	struct ZSTD_CCtx_s *zstd;
	struct ZSTD_DCtx_s *unzstd;
};

void vti_compressor_fini(struct vti_compressor *p);

/*
 * Compresses into `out`, replacing its content.  `level` must be the same at each call.  Returns
 * false when memory runs out or compression saves nothing; the caller then stores the data plain.
 */
bool vti_compress(struct vti_compressor *p, struct vt_buf *out, enum vt_compression how, int level,
		  const void *data, size_t size);

/*
 * Decompresses into `out`, replacing its content.  Returns false if the result is not exactly
 * `raw_size` bytes, or when memory runs out; only then is out->failed set.
 */
bool vti_decompress(struct vti_compressor *p, struct vt_buf *out, unsigned how, const void *data,
		    size_t size, size_t raw_size);

/* The CRC-32 of zlib and PNG.  `crc` is that of the data before, 0 at the start. */
uint32_t vti_crc32(uint32_t crc, const void *data, size_t size);

#endif
