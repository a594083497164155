/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Merged datagrams with INT: the shim splits them, and INT is removed from each on the far side. */
#pragma once

#include "handover.h"
#include "shim.h"
#include "slices.h"

/*
 * How long datagrams of a flow continue to follow those that are split, nanoseconds.
 * Behind the shim, these wait in the processor's backlog behind other packets.
 */
#define APART_NS 100000000LL
/* The same in kernel ticks, at least: reading the number of the tick is cheap. */
#define APART_TICKS 128

/* The tick in which datagrams were last sent into a shim to be split. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} APART SEC(".maps");

/* Sends an incoming packet into the shim; returns 0 if not possible. */
static __always_inline int enter_apart(struct __sk_buff *skb, struct sliced_flow *sliced, __u64 now)
{
	__u32 zero = 0;
	__u64 *tick = bpf_map_lookup_elem(&APART, &zero);

	if (!tick || !hand_over(skb, ~0U, COMES_IN, 0))
		return 0;
	*tick = bpf_jiffies64();
	sliced->entered = now;
	/* In one piece: the kernel reports the parts of a list as dropped when the list has been split. */
	if (skb->gso_size)
		bpf_skb_pull_data(skb, skb->len);
	return 1;
}

/*
 * Whether merged datagrams with INT can be split; they are then on their
 * way. Without an agent INT is not removed on the far side of the shim.
 */
static __always_inline int take_apart(struct __sk_buff *skb, const struct packet *packet, const struct config *config)
{
	__u64 now = bpf_ktime_get_ns();
	struct sliced_flow *sliced;
	struct flow flow;

	if (packet->protocol != IPPROTO_UDP || skb->ifindex == config->shim_out || !agent_is_alive() ||
	    !shim_is_up(skb, config))
		return 0;
	flow_of(packet, &flow);
	sliced = sliced_flow(&flow);
	return sliced && enter_apart(skb, sliced, now);
}

/* Whether an incoming datagram could overtake others of its flow in the shim; it follows them then. */
static __always_inline int follows_apart(struct __sk_buff *skb, const struct packet *packet,
					 const struct config *config)
{
	__u32 zero = 0;
	const __u64 *tick = bpf_map_lookup_elem(&APART, &zero);
	struct sliced_flow *sliced;
	struct flow flow;
	__u64 now;

	if (packet->protocol != IPPROTO_UDP || !tick || !*tick || bpf_jiffies64() - *tick > APART_TICKS ||
	    skb->ifindex == config->shim_out)
		return 0;
	flow_of(packet, &flow);
	sliced = bpf_map_lookup_elem(&SLICED_FLOWS, &flow);
	now = bpf_ktime_get_ns();
	return sliced && age(sliced->entered, now) < APART_NS && agent_is_alive() && shim_is_up(skb, config) &&
	       enter_apart(skb, sliced, now);
}
