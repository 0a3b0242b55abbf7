/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_UNIT_FORMATS_PERFDATA_PDEXPECT_H
#define TESTS_UNIT_FORMATS_PERFDATA_PDEXPECT_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "tests/unit/formats/perfdata/pdfile.h"

/* A perf.data of plain samples and what is between them, and the lines that are expected of it. */

#define PDEXPECT_SAMPLE_SIZE 24

/* A raw event whose samples are an address and a time, with the id 11. */
extern const struct pdfile_attr pdexpect_plain;

/* All ways in which one can be read: of both orders, from a file or piece by piece. */
#define PDEXPECT_FORMS 12
struct pdfile pdexpect_form(unsigned form);

/* Where its next record comes to stand. */
size_t pdexpect_place(const struct pdfile *f);

/* Puts n samples of the times from, from + 1, ... */
void pdexpect_put_samples(struct pdfile *f, unsigned from, unsigned n);

/* Puts a record of a payload of words. */
void pdexpect_put_words(struct pdfile *f, uint32_t type, const uint64_t *words, size_t n);

/* Puts bytes that begin no record. */
void pdexpect_put_junk(struct pdfile *f, size_t n);

/* Changes the size that the last record claims. */
void pdexpect_set_size(struct pdfile *f, uint16_t size);

/* Puts a record of 32 bytes which claims another size, and whose contents are no record's. */
void pdexpect_put_wrong(struct pdfile *f, uint32_t type, uint16_t size);

/* Adds a line to those that are expected, or those of such samples. */
void pdexpect(const char *fmt, ...) VT_PRINTF(1, 2);
void pdexpect_samples(unsigned from, unsigned n);

/*
 * Compares what is expected to what the decoder makes of the file, EVENTs apart, or lines that
 * begin with `but`.  Both are used up.
 */
struct vt_format_summary pdexpect_check(struct pdfile *f);
struct vt_format_summary pdexpect_check_but(struct pdfile *f, const char *but);

/* A test that failed may have left lines. */
int pdexpect_nothing(void **state);
#define PDEXPECT_TEST(f) cmocka_unit_test_setup(f, pdexpect_nothing)

#endif
