/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listing/memory/sharing.h"

#include <inttypes.h>

#include "base/pattern.h"
#include "base/plural.h"
#include "listing/json.h"
#include "listing/memory/internal.h"

struct lines {
	struct vt_table *table;
	const struct vt_memory *memory;
	struct vt_images *images;
	const struct vt_memlist_options *o;
	struct vt_buf text;
};

static void add_columns(struct vt_table *t)
{
	vt_table_column(t, "true_accesses", "true", VT_FORMAT_NUMBER);
	vt_table_column(t, "false_accesses", "false", VT_FORMAT_NUMBER);
	vt_table_column(t, "true_misses", "true miss", VT_FORMAT_NUMBER);
	vt_table_column(t, "false_misses", "false miss", VT_FORMAT_NUMBER);
	vt_table_column(t, "loads", "loads", VT_FORMAT_NUMBER);
	vt_table_column(t, "stores", "stores", VT_FORMAT_NUMBER);
	vt_table_column(t, "threads", "threads", VT_FORMAT_NUMBER);
	vt_table_column_spare(t, 1);
	vt_table_column(t, "pid", NULL, VT_FORMAT_NUMBER);
	vt_table_column(t, "line", "line", VT_FORMAT_HEX);
	vt_table_column(t, "word", "word", VT_FORMAT_NUMBER);
	vt_table_column(t, "tid", "thread", VT_FORMAT_NUMBER);
	vt_table_column(t, "offset", "offset", VT_FORMAT_SIGNED);
	vt_table_column(t, "type", "type", VT_FORMAT_TEXT);
	vt_table_column(t, "name", "object", VT_FORMAT_NAME);
}

static const struct vt_memory_object *word_object(const struct lines *l,
						  const struct vt_shared_line *line, unsigned word)
{
	uint32_t object = line->words[word].object;

	return object == UINT32_MAX ? NULL : vt_memory_object(l->memory, object);
}

static bool is_line_listed(struct lines *l, const struct vt_shared_line *line)
{
	unsigned i;

	for (i = 0; i < VT_SHARING_WORDS; i++) {
		const struct vt_memory_object *o = word_object(l, line, i);

		if (o && l->o->types >> o->type & 1 &&
		    (!l->o->pattern ||
		     vt_pattern_matches(l->o->pattern, vti_memlist_name(&l->text, l->images, o))))
			return true;
	}
	return false;
}

static void put_line_counts(struct lines *l, const struct vt_shared_line *line, uint64_t loads,
			    uint64_t stores)
{
	vt_table_number(l->table, line->true_accesses);
	vt_table_number(l->table, line->false_accesses);
	vt_table_number(l->table, line->true_misses);
	vt_table_number(l->table, line->false_misses);
	vt_table_number(l->table, loads);
	vt_table_number(l->table, stores);
	vt_table_number(l->table, line->nthreads);
	vt_table_number(l->table, (uint64_t)line->pid);
	vt_table_number(l->table, line->address);
}

static void put_line(struct lines *l, const struct vt_shared_line *line)
{
	vt_table_row(l->table, VT_STYLE_HEADING);
	put_line_counts(l, line, line->loads, line->stores);
}

/* What a thread did to a word. */
static void put_word(struct lines *l, const struct vt_shared_line *line,
		     const struct vt_shared_thread *t, unsigned word)
{
	const struct vt_memory_object *o = word_object(l, line, word);
	int64_t offset = line->words[word].offset;

	vt_table_row(l->table, VT_STYLE_PLAIN);
	if (l->o->people) {
		vt_table_empty(l->table);
		vt_table_empty(l->table);
		vt_table_empty(l->table);
		vt_table_empty(l->table);
		vt_table_number(l->table, t->loads[word]);
		vt_table_number(l->table, t->stores[word]);
		vt_table_empty(l->table);
		vt_table_empty(l->table);
		vt_table_empty(l->table);
	} else {
		put_line_counts(l, line, t->loads[word], t->stores[word]);
	}
	vt_table_number(l->table, 8 * word);
	vt_table_number(l->table, (uint64_t)t->tid);
	vt_table_signed(l->table, offset);
	vt_table_str(l->table, o ? vt_object_type_name(o->type) : "");
	vt_table_str(l->table, o ? vti_memlist_name(&l->text, l->images, o) : "");
}

