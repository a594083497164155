/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Room for INT in the segments of a super-packet: the kernel is made to split it into smaller ones. */
#pragma once

#include "source.h"

/* The minimum size of segments, bytes of payload. */
#define MIN_SEGMENT 256U
/* The most bytes that the kernel removes at once. */
#define MAX_CUT 0xfffU

/* Bytes that INT adds to a segment: the room in the settings, but at least what this host adds. */
static __always_inline __u32 room_needed(const struct config *config)
{
	__u32 own = sizeof(struct shim) + least_words(config) * 4;

	if (config->carriage == BEHIND_NEW_UDP)
		own += sizeof(struct udphdr);
	if (config->version != VERSION_HOST_INT && config->mode == MODE_MD && config->own_metadata)
		own += config->hop_words * 4;
	return config->room > own ? config->room : own;
}

/*
 * Makes segments of TCP small enough for INT. The sender's MSS stays: opening a gap takes
 * its size from that of the segments, and closing it with BPF_F_ADJ_ROOM_FIXED_GSO does not
 * return it. Returns 0, or the outcome that ends the work; NO_ROOM: the packet is spoilt.
 */
static __always_inline int cut_segments(struct __sk_buff *skb, const struct packet *packet,
					const struct config *config)
{
	__u32 taken = packet->behind_l4 - L3 + room_needed(config), size = skb->gso_size, cut;

	if (!size || packet->protocol != IPPROTO_TCP || packet->mtu < taken + MIN_SEGMENT ||
	    size <= packet->mtu - taken)
		return 0;
	cut = size - (packet->mtu - taken);
	if (cut > MAX_CUT)
		return NOT_STARTED_MTU;
	if (bpf_skb_adjust_room(skb, cut, BPF_ADJ_ROOM_NET, BPF_F_ADJ_ROOM_NO_CSUM_RESET))
		return NOT_STARTED_MTU;
	if (bpf_skb_adjust_room(skb, -(__s32)cut, BPF_ADJ_ROOM_NET,
				BPF_F_ADJ_ROOM_FIXED_GSO | BPF_F_ADJ_ROOM_NO_CSUM_RESET))
		return NO_ROOM;
	return 0;
}
