/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/common/scenes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "stream/reader.h"
#include "tests/unit/common/profiles.h"
#include "tests/unit/common/toolbox.h"

#define USER 2

static struct vt_error err;

/* Abbreviations: a unit, a procedure, one inlined into it, and where that is declared. */
const char scene_walk[] = ".file 1 \"/src/a.c\"\n"
			  ".file 2 \"/src/b.h\"\n"
			  ".text\n"
			  ".globl f\n"
			  ".type f,@function\n"
			  "f: .loc 1 3\n"
			  "push %rbx\n"
			  ".loc 1 4\n"
			  "mov (%rdi),%rbx\n"
			  ".Li1: .loc 2 2\n"
			  "add $1,%rbx\n"
			  ".Lj: .loc 2 3\n"
			  "imul %rbx,%rbx\n"
			  ".Li2: .loc 1 4\n"
			  "je f\n"
			  ".loc 1 5\n"
			  "call g\n"
			  "mov 0x10(%rip),%rax\n"
			  ".loc 1 6\n"
			  "pop %rbx\n"
			  "ret\n"
			  ".size f,.-f\n"
			  ".type g,@function\n"
			  "g: .loc 1 9\n"
			  "nop\n"
			  "ret\n"
			  ".size g,.-g\n"
			  ".Le: nop\n"
			  "nop\n"
			  ".bss\n"
			  ".type z,@function\n"
			  "z: .skip 8\n"
			  ".size z,8\n"
			  ".section .debug_abbrev,\"\",@progbits\n"
			  ".byte 1,0x11,1, 3,8, 0x1b,8, 0x10,0x17, 0x11,1, 0x12,6, 0,0\n"
			  ".byte 2,0x2e,1, 3,8, 0x3a,0xb, 0x3b,0xb, 0x11,1, 0x12,6, 0,0\n"
			  ".byte 3,0x1d,0, 0x31,0x13, 0x11,1, 0x12,6, 0x58,0xb, 0x59,0xb, 0,0\n"
			  ".byte 4,0x2e,0, 3,8, 0x3a,0xb, 0x3b,0xb, 0x20,0xb, 0,0\n"
			  ".byte 0\n"
			  ".section .debug_info,\"\",@progbits\n"
			  ".Linfo: .long 2f-1f\n"
			  "1: .value 4\n"
			  ".long .debug_abbrev\n"
			  ".byte 8\n"
			  ".byte 1\n"
			  ".string \"a.c\"\n"
			  ".string \"/src\"\n"
			  ".long .debug_line\n"
			  ".quad f\n"
			  ".long .Le-f\n"
			  ".Lh: .byte 4\n"
			  ".string \"h\"\n"
			  ".byte 2,1,1\n"
			  ".byte 2\n"
			  ".string \"f\"\n"
			  ".byte 1,2\n"
			  ".quad f\n"
			  ".long g-f\n"
			  ".byte 3\n"
			  ".long .Lh-.Linfo\n"
			  ".quad .Li1\n"
			  ".long .Lj-.Li1\n"
			  ".byte 1,4\n"
			  ".byte 3\n"
			  ".long .Lh-.Linfo\n"
			  ".quad .Lj\n"
			  ".long .Li2-.Lj\n"
			  ".byte 1,0\n"
			  ".byte 0\n"
			  ".byte 2\n"
			  ".string \"g\"\n"
			  ".byte 1,8\n"
			  ".quad g\n"
			  ".long .Le-g\n"
			  ".byte 0\n"
			  ".byte 0\n"
			  "2:\n"
			  ".section .debug_line,\"\",@progbits\n";

void scene_event(struct vt_writer *w, uint64_t id, const char *name, enum vt_policy policy)
{
	uint64_t *row = vt_writer_row(w, VT_EVENT);

	row[VT_EVENT_ID] = id;
	row[VT_EVENT_POLICY] = policy;
	vt_writer_text(w, VT_EVENT_NAME, name);
}

void scene_image(struct vt_writer *w, uint64_t id, const char *path)
{
	uint64_t *row = vt_writer_row(w, VT_IMAGE);

	row[VT_IMAGE_ID] = id;
	row[VT_IMAGE_TYPE] = VT_IMAGE_FILE;
	vt_writer_text(w, VT_IMAGE_PATH, path);
}

