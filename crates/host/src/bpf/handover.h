/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What `steer` tells `source` of a packet that the shim's virtual devices do not keep. */
#pragma once

#include "packet.h"

/* Most combinations that are told apart; packets of further ones get no INT. */
#define MAX_HANDOVERS 4096

/* What a packet is in the shim for. */
enum errand {
	/* It leaves, and gets INT. */
	GETS_INT,
	/* It leaves without INT, and only follows one that gets it. */
	FOLLOWS,
	/* It came in, and is to be taken apart. */
	COMES_IN,
};

/* The values that packets have in common, by which the packet names them in `tc_index`. */
struct handover {
	/* As the application or a filter set it; traffic classes follow it. */
	__u32 priority;
	/* The largest packet that may leave, bytes. */
	__u32 mtu;
	/* `enum errand`. */
	__u32 errand;
};

/* The place of each combination in `HANDOVERS`. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_HANDOVERS);
	__type(key, struct handover);
	__type(value, __u32);
} HANDOVER_PLACES SEC(".maps");

/* A place is never given to another combination, so that packets on their way keep theirs. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_HANDOVERS);
	__type(key, __u32);
	__type(value, struct handover);
} HANDOVERS SEC(".maps");

/* How many places are taken; the first is none. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} HANDOVERS_TAKEN SEC(".maps");

/* The place of a combination, new or known; 0: there is no room. */
static __always_inline __u32 place_of_handover(const struct handover *handover)
{
	__u32 zero = 0, *place = bpf_map_lookup_elem(&HANDOVER_PLACES, handover), *taken, new;

	if (place)
		return *place;
	taken = bpf_map_lookup_elem(&HANDOVERS_TAKEN, &zero);
	if (!taken || *taken >= MAX_HANDOVERS - 1)
		return 0;
	new = __sync_fetch_and_add(taken, 1) + 1;
	if (new >= MAX_HANDOVERS || bpf_map_update_elem(&HANDOVERS, &new, handover, BPF_ANY))
		return 0;
	/* Where another processor was faster, both places say the same. */
	bpf_map_update_elem(&HANDOVER_PLACES, handover, &new, BPF_NOEXIST);
	return new;
}

/* Notes in the packet what `source` is told of it; returns 0 where that is not possible. */
static __always_inline int hand_over(struct __sk_buff *skb, __u32 mtu, __u32 errand)
{
	struct handover handover = { .priority = skb->priority, .mtu = mtu, .errand = errand };
	__u32 place = place_of_handover(&handover);

	if (!place)
		return 0;
	skb->tc_index = place;
	return 1;
}

/*
 * Takes over what `steer` noted; a packet without has the device's MTU, and keeps its priority. Returns what it is
 * in the shim for.
 */
static __always_inline __u32 take_over(struct __sk_buff *skb, struct packet *packet, const struct config *config)
{
	__u32 place = skb->tc_index;
	const struct handover *handover = place ? bpf_map_lookup_elem(&HANDOVERS, &place) : 0;

	packet->mtu = config->mtu;
	if (!handover)
		return GETS_INT;
	skb->tc_index = 0;
	skb->priority = handover->priority;
	if (handover->mtu < packet->mtu)
		packet->mtu = handover->mtu;
	return handover->errand;
}
