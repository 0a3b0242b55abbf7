/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/compress_internal.h"

#include <assert.h>
#include <libdeflate.h>
#include <zstd.h>
#include <zstd_errors.h>

void vti_compressor_fini(struct vti_compressor *p)
{
	libdeflate_free_compressor(p->deflate);
	libdeflate_free_decompressor(p->inflate);
	ZSTD_freeCCtx(p->zstd);
	ZSTD_freeDCtx(p->unzstd);
	*p = (struct vti_compressor){0};
}

bool vti_compress(struct vti_compressor *p, struct vt_buf *out, enum vt_compression how, int level,
		  const void *data, size_t size)
{
	size_t n;

	out->size = 0;
	if (!vt_buf_reserve(out, size))
		return false;
	if (how == VT_COMPRESS_ZLIB) {
		if (!p->deflate)
			p->deflate = libdeflate_alloc_compressor(level);
		n = p->deflate ? libdeflate_zlib_compress(p->deflate, data, size, out->data, size)
			       : 0;
	} else {
		if (!p->zstd)
			p->zstd = ZSTD_createCCtx();
		n = p->zstd ? ZSTD_compressCCtx(p->zstd, out->data, size, data, size, level) : 0;
		if (ZSTD_isError(n))
			n = 0;
	}
	assert(n <= size);
	out->size = n;
	return n && n < size;
}

/* Decompresses zlib's format.  Returns the number of bytes, or SIZE_MAX. */
static size_t inflate(struct vti_compressor *p, struct vt_buf *out, const void *data, size_t size,
		      size_t raw_size)
{
	size_t used = 0;

	if (!p->inflate)
		p->inflate = libdeflate_alloc_decompressor();
	if (!p->inflate) {
		out->failed = true;
		return SIZE_MAX;
	}
	if (libdeflate_zlib_decompress_ex(p->inflate, data, size, out->data, raw_size, &used,
					  NULL) != LIBDEFLATE_SUCCESS)
		return SIZE_MAX;
	return used == size ? raw_size : SIZE_MAX;
}

static size_t unzstd(struct vti_compressor *p, struct vt_buf *out, const void *data, size_t size,
		     size_t raw_size)
{
	size_t n;

	if (!p->unzstd)
		p->unzstd = ZSTD_createDCtx();
	if (!p->unzstd) {
		out->failed = true;
		return SIZE_MAX;
	}
	n = ZSTD_decompressDCtx(p->unzstd, out->data, raw_size, data, size);
	out->failed = ZSTD_getErrorCode(n) == ZSTD_error_memory_allocation;
	return n;
}

bool vti_decompress(struct vti_compressor *p, struct vt_buf *out, unsigned how, const void *data,
		    size_t size, size_t raw_size)
{
	size_t n;

	out->size = 0;
	if (!vt_buf_reserve(out, raw_size ? raw_size : 1))
		return false;
	n = how == VT_COMPRESS_ZLIB ? inflate(p, out, data, size, raw_size)
				    : unzstd(p, out, data, size, raw_size);
	if (n != raw_size)
		return false;
	out->size = raw_size;
	return true;
}

uint32_t vti_crc32(uint32_t crc, const void *data, size_t size)
{
	return libdeflate_crc32(crc, data, size);
}
