/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/perfdata/session.h"

#include <inttypes.h>
#include <stdio.h>

/* Bad records that get their own warning and GAP; the others are summed up. */
#define BAD_RECORDS_REPORTED 16
/* The most unknown types that are counted separately. */
#define UNKNOWN_TYPES_MAX 256

int vti_pd_nomem(struct pd_session *s)
{
	return vt_error_set(s->err, VT_E_NOMEM, "%s: out of memory", s->in->name);
}

static void put_meta_row(struct pd_session *s, const char *key, const uint8_t *text,
			 size_t text_size)
{
	vt_writer_row(s->w, VT_META);
	vt_writer_text(s->w, VT_META_KEY, key);
	if (text_size)
		vt_writer_bytes(s->w, VT_META_VALUE, text, text_size);
}

void vti_pd_meta(struct pd_session *s, const char *key, const uint8_t *text, size_t text_size,
		 const uint8_t *data, size_t size)
{
	size_t at, n;

	if (!size)
		put_meta_row(s, key, text, text_size);
	for (at = 0; at < size; at += n) {
		n = size - at < PD_PIECE_MAX ? size - at : PD_PIECE_MAX;
		put_meta_row(s, key, text, text_size);
		vt_writer_bytes(s->w, VT_META_DATA, data + at, n);
	}
}

void vti_pd_meta_str(struct pd_session *s, const char *key, const char *text)
{
	vti_pd_meta(s, key, (const uint8_t *)text, strlen(text), NULL, 0);
}

void vti_pd_gap(struct pd_session *s, const char *reason, uint64_t offset, uint64_t bytes,
		uint64_t records)
{
	uint64_t *row = vt_writer_row(s->w, VT_GAP);

	row[VT_GAP_OFFSET] = offset;
	row[VT_GAP_BYTES] = bytes;
	row[VT_GAP_RECORDS] = records;
	vt_writer_text(s->w, VT_GAP_REASON, reason);
	vt_writer_text(s->w, VT_GAP_INPUT, s->in->name);
}

static void warn_of_damage(struct pd_session *s, const char *what, uint64_t offset,
			   const char *cause)
{
	char line[VT_ERROR_SIZE];

	if (!s->opt->warn)
		return;
	snprintf(line, sizeof(line), "%s: %s at 0x%" PRIx64 ": %s", s->in->name, what, offset,
		 cause);
	s->opt->warn(s->opt->warn_arg, line);
}

static void put_damage(struct pd_session *s, uint64_t offset, uint64_t bytes, const char *cause)
{
	s->sum->damaged++;
	s->sum->unread += bytes;
	vti_pd_gap(s, cause, offset, bytes, 0);
	warn_of_damage(s, "damage", offset, cause);
}

void vti_pd_missing(struct pd_session *s, uint64_t bytes)
{
	char cause[256];

	snprintf(cause, sizeof(cause), "the input ends %" PRIu64 " bytes before its data do",
		 bytes);
	s->sum->damaged++;
	vti_pd_gap(s, cause, s->in->offset, bytes, 0);
	warn_of_damage(s, "damage", s->in->offset, cause);
}

void vti_pd_damage(struct pd_session *s, uint64_t offset, uint64_t bytes, const char *fmt, ...)
{
	char cause[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(cause, sizeof(cause), fmt, ap);
	va_end(ap);
	put_damage(s, offset, bytes, cause);
}

void vti_pd_passed_over(struct pd_session *s, const struct pd_rec *r, uint64_t bytes, bool found,
			bool inner)
{
	const char *where = inner ? " inside compressed ones" : "";
	char cause[256];

	if (!found && r->size > bytes)
		snprintf(cause, sizeof(cause),
			 "the input ends inside a record of type %" PRIu32 " and size %u%s",
			 r->type, r->size, where);
	else
		snprintf(cause, sizeof(cause),
			 "a record of type %" PRIu32 " and size %u%s, or what is behind it, is "
			 "damaged: %" PRIu64 " bytes are passed over, %s",
			 r->type, r->size, where, bytes,
			 found ? "up to the next record" : "no record that fits follows");
	put_damage(s, r->offset, bytes, cause);
}

void vti_pd_bad_record(struct pd_session *s, const struct pd_rec *r, const char *why)
{
	char cause[256];

	s->sum->damaged++;
	s->sum->unread += r->size;
	if (s->bad_records++ < BAD_RECORDS_REPORTED) {
		snprintf(cause, sizeof(cause), "record of type %" PRIu32 ": %s", r->type, why);
		vti_pd_gap(s, cause, r->offset, r->size, 1);
		warn_of_damage(s, "record", r->offset, cause);
		return;
	}
	if (s->bad_records == BAD_RECORDS_REPORTED + 1)
		s->bad_offset = r->offset;
	s->bad_bytes += r->size;
}

void vti_pd_aux_area(struct pd_session *s, const struct pd_rec *r, uint64_t bytes)
{
	char reason[64];

	snprintf(reason, sizeof(reason), VT_PERFDATA_AUX_GAP "%s: not decoded",
		 vt_perfdata_auxtrace_name(s->aux_type));
	vti_pd_gap(s, reason, r->offset, bytes, 0);
	s->sum->aux_areas++;
	s->sum->aux_bytes += bytes;
	s->sum->aux_type = s->aux_type;
}

int vti_pd_unknown(struct pd_session *s, const struct pd_rec *r)
{
	uint32_t type = r->type;
	struct pd_unknown *u;

	s->sum->unknown++;
	if (s->unknown.count >= UNKNOWN_TYPES_MAX && !vt_hash_find(&s->unknown, &type))
		type = UINT32_MAX;
	u = vt_hash_add(&s->unknown, &type, NULL);
	if (!u)
		return vti_pd_nomem(s);
	if (!u->records++)
		u->offset = r->offset;
	u->bytes += r->size;
	return 0;
}

void vti_pd_gaps_emit(struct pd_session *s)
{
	char reason[64];
	size_t i;

	for (i = 0; i < s->unknown.count; i++) {
		const struct pd_unknown *u = vt_hash_at(&s->unknown, i);

		if (u->type == PD_SAMPLE)
			snprintf(reason, sizeof(reason), "samples of an unknown event");
		else if (u->type == UINT32_MAX)
			snprintf(reason, sizeof(reason), "records of many unknown types");
		else
			snprintf(reason, sizeof(reason), "unknown record type %" PRIu32, u->type);
		vti_pd_gap(s, reason, u->offset, u->bytes, u->records);
	}
	if (s->bad_records > BAD_RECORDS_REPORTED) {
		vti_pd_gap(s, "further damaged records", s->bad_offset, s->bad_bytes,
			   s->bad_records - BAD_RECORDS_REPORTED);
		warn_of_damage(s, "record", s->bad_offset, "and later ones: damaged, too");
	}
}
