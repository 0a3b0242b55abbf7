/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_DB_DIGEST_H
#define FORMATS_DB_DIGEST_H

#include <stddef.h>
#include <stdint.h>

/* SHA-256 (FIPS 180-4) of bytes that come in pieces. */
#define VT_DIGEST_SIZE 32

struct vt_digest {
	uint32_t state[8];
	uint64_t size; /* bytes so far */
	uint8_t block[64];
};

void vt_digest_init(struct vt_digest *d);
void vt_digest_put(struct vt_digest *d, const void *data, size_t size);

/* Adds a number as 8 bytes; or bytes after their size, so that their boundaries count. */
void vt_digest_put_u64(struct vt_digest *d, uint64_t v);
void vt_digest_put_block(struct vt_digest *d, const void *data, size_t size);

void vt_digest_end(struct vt_digest *d, uint8_t digest[VT_DIGEST_SIZE]);

#endif
