/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_UNIT_COMMON_STREAMS_H
#define TESTS_UNIT_COMMON_STREAMS_H

#include <stddef.h>
#include <stdint.h>

#include "stream/reader.h"
#include "stream/writer.h"

/* What several of the unit tests need: files without names, streams of records made from a number.
 */

/* A temporary file without a name: the descriptor is all there is of it. */
int scratch_file(void);

/* All bytes of a file; owned by the caller. */
uint8_t *slurp(int fd, size_t *size);

/* Begins a stream that a program "test" makes; it is not compressed. */
struct vt_writer *start_stream(int fd);

/* Ends it, and opens it for reading. */
struct vt_reader *reread_stream(int fd, struct vt_writer *w);

/* The next record of a kind, which there is. */
struct vt_record next_of_kind(struct vt_reader *in, uint32_t kind);

/* Writes records of three kinds, mixed, all derived from i: what check_record() expects. */
void write_record(struct vt_writer *w, uint64_t i);
void check_record(const struct vt_record *rec, uint64_t i);

/* A whole stream of the records 0 to n-1. */
void write_stream(int fd, enum vt_compression how, uint64_t n);

/* The same of the records from..to-1. */
void write_records(int fd, enum vt_compression how, uint64_t from, uint64_t to);

/* What came of reading a stream that may be damaged. */
struct outcome {
	uint64_t records; /* GAPs apart */
	uint64_t gaps;
	uint64_t gap_records; /* that these say are missing */
	int code;	      /* of the last call */
	int warnings;
};

/*
 * Reads these bytes as a stream named "test" to its end, touching every field of every record.  The
 * first `intact` records are to be those that write_record() made, and whatever goes wrong is to
 * be told with file and offset.
 */
struct outcome read_all(const uint8_t *data, size_t size, uint64_t intact);

#endif
