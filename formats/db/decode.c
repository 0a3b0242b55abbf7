/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/db/decode.h"

#include <string.h>
#include <unistd.h>

#include "formats/db/store.h"

bool vt_db_probe(const uint8_t *bytes, size_t size)
{
	/* SQLite, "Database File Format", 1.2.1: with the NUL. */
	static const char magic[16] = "SQLite format 3";

	return size >= sizeof(magic) && memcmp(bytes, magic, sizeof(magic)) == 0;
}

int vt_db_decode(struct vt_input *in, struct vt_writer *w, const struct vt_format_options *opt,
		 struct vt_format_summary *sum, struct vt_error *err)
{
	const struct vt_db_selection all = {0};
	struct vt_db *db;
	int code;

	(void)opt;
	(void)sum;
	if (in->fd == STDIN_FILENO)
		return vt_error_set(err, VT_E_USAGE, "a database is not read from a pipe: name it");
	db = vt_db_open(in->name, VT_DB_READ, err);
	if (!db)
		return -(int)err->code;
	code = vt_db_write(db, &all, false, w, err);
	vt_db_close(db);
	return code;
}
