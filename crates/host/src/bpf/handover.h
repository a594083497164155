/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Values passed from `steer` and `sink` to `source` with a packet. */
#pragma once

#include "departed.h"
#include "packet.h"

/* Maximum number of combinations; packets with further ones get no INT. */
#define MAX_HANDOVERS 4096

/* In place of a handover: the packet has been in the shim, and comes in by its device again. */
#define CAME_OUT 0xffffU
/* Why a packet is in the shim. */
enum errand {
	/* It is outgoing, and gets INT. */
	GETS_INT,
	/* It is a copy of an outgoing super-packet whose first segment gets INT. */
	FIRST_GETS_INT,
	/* It is incoming, and is to be split. */
	COMES_IN,
};

/* Values shared by many packets; a packet refers to them by an index in `tc_index`. */
struct handover {
	/* The largest packet that may leave, bytes. */
	__u32 mtu;
	/* `enum errand`. */
	__u32 errand;
	/* Bytes of payload of the first segment, if that is the errand. */
	__u32 first;
};

/* The index of each combination in `HANDOVERS`. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_HANDOVERS);
	__type(key, struct handover);
	__type(value, __u32);
} HANDOVER_PLACES SEC(".maps");

/* An index is never given to another combination, so that packets in flight keep theirs. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_HANDOVERS);
	__type(key, __u32);
	__type(value, struct handover);
} HANDOVERS SEC(".maps");

/* The number of indexes in use; the first is none. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} HANDOVERS_TAKEN SEC(".maps");

/* The index of a combination, new or known; 0: the table is full. */
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
	/* If another processor was faster, both entries are equal. */
	bpf_map_update_elem(&HANDOVER_PLACES, handover, &new, BPF_NOEXIST);
	return new;
}

/* Stores in the packet what `source` needs; returns 0 where that is not possible. */
static __always_inline int hand_over(struct __sk_buff *skb, __u32 mtu, __u32 errand, __u32 first)
{
	struct handover handover = { .mtu = mtu, .errand = errand, .first = first };
	__u32 place = place_of_handover(&handover);

	if (!place)
		return 0;
	skb->tc_index = place;
	return 1;
}

/*
 * Reads what `steer` stored; a packet without, where there is no shim,
 * has the device's MTU. Returns why it is in the shim.
 */
static __always_inline __u32 take_over(struct __sk_buff *skb, struct packet *packet, const struct config *config,
				       __u32 *first)
{
	__u32 place = skb->tc_index;
	const struct handover *handover = place ? bpf_map_lookup_elem(&HANDOVERS, &place) : 0;

	packet->mtu = config->mtu;
	if (!handover)
		return GETS_INT;
	skb->tc_index = 0;
	if (handover->mtu < packet->mtu)
		packet->mtu = handover->mtu;
	*first = handover->first;
	return handover->errand;
}
