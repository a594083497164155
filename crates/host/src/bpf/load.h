/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Copying and reading the headers of a packet. */
#pragma once

#include "packet.h"

/* Copies up to `visible` bytes of the packet into `packet->head`; returns the outcome that ends the work, or 0. */
static __always_inline int load(struct __sk_buff *skb, struct packet *packet, __u32 visible)
{
	if (visible > skb->len)
		visible = skb->len;
	asm volatile("" : "+r"(visible));
	if (visible < L3 + sizeof(struct iphdr) || visible > HEAD_BYTES)
		return NOT_IP;
	if (bpf_skb_load_bytes(skb, 0, packet->head, visible))
		return MALFORMED;
	packet->visible = visible;
	return 0;
}

/* Bytes before the first of `WORDS`, which then ends where a header does, or four bytes before. */
#define BEFORE_WORDS 6
/* Maximum number of eight-byte words copied one by one; for more, the kernel's own copy is faster. */
#define WORDS 17

/*
 * Copies the first piece of the packet, and returns its length; 0: it is too short or too long. Headers
 * are mostly in it and readable without a helper call; payload is in pages that take longer to reach.
 */
static __always_inline __u32 copy_first_piece(const struct __sk_buff *skb, struct packet *packet)
{
	const __u8 *data = (const __u8 *)(long)skb->data, *end = (const __u8 *)(long)skb->data_end;
	__u32 at = BEFORE_WORDS;

	if (data + MIN_HEADERS > end || data + BEFORE_WORDS + WORDS * 8 + 8 <= end)
		return 0;
	*(__u32 *)packet->head = *(const __u32 *)data;
	*(__u16 *)(packet->head + 4) = *(const __u16 *)(data + 4);
#pragma unroll
	for (int i = 0; i < WORDS; i++) {
		if (data + BEFORE_WORDS + 8 * i + 8 > end)
			break;
		*(__u64 *)(packet->head + BEFORE_WORDS + 8 * i) = *(const __u64 *)(data + BEFORE_WORDS + 8 * i);
		at += 8;
	}
	if (data + at + 4 > end)
		return at;
	*(__u32 *)(packet->head + at) = *(const __u32 *)(data + at);
	return at + 4;
}

/*
 * Copies the start of the packet into `packet->head`; returns the outcome that ends the work, or 0. Where
 * the first piece holds all possible headers before INT, that is enough until a mark indicates INT.
 */
static __always_inline int load_head(struct __sk_buff *skb, struct packet *packet)
{
	__u32 visible = copy_first_piece(skb, packet);

	if (!visible)
		return load(skb, packet, HEAD_BYTES);
	packet->visible = visible;
	return 0;
}

/* Makes as much of the packet visible as the buffer holds. */
static __always_inline void look_further(struct __sk_buff *skb, struct packet *packet)
{
	if (packet->visible < HEAD_BYTES && packet->visible < skb->len)
		load(skb, packet, HEAD_BYTES);
}

/* Where the L4 header ends, as far as it is visible; options may reach behind the first piece. */
static __always_inline __u32 l4_end(const struct packet *packet)
{
	__u32 end = packet->l4 + sizeof(struct tcphdr);

	if (packet->protocol == IPPROTO_TCP && end <= packet->visible)
		return packet->l4 + tcp(packet)->doff * 4;
	return end;
}

/* The VLAN of a tag; 0 has a priority only. */
#define VLAN_ID 0x0fff

/* Reads the headers; returns the outcome that ends the work, or 0. */
static __always_inline int read_packet(struct __sk_buff *skb, struct packet *packet)
{
	int fault;

	/* The buffer still holds an earlier packet, which must not pass for this one. */
	packet->version = 0;
	fault = load_head(skb, packet);
	/* The kernel keeps the outer tag beside the frame. Leases are not of another network. */
	if (skb->vlan_present && (skb->vlan_tci & VLAN_ID))
		return VLAN_TAG;

	if (fault)
		return fault;
	switch (((struct ethhdr *)packet->head)->h_proto) {
	case bpf_htons(ETH_P_IP):
		fault = read_ipv4(packet);
		break;
	case bpf_htons(ETH_P_IPV6):
		fault = read_ipv6(packet);
		break;
	case bpf_htons(ETH_P_8021Q):
	case bpf_htons(ETH_P_8021AD):
		/* The kernel cannot make room behind a tag that is in the frame. */
		return VLAN_TAG;
	default:
		return NOT_IP;
	}
	if (fault)
		return fault;
	/* The frame may be padded after the packet, but never shorter. */
	if (packet->end > skb->len)
		return MALFORMED;
	if (l4_end(packet) > packet->visible)
		look_further(skb, packet);
	return read_l4(packet);
}
