/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The treatment of outgoing packets: whether they get INT. Super-packets then go through
 * the shim, where the kernel splits them into segments and completes checksums.
 */
#pragma once

#include "complete.h"
#include "conclude.h"
#include "cut.h"
#include "events.h"
#include "first.h"
#include "handover.h"
#include "leave.h"
#include "path_mtu.h"
#include "proof.h"
#include "queue.h"
#include "shim.h"
#include "slices.h"
#include "socket.h"
#include "watch.h"

/* The number of packets on the wire that the kernel makes of this one. */
static __always_inline __u32 packets_of(const struct __sk_buff *skb, const struct packet *packet)
{
	__u32 size = skb->gso_size, payload = packet->end - packet->behind_l4;

	return size && payload > size ? (payload + size - 1) / size : 1;
}

/* Counts a watched packet of `bytes` as it will be on the wire, without INT. */
static __always_inline void count_watched(const struct packet *packet, __u32 bytes, __u32 packets)
{
	__u32 headers = packet->behind_l4 - L3;

	count_traffic(WATCHED, packets, bytes + (__u64)(packets - 1) * headers);
}

/* A router may fragment the packet: INT would be only in its first fragment, which no sink searches. */
static __always_inline int may_be_cut(const struct packet *packet)
{
	return packet->version == 4 && !(ipv4(packet)->frag_off & bpf_htons(DONT_FRAGMENT));
}

/*
 * Whether INT fits into every packet on the wire: into TCP segments with the
 * configured room for all hops, into datagrams at least with its fixed part.
 */
static __always_inline int has_room(const struct __sk_buff *skb, const struct packet *packet,
				    const struct config *config)
{
	struct insertion least = {
		.outer = config->carriage == BEHIND_NEW_UDP ? sizeof(struct udphdr) : 0,
		.int_words = least_words(config),
	};
	__u32 end = skb->gso_size ? packet->behind_l4 + skb->gso_size : packet->end;

	if (packet->protocol == IPPROTO_TCP)
		return end - L3 + room_needed(config) <= packet->mtu;
	return fits(packet, &least, end);
}

/* How long a flow bypasses the shim after a packet of it was lost there, nanoseconds. */
#define SHIM_RETRY 1000000000LL
/* The longest that a packet stays in the shim, nanoseconds. */
#define MAX_IN_SHIM 1000000LL

/*
 * Whether the last packet of the flow that entered the shim was lost there: a bridge filter may drop it.
 * Those of a TCP socket enter and leave one by one; of others one may still be inside, on another processor.
 */
static __always_inline int shim_has_lost(struct __sk_buff *skb, const struct sliced_flow *sliced, __u64 now)
{
	__s64 since = age(sliced->started, now);

	return sliced->is_due && since < SHIM_RETRY && (since >= MAX_IN_SHIM || tcp_socket(skb));
}

/* Whether a packet can pass the shim. */
static __always_inline int can_steer(struct __sk_buff *skb, const struct config *config,
				     const struct sliced_flow *sliced, __u64 now)
{
	return shim_is_up(skb, config) && !shim_has_lost(skb, sliced, now);
}

/*
 * Whether a watched packet that begins a slice can have INT: 0, or why not. It has room
 * for it then, or its first segment has, of `*first` bytes, if that gets INT alone.
 */
static __always_inline int prepare(struct __sk_buff *skb, struct packet *packet, const struct config *config,
				   const struct watched_flow *flow, const struct sliced_flow *sliced, __u64 now,
				   __u32 *first)
{
	int fault;

	if (!agent_is_alive())
		return AGENT_SILENT;
	if (skb->gso_size && !can_steer(skb, config, sliced, now))
		return SHIM_DOWN;
	if (is_unanswered(skb))
		return UNANSWERED;
	if (is_timestamped(skb))
		return TIMESTAMPED;
	if (packet->protocol == IPPROTO_UDP && is_tunnel_of_segments(skb))
		return NOT_CARRIED;
	packet->mtu = path_mtu(skb, config, &flow->destination, now);
	lower_to(&packet->mtu, packet->proven_mtu);
	if (may_be_cut(packet) && packet->mtu > MIN_MTU_IPV4)
		packet->mtu = MIN_MTU_IPV4;
	*first = size_of_first(skb, packet, config);
	if (*first)
		return 0;
	fault = cut_segments(skb, packet, config);
	if (fault)
		return fault;
	return has_room(skb, packet, config) ? 0 : NOT_STARTED_MTU;
}

/* Starts INT in a single packet, which came at `now`; returns the outcome, or -1: it is for the shim. */
static __always_inline int start_here(struct __sk_buff *skb, struct packet *packet, const struct config *config,
				      struct sliced_flow *sliced, __u64 now)
{
	struct hop hop;
	int fault;

	if (skb->gso_size)
		return -1;
	fault = complete_checksum(skb, packet);
	if (fault)
		return fault;
	hop = own_hop(config, now, bpf_ktime_get_ns());
	return leave_with_int(skb, packet, config, &hop, sliced);
}

