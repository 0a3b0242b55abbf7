/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listing/coprocessor/report.h"

#include <inttypes.h>

#include "coprocessor/assemble.h"
#include "listing/json.h"

struct vt_table *vt_coproc_sizes_table(const struct vt_coproc_sizes *s)
{
	struct vt_coproc_structure rows[VT_COPROC_STRUCTURES];
	struct vt_table *t = vt_table_new();
	uint64_t sum = 0;
	size_t i;

	if (!t)
		return NULL;
	vt_table_column(t, "structure", "structure", VT_FORMAT_TEXT);
	vt_table_column(t, "bits", "bits", VT_FORMAT_NUMBER);
	vt_table_column(t, "ports", "ports", VT_FORMAT_TEXT);
	vt_table_column(t, "transistors", "transistors", VT_FORMAT_NUMBER);
	vt_coproc_structures(s, rows);
	for (i = 0; i < VT_COPROC_STRUCTURES; i++) {
		vt_table_row(t, VT_STYLE_PLAIN);
		vt_table_str(t, rows[i].name);
		vt_table_number(t, rows[i].bits);
		vt_table_str(t, rows[i].ports);
		vt_table_number(t, rows[i].transistors);
		sum += rows[i].transistors;
	}
	vt_table_row(t, VT_STYLE_PLAIN);
	vt_table_str(t, "all structures");
	vt_table_empty(t);
	vt_table_empty(t);
	vt_table_number(t, sum);
	vt_table_row(t, VT_STYLE_PLAIN);
	vt_table_str(t, "with a core below");
	vt_table_empty(t);
	vt_table_empty(t);
	vt_table_number(t, sum + VT_COPROC_CORE);
	return t;
}

static double percent(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

unsigned vt_coproc_facts(const struct vt_coproc_run *r, const struct vt_host_costs *costs,
			 struct vt_coproc_fact facts[VT_COPROC_FACTS])
{
	const struct vt_buffer_stats *b = vt_buffer_stats(r->buffer);
	const struct vt_coproc_stats *c = vt_coproc_stats(r->coproc);
	const struct vt_host_stats *h = vt_host_stats(r->host);
	double cycles = vt_coproc_run_cycles(r), overhead = vt_host_overhead(r->host, costs);
	const struct vt_coproc_fact all[] = {
		{"words", "words of microcode, of 64", r->u->nwords, 0},
		{"slots", "slots", r->u->slots, 0},
		{"entry_bytes", "bytes of a sample in the buffer", vt_buffer_entry_bytes(r->u), 0},
		{"entries", "samples that the buffer holds", vt_buffer_entries(r->buffer), 0},
		{"instructions", "instructions retired", (double)b->retired, 0},
		{"timed", "of them at the cycles that were recorded", (double)b->timed, 0},
		{"ipc", b->timed ? "of the others in a cycle" : "of them in a cycle", r->o.ipc, 2},
		{"main_cycles", "cycles of the main processor", cycles, 0},
		{"operations", "operations of the classes profiled", (double)b->offered, 0},
		{"filtered", "excluded by a filter of pcs", (double)b->filtered, 0},
		{"dropped", "dropped, as the buffer was full", (double)b->dropped, 0},
		{"samples", "samples processed", (double)c->samples, 0},
		{"executed", "words executed", (double)c->words, 0},
		{"branches", "conditional branches", (double)c->branches, 0},
		{"mispredicted", "of them mispredicted", (double)c->mispredicted, 0},
		{"cycles", "cycles of the co-processor", (double)c->cycles, 0},
		{"busy", "% of its time", percent((double)c->cycles, cycles * r->o.clock), 2},
		{"interrupts", "interrupts", (double)h->interrupts, 0},
		{"copies", "copies of its state", (double)h->copies, 0},
		{"thrashes", "divisions of the program", (double)h->thrashes, 0},
		{"regions", "regions of the program", (double)h->partitions, 0},
		{"masked", "times that an instruction was excluded", (double)h->masked, 0},
		{"resamples", "times that one was profiled anew", (double)h->resamples, 0},
		{"records", "updates of the profile in memory", (double)h->records, 0},
		{"reads", "64-bit reads of its state", (double)h->reads, 0},
		{"stores", "64-bit stores to it", (double)h->stores, 0},
		{"overhead_cycles", "cycles of overhead", overhead, 0},
		{"overhead", "% of the main processor's time", percent(overhead, cycles), 4},
	};
	unsigned n = sizeof(all) / sizeof(all[0]), i;

	for (i = 0; i < n; i++)
		facts[i] = all[i];
	return n;
}

void vt_coproc_print_facts(const struct vt_coproc_fact *facts, unsigned n, struct vt_output *out)
{
	unsigned i;

	for (i = 0; i < n; i++)
		vt_output_printf(out, "%14.*f  %s\n", facts[i].digits, facts[i].value,
				 facts[i].text);
}

void vt_coproc_json_facts(const struct vt_coproc_fact *facts, unsigned n, json_t *object)
{
	unsigned i;

	for (i = 0; i < n; i++)
		json_object_set_new(object, facts[i].key,
				    facts[i].digits ? vt_json_real(facts[i].value)
						    : vt_json_u64((uint64_t)facts[i].value));
}

void vt_coproc_trace_word(void *tracer, const struct vt_coproc *m, unsigned word)
{
	struct vt_coproc_tracer *t = tracer;
	uint64_t sample = vt_coproc_stats(m)->samples + 1;
	struct vt_buf line = VT_BUF_INIT;

	if (sample != t->sample)
		vt_buf_printf(&line,
			      "sample %" PRIu64 ": %s pc=0x%" PRIx64 " value=0x%" PRIx64
			      " addr=0x%" PRIx64 " target=0x%" PRIx64 "\n",
			      sample, vt_ucode_classes[vt_coproc_operand(m, VT_OP_CLASS)],
			      vt_coproc_operand(m, VT_OP_PC), vt_coproc_operand(m, VT_OP_VALUE),
			      vt_coproc_operand(m, VT_OP_ADDR), vt_coproc_operand(m, VT_OP_TARGET));
	t->sample = sample;
	vt_buf_printf(&line, "    ");
	vt_ucode_print_word(t->u, word, &line);
	vt_buf_printf(&line, "\n        ");
	vt_coproc_describe(m, &line);
	vt_output_printf(t->out, "%s\n", vt_buf_str(&line));
	vt_buf_free(&line);
	if (!--t->left)
		vt_coproc_trace(t->coproc, NULL, NULL);
}
