/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Which flows may get INT: those from which the destination's own sink has removed it lately. */
#pragma once

#include "events.h"
#include "limit.h"
#include "path_mtu.h"
#include "peer.h"

/* Maximum number of flows with a proof. */
#define MAX_PROOFS 16384
/* Minimum time between two events of a flow, nanoseconds: without a proof, and with one that expires soon. */
#define TELL_AGAIN_NS 1000000000ULL
#define RENEW_AGAIN_NS 150000000ULL

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_PROOFS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct flow);
	__type(value, struct proof);
} PROOFS SEC(".maps");

/* When a flow without a proof last raised an event. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct flow);
	__type(value, __u64);
} UNPROVEN SEC(".maps");

/*
 * Whether the packet's flow may be probed. For TCP only a connection is: a SYN, or the
 * answer to one, may go to a forged address, and its last packets are not worth a probe.
 */
static __always_inline int may_be_probed(const struct packet *packet)
{
	const struct tcphdr *header = tcp(packet);

	if (packet->protocol != IPPROTO_TCP)
		return 1;
	return header->ack && !header->syn && !header->rst && !header->fin;
}

/* Whether this host has chosen the destination: a datagram of an unconnected socket may be an answer. */
static __always_inline int is_chosen(struct __sk_buff *skb, const struct packet *packet)
{
	const struct sock *sk = kernel_of(skb)->sk;

	if (packet->protocol == IPPROTO_TCP)
		return 1;
	return sk && sk->sk_protocol == IPPROTO_UDP && sk->__sk_common.skc_state == TCP_ESTABLISHED_STATE;
}

/* Sends an event for a packet whose flow is to be probed. */
VERIFIED_ONCE int tell_unproven(struct __sk_buff *skb, const struct prefix *destination, __u64 now,
				__u32 is_chosen)
{
	const struct config *config = configuration(skb);

	if (!config || !destination)
		return 0;
	return tell(skb, now, EVENT_UNPROVEN, is_chosen, path_mtu(skb, config, destination, now));
}

/* Whether an event for a flow without a proof is due. */
static __always_inline int is_to_be_told(const struct flow *flow, __u64 now)
{
	__u64 *last = bpf_map_lookup_elem(&UNPROVEN, flow);

	if (last && now - *last < TELL_AGAIN_NS)
		return 0;
	if (!is_within(LIMIT_NEW_FLOWS, now))
		return 0;
	bpf_map_update_elem(&UNPROVEN, flow, &now, BPF_ANY);
	return 1;
}

/* Whether the destination of a watched packet is proven to remove INT; sends an event for a flow to probe. */
static __always_inline int is_proven(struct __sk_buff *skb, struct packet *packet, const struct flow *flow,
				     __u64 now)
{
	struct proof *proof = bpf_map_lookup_elem(&PROOFS, flow);
	const struct peer *peer;

	packet->proven_mtu = ~0U;
	packet->renew_at = ~0ULL;
	if (proof && now < proof->until) {
		packet->proven_mtu = proof->mtu;
		packet->renew_at = proof->renew_at;
		if (now >= proof->renew_at && now - proof->told >= RENEW_AGAIN_NS && may_be_probed(packet) &&
		    is_within(LIMIT_RENEWALS, now)) {
			proof->told = now;
			tell_unproven(skb, &flow->destination, now, 1);
		}
		return 1;
	}
	peer = peer_at(&flow->destination);
	if (!peer)
		return 0;
	if (peer->flags & SENT_ALWAYS)
		return 1;
	if (may_be_probed(packet) && is_to_be_told(flow, now))
		tell_unproven(skb, &flow->destination, now, is_chosen(skb, packet));
	return 0;
}
