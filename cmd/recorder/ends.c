/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/recorder/recorder.h"

/*
 * The end of a block, from the bytes of its last instruction: AMD64 Architecture Programmer's
 * Manual, volume 3, appendix A.  Valgrind's own description of a block does not show which side of
 * a conditional branch is taken, because Valgrind may invert conditions.
 */

static Addr get_relative_target(Addr next, const UChar *p, UInt size)
{
	Int d32;

	if (size == 1)
		return next + *(const signed char *)p;
	VG_(memcpy)(&d32, p, 4);
	return next + d32;
}

/* Counts the bytes before the opcode: legacy prefixes and REX. */
static UInt count_prefixes(const UChar *p, UInt length)
{
	UInt n;

	for (n = 0; n < length; n++) {
		switch (p[n]) {
		case 0x26:
		case 0x2e:
		case 0x36:
		case 0x3e:
		case 0x64:
		case 0x65:
		case 0x66:
		case 0x67:
		case 0xf0:
		case 0xf2:
		case 0xf3:
			continue;
		}
		break;
	}
	while (n < length && (p[n] & 0xf0) == 0x40)
		n++;
	return n;
}

static UInt get_two_byte_end(const UChar *p, UInt left, Addr next, Addr *target)
{
	if (left >= 5 && (p[0] & 0xf0) == 0x80) {
		*target = get_relative_target(next, p + 1, 4);
		return VT_END_BRANCH;
	}
	if (p[0] == 0x05 || p[0] == 0x34)
		return VT_END_SYSCALL;
	return p[0] == 0x0b ? VT_END_OTHER : VT_END_FALL;
}

UInt block_end(Addr addr, UInt length, Addr *target)
{
	const UChar *p = (const UChar *)addr;
	UInt n = count_prefixes(p, length), left;
	Addr next = addr + length;

	*target = 0;
	if (n >= length)
		return VT_END_OTHER;
	p += n;
	left = length - n;
	if (left >= 2 && ((p[0] & 0xf0) == 0x70 || (p[0] >= 0xe0 && p[0] <= 0xe3))) {
		*target = get_relative_target(next, p + 1, 1);
		return VT_END_BRANCH;
	}
	switch (p[0]) {
	case 0x0f:
		return left >= 2 ? get_two_byte_end(p + 1, left - 1, next, target) : VT_END_OTHER;
	case 0xe9:
	case 0xeb:
		*target = get_relative_target(next, p + 1, p[0] == 0xe9 ? 4 : 1);
		return VT_END_JUMP;
	case 0xe8:
		*target = get_relative_target(next, p + 1, 4);
		return VT_END_CALL;
	case 0xc2:
	case 0xc3:
		return VT_END_RETURN;
	case 0xff:
		if (left < 2)
			return VT_END_OTHER;
		if ((p[1] >> 3 & 7) == 2 || (p[1] >> 3 & 7) == 3)
			return VT_END_CALL_INDIRECT;
		if ((p[1] >> 3 & 7) == 4 || (p[1] >> 3 & 7) == 5)
			return VT_END_JUMP_INDIRECT;
		return VT_END_FALL;
	case 0xcc:
	case 0xcd:
	case 0xf4:
		return VT_END_OTHER;
	}
	return VT_END_FALL;
}

Bool is_repeated_insn(Addr addr, UInt length)
{
	const UChar *p = (const UChar *)addr;
	UInt n = count_prefixes(p, length), i;
	Bool rep = False;

	for (i = 0; i < n; i++)
		rep |= p[i] == 0xf2 || p[i] == 0xf3;
	return rep && n + 1 == length && ((p[n] & 0xfc) == 0xa4 || (p[n] >= 0xaa && p[n] <= 0xaf));
}

Bool is_only_in_valgrind(Addr addr, UInt length)
{
	const UChar *p = (const UChar *)addr;
	UInt n = count_prefixes(p, length);

	return length >= n + 3 && p[n] == 0x0f && (p[n + 1] & 0xe7) == 0xa3 && p[n + 2] >= 0xc0;
}
