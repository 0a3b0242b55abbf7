/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/agent/agent.h"
#include "cmd/agent/place.h"
#include "cmd/walker/walk.h"

/* The loads of a walk on their way to the ring. */
struct timing {
	struct agent_place *place;
	struct agent_record head;
	bool by_call; /* as agent_time_load() has it */
};

static void time_load(void *arg, uint64_t ip, uint64_t addr)
{
	struct timing *t = arg;
	uint64_t ticks = agent_time_load(&t->by_call, addr);
	struct agent_load *r;

	if (!ticks)
		return;
	r = (struct agent_load *)agent_reserve(t->place, sizeof(*r));
	if (!r) {
		agent_count_loss(AGENT_RING_FULL);
		return;
	}
	*r = (struct agent_load){.head = t->head, .addr = addr, .ticks = ticks};
	r->head.ip = ip;
	agent_commit(t->place, sizeof(*r));
}

struct timing_call {
	struct timing timing;
	uint32_t distance;
	uint32_t insns;
};

static void run_timing(void *arg)
{
	struct timing_call *c = arg;
	struct walk *w = c->timing.place->walk;

	walk_go_on(w, c->distance, NULL, NULL);
	if (w->stop != WALK_LENGTH)
		return;
	c->timing.place->ring->far++;
	/* The first call fetches the code, which is no part of what a load takes. */
	agent_time_load(&c->timing.by_call, (uintptr_t)c);
	walk_go_on(w, c->insns, time_load, &c->timing);
}

void agent_time_loads(struct agent_place *place, uint32_t distance, uint32_t insns, bool by_call,
		      bool in_place)
{
	struct timing_call c = {.timing = {.place = place, .by_call = by_call},
				.distance = distance,
				.insns = insns};

	agent_fill_head(&c.timing.head, AGENT_LOAD, 0, place);
	c.timing.head.size = sizeof(struct agent_load);
	if (in_place)
		agent_call_in_place(place, run_timing, &c);
	else
		run_timing(&c);
}
