/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/db/digest.h"

#include <string.h>

#include "base/bytes.h"

/* FIPS 180-4, 5.3.3: fractions of the square roots of the first eight primes. */
static const uint32_t start[8] = {
	0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
	0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};

/* 4.2.2: of the cube roots of the first 64 primes. */
static const uint32_t constants[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

static uint32_t rotate(uint32_t v, unsigned n)
{
	return v >> n | v << (32 - n);
}

/* Section 6.2.2, with its names. */
static void digest_block(struct vt_digest *d)
{
	uint32_t w[64], s[8];
	unsigned t;

	for (t = 0; t < 16; t++)
		w[t] = vt_be32(d->block + 4 * t);
	for (; t < 64; t++) {
		uint32_t s0 = rotate(w[t - 15], 7) ^ rotate(w[t - 15], 18) ^ w[t - 15] >> 3;
		uint32_t s1 = rotate(w[t - 2], 17) ^ rotate(w[t - 2], 19) ^ w[t - 2] >> 10;

		w[t] = s1 + w[t - 7] + s0 + w[t - 16];
	}
	memcpy(s, d->state, sizeof(s));
	for (t = 0; t < 64; t++) {
		uint32_t e = rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25);
		uint32_t a = rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22);
		uint32_t choose = (s[4] & s[5]) ^ (~s[4] & s[6]);
		uint32_t majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
		uint32_t t1 = s[7] + e + choose + constants[t] + w[t];

		memmove(s + 1, s, 7 * sizeof(*s));
		s[4] += t1;
		s[0] = t1 + a + majority;
	}
	for (t = 0; t < 8; t++)
		d->state[t] += s[t];
}

void vt_digest_init(struct vt_digest *d)
{
	*d = (struct vt_digest){.size = 0};
	memcpy(d->state, start, sizeof(start));
}

void vt_digest_put(struct vt_digest *d, const void *data, size_t size)
{
	const uint8_t *p = data;

	while (size > 0) {
		size_t at = d->size % sizeof(d->block);
		size_t part = sizeof(d->block) - at < size ? sizeof(d->block) - at : size;

		memcpy(d->block + at, p, part);
		d->size += part;
		p += part;
		size -= part;
		if (d->size % sizeof(d->block) == 0)
			digest_block(d);
	}
}

void vt_digest_put_u64(struct vt_digest *d, uint64_t v)
{
	uint8_t bytes[8];

	vt_put_le64(bytes, v);
	vt_digest_put(d, bytes, sizeof(bytes));
}

void vt_digest_put_block(struct vt_digest *d, const void *data, size_t size)
{
	vt_digest_put_u64(d, size);
	vt_digest_put(d, data, size);
}

static void put_be32(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 24);
	p[1] = (uint8_t)(v >> 16);
	p[2] = (uint8_t)(v >> 8);
	p[3] = (uint8_t)v;
}

void vt_digest_end(struct vt_digest *d, uint8_t digest[VT_DIGEST_SIZE])
{
	uint64_t bits = d->size * 8;
	uint8_t length[8];
	uint8_t pad = 0x80;
	unsigned i;

	put_be32(length, (uint32_t)(bits >> 32));
	put_be32(length + 4, (uint32_t)bits);
	do {
		vt_digest_put(d, &pad, 1);
		pad = 0;
	} while (d->size % sizeof(d->block) != sizeof(d->block) - sizeof(length));
	vt_digest_put(d, length, sizeof(length));
	for (i = 0; i < 8; i++)
		put_be32(digest + 4 * i, d->state[i]);
}
