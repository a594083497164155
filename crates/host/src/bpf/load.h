/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* How do the headers of a packet get to where they are read? */
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

/* Bytes of the packet that are in one piece: headers mostly, while payload is in pages that take longer to reach. */
static __always_inline __u32 linear_bytes(const struct __sk_buff *skb)
{
	return skb->data_end - skb->data;
}

/*
 * Copies the start of the packet into `packet->head`; returns the outcome that ends the work, or 0. Where all headers
 * there can be in front of INT are in the first piece, that is enough until a mark says that there is INT.
 */
static __always_inline int load_head(struct __sk_buff *skb, struct packet *packet)
{
	__u32 visible = linear_bytes(skb);

	if (visible < LEAST_HEADERS || visible > HEAD_BYTES)
		visible = HEAD_BYTES;
	return load(skb, packet, visible);
}

/* Makes as much of the packet visible as there is room for. */
static __always_inline void look_further(struct __sk_buff *skb, struct packet *packet)
{
	if (packet->visible < HEAD_BYTES && packet->visible < skb->len)
		load(skb, packet, HEAD_BYTES);
}

/* Where the L4 header ends, as far as that is visible; options may reach behind the first piece. */
static __always_inline __u32 l4_end(const struct packet *packet)
{
	__u32 end = packet->l4 + sizeof(struct tcphdr);

	if (packet->protocol == IPPROTO_TCP && end <= packet->visible)
		return packet->l4 + tcp(packet)->doff * 4;
	return end;
}

/* Reads the headers; returns the outcome that ends the work, or 0. */
static __always_inline int read_packet(struct __sk_buff *skb, struct packet *packet)
{
	int fault = load_head(skb, packet);

	/* What is there is of an earlier packet. */
	packet->version = 0;
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
	/* The frame may be padded behind the packet, but never shorter. */
	if (packet->end > skb->len)
		return MALFORMED;
	if (l4_end(packet) > packet->visible)
		look_further(skb, packet);
	return read_l4(packet);
}
