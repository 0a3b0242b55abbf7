/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "formats/db/internal.h"

#define DEFAULT_EPOCH "default"

/* ---- digests of inputs ---- */

static void digest_bytes(struct vt_digest *d, struct vt_bytes b)
{
	vt_digest_put_block(d, b.data, b.size);
}

static void digest_profile(struct vt_digest *d, const struct vt_db_profile *p)
{
	size_t i;

	vt_digest_put_u64(d, p->image);
	vt_digest_put_u64(d, p->event);
	vt_digest_put_u64(d, p->places.count);
	for (i = 0; i < p->places.count; i++) {
		vt_digest_put_u64(d, p->places.items[i].offset);
		vt_digest_put_u64(d, p->places.items[i].samples);
		vt_digest_put_u64(d, p->places.items[i].period);
	}
}

void vt_db_batch_digest(const struct vt_db_batch *b, uint8_t digest[VT_DIGEST_SIZE])
{
	struct vt_digest d;
	size_t i;

	vt_digest_init(&d);
	vt_digest_put_u64(&d, b->nevents);
	for (i = 0; i < b->nevents; i++) {
		digest_bytes(&d, b->events[i].name);
		digest_bytes(&d, b->events[i].unit);
		vt_digest_put_u64(&d, b->events[i].fields[VT_EVENT_POLICY]);
	}
	vt_digest_put_u64(&d, b->nimages);
	for (i = 0; i < b->nimages; i++) {
		digest_bytes(&d, b->images[i].path);
		digest_bytes(&d, b->images[i].buildid);
	}
	vt_digest_put_u64(&d, b->nmetas);
	for (i = 0; i < b->nmetas; i++) {
		digest_bytes(&d, b->metas[i].key);
		digest_bytes(&d, b->metas[i].value);
	}
	for (i = 0; i < sizeof(b->marks) / sizeof(b->marks[0]); i++)
		vt_digest_put_u64(&d, b->marks[i]);
	for (i = 0; i < b->nprofiles; i++)
		digest_profile(&d, &b->profiles[i]);
	vt_digest_end(&d, digest);
}

uint64_t vt_db_batch_samples(const struct vt_db_batch *b)
{
	uint64_t sum = 0;
	size_t i, k;

	for (i = 0; i < b->nprofiles; i++)
		for (k = 0; k < b->profiles[i].places.count; k++)
			sum += b->profiles[i].places.items[k].samples;
	return sum;
}

static struct vt_bytes get_input_digest(const struct vt_db_input *input)
{
	return (struct vt_bytes){input->digest, VT_DIGEST_SIZE};
}

/* Counts the inputs that are in the database; *epoch: that of the first of these. */
static int count_known(struct vt_db *db, const struct vt_db_batch *b, size_t *known, char **epoch,
		       struct vt_error *err)
{
	size_t i;

	*known = 0;
	for (i = 0; i < b->ninputs; i++) {
		sqlite3_stmt *s = vti_db_prepare(
			db, err,
			"SELECT epoch.name FROM input JOIN section ON section.id = input.section"
			" JOIN epoch ON epoch.id = section.epoch WHERE digest = ?"
			" ORDER BY input.id LIMIT 1",
			"b", get_input_digest(&b->inputs[i]));
		int code = vti_db_step(db, s, err);

		if (code < 0)
			return code;
		if (code == 0)
			continue;
		if ((*known)++ == 0 && epoch)
			*epoch = vti_db_text(s, 0);
		sqlite3_finalize(s);
	}
	return 0;
}

/* ---- names ---- */

