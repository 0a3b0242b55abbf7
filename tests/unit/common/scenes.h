/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_UNIT_COMMON_SCENES_H
#define TESTS_UNIT_COMMON_SCENES_H

#include <stdbool.h>
#include <stdint.h>

#include "freq/profile.h"
#include "image/images.h"
#include "profile/block_code.h"
#include "profile/profile.h"
#include "stream/writer.h"
#include "value/hot_profile.h"

/* Small streams of a process 10, with all that listings are made of. Each function fails the
 * running test when it cannot do its work. */

#define SCENE_EXACT_IP 0x4000 /* PERF_RECORD_MISC_EXACT_IP */

void scene_event(struct vt_writer *w, uint64_t id, const char *name, enum vt_policy policy);
void scene_image(struct vt_writer *w, uint64_t id, const char *path);

/* The image's first 64 KiB, to be executed. */
void scene_map(struct vt_writer *w, uint64_t start, uint64_t image);

/* `n` samples at an address, in user mode. */
void scene_samples(struct vt_writer *w, uint64_t event, uint64_t ip, uint64_t misc, uint64_t period,
		   unsigned n);

/* An estimate; `cycles` and `issue` of each execution. The row, for what else is to be told. */
uint64_t *scene_freq(struct vt_writer *w, uint64_t image, uint64_t offset, double executions,
		     double cycles, double issue);

/* What a stream tells of. */
struct scene {
	struct vt_images *images;
	struct vt_profile *profile;
	struct vt_freqprofile *freqs;
	struct vt_hotprofile *lists;
	struct vt_blockcode *code;
};

/* Ends the stream and reads it; `estimates` as vt_profile_estimates(). */
void scene_read(struct scene *s, int fd, struct vt_writer *w, bool estimates);
void scene_drop(struct scene *s);

/* Assembles and links a program DIR/prog, whose text begins at 0x401000 and at 0x1000 in the file.
 */
void scene_program(const char *dir, const char *text);

/*
 * A program to be linked so. f, at 0x401000 to 0x40101c, is in lines 3 to 6 of /src/a.c; from
 * 0x401004 to 0x40100c there is h of /src/b.h, its line 2 inlined in line 4 and its line 3, from
 * 0x401008, in none. g follows, two
 * instructions in line 9, and two more in no procedure. z has 8 bytes that are not in the file.
 */
extern const char scene_walk[];

/* A BLOCK of one instruction. */
void scene_block(struct vt_writer *w, uint64_t id, uint64_t addr, const uint8_t *code,
		 uint8_t size);

/* A text with each name of a directory put as D; it holds until the next call. */
const char *scene_text(const char *text, const char *dir);

#endif