/* Stores in a packet that it gets INT behind the shim, or its first segment does: STEERED, or why not. */
static __always_inline int steer_packet(struct __sk_buff *skb, const struct packet *packet,
					const struct config *config, const struct sliced_flow *sliced,
					__u32 first, __u64 now)
{
	if (!skb->gso_size && !can_steer(skb, config, sliced, now))
		return SHIM_DOWN;
	if (!hand_over(skb, packet->mtu, first ? FIRST_GETS_INT : GETS_INT, first))
		return NOT_STARTED_CLASS;
	/* Removed when it leaves the shim; a time that is already set is the time to send. */
	if (!skb->tstamp)
		bpf_skb_set_tstamp(skb, now, BPF_SKB_TSTAMP_DELIVERY_MONO);
	return STEERED;
}

/* Whether the first segment that was sent into the shim has left it; no other packet of the flow can be inside. */
static __always_inline int has_left(const struct packet *packet)
{
	const struct sliced_flow *sliced;
	struct flow flow;

	flow_of(packet, &flow);
	sliced = bpf_map_lookup_elem(&SLICED_FLOWS, &flow);
	return sliced && !sliced->is_due;
}

/* Sends the first segment of a super-packet with INT; the others follow as one packet without. Returns a verdict. */
VERIFIED_ONCE int send_first(struct __sk_buff *skb, __u32 first, __u64 time)
{
	struct config *config = configuration(skb);
	struct packet *packet = packet_at_hand();
	int outcome = BETWEEN_SLICES;

	if (!config || !packet)
		return TCX_NEXT;
	bpf_clone_redirect(skb, config->shim_out, 0);
	/* It has left by now. The programs on its way have used the same memory. */
	config = configuration(skb);
	skb->tc_index = 0;
	bpf_skb_set_tstamp(skb, time, time ? BPF_SKB_TSTAMP_DELIVERY_MONO : BPF_SKB_TSTAMP_UNSPEC);
	if (!config || read_packet(skb, packet))
		return TCX_NEXT;
	if (has_left(packet))
		/* Where that fails, the receiver gets the first segment twice. */
		outcome = remove_first(skb, packet, first) == NO_ROOM ? NO_ROOM : BETWEEN_SLICES;
	else
		outcome = SHIM_DOWN;
	conclude(skb, packet, config, outcome, packets_of(skb, packet));
	return outcome == NO_ROOM ? TC_ACT_SHOT : TCX_NEXT;
}

/*
 * The treatment of a watched packet: STARTED, STEERED, or why neither. `changes` is
 * the number of changes before the watchlist was asked about it.
 */
static __always_inline int judge_watched(struct __sk_buff *skb, struct packet *packet,
					 const struct config *config, const struct watched_flow *watched,
					 __u32 changes, __u32 *first)
{
	struct sliced_flow *sliced;
	struct flow flow;
	__u64 now;
	int outcome;

	if (config->mode == MODE_XD) {
		tell_if_due(skb, packet, config, EVENT_LEAVES);
		return POSTCARD;
	}
	if (!can_carry(packet, config))
		return NOT_CARRIED;
	flow_of(packet, &flow);
	now = bpf_ktime_get_ns();
	if (!is_proven(skb, packet, &flow, now))
		return NO_LEASE;
	sliced = sliced_flow(&flow);
	if (!sliced)
		return NOT_STARTED_CLASS;
	outcome = begins_slice(sliced, config, now) ? prepare(skb, packet, config, watched, sliced, now, first)
						    : BETWEEN_SLICES;
	if (!outcome)
		outcome = start_here(skb, packet, config, sliced, now);
	if (outcome < 0)
		outcome = steer_packet(skb, packet, config, sliced, *first, now);
	if (outcome == STARTED || outcome == STEERED)
		sliced->started = now;
	if (outcome == STEERED)
		sliced->is_due = 1;
	if (outcome == STARTED || outcome == STEERED || outcome == BETWEEN_SLICES)
		keep_quiet(sliced, config, packet->renew_at, changes);
	return outcome;
}

/*
 * The treatment of a packet whose headers are read: STARTED, STEERED, or why neither. `*packets` is set to
 * their number on the wire if it is watched, and `*first` where its first segment gets INT alone.
 */
static __always_inline int judge(struct __sk_buff *skb, struct packet *packet, const struct config *config,
				 __u32 *packets, __u32 *first)
{
	/* Read first: a change while the watchlist is asked invalidates the answer. */
	__u32 changes = changes_so_far();
	struct location location = {};
	struct watched_flow flow;
	__u32 bytes = packet->end - L3;
	int outcome = BETWEEN_SLICES;

	if (carries_int(skb, packet, config, &location))
		return ALREADY_INT;
	if (!is_between_slices(packet, config)) {
		watched_flow(packet, &flow);
		if (!is_flow_watched(&flow))
			return NOT_WATCHED;
		note_queue(skb, config);
		outcome = judge_watched(skb, packet, config, &flow, changes, first);
	}
	*packets = *first ? packets_after(skb, packet, *first) : packets_of(skb, packet);
	count_watched(packet, bytes, *packets);
	return outcome;
}
