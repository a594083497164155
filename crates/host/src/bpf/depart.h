/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The treatment of packets that leave the shim: INT is started in them. */
#pragma once

#include "conclude.h"
#include "first.h"
#include "handover.h"
#include "leave.h"
#include "slices.h"
#include "watch.h"

/* Of `__sk_buff.tstamp_type`: the time is of the monotonic clock. */
#define TIME_IS_MONOTONIC 1

/* When the packet entered the shim, of the monotonic clock; `now` where that is unknown. */
static __always_inline __u64 entered_shim(struct __sk_buff *skb, __u64 now)
{
	__u64 entered;

	if (skb->tstamp_type != TIME_IS_MONOTONIC)
		return now;
	entered = skb->tstamp;
	if (!entered || entered > now)
		return now;
	/* A time in the past is no time to send. */
	bpf_skb_set_tstamp(skb, 0, BPF_SKB_TSTAMP_UNSPEC);
	return entered;
}

/* Starts INT in an outgoing packet; returns a verdict. */
VERIFIED_ONCE int depart(struct __sk_buff *skb)
{
	struct config *config = configuration(skb);
	struct packet *packet = packet_at_hand();
	struct location location = {};
	struct sliced_flow *sliced = 0;
	struct hop hop;
	struct flow flow;
	__u64 now;
	int outcome, starts;

	if (!config || !packet)
		return TCX_NEXT;
	now = bpf_ktime_get_ns();
	hop = own_hop(config, entered_shim(skb, now), now);
	outcome = read_packet(skb, packet);
	if (!outcome) {
		flow_of(packet, &flow);
		sliced = bpf_map_lookup_elem(&SLICED_FLOWS, &flow);
		starts = leave_shim(sliced, flow.protocol, config);
		if (carries_int(skb, packet, config, &location))
			outcome = ALREADY_INT;
		/* Only packets that `steer` found on the watchlist enter a shim. */
		else if (!config->shim_out && !is_watched(packet))
			outcome = NOT_WATCHED;
		else if (!starts)
			outcome = BETWEEN_SLICES;
		else if (skb->gso_size)
			outcome = SEGMENTS;
		else
			outcome = leave_with_int(skb, packet, config, &hop, sliced);
	}
	conclude(skb, packet, config, outcome, 1);
	skb->tc_index = departed_by(config->device);
	return bpf_redirect(config->device, 0);
}

/* Makes a copy of a super-packet its first segment, and sends it into the shim again; returns a verdict. */
VERIFIED_ONCE int become_first(struct __sk_buff *skb, __u32 first)
{
	const struct config *config = configuration(skb);
	struct packet *packet = packet_at_hand();

	if (!config || !packet || keep_first(skb, packet, first) || !hand_over(skb, packet->mtu, GETS_INT, 0))
		return TC_ACT_SHOT;
	return bpf_redirect(config->shim_in, 0);
}
