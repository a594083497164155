/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Events: the packets that the agent receives. */
#pragma once

#include "flow.h"
#include "maps.h"
#include "queue.h"

#define MAX_FLOWS 65536

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 22);
} EVENTS SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, MAX_FLOWS);
	__type(key, struct flow);
	__type(value, __u64);
} FLOWS SEC(".maps");

/* The number of flows whose last event each processor caches. */
#define RECENT_FLOWS 256

/* As `FLOWS`, but without hashing and written by one processor only. */
struct recent_flow {
	struct flow flow;
	__u64 told;
	/* The kernel's tick in which the flow was last found not to be due. */
	__u64 tick;
};

/*
 * The maximum distance of kernel ticks, nanoseconds. Reading a clock costs more than all
 * the rest of the check whether a flow is due; reading the number of the tick is cheap.
 */
#define MAX_TICK_NS 10000000ULL

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, RECENT_FLOWS);
	__type(key, __u32);
	__type(value, struct recent_flow);
} RECENT SEC(".maps");

/* The slot among the recent flows, which a flow shares with few others. */
static __always_inline __u32 place_of(const struct flow *flow)
{
	const __u32 *source = (const __u32 *)flow->source.address;
	const __u32 *destination = (const __u32 *)flow->destination.address;
	__u32 mixed = source[3] ^ destination[3] ^ *(const __u32 *)&flow->source_port;

	mixed ^= mixed >> 16;
	return (mixed ^ mixed >> 8) % RECENT_FLOWS;
}

static __always_inline int is_same_flow(const struct flow *one, const struct flow *other)
{
	const __u32 *a = (const __u32 *)one, *b = (const __u32 *)other;
	__u32 differ = 0;

	for (__u32 i = 0; i < sizeof(*one) / sizeof(*a); i++)
		differ |= a[i] ^ b[i];
	return !differ;
}

/* The time of the agent's clock, nanoseconds. */
static __always_inline __u64 agent_time(const struct config *config)
{
	return bpf_ktime_get_ns() + config->clock_offset;
}

/* When a flow last had an event; stores `now` if that is longer ago than `interval`, or unknown. */
static __always_inline __u64 last_told(const struct flow *flow, __u64 now, __u64 interval)
{
	__u64 *told = bpf_map_lookup_elem(&FLOWS, flow);

	if (told && now - *told < interval)
		return *told;
	bpf_map_update_elem(&FLOWS, flow, &now, BPF_ANY);
	return now;
}

/*
 * The time of the agent's clock if a flow's packet is due for an event: the first, or
 * the interval is over. 0: not due. The end of a long interval is checked once a tick.
 */
static __always_inline __u64 when_due(const struct packet *packet, const struct config *config)
{
	__u64 interval = config->interval_us * 1000ULL, tick = bpf_jiffies64(), now;
	struct recent_flow *recent;
	struct flow flow;
	__u32 place;
	int is_known;

	if (!interval)
		return agent_time(config);
	flow_of(packet, &flow);
	place = place_of(&flow);
	recent = bpf_map_lookup_elem(&RECENT, &place);
	if (!recent)
		return agent_time(config);
	is_known = is_same_flow(&recent->flow, &flow);
	if (is_known && recent->tick == tick && interval >= MAX_TICK_NS)
		return 0;
	now = agent_time(config);
	recent->tick = tick;
	if (is_known && now - recent->told < interval)
		return 0;
	recent->told = last_told(&flow, now, interval);
	recent->flow = flow;
	return recent->told == now ? now : 0;
}

/* Sends the packet as it is to the agent. */
VERIFIED_ONCE int tell(struct __sk_buff *skb, __u64 time, __u32 kind, __u32 queue, __u32 mtu)
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
	event->queue = queue;
	event->mtu = mtu;
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

/* Sends the packet as it is to the agent, if its flow is due. */
static __always_inline void tell_if_due(struct __sk_buff *skb, const struct packet *packet,
					const struct config *config, __u32 kind)
{
	__u64 now = when_due(packet, config);

	if (now)
		tell(skb, now, kind, kind == EVENT_LEAVES ? noted_queue(config).occupancy : NOT_AVAILABLE, 0);
}
