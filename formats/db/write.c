/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "formats/db/internal.h"

/* The condition of chosen sections. */
#define CHOSEN "section IN (SELECT id FROM chosen_section)"

/* The number that an event or image of the database has in the stream. */
struct number {
	int64_t id;
	uint64_t number;
};

struct place {
	uint64_t offset;
	uint64_t event; /* its number in the stream */
	uint64_t samples;
	uint64_t period;
};

struct ids {
	int64_t *items;
	size_t count;
	size_t cap;
};

struct sum {
	struct vt_db *db;
	struct vt_writer *w;
	struct vt_hash events; /* struct number */
	struct vt_hash images;
	struct ids listed;    /* the images of the current sum, in their order */
	struct place *places; /* of one image */
	size_t nplaces;
	size_t places_cap;
};

static void put_bytes_field(struct vt_writer *w, unsigned field, struct vt_bytes b)
{
	vt_writer_bytes(w, field, b.data, b.size);
}

/* The number of an event or image.  NULL: no memory. */
static struct number *get_stream_number(struct vt_hash *h, int64_t id)
{
	bool added;
	struct number *n = vt_hash_add(h, &id, &added);

	if (n && added)
		n->number = h->count - 1;
	return n;
}

/* ---- events, images, facts ---- */

/* The fields of an event on which all sections agree. */
struct fields {
	uint64_t joined[VT_EVENT_NFIELDS];
	bool any;
};

static int join_fields(void *arg, sqlite3_stmt *q, struct vt_error *err)
{
	struct fields *f = arg;
	uint64_t more[VT_EVENT_NFIELDS];

	(void)err;
	if (!vti_db_fields_unpack(vti_db_bytes(q, 0), more))
		return 1;
	if (f->any)
		vti_db_fields_join(f->joined, more);
	else
		memcpy(f->joined, more, sizeof(more));
	f->any = true;
	return 0;
}

static int write_event_record(void *arg, sqlite3_stmt *q, struct vt_error *err)
{
	struct sum *s = arg;
	int64_t id = sqlite3_column_int64(q, 0);
	struct number *n = get_stream_number(&s->events, id);
	struct fields f = {.any = false};
	uint64_t *row;
	int code;

	if (!n)
		return vt_error_nomem(err);
	code = vti_db_each(s->db, join_fields, &f, err,
			   "SELECT fields FROM declared WHERE event = ? AND " CHOSEN, "i", id);
	if (code)
		return code < 0 ? code : vti_db_damaged(s->db, "an event is damaged", err);
	row = vt_writer_row(s->w, VT_EVENT);
	memcpy(row, f.joined, sizeof(f.joined));
	row[VT_EVENT_ID] = n->number;
	row[VT_EVENT_POLICY] = (uint64_t)sqlite3_column_int64(q, 3);
	put_bytes_field(s->w, VT_EVENT_NAME, vti_db_bytes(q, 1));
	put_bytes_field(s->w, VT_EVENT_UNIT, vti_db_bytes(q, 2));
	return 0;
}

static bool list_id(struct ids *l, int64_t id)
{
	if (!vt_array_grow(&l->items, &l->cap, l->count + 1, sizeof(*l->items)))
		return false;
	l->items[l->count++] = id;
	return true;
}

static int write_image_record(void *arg, sqlite3_stmt *q, struct vt_error *err)
{
	struct sum *s = arg;
	int64_t id = sqlite3_column_int64(q, 0);
	struct number *n = get_stream_number(&s->images, id);
	uint64_t *row;

	if (!n || !list_id(&s->listed, id))
		return vt_error_nomem(err);
	row = vt_writer_row(s->w, VT_IMAGE);
	row[VT_IMAGE_ID] = n->number;
	row[VT_IMAGE_TYPE] = vti_db_u64(q, 3);
	row[VT_IMAGE_MACHINE] = vti_db_u64(q, 4);
	put_bytes_field(s->w, VT_IMAGE_PATH, vti_db_bytes(q, 1));
	put_bytes_field(s->w, VT_IMAGE_BUILDID, vti_db_bytes(q, 2));
	return 0;
}

