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

/* Tells the agent of the packet as it is now. A global function, which the verifier looks at once. */
__attribute__((noinline)) int tell(struct __sk_buff *skb, __u64 time, __u32 kind)
{
	struct event *event = bpf_ringbuf_reserve(&EVENTS, sizeof(*event), 0);
	__u32 captured = skb->len < EVENT_BYTES ? skb->len : EVENT_BYTES;

	if (!event) {
		count(EVENT_LOST);
		return 0;
	}
	event->time = time;
	event->length = skb->len;
	event->device = skb->ifindex;
	event->kind = kind;
	asm volatile("" : "+r"(captured));
	if (captured == 0 || captured > EVENT_BYTES || bpf_skb_load_bytes(skb, 0, event->bytes, captured)) {
		bpf_ringbuf_discard(event, 0);
		count(EVENT_LOST);
		return 0;
	}
	event->captured = captured;
	bpf_ringbuf_submit(event, 0);
	count(EVENT);
	return 0;
}

/* Tells the agent of the packet as it is now, if its flow is due. A global function as `tell`. */
__attribute__((noinline)) int tell_if_due(struct __sk_buff *skb, __u32 kind)
{
	struct config *config = configuration(skb);
	struct packet packet = {};
	__u64 now;

	if (!config || read_packet(skb, &packet))
		return 0;
	now = bpf_ktime_get_ns() + config->clock_offset;
	if (is_due(&packet, config, now, 0))
		tell(skb, now, kind);
	return 0;
}
