/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_TOOLS_PT_FUZZ_H
#define TESTS_TOOLS_PT_FUZZ_H

/*
 * Input of the fuzz targets of engines: a byte that chooses the processor, sections of code (8
 * bytes of address, 2 of size, little-endian, and that many bytes) up to one of no size, the trace.
 */

#include "base/bytes.h"
#include "tests/tools/pt_engines.h"

#define FUZZ_SECTIONS 256

struct fuzz_input {
	struct vt_pt_code *code;
	struct vt_pt_options opt;
	const uint8_t *trace;
	size_t size;
};

/* Processors of family 6, each with other errata; 0: none is told. */
static const uint8_t fuzz_models[] = {0, 0x3d, 0x4e, 0x55, 0x5c, 0x7a};

static inline void fuzz_set_model(struct fuzz_input *in, unsigned number)
{
	in->opt.model = fuzz_models[number % sizeof(fuzz_models)];
	in->opt.family = in->opt.model ? 6 : 0;
}

/* Takes an input apart; what it has must outlive in->code, which is for vt_pt_code_free(). */
static inline void fuzz_parse(struct fuzz_input *in, const uint8_t *data, size_t size)
{
	struct vt_cursor c = vt_cursor_make(data, size, false);
	struct vt_error err = VT_ERROR_INIT;
	unsigned model = vt_cursor_u8(&c), n;

	memset(in, 0, sizeof(*in));
	fuzz_set_model(in, model);
	in->opt.clock = (struct vt_pt_clock){3, 32, 256, 2};
	in->code = vt_pt_code_new();
	if (!in->code)
		die("no memory");
	for (n = 0; n < FUZZ_SECTIONS; n++) {
		struct vt_pt_section s = {.start = vt_cursor_u64(&c)};

		s.size = vt_cursor_u16(&c);
		if (s.size > vt_cursor_left(&c))
			s.size = vt_cursor_left(&c);
		if (!s.size)
			break;
		s.bytes = vt_cursor_take(&c, s.size);
		vt_pt_code_add(in->code, &s, &err);
	}
	in->size = vt_cursor_left(&c);
	in->trace = vt_cursor_take(&c, in->size);
	/* An empty trace is still a place. */
	if (!in->trace)
		in->trace = data;
}

#endif
