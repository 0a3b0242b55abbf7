/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_BASE_VERSION_H
#define VT_BASE_VERSION_H

/*
 * The version of vtrace.  --version prints it, each stage's provenance entry records it, and the
 * Makefile reads it from this file for the pkg-config file.
 */
#define VT_VERSION "0.1.0"

#endif
