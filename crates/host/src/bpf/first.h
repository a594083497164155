/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The first segment of a super-packet of TCP, which gets INT alone: it leaves by the shim
 * before the others, which stay in one piece. Splitting all of them would cost far more than INT.
 */
#pragma once

#include "cut.h"
#include "handover.h"
#include "load.h"
#include "socket.h"

/* With fewer segments the whole super-packet passes the shim. */
#define MIN_SEGMENTS 3

/*
 * Bytes of payload of the first segment, so small that INT fits; 0: the super-packet is
 * none of this host's own, or has few segments or other data that would need care.
 */
static __always_inline __u32 size_of_first(struct __sk_buff *skb, const struct packet *packet,
					   const struct config *config)
{
	__u32 taken = packet->behind_l4 - L3 + room_needed(config), size = skb->gso_size;

	if (!config->slices || !size || packet->protocol != IPPROTO_TCP || tcp(packet)->urg ||
	    packet->end - packet->behind_l4 <= (MIN_SEGMENTS - 1) * size || packet->mtu < taken + MIN_SEGMENT)
		return 0;
	if (size > packet->mtu - taken)
		size = packet->mtu - taken;
	return size <= MAX_CUT && tcp_socket(skb) ? size : 0;
}

/* The number of packets on the wire of a super-packet whose first segment has `first` bytes. */
static __always_inline __u32 packets_after(const struct __sk_buff *skb, const struct packet *packet, __u32 first)
{
	__u32 size = skb->gso_size, rest = packet->end - packet->behind_l4 - first;

	return size ? 1 + (rest + size - 1) / size : 1;
}

/* Makes a packet whose checksum the device completes shorter: it has the sum of the pseudo-header in it. */
static __always_inline void shorten(struct packet *packet, __u32 bytes)
{
	struct tcphdr *header = tcp(packet);

	header->check = fold_words(header->check + (__u16)~bpf_htons(bytes));
	resize_ip(packet, -(__s32)bytes);
}

static __always_inline long store_headers(struct __sk_buff *skb, const struct packet *packet)
{
	__u32 length = packet->behind_l4 - L3;

	asm volatile("" : "+r"(length));
	if (length == 0 || length > MAX_HEADERS)
		return -1;
	return bpf_skb_store_bytes(skb, L3, packet->head + L3, length, 0);
}

/* Removes all but the first segment, of `first` bytes; returns 0 if that is done. */
static __always_inline long keep_first(struct __sk_buff *skb, struct packet *packet, __u32 first)
{
	if (read_packet(skb, packet) || packet->protocol != IPPROTO_TCP ||
	    packet->end - packet->behind_l4 <= first || bpf_skb_change_tail(skb, packet->behind_l4 + first, 0))
		return -1;
	/* These belong to the last segment. */
	tcp(packet)->fin = 0;
	tcp(packet)->psh = 0;
	shorten(packet, packet->end - packet->behind_l4 - first);
	return store_headers(skb, packet);
}

/* Removes the first segment, of `first` bytes. Returns 0, or the kernel's error; NO_ROOM: the packet is spoilt. */
static __always_inline long remove_first(struct __sk_buff *skb, struct packet *packet, __u32 first)
{
	long fault = bpf_skb_adjust_room(skb, -(__s32)first, BPF_ADJ_ROOM_NET,
					 BPF_F_ADJ_ROOM_FIXED_GSO | BPF_F_ADJ_ROOM_NO_CSUM_RESET);

	if (fault)
		return fault;
	tcp(packet)->seq = bpf_htonl(bpf_ntohl(tcp(packet)->seq) + first);
	/* The first segment has told it. */
	tcp(packet)->cwr = 0;
	if (packet->version == 4)
		set_ipv4_word(ipv4(packet), &ipv4(packet)->id, bpf_htons(bpf_ntohs(ipv4(packet)->id) + 1));
	shorten(packet, first);
	return store_headers(skb, packet) ? NO_ROOM : 0;
}
