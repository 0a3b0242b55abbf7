/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/frame_internal.h"

#include <string.h>

#include "base/bytes.h"
#include "stream/compress_internal.h"

/* As in PNG: a byte over 127, line ends that text-mode copies would change, Control-Z. */
static const uint8_t magic[8] = {0x89, 'V', 'T', 'R', '\r', '\n', 0x1a, '\n'};

static const uint8_t mark[4] = {0xf6, 'v', 0xd3, 'b'};

void vti_preamble_encode(uint8_t out[VTI_PREAMBLE_SIZE])
{
	memcpy(out, magic, sizeof(magic));
	vt_put_le16(out + 8, VTI_VERSION_MAJOR);
	vt_put_le16(out + 10, VTI_VERSION_MINOR);
	vt_put_le32(out + 12, 0);
}

int vti_preamble_check(const uint8_t in[VTI_PREAMBLE_SIZE], struct vt_error *err)
{
	if (memcmp(in, magic, sizeof(magic)) != 0)
		return vt_error_set(err, VT_E_FORMAT, "not a vt stream");
	if (vt_le16(in + 8) != VTI_VERSION_MAJOR)
		return vt_error_set(err, VT_E_VERSION, "vt stream of version %u, this reads %u",
				    vt_le16(in + 8), VTI_VERSION_MAJOR);
	return 0;
}

void vti_block_encode(uint8_t out[VTI_BLOCK_SIZE], const struct vti_block_head *h)
{
	memcpy(out, mark, sizeof(mark));
	vt_put_le32(out + 8, h->payload_crc);
	vt_put_le32(out + 12, h->stored_size);
	vt_put_le32(out + 16, h->raw_size);
	vt_put_le32(out + 20, h->nrecords);
	vt_put_le16(out + 24, h->kind);
	out[26] = h->compression;
	out[27] = h->flags;
	vt_put_le32(out + 28, h->frame);
	vt_put_le64(out + 32, h->first_record);
	vt_put_le32(out + 4, vti_crc32(0, out + 8, VTI_BLOCK_SIZE - 8));
}

bool vti_block_decode(const uint8_t in[VTI_BLOCK_SIZE], struct vti_block_head *h)
{
	if (memcmp(in, mark, sizeof(mark)) != 0 ||
	    vt_le32(in + 4) != vti_crc32(0, in + 8, VTI_BLOCK_SIZE - 8))
		return false;
	h->payload_crc = vt_le32(in + 8);
	h->stored_size = vt_le32(in + 12);
	h->raw_size = vt_le32(in + 16);
	h->nrecords = vt_le32(in + 20);
	h->kind = vt_le16(in + 24);
	h->compression = in[26];
	h->flags = in[27];
	h->frame = vt_le32(in + 28);
	h->first_record = vt_le64(in + 32);
	return h->stored_size <= VTI_MAX_STORED && h->raw_size <= VTI_MAX_STORED &&
	       h->nrecords <= VTI_MAX_FRAME_RECORDS && h->compression <= VT_COMPRESS_ZSTD;
}

size_t vti_find_mark(const uint8_t *data, size_t size)
{
	size_t at = 0;

	while (at + sizeof(mark) <= size) {
		const uint8_t *p = memchr(data + at, mark[0], size - at - 3);

		if (!p)
			break;
		if (memcmp(p, mark, sizeof(mark)) == 0)
			return (size_t)(p - data);
		at = (size_t)(p - data) + 1;
	}
	return size < 3 ? 0 : size - 3;
}