static void put_meta(struct vt_writer *w, struct vt_bytes key, struct vt_bytes value)
{
	vt_writer_row(w, VT_META);
	put_bytes_field(w, VT_META_KEY, key);
	put_bytes_field(w, VT_META_VALUE, value);
}

static int write_meta_record(void *arg, sqlite3_stmt *q, struct vt_error *err)
{
	(void)err;
	put_meta(((struct sum *)arg)->w, vti_db_bytes(q, 0), vti_db_bytes(q, 1));
	return 0;
}

static int write_loss_record(void *arg, sqlite3_stmt *q, struct vt_error *err)
{
	struct sum *s = arg;
	int64_t event = sqlite3_column_int64(q, 0);
	const struct number *n = vt_hash_find(&s->events, &event);
	uint64_t *row = vt_writer_row(s->w, VT_LOST);

	(void)err;
	row[VT_LOST_EVENT] = n ? n->number : 0;
	row[VT_LOST_COUNT] = vti_db_u64(q, 2);
	put_bytes_field(s->w, VT_LOST_SOURCE, vti_db_bytes(q, 1));
	return 0;
}

static int write_gap_record(void *arg, sqlite3_stmt *q, struct vt_error *err)
{
	struct vt_writer *w = ((struct sum *)arg)->w;
	uint64_t *row = vt_writer_row(w, VT_GAP);

	(void)err;
	row[VT_GAP_BYTES] = vti_db_u64(q, 2);
	row[VT_GAP_RECORDS] = vti_db_u64(q, 3);
	put_bytes_field(w, VT_GAP_REASON, vti_db_bytes(q, 0));
	put_bytes_field(w, VT_GAP_INPUT, vti_db_bytes(q, 1));
	return 0;
}

/* ---- counts ---- */

static int take_places(struct sum *s, int64_t event, const struct vt_db_places *p,
		       struct vt_error *err)
{
	const struct number *n = vt_hash_find(&s->events, &event);
	size_t i;

	if (!n)
		return vti_db_damaged(s->db, "a profile of an event that is not declared", err);
	if (!vt_array_grow(&s->places, &s->places_cap, s->nplaces + p->count, sizeof(*s->places)))
		return vt_error_nomem(err);
	for (i = 0; i < p->count; i++)
		s->places[s->nplaces++] = (struct place){p->items[i].offset, n->number,
							 p->items[i].samples, p->items[i].period};
	return 0;
}

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return (x->event > y->event) - (x->event < y->event);
}

/* Sorts the places, and adds up those of one offset and event. */
static int sum_places(struct sum *s, struct vt_error *err)
{
	size_t i, n = 0;

	if (s->nplaces == 0)
		return 0;
	qsort(s->places, s->nplaces, sizeof(*s->places), compare_places);
	for (i = 1; i < s->nplaces; i++) {
		struct place *last = &s->places[n];

		if (compare_places(last, &s->places[i]) != 0) {
			s->places[++n] = s->places[i];
			continue;
		}
		if (last->samples > UINT64_MAX - s->places[i].samples ||
		    last->period > UINT64_MAX - s->places[i].period)
			return vt_error_set(err, VT_E_LIMIT, "%s: a sum is too high", s->db->path);
		last->samples += s->places[i].samples;
		last->period += s->places[i].period;
	}
	s->nplaces = n + 1;
	return 0;
}

static int read_places(void *arg, sqlite3_stmt *q, struct vt_error *err)
{
	struct sum *s = arg;
	struct vt_bytes data = vti_db_bytes(q, 1);
	struct vt_db_places places;
	int code = vt_db_places_unpack(&places, data.data, data.size, err);

	if (code < 0)
		vt_error_prefix(err, "%s", s->db->path);
	else
		code = take_places(s, sqlite3_column_int64(q, 0), &places, err);
	vt_db_places_fini(&places);
	return code;
}