static int check_db_name(const char *what, const char *name, bool empty, struct vt_error *err)
{
	const char *p;

	if (strlen(name) > VT_DB_NAME_MAX || (!*name && !empty))
		return vt_error_set(err, VT_E_USAGE, "%s: a name has 1 to %d bytes", what,
				    VT_DB_NAME_MAX);
	for (p = name; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			return vt_error_set(err, VT_E_USAGE, "%s: a name has no control characters",
					    what);
	return 0;
}

/* Finds the id of an epoch, or begins it.  1: it was begun now; 0; or an error. */
static int find_epoch_id(struct vt_db *db, const char *name, int64_t now, int64_t *id,
			 struct vt_error *err)
{
	int code = vti_db_number(db, id, err, "SELECT id FROM epoch WHERE name = ?", "t",
				 vti_db_str(name));

	if (code != 0)
		return code < 0 ? code : 0;
	if (vti_db_run(db, err, "INSERT INTO epoch(name, begun) VALUES(?, ?)", "ti",
		       vti_db_str(name), now) < 0)
		return -(int)err->code;
	*id = sqlite3_last_insert_rowid(db->sql);
	return 1;
}

/* The name of the epoch to add to, owned by the caller; NULL after an error. */
static char *choose_epoch(struct vt_db *db, const struct vt_db_batch *b, struct vt_error *err)
{
	sqlite3_stmt *s;
	char *name = NULL;
	int code;

	if (b->epoch) {
		name = strdup(b->epoch);
	} else {
		s = vti_db_prepare(db, err, "SELECT name FROM epoch ORDER BY id DESC LIMIT 1", "");
		code = vti_db_step(db, s, err);
		if (code < 0)
			return NULL;
		name = code == 1 ? vti_db_text(s, 0) : strdup(DEFAULT_EPOCH);
		if (code == 1)
			sqlite3_finalize(s);
	}
	if (!name)
		vt_error_nomem(err);
	return name;
}

static int find_section_id(struct vt_db *db, const char *epoch, const struct vt_db_batch *b,
			   int64_t *id, struct vt_error *err)
{
	int64_t e;
	int code;

	if (find_epoch_id(db, epoch, b->now, &e, err) < 0 ||
	    vti_db_run(db, err, "INSERT OR IGNORE INTO section(epoch, label) VALUES(?, ?)", "it", e,
		       vti_db_str(b->label)) < 0)
		return -(int)err->code;
	code = vti_db_number(db, id, err, "SELECT id FROM section WHERE epoch = ? AND label = ?",
			     "it", e, vti_db_str(b->label));
	return code < 0 ? code : 0;
}

int vt_db_epoch(struct vt_db *db, const char *name, int64_t now, struct vt_error *err)
{
	int64_t id;

	if (check_db_name("the epoch", name, false, err) < 0 || vti_db_begin(db, true, err) < 0)
		return -(int)err->code;
	return vti_db_end(db, find_epoch_id(db, name, now, &id, err), err);
}

/* ---- events and images: their ids in the database ---- */

static int find_event_id(struct vt_db *db, const struct vt_db_event *e, int64_t *id,
			 struct vt_error *err)
{
	int64_t policy = (int64_t)e->fields[VT_EVENT_POLICY];
	int code;

	if (vti_db_run(db, err, "INSERT OR IGNORE INTO event(name, policy, unit) VALUES(?, ?, ?)",
		       "tit", e->name, policy, e->unit) < 0)
		return -(int)err->code;
	code = vti_db_number(db, id, err,
			     "SELECT id FROM event WHERE name = ? AND policy = ? AND unit = ?",
			     "tit", e->name, policy, e->unit);
	return code < 0 ? code : 0;
}

/* Stores the fields of an event on which all inputs of the section agree. */
static int declare_event(struct vt_db *db, int64_t section, int64_t event,
			 const struct vt_db_event *e, struct vt_error *err)
{
	uint64_t fields[VT_EVENT_NFIELDS], old[VT_EVENT_NFIELDS];
	struct vt_buf packed = VT_BUF_INIT;
	sqlite3_stmt *s;
	int code;

	memcpy(fields, e->fields, sizeof(fields));
	fields[VT_EVENT_ID] = fields[VT_EVENT_NAME] = fields[VT_EVENT_UNIT] = 0;
	s = vti_db_prepare(db, err, "SELECT fields FROM declared WHERE section = ? AND event = ?",
			   "ii", section, event);
	code = vti_db_step(db, s, err);
	if (code < 0)
		return code;
	if (code == 1) {
		if (vti_db_fields_unpack(vti_db_bytes(s, 0), old))
			vti_db_fields_join(fields, old);
		sqlite3_finalize(s);
	}
	code = vti_db_fields_pack(fields, &packed, err);
	if (code == 0)
		code = vti_db_run(db, err,
				  "INSERT OR REPLACE INTO declared(section, event, fields)"
				  " VALUES(?, ?, ?)",
				  "iib", section, event,
				  (struct vt_bytes){packed.data, packed.size});
	vt_buf_free(&packed);
	return code;
}

/* The key of an image: its build-id, or else its type and path. */
static int make_image_key(const struct vt_db_image *i, struct vt_buf *key, struct vt_error *err)
{
	if (i->buildid.size) {
		vt_buf_put_u8(key, 'b');
		vt_buf_put(key, i->buildid.data, i->buildid.size);
	} else {
		vt_buf_put_u8(key, 'p');
		vt_buf_put_varint(key, i->type);
		vt_buf_put(key, i->path.data, i->path.size);
	}
	return key->failed ? vt_error_nomem(err) : 0;
}

/* Of several paths of one build-id, the alphabetically first is kept. */
static int find_image_id(struct vt_db *db, const struct vt_db_image *i, int64_t *id,
			 struct vt_error *err)
{
	struct vt_buf key = VT_BUF_INIT;
	struct vt_bytes k;
	int code = make_image_key(i, &key, err);

	k = (struct vt_bytes){key.data, key.size};
	if (code == 0)
		code = vti_db_run(db, err,
				  "INSERT INTO image(key, path, buildid, type, machine)"
				  " VALUES(?1, ?2, ?3, ?4, ?5) ON CONFLICT(key) DO UPDATE SET"
				  " path = ?2, type = ?4, machine = ?5 WHERE path > ?2",
				  "btbii", k, i->path, i->buildid, (int64_t)i->type,
				  (int64_t)i->machine);
	if (code == 0)
		code = vti_db_number(db, id, err, "SELECT id FROM image WHERE key = ?", "b", k);
	vt_buf_free(&key);
	return code < 0 ? code : 0;
}

/* ---- one profile ---- */

static int read_old_places(struct vt_db *db, int64_t section, int64_t image, int64_t event,
			   struct vt_db_places *places, struct vt_error *err)
{
	sqlite3_stmt *s = vti_db_prepare(
		db, err, "SELECT data FROM profile WHERE section = ? AND image = ? AND event = ?",
		"iii", section, image, event);
	int code = vti_db_step(db, s, err);
	struct vt_bytes data;

	*places = (struct vt_db_places){.items = NULL};
	if (code != 1)
		return code;
	data = vti_db_bytes(s, 0);
	code = vt_db_places_unpack(places, data.data, data.size, err);
	if (code < 0)
		vt_error_prefix(err, "%s", db->path);
	sqlite3_finalize(s);
	return code;
}

static int write_places(struct vt_db *db, int64_t section, int64_t image, int64_t event,
			const struct vt_db_places *places, struct vt_error *err)
{
	struct vt_buf packed = VT_BUF_INIT;
	uint64_t samples, period;
	int code = vt_db_places_sum(places, &samples, &period, err);

	if (code == 0) {
		vt_db_places_pack(places, &packed);
		code = packed.failed ? vt_error_nomem(err) : 0;
	}
	if (code == 0)
		code = vti_db_run(
			db, err,
			"INSERT INTO profile(section, image, event, places, samples, period, data)"
			" VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO UPDATE SET"
			" places = ?4, samples = ?5, period = ?6, data = ?7",
			"iiiiiib", section, image, event, (int64_t)places->count, (int64_t)samples,
			(int64_t)period, (struct vt_bytes){packed.data, packed.size});
	vt_buf_free(&packed);
	return code;
}

static int add_places(struct vt_db *db, int64_t section, int64_t image, int64_t event,
		      const struct vt_db_places *more, struct vt_error *err)
{
	struct vt_db_places places;
	int code = read_old_places(db, section, image, event, &places, err);

	if (code == 0)
		code = vt_db_places_merge(&places, more, err);
	if (code == 0)
		code = write_places(db, section, image, event, &places, err);
	vt_db_places_fini(&places);
	return code;
}

/* ---- the rest of a batch ---- */

static int insert_input(struct vt_db *db, int64_t section, const struct vt_db_input *i,
			struct vt_error *err)
{
	if (i->samples > INT64_MAX)
		return vt_error_set(err, VT_E_LIMIT, "more samples than can be counted");
	return vti_db_run(db, err,
			  "INSERT INTO input(section, digest, name, added, samples)"
			  " VALUES(?, ?, ?, ?, ?)",
			  "ibtii", section, get_input_digest(i), i->name, i->added,
			  (int64_t)i->samples);
}

/* A value that differs between inputs becomes NULL, and stays so. */
static int insert_meta(struct vt_db *db, int64_t section, const struct vt_db_meta *m,
		       struct vt_error *err)
{
	if (m->key.size > VT_DB_META_MAX || m->value.size > VT_DB_META_MAX)
		return 0;
	return vti_db_run(
		db, err,
		"INSERT INTO meta(section, key, value) VALUES(?1, ?2, ?3) ON CONFLICT DO UPDATE SET"
		" value = NULL WHERE value <> ?3",
		"itt", section, m->key, m->value);
}

/* Caps a count of losses to what the database can store. */
static int64_t cap_count(uint64_t v)
{
	return v > INT64_MAX / 2 ? INT64_MAX / 2 : (int64_t)v;
}

static int insert_loss(struct vt_db *db, int64_t section, int64_t event, const struct vt_db_loss *l,
		       struct vt_error *err)
{
	return vti_db_run(db, err,
			  "INSERT INTO loss(section, event, source, count)"
			  " VALUES(?1, ?2, ?3, ?4) ON CONFLICT DO UPDATE SET"
			  " count = min(count + ?4, 0x3fffffffffffffff)",
			  "iiti", section, event, l->source, cap_count(l->count));
}

static int insert_gap(struct vt_db *db, int64_t section, const struct vt_db_gap *g,
		      struct vt_error *err)
{
	return vti_db_run(db, err,
			  "INSERT INTO gap(section, reason, input, bytes, records)"
			  " VALUES(?1, ?2, ?3, ?4, ?5) ON CONFLICT DO UPDATE SET"
			  " bytes = min(bytes + ?4, 0x3fffffffffffffff),"
			  " records = min(records + ?5, 0x3fffffffffffffff)",
			  "ittii", section, g->reason, g->input, cap_count(g->bytes),
			  cap_count(g->records));
}

static int insert_facts(struct vt_db *db, int64_t section, const int64_t *events,
			const struct vt_db_batch *b, struct vt_error *err)
{
	int code = 0;
	size_t i;

	for (i = 0; i < b->ninputs && code == 0; i++)
		code = insert_input(db, section, &b->inputs[i], err);
	for (i = 0; i < b->nmetas && i < VT_DB_METAS && code == 0; i++)
		code = insert_meta(db, section, &b->metas[i], err);
	for (i = 0; i < b->nlosses && code == 0; i++)
		code = insert_loss(db, section, events[b->losses[i].event], &b->losses[i], err);
	for (i = 0; i < b->ngaps && code == 0; i++)
		code = insert_gap(db, section, &b->gaps[i], err);
	return code;
}

static int add_profiles(struct vt_db *db, int64_t section, int64_t *events, int64_t *images,
			const struct vt_db_batch *b, struct vt_error *err)
{
	int code = 0;
	size_t i;

	for (i = 0; i < b->nevents && code == 0; i++) {
		code = find_event_id(db, &b->events[i], &events[i], err);
		if (code == 0)
			code = declare_event(db, section, events[i], &b->events[i], err);
	}
	for (i = 0; i < b->nimages && code == 0; i++)
		code = find_image_id(db, &b->images[i], &images[i], err);
	for (i = 0; i < b->nprofiles && code == 0; i++) {
		const struct vt_db_profile *p = &b->profiles[i];

		code = add_places(db, section, p->image == VT_DB_UNMAPPED ? 0 : images[p->image],
				  events[p->event], &p->places, err);
	}
	return code;
}

static int add_batch_to_epoch(struct vt_db *db, const char *epoch, const struct vt_db_batch *b,
			      struct vt_error *err)
{
	int64_t *events = calloc(b->nevents + 1, sizeof(*events));
	int64_t *images = calloc(b->nimages + 1, sizeof(*images));
	int64_t section = 0;
	int code = events && images ? 0 : vt_error_nomem(err);

	if (code == 0)
		code = find_section_id(db, epoch, b, &section, err);
	if (code == 0)
		code = add_profiles(db, section, events, images, b, err);
	if (code == 0)
		code = insert_facts(db, section, events, b, err);
	free(events);
	free(images);
	return code;
}

/* Adds a batch within the transaction.  1: added; 0: it is there already. */
static int add_unless_known(struct vt_db *db, const struct vt_db_batch *b, char **epoch,
			    struct vt_error *err)
{
	size_t known = 0;
	char *name;
	int code;

	if (!b->again && count_known(db, b, &known, epoch, err) < 0)
		return -(int)err->code;
	if (known && known == b->ninputs)
		return 0;
	if (known)
		return vt_error_set(err, VT_E_AMBIGUOUS,
				    "%s: %zu of the %zu inputs are there already", db->path, known,
				    b->ninputs);
	name = choose_epoch(db, b, err);
	if (!name)
		return -(int)err->code;
	code = add_batch_to_epoch(db, name, b, err);
	if (code == 0 && epoch)
		*epoch = name;
	else
		free(name);
	return code < 0 ? code : 1;
}

int vt_db_add(struct vt_db *db, const struct vt_db_batch *b, char **epoch, struct vt_error *err)
{
	char *name = NULL;
	int code;

	if (epoch)
		*epoch = NULL;
	if ((b->epoch && check_db_name("the epoch", b->epoch, false, err) < 0) ||
	    check_db_name("the label", b->label, true, err) < 0 || vti_db_begin(db, true, err) < 0)
		return -(int)err->code;
	code = vti_db_end(db, add_unless_known(db, b, &name, err), err);
	if (code >= 0 && epoch)
		*epoch = name;
	else
		free(name);
	return code;
}