static void put_line_words(struct lines *l, const struct vt_shared_line *line)
{
	const struct vt_shared_thread *t = NULL;
	unsigned word;

	for (word = 0; word < VT_SHARING_WORDS; word++)
		while ((t = vt_memory_shared_thread(l->memory, line, t)))
			if (t->loads[word] || t->stores[word])
				put_word(l, line, t, word);
}

int64_t vt_memlist_lines(struct vt_table *t, struct vt_memory *m, struct vt_images *images,
			 const struct vt_memlist_options *o, struct vt_error *err)
{
	struct lines l = {.table = t, .memory = m, .images = images, .o = o, .text = VT_BUF_INIT};
	int64_t left_out = 0;
	uint64_t n = 0;
	size_t i;
	bool failed;

	add_columns(t);
	for (i = 0; i < vt_memory_nshared(m); i++) {
		const struct vt_shared_line *line = vt_memory_shared_line(m, i);

		if (!is_line_listed(&l, line))
			continue;
		if (o->top && n >= o->top) {
			left_out++;
			continue;
		}
		if (o->people)
			put_line(&l, line);
		put_line_words(&l, line);
		n++;
	}
	failed = l.text.failed;
	vt_buf_free(&l.text);
	return failed ? vt_error_nomem(err) : left_out;
}

/* ---- totals ---- */

/* The fields of a line, summed over all lines. */
static struct vt_shared_line sum_lines(const struct vt_memory *m)
{
	struct vt_shared_line sum = {0};
	size_t i;

	for (i = 0; i < vt_memory_nshared(m); i++) {
		const struct vt_shared_line *l = vt_memory_shared_line(m, i);

		sum.true_accesses += l->true_accesses;
		sum.false_accesses += l->false_accesses;
		sum.true_misses += l->true_misses;
		sum.false_misses += l->false_misses;
	}
	return sum;
}

void vt_memlist_lines_header(const struct vt_memory *m, struct vt_output *out)
{
	const struct vt_shared_line sum = sum_lines(m);

	vt_output_printf(out,
			 "%zu cache line%s that threads share, with stores\n%" PRIu64
			 " access%s could be misses of true sharing, %" PRIu64
			 " of false sharing; as recorded, %" PRIu64 " and %" PRIu64 " were\n\n",
			 vt_memory_nshared(m), vt_plural(vt_memory_nshared(m)), sum.true_accesses,
			 sum.true_accesses == 1 ? "" : "es", sum.false_accesses, sum.true_misses,
			 sum.false_misses);
}

void vt_memlist_lines_json(const struct vt_memory *m, const struct vt_table *t, int64_t left_out,
			   const struct vt_losses *losses, struct vt_output *out)
{
	json_t *doc = vt_json_doc("vmem-sharing/1");
	const struct vt_shared_line sum = sum_lines(m);

	json_object_set_new(doc, "lines", vt_json_u64(vt_memory_nshared(m)));
	json_object_set_new(doc, "true_accesses", vt_json_u64(sum.true_accesses));
	json_object_set_new(doc, "false_accesses", vt_json_u64(sum.false_accesses));
	json_object_set_new(doc, "true_misses", vt_json_u64(sum.true_misses));
	json_object_set_new(doc, "false_misses", vt_json_u64(sum.false_misses));
	json_object_set_new(doc, "accesses_left_out",
			    vt_json_u64(vt_memory_totals(m)->lines_left_out));
	vt_json_losses(doc, losses);
	json_object_set_new(doc, "rows", vt_json_table(t));
	json_object_set_new(doc, "rows_left_out", json_integer(left_out));
	vt_json_write(out, doc, true);
}
