/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Which packets does the agent hear of? */
#pragma once

#include "flow.h"
#include "maps.h"

/* What was last said of a flow. */
struct flow_state {
	__u64 time;
	__u64 bucket;
};

#define MOST_FLOWS 65536

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 22);
} EVENTS SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, MOST_FLOWS);
	__type(key, struct flow);
	__type(value, struct flow_state);
} FLOWS SEC(".maps");

/* Whether a flow's packet is worth an event: the first, another bucket, or the interval is over. */
static __always_inline int is_due(const struct packet *packet, const struct config *config, __u64 now,
				  __u64 bucket)
{
	struct flow_state *state, fresh = { .time = now, .bucket = bucket };
	struct flow flow;

	if (!config->interval_us)
		return 1;
	flow_of(packet, &flow);
	state = bpf_map_lookup_elem(&FLOWS, &flow);
	if (state && state->bucket == bucket && now - state->time < config->interval_us * 1000ULL)
		return 0;
	bpf_map_update_elem(&FLOWS, &flow, &fresh, BPF_ANY);
	return 1;
}

/* Tells the agent of the packet as it is now. */
static __always_inline void tell(struct __sk_buff *skb, const struct packet *packet, __u64 time)
{
	struct event *event = bpf_ringbuf_reserve(&EVENTS, sizeof(*event), 0);
	__u32 captured = packet->visible;

	if (!event) {
		count(EVENT_LOST);
		return;
	}
	event->time = time;
	event->length = skb->len;
	event->captured = captured;
	event->device = skb->ifindex;
	event->padding = 0;
	/* What lies behind `captured` is of an earlier packet on this processor, and not to be read. */
	__builtin_memcpy(event->bytes, packet->head, EVENT_BYTES);
	bpf_ringbuf_submit(event, 0);
	count(EVENT);
}
