/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The transit hop of a packet that passes the stack, at the egress of its device. */
#pragma once

#include "../../../host/src/bpf/qdisc.h"
#include "transit.h"

/* The program `write`, which `leave` ends with. */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} WRITE SEC(".maps");

/* Adds this node's metadata to the packet, or sets E or M in its header. Returns what happened. */
static __always_inline int extend(struct __sk_buff *skb, struct packet *packet, struct way *way)
{
	const struct Qdisc *queue;
	__u16 asked;
	__u32 grown;
	int outcome;

	/* Still to be segmented, or without its checksum. */
	if (skb->gso_size || lacks_checksum(skb) || is_engines(packet, way->config))
		return ENGINE;
	asked = bpf_ntohs(header_of(packet)->instructions);
	queue = asked & (HOP_LATENCY | QUEUE_OCCUPANCY) ? root_queue(skb) : 0;
	depart(way, asked);
	if (may_wait_in(queue))
		way->latency = UNKNOWN;
	way->queue = asked & QUEUE_OCCUPANCY ? occupancy_of(queue) : UNKNOWN;
	grown = grown_bytes(packet);
	outcome = push_hop(packet, way);
	if (outcome == ENGINE)
		return ENGINE;
	if (outcome == PUSHED && bpf_skb_adjust_room(skb, grown, BPF_ADJ_ROOM_NET, BPF_F_ADJ_ROOM_NO_CSUM_RESET))
		return NO_HEADROOM;
	packet->written = start_end(packet) + (outcome == PUSHED ? grown : 0);
	if (outcome == PUSHED) {
		packet->out = way->out->number;
		bpf_tail_call(skb, &WRITE, 0);
	}
	if (write_back(skb, packet, packet->written, 0))
		return NO_HEADROOM;
	return outcome;
}
