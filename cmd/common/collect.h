/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_COMMON_COLLECT_H
#define CMD_COMMON_COLLECT_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd/common/app.h"
#include "image/images.h"
#include "profile/profile.h"
#include "value/collect.h"
#include "value/sites.h"

/* Hot lists of what streams execute, and where their time goes. */
struct app_collect {
	struct app *app;
	struct vt_sites *sites;
	struct vt_collect *collect;
	struct vt_context *context; /* of the stream at hand */
	struct vt_profile *profile; /* samples and counts of the stream at hand */
};

/* False after app_fail(); end with app_collect_close() in either case. */
bool app_collect_open(struct app_collect *c, struct app *a, const struct vt_hotlist_options *lists,
		      uint32_t what, bool by_caller);
void app_collect_close(struct app_collect *c);

/*
 * Each stream is fed to c->context between these two.  `images` is fed along and may be NULL.  At
 * the end, samples, or where there are none executed instructions, are added to the sites' counts.
 */
bool app_collect_begin(struct app_collect *c, struct vt_images *images);
bool app_collect_end(struct app_collect *c);

/* Says what was damaged or lies nowhere, which sets APP_LOSSY. */
void app_collect_tell(struct app_collect *c);

#endif
