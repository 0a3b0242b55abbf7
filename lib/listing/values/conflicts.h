/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_VALUES_CONFLICTS_H
#define VT_LISTING_VALUES_CONFLICTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/output.h"
#include "base/table.h"
#include "conflict/replay.h"
#include "image/disasm.h"
#include "image/images.h"
#include "profile/losses.h"
#include "stream/record.h"

/* A stream's CONFLICT records as a table: the pairs that vreplay found, the worst first. */
struct vt_listreplay;

/* `images` is borrowed, and fed by the caller with the same stream.  NULL when memory runs out. */
struct vt_listreplay *vt_listreplay_new(struct vt_images *images, enum vt_syntax syntax);
void vt_listreplay_free(struct vt_listreplay *l);

/*
 * A vt_consume_record_fn, `list` is the struct vt_listreplay: takes a CONFLICT record, or META of
 * vreplay; ignores others.  0 or -VT_E_NOMEM.
 */
int vt_listreplay_feed(void *list, const struct vt_record *rec, struct vt_error *err);

/* Whether the stream came from vreplay, whether or not that found a pair. */
bool vt_listreplay_replayed(const struct vt_listreplay *l);

/*
 * Adds columns and rows to an empty table: by samples, then by how often the pair met; at most
 * `top` pairs, 0: all.  For programs a row has all that is known of a pair; for people it has two
 * rows, which fit a terminal.  Returns how many pairs were left out; want of memory shows when the
 * table is printed.
 */
size_t vt_listreplay_fill(struct vt_listreplay *l, struct vt_table *t, uint64_t top, bool people);

/* What was looked at: the lines above the table. */
void vt_listreplay_header(const struct vt_listreplay *l, struct vt_output *out);

/*
 * Prints the pairs, at most `top`, as a table, text with a header; with `losses`, as a JSON
 * document that has these as well.  -VT_E_NOMEM.
 */
int vt_listreplay_print(struct vt_listreplay *l, uint64_t top, const struct vt_losses *losses,
			enum vt_table_form form, bool color, struct vt_output *out,
			struct vt_error *err);

/* What to do about a replay for which no access is known: the end of a message. */
const char *vt_replay_remedy(enum vt_replay_source source);

/*
 * Prints how much a replay looked at and found; with `losses`, as a JSON document that has these as
 * well.  -VT_E_NOMEM.
 */
int vt_replay_summarize(const struct vt_replay *rp, const struct vt_conflict_model *model,
			const struct vt_losses *losses, struct vt_output *out,
			struct vt_error *err);

#endif
