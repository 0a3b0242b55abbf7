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

/* Lists a stream's CONFLICT records: the pairs of accesses that vreplay found, worst first. */
struct vt_listreplay;

/* `images` is borrowed; the caller feeds it the same stream.  NULL when memory runs out. */
struct vt_listreplay *vt_listreplay_new(struct vt_images *images, enum vt_syntax syntax);
void vt_listreplay_free(struct vt_listreplay *l);

/*
 * A vt_consume_record_fn; `list` is the struct vt_listreplay.  Takes CONFLICT records and vreplay's
 * META records, ignores others.  0 or -VT_E_NOMEM.
 */
int vt_listreplay_feed(void *list, const struct vt_record *rec, struct vt_error *err);

/* True if the stream came from vreplay, even if that found no pair. */
bool vt_listreplay_replayed(const struct vt_listreplay *l);

/*
 * Adds columns and rows to an empty table: at most `top` pairs (0: all), by samples, then by how
 * often they met.  For programs, a pair is one row with everything known; for people, two rows that
 * fit a terminal.  Returns how many pairs were left out.  Lack of memory sticks to the table.
 */
size_t vt_listreplay_fill(struct vt_listreplay *l, struct vt_table *t, uint64_t top, bool people);

/* Prints the lines above the table: how much the replay covered. */
void vt_listreplay_header(const struct vt_listreplay *l, struct vt_output *out);

/*
 * Prints at most `top` pairs (0: all) as a table, text with a header.  With `losses`, prints a JSON
 * document that includes them.  -VT_E_NOMEM.
 */
int vt_listreplay_print(struct vt_listreplay *l, uint64_t top, const struct vt_losses *losses,
			enum vt_table_form form, bool color, struct vt_output *out,
			struct vt_error *err);

/* The end of a message about a replay in which no address is known: what would help. */
const char *vt_replay_remedy(enum vt_replay_source source);

/*
 * Prints how much a replay covered and found.  With `losses`, prints a JSON document that includes
 * them.  -VT_E_NOMEM.
 */
int vt_replay_summarize(const struct vt_replay *rp, const struct vt_conflict_model *model,
			const struct vt_losses *losses, struct vt_output *out,
			struct vt_error *err);

#endif
