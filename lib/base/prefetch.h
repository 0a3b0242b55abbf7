/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_BASE_PREFETCH_H
#define VT_BASE_PREFETCH_H

/* Hints to the processor that the cache line of an address is needed soon.  Any address is allowed.
 */
#if defined(__GNUC__)
#define VT_PREFETCH(address) __builtin_prefetch(address)
#else
#define VT_PREFETCH(address) ((void)(address))
#endif

#endif
