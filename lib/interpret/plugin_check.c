/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdbool.h>

#include "interpret/plugins_internal.h"

#define MAX_DESCRIPTION 200

/* A text of 1 to `max` printable ASCII characters. */
static bool is_name(const char *text, size_t max)
{
	size_t i;

	if (!text || !*text)
		return false;
	for (i = 0; text[i]; i++)
		if (i == max || text[i] < 0x20 || text[i] > 0x7e)
			return false;
	return true;
}

static const char *wrong_kind(const struct vtrace_plugin *p)
{
	uint32_t i;

	if (!p->kinds || !p->nkinds || p->nkinds > VTRACE_MAX_KINDS)
		return "no kinds of values, or too many";
	for (i = 0; i < p->nkinds; i++) {
		if (!is_name(p->kinds[i].name, VTRACE_MAX_NAME))
			return "a kind of value without a proper name";
		if ((unsigned)p->kinds[i].format > VTRACE_ADDRESS)
			return "a kind of value with a format that does not exist";
	}
	return NULL;
}

static const char *wrong_rule(const struct vtrace_plugin *p)
{
	uint32_t i;

	if (!p->rules || !p->nrules || p->nrules > VTRACE_MAX_RULES)
		return "no rules what to capture, or too many";
	for (i = 0; i < p->nrules; i++) {
		const struct vtrace_rule *r = &p->rules[i];

		if (r->what >> VTRACE_NWHATS || !r->what || !r->classes)
			return "a rule that captures nothing, or what does not exist";
		if (r->what & VTRACE_BIT(VTRACE_REGISTER) && r->reg > VTRACE_REG_SP &&
		    (r->reg < VTRACE_REG_R8 || r->reg > VTRACE_REG_R15))
			return "a rule that names no general register";
	}
	return NULL;
}

int vti_module_check(const struct vtrace_plugin *p, struct vt_error *err)
{
	const char *wrong;

	if (p->abi != VTRACE_PLUGIN_ABI)
		return vt_error_set(err, VT_E_VERSION,
				    "made for version %" PRIu32
				    " of <vtrace/plugin.h>, this program has version %u",
				    p->abi, VTRACE_PLUGIN_ABI);
	if (p->size < sizeof(*p))
		return vt_error_set(err, VT_E_VERSION,
				    "its struct vtrace_plugin has %" PRIu32 " bytes, not %zu",
				    p->size, sizeof(*p));
	if (!is_name(p->name, VTRACE_MAX_NAME))
		return vt_error_set(err, VT_E_FORMAT, "no proper name");
	if (!is_name(p->description, MAX_DESCRIPTION))
		return vt_error_set(err, VT_E_FORMAT, "no proper description");
	if (!p->process)
		return vt_error_set(err, VT_E_FORMAT, "no function `process'");
	wrong = wrong_kind(p);
	if (!wrong)
		wrong = wrong_rule(p);
	return wrong ? vt_error_set(err, VT_E_FORMAT, "%s", wrong) : 0;
}
