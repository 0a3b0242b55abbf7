/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_BASE_VERSION_H
#define VT_BASE_VERSION_H

/*
 * The version of vtrace: printed by --version, written into each stage's provenance entry, and
 * taken from here by the Makefile for the pkg-config file.
 */
#define VT_VERSION "0.1.0"

#endif
