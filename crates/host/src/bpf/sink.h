/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Removal of INT from a packet for this host. */
#pragma once

#include "find.h"
#include "headers.h"

/* The number of pieces that INT can span: a shim and 255 words. */
#define MAX_PIECES 5

/*
 * Sums the INT bytes, which may reach past the head. Host-INT's source
 * counts a tail of zeros, whatever devices on the path wrote there.
 */
static __always_inline __u64 sum_of_int(struct __sk_buff *skb, struct packet *packet,
					const struct location *location)
{
	__u8 *piece = packet->piece;
	__u32 at = location->shim, end = location->end;
	__u64 sum = 0;

	if (location->is_host_int)
		end -= sizeof(struct host_int_tail);
	if (end <= packet->visible)
		return sum_of(head_at(packet, at), end - at);
	for (int i = 0; i < MAX_PIECES && at < end; i++) {
		__u32 length = end - at;

		if (length > HEAD_BYTES)
			length = HEAD_BYTES;
		asm volatile("" : "+r"(length));
		if (length == 0 || length > HEAD_BYTES || bpf_skb_load_bytes(skb, at, piece, length))
			break;
		sum += sum_of(piece, length);
		at += length;
	}
	return sum;
}

/* The protocol that a packet had before INT added a new UDP header; 0: unknown. */
static __always_inline __u8 original_protocol(const struct packet *packet, const struct location *location)
{
	const struct shim *shim = head_at(packet, location->shim);
	const struct host_int_tail *tail = head_at(packet, location->end - sizeof(*tail));

	if (!location->is_host_int)
		return bpf_ntohs(shim->original);
	if (location->end > packet->visible)
		return 0;
	return tail->protocol == IPPROTO_TCP || tail->protocol == IPPROTO_UDP ? tail->protocol : 0;
}

/* Removes a new UDP header; returns 0 where INT names no protocol, or one to be decapsulated here. */
static __always_inline int leave_new_udp(struct packet *packet, const struct location *location, __s32 shrunk)
{
	__u8 protocol = original_protocol(packet, location);

	if (protocol == IPPROTO_IPIP || protocol == IPPROTO_IPV6 || (location->is_host_int && !protocol))
		return 0;
	resize_ip(packet, -shrunk);
	set_protocol(packet, protocol);
	return 1;
}

/* Restores what marked INT behind the packet's own L4 header. */
static __always_inline void leave_l4(struct __sk_buff *skb, struct packet *packet,
				     const struct config *config, const struct location *location)
{
	const struct shim *shim = head_at(packet, location->shim);
	struct change change = {
		.removed = sum_of_int(skb, packet, location),
		.grown = location->shim - location->end,
	};

	if (config->carriage == BEHIND_L4_BY_DSCP) {
		/* Host-INT does not keep the DSCP. */
		set_dscp(packet, config->restore_dscp && !location->is_host_int
					 ? (__u8)bpf_ntohs(shim->original) >> 2
					 : packet->dscp & ~config->dscp_mask);
	} else {
		change.removed += udp(packet)->dest;
		change.added = shim->original;
		udp(packet)->dest = shim->original;
	}
	resize_ip(packet, change.grown);
	resize_udp(packet, change.grown);
	add_lengths(packet, &change);
	correct_l4(packet, &change);
}

/* Removes INT from the packet; returns the outcome. */
static __always_inline int strip_int(struct __sk_buff *skb, struct packet *packet,
				     const struct config *config, const struct location *location)
{
	__s32 shrunk = location->end - location->at;

	if (location->discard)
		return DISCARDED;
	if (location->at > MAX_HEADERS)
		return MALFORMED;
	if (location->at == location->shim)
		leave_l4(skb, packet, config, location);
	else if (!leave_new_udp(packet, location, shrunk))
		return NOT_CARRIED;
	return move_headers(skb, packet, -shrunk, location->at) ? NO_ROOM : STRIPPED;
}