static int write_image_counts(struct sum *s, int64_t id, uint64_t image, struct vt_error *err)
{
	size_t i;

	s->nplaces = 0;
	if (vti_db_each(s->db, read_places, s, err,
			"SELECT event, data FROM profile WHERE image = ? AND " CHOSEN
			" AND event IN (SELECT id FROM chosen_event)",
			"i", id) < 0 ||
	    sum_places(s, err) < 0)
		return -(int)err->code;
	for (i = 0; i < s->nplaces; i++) {
		uint64_t *row = vt_writer_row(s->w, VT_COUNT);

		row[VT_COUNT_IMAGE] = image;
		row[VT_COUNT_OFFSET] = s->places[i].offset;
		row[VT_COUNT_EVENT] = s->places[i].event;
		row[VT_COUNT_SAMPLES] = s->places[i].samples;
		row[VT_COUNT_PERIOD] = s->places[i].period;
	}
	return 0;
}

static int write_unmapped(struct sum *s, struct vt_error *err)
{
	int64_t chosen;

	if (vti_db_number(s->db, &chosen, err, "SELECT count(*) FROM chosen_image WHERE id = 0",
			  "") < 0)
		return -(int)err->code;
	return chosen ? write_image_counts(s, 0, VT_DB_UNMAPPED, err) : 0;
}

/* ---- all of it ---- */

/* The records before the counts, in their order.  META records are those with a single value. */
static const struct {
	const char *sql;
	vti_db_row_fn *write;
} parts[] = {
	{"SELECT key, min(value) FROM meta WHERE " CHOSEN
	 " GROUP BY key HAVING min(value) = max(value) AND count(*) = count(value) ORDER BY key",
	 write_meta_record},
	{"SELECT id, name, unit, policy FROM event WHERE id IN (SELECT id FROM chosen_event)"
	 " AND id IN (SELECT event FROM declared WHERE " CHOSEN ") ORDER BY name, unit, policy",
	 write_event_record},
	{"SELECT id, path, buildid, type, machine FROM image WHERE id IN (SELECT id FROM"
	 " chosen_image) AND id IN (SELECT image FROM profile WHERE " CHOSEN
	 " AND event IN (SELECT id FROM chosen_event)) ORDER BY path, buildid, type",
	 write_image_record},
	{"SELECT event, source, capped_sum(count) FROM loss JOIN event ON event.id = loss.event"
	 " WHERE event IN (SELECT id FROM chosen_event) AND " CHOSEN
	 " GROUP BY event, source ORDER BY source, name, unit, policy",
	 write_loss_record},
	{"SELECT reason, input, capped_sum(bytes), capped_sum(records) FROM gap WHERE " CHOSEN
	 " GROUP BY reason, input ORDER BY input, reason",
	 write_gap_record},
};

static int write_selection_sum(struct sum *s, struct vt_error *err)
{
	int code = 0;
	size_t i;

	s->listed.count = 0;
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]) && code == 0; i++)
		code = vti_db_each(s->db, parts[i].write, s, err, parts[i].sql, "");
	for (i = 0; i < s->listed.count && code == 0; i++) {
		const struct number *n = vt_hash_find(&s->images, &s->listed.items[i]);

		code = write_image_counts(s, s->listed.items[i], n->number, err);
	}
	return code < 0 ? code : write_unmapped(s, err);
}

/* ---- section by section ---- */

static int write_input(void *arg, sqlite3_stmt *q, struct vt_error *err)
{
	struct vt_bytes name = vti_db_bytes(q, 3);
	struct vt_buf b = VT_BUF_INIT;

	(void)err;
	vt_buf_printf(&b, "%s %" PRId64 " %" PRIu64 " ", (const char *)sqlite3_column_text(q, 0),
		      (int64_t)sqlite3_column_int64(q, 1), vti_db_u64(q, 2));
	vt_buf_put(&b, name.data, name.size);
	put_meta(((struct sum *)arg)->w, vti_db_str(VT_DB_META_INPUT),
		 (struct vt_bytes){b.data, b.size});
	vt_buf_free(&b);
	return 0;
}

