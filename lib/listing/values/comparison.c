/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listing/values/comparison.h"

#include <stdlib.h>

#include "base/buf.h"
#include "listing/json.h"

struct vt_comparelist {
	struct vt_comparelist_options o;
	struct vt_table *rows;	 /* one for each profile */
	struct vt_table *inputs; /* the same */
	struct vt_table **worst; /* by profile; NULL if not asked for */
	int64_t *left_out;	 /* rows of `worst` */
	size_t count;
	size_t worst_cap, left_out_cap;
};

struct vt_comparelist *vt_comparelist_new(const struct vt_comparelist_options *o)
{
	struct vt_comparelist *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->o = *o;
	l->rows = vt_table_new();
	l->inputs = vt_table_new();
	if (!l->rows || !l->inputs) {
		vt_comparelist_free(l);
		return NULL;
	}
	vt_invlist_comparison(l->rows);
	vt_invlist_inputs(l->inputs);
	return l;
}

void vt_comparelist_free(struct vt_comparelist *l)
{
	size_t i;

	if (!l)
		return;
	for (i = 0; i < l->count; i++)
		vt_table_free(l->worst[i]);
	free(l->worst);
	free(l->left_out);
	vt_table_free(l->rows);
	vt_table_free(l->inputs);
	free(l);
}

static int add_worst(struct vt_comparelist *l, const struct vt_hotprofile *second,
		     const struct vt_inv_pair *pairs, size_t n, uint32_t m, struct vt_error *err)
{
	struct vt_table **t;
	int64_t *left_out;

	if (!vt_array_grow(&l->worst, &l->worst_cap, l->count + 1, sizeof(struct vt_table *)) ||
	    !vt_array_grow(&l->left_out, &l->left_out_cap, l->count + 1, sizeof(*l->left_out)))
		return vt_error_nomem(err);
	t = &l->worst[l->count];
	left_out = &l->left_out[l->count];
	*t = l->o.worst ? vt_table_new() : NULL;
	*left_out = 0;
	l->count++;
	if (!l->o.worst)
		return 0;
	if (!*t)
		return vt_error_nomem(err);
	*left_out =
		vt_invlist_worst(*t, l->o.first, l->o.images, second, pairs, n, m, l->o.worst, err);
	return *left_out < 0 ? (int)*left_out : 0;
}

int64_t vt_comparelist_add(struct vt_comparelist *l, const char *name,
			   const struct vt_hotprofile *second, struct vt_error *err)
{
	struct vt_inv_comparison c;
	struct vt_inv_pair *pairs;
	size_t n;
	int code;

	pairs = vt_inv_match(l->o.first, second, l->o.how.what, &n);
	if (!pairs)
		return vt_error_nomem(err);
	vt_inv_compare(l->o.first, second, pairs, n, &l->o.how, &c);
	vt_invlist_compared(l->rows, name, &c);
	vt_invlist_inputs_compared(l->inputs, name, &c);
	code = add_worst(l, second, pairs, n, c.m, err);
	free(pairs);
	return code < 0 ? code : (int64_t)n;
}

static void print_comparison_json(const struct vt_comparelist *l, const struct vt_losses *losses,
				  struct vt_output *out)
{
	json_t *doc = vt_json_doc("vcmp/1");

	vt_json_losses(doc, losses);
	json_object_set_new(
		doc, "rows",
		vt_invlist_compared_json(l->rows, l->inputs, l->worst, l->left_out, l->count));
	vt_json_write(out, doc, true);
}

int vt_comparelist_print(const struct vt_comparelist *l, const struct vt_invlist_form *form,
			 struct vt_output *out, struct vt_error *err)
{
	size_t i;
	int code;

	if (form->json) {
		print_comparison_json(l, form->losses, out);
		return 0;
	}
	if (form->table != VT_TABLE_TEXT)
		return vt_table_print(l->o.worst ? l->worst[0] : l->rows, out, form->table,
				      form->color, err);
	vt_output_printf(out,
			 "Means over the instructions in both profiles, weighted by executions in "
			 "%s.\n"
			 "Find-Top is of instructions with an Inv-Top above %g %% there.\n\n",
			 l->o.name, 100 * l->o.how.threshold);
	code = vt_table_print(l->rows, out, form->table, form->color, err);
	vt_output_text(out, "\nOver inputs:\n");
	if (code == 0)
		code = vt_table_print(l->inputs, out, form->table, form->color, err);
	for (i = 0; i < l->count && l->o.worst && code == 0; i++) {
		vt_output_text(out, "\nWhat adds most to Diff-Top:\n");
		code = vt_table_print(l->worst[i], out, form->table, form->color, err);
		if (l->left_out[i])
			vt_output_printf(out, "(%lld more places)\n", (long long)l->left_out[i]);
	}
	return code;
}