void scene_map(struct vt_writer *w, uint64_t start, uint64_t image)
{
	uint64_t *row = vt_writer_row(w, VT_MAP);

	row[VT_MAP_PID] = row[VT_MAP_TID] = 10;
	row[VT_MAP_START] = start;
	row[VT_MAP_LENGTH] = 0x10000;
	row[VT_MAP_IMAGE] = image;
	row[VT_MAP_PROT] = 5;
	row[VT_MAP_MISC] = USER;
}

void scene_samples(struct vt_writer *w, uint64_t event, uint64_t ip, uint64_t misc, uint64_t period,
		   unsigned n)
{
	for (; n; n--) {
		uint64_t *row = vt_writer_row(w, VT_SAMPLE);

		row[VT_SAMPLE_EVENT] = event;
		row[VT_SAMPLE_PID] = row[VT_SAMPLE_TID] = 10;
		row[VT_SAMPLE_IP] = ip;
		row[VT_SAMPLE_MISC] = USER | misc;
		row[VT_SAMPLE_PERIOD] = period;
		row[VT_SAMPLE_HAS] = 0x101;
	}
}

uint64_t *scene_freq(struct vt_writer *w, uint64_t image, uint64_t offset, double executions,
		     double cycles, double issue)
{
	uint64_t *row = vt_writer_row(w, VT_FREQ);

	row[VT_FREQ_IMAGE] = image;
	row[VT_FREQ_OFFSET] = offset;
	memcpy(&row[VT_FREQ_EXECUTIONS], &executions, sizeof(executions));
	memcpy(&row[VT_FREQ_CYCLES], &cycles, sizeof(cycles));
	memcpy(&row[VT_FREQ_ISSUE], &issue, sizeof(issue));
	return row;
}

void scene_read(struct scene *s, int fd, struct vt_writer *w, bool estimates)
{
	static const struct vt_images_options o = {.warn = NULL};
	struct vt_context *c;

	s->images = vt_images_new(&o, &err);
	s->profile = new_profile(s->images);
	c = vt_profile_context(s->profile);
	s->freqs = vt_freqprofile_new();
	s->lists = vt_hotprofile_new(1);
	s->code = vt_blockcode_new(c);
	assert_true(s->freqs && s->lists && s->code);
	vt_context_add(c, &(struct vt_consumer){.take = vt_hotprofile_feed, .arg = s->lists});
	vt_context_add(c, &(struct vt_consumer){.take = vt_freqprofile_feed, .arg = s->freqs});
	vt_context_add(c, &(struct vt_consumer){.take = vt_blockcode_feed, .arg = s->code});
	if (estimates)
		vt_profile_estimates(s->profile);
	read_context(c, fd, w);
	assert_int_equal(vt_profile_finish(s->profile, &err), 0);
	vt_freqprofile_finish(s->freqs);
	assert_int_equal(vt_hotprofile_end(s->lists, &err), 0);
	assert_int_equal(vt_blockcode_finish(s->code, &err), 0);
}

void scene_drop(struct scene *s)
{
	vt_blockcode_free(s->code);
	vt_hotprofile_free(s->lists);
	vt_freqprofile_free(s->freqs);
	free_profile(s->profile);
	vt_images_free(s->images);
}

void scene_program(const char *dir, const char *text)
{
	toolbox_write(dir, "prog.s", text);
	free(toolbox_run(dir,
			 "as -o prog.o prog.s && ld -e 0x401000 -Ttext=0x401000 -o prog prog.o"));
}

void scene_block(struct vt_writer *w, uint64_t id, uint64_t addr, const uint8_t *code, uint8_t size)
{
	uint64_t *row = vt_writer_row(w, VT_BLOCK);

	row[VT_BLOCK_ID] = id;
	row[VT_BLOCK_PID] = 10;
	row[VT_BLOCK_ADDR] = addr;
	row[VT_BLOCK_SIZE] = size;
	row[VT_BLOCK_INSNS] = 1;
	vt_writer_bytes(w, VT_BLOCK_LENGTHS, &size, 1);
	vt_writer_bytes(w, VT_BLOCK_CODE, code, size);
}

const char *scene_text(const char *text, const char *dir)
{
	static char out[1 << 16];
	size_t n = 0, size = strlen(dir);

	while (*text) {
		bool is_dir = strncmp(text, dir, size) == 0;

		assert_true(n + 1 < sizeof(out));
		out[n++] = is_dir ? 'D' : *text;
		text += is_dir ? size : 1;
	}
	out[n] = '\0';
	return out;
}