static int hex_digit(uint8_t c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool vt_db_parse_input(const char *text, struct vt_db_input *input)
{
	unsigned i;
	char *end;

	for (i = 0; i < VT_DIGEST_SIZE; i++) {
		int high = hex_digit((uint8_t)text[2 * i]);
		int low = high < 0 ? -1 : hex_digit((uint8_t)text[2 * i + 1]);

		if (low < 0)
			return false;
		input->digest[i] = (uint8_t)(high << 4 | low);
	}
	text += 2 * VT_DIGEST_SIZE;
	errno = 0;
	if (*text != ' ')
		return false;
	input->added = strtoll(text, &end, 10);
	if (end == text || *end != ' ')
		return false;
	text = end;
	input->samples = strtoull(text, &end, 10);
	if (end == text || *end != ' ' || errno)
		return false;
	input->name = (struct vt_bytes){(const uint8_t *)end + 1, strlen(end + 1)};
	return true;
}

static int write_section(struct sum *s, int64_t section, struct vt_error *err)
{
	sqlite3_stmt *q =
		vti_db_prepare(s->db, err,
			       "SELECT name, label, begun FROM section JOIN epoch ON epoch.id ="
			       " section.epoch WHERE section.id = ?",
			       "i", section);
	int code = vti_db_step(s->db, q, err);

	if (code != 1)
		return code;
	put_meta(s->w, vti_db_str(VT_DB_META_EPOCH), vti_db_bytes(q, 0));
	put_meta(s->w, vti_db_str(VT_DB_META_LABEL), vti_db_bytes(q, 1));
	put_meta(s->w, vti_db_str(VT_DB_META_BEGUN), vti_db_bytes(q, 2));
	sqlite3_finalize(q);
	code = vti_db_exec(s->db, "DELETE FROM chosen_section", err);
	if (code == 0)
		code = vti_db_run(s->db, err, "INSERT INTO chosen_section VALUES(?)", "i", section);
	if (code == 0)
		code = vti_db_each(s->db, write_input, s, err,
				   "SELECT lower(hex(digest)), added, samples, name"
				   " FROM input WHERE section = ? ORDER BY id",
				   "i", section);
	return code < 0 ? code : write_selection_sum(s, err);
}

static int list_section(void *arg, sqlite3_stmt *q, struct vt_error *err)
{
	return list_id(arg, sqlite3_column_int64(q, 0)) ? 0 : vt_error_nomem(err);
}

static int write_sections(struct sum *s, struct vt_error *err)
{
	struct ids sections = {.items = NULL};
	int code = vti_db_each(s->db, list_section, &sections, err,
			       "SELECT id FROM section WHERE id IN (SELECT id FROM chosen_section)"
			       " ORDER BY epoch, label",
			       "");
	size_t i;

	for (i = 0; i < sections.count && code == 0; i++)
		code = write_section(s, sections.items[i], err);
	free(sections.items);
	return code;
}

int vt_db_write(struct vt_db *db, const struct vt_db_selection *sel, bool sections,
		struct vt_writer *w, struct vt_error *err)
{
	struct sum s = {.db = db, .w = w};
	int code;

	if (vti_db_begin(db, false, err) < 0)
		return -(int)err->code;
	vt_hash_init(&s.events, sizeof(struct number), sizeof(int64_t));
	vt_hash_init(&s.images, sizeof(struct number), sizeof(int64_t));
	code = vti_db_choose(db, sel, err);
	if (code == 0)
		code = vti_db_sums_check(
			db, sections ? VTI_DB_TABLES : VTI_DB_TABLES & ~(unsigned)VTI_DB_INPUT,
			err);
	if (code == 0)
		code = sections ? write_sections(&s, err) : write_selection_sum(&s, err);
	vt_hash_fini(&s.events);
	vt_hash_fini(&s.images);
	free(s.listed.items);
	free(s.places);
	return vti_db_end(db, code, err);
}
