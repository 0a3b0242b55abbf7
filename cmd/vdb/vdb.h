/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_VDB_VDB_H
#define CMD_VDB_VDB_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd/common/app.h"
#include "cmd/common/tables.h"
#include "formats/db/store.h"

/* What vdb was asked for. */
struct vdb {
	struct app *app;
	const char *path; /* of the database */
	struct vt_opt_list epochs;
	struct vt_opt_list labels;
	struct vt_opt_list images;
	struct vt_opt_list events;
	bool again;
	bool partial;
	bool dry;
	uint64_t keep;
	bool keep_given;
	double older; /* days */
	bool older_given;
	int by; /* enum vt_db_listing, an index of vdb_by_words */
	struct app_form form;
	const char *compress;
};

extern const char *const vdb_by_words[];

/* The commands: false after app_fail() or app_usage().  app->argv[0] is the command's name. */
bool vdb_add(struct vdb *v);
bool vdb_import(struct vdb *v);
bool vdb_epoch(struct vdb *v);
bool vdb_list(struct vdb *v);
bool vdb_cat(struct vdb *v);
bool vdb_export(struct vdb *v);
bool vdb_prune(struct vdb *v);
bool vdb_check(struct vdb *v);

/* The database, closed with vt_db_close().  NULL after app_fail(). */
struct vt_db *vdb_open(struct vdb *v, enum vt_db_mode mode);

/* What -E, -L, -i and -e chose. */
struct vt_db_selection vdb_selection(const struct vdb *v);

/* The time, seconds since 1970. */
int64_t vdb_now(void);

/*
 * Prints at once, on standard output, what became of an input: by then it is on the disk.
 * False after app_fail().
 */
bool vdb_print_added(struct vdb *v, const char *input, const struct vt_db_batch *batch,
		     const char *epoch, bool added);

#endif
