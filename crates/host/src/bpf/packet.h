/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Where are the headers of a packet? */
#pragma once

#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/tcp.h>
#include <linux/udp.h>

#include "scratch.h"

/* Where the IP header starts; tags are beside the frame, not in it. */
#define L3 ((__u32)sizeof(struct ethhdr))
/* Most bytes of headers in front of INT: Ethernet, IPv4 and TCP with all their options. */
#define MOST_HEADERS (L3 + 60 + 60)
/* Bytes of headers that a first piece has at least, if it has them all: Ethernet, IPv4, and TCP with timestamps. */
#define LEAST_HEADERS (L3 + 20 + 32)
/* Fragment offset and More Fragments of an IPv4 header. */
#define FRAGMENT_BITS 0x3fff

/* The first bytes of the packet, and what is where in them. */
struct packet {
	__u8 *head;
	/* How many bytes of the packet are in `head`. */
	__u32 visible;
	/* Offsets from the start of the frame; `end` by the IP header's length. */
	__u32 l4;
	__u32 behind_l4;
	__u32 end;
	__u8 version;
	__u8 protocol;
	__u8 dscp;
};

/* `packet->head` at an offset that the verifier knows to be below HEAD_BYTES. */
static __always_inline void *head_at(const struct packet *packet, __u32 at)
{
	asm volatile("" : "+r"(at));
	return packet->head + (at & (HEAD_BYTES - 1));
}

static __always_inline struct iphdr *ipv4(const struct packet *packet)
{
	return (struct iphdr *)(packet->head + L3);
}

static __always_inline struct ipv6hdr *ipv6(const struct packet *packet)
{
	return (struct ipv6hdr *)(packet->head + L3);
}

static __always_inline struct tcphdr *tcp(const struct packet *packet)
{
	return head_at(packet, packet->l4);
}

static __always_inline struct udphdr *udp(const struct packet *packet)
{
	return head_at(packet, packet->l4);
}

static __always_inline int read_ipv4(struct packet *packet)
{
	struct iphdr *ip = ipv4(packet);
	__u32 header_bytes = ip->ihl * 4;
	__u32 total = bpf_ntohs(ip->tot_len);

	if (ip->version != 4 || header_bytes < sizeof(*ip) || total < header_bytes)
		return MALFORMED;
	packet->version = 4;
	packet->protocol = ip->protocol;
	packet->dscp = ip->tos >> 2;
	packet->l4 = L3 + header_bytes;
	packet->end = L3 + total;
	/* INT is not for fragments: what is behind the first one's end would move. */
	return ip->frag_off & bpf_htons(FRAGMENT_BITS) ? FRAGMENT : 0;
}

static __always_inline int read_ipv6(struct packet *packet)
{
	struct ipv6hdr *ip = ipv6(packet);

	if (packet->visible < L3 + sizeof(*ip) || ip->version != 6)
		return MALFORMED;
	packet->version = 6;
	packet->protocol = ip->nexthdr;
	packet->dscp = ip->priority << 2 | ip->flow_lbl[0] >> 6;
	packet->l4 = L3 + sizeof(*ip);
	packet->end = packet->l4 + bpf_ntohs(ip->payload_len);
	switch (packet->protocol) {
	case IPPROTO_HOPOPTS:
	case IPPROTO_ROUTING:
	case IPPROTO_DSTOPTS:
	case IPPROTO_MH:
		return EXTENSION_HEADER;
	case IPPROTO_FRAGMENT:
		return FRAGMENT;
	}
	return 0;
}

static __always_inline int read_l4(struct packet *packet)
{
	__u32 header_bytes = 0;

	switch (packet->protocol) {
	case IPPROTO_TCP:
		if (packet->l4 + sizeof(struct tcphdr) > packet->visible)
			return MALFORMED;
		header_bytes = tcp(packet)->doff * 4;
		if (header_bytes < sizeof(struct tcphdr))
			return MALFORMED;
		break;
	case IPPROTO_UDP:
		if (packet->l4 + sizeof(struct udphdr) > packet->visible)
			return MALFORMED;
		header_bytes = sizeof(struct udphdr);
		/* A UDP length that contradicts the packet could not be updated. */
		if (bpf_ntohs(udp(packet)->len) < header_bytes ||
		    packet->l4 + bpf_ntohs(udp(packet)->len) > packet->end)
			return MALFORMED;
		break;
	}
	packet->behind_l4 = packet->l4 + header_bytes;
	if (packet->behind_l4 > packet->end || packet->behind_l4 > packet->visible)
		return MALFORMED;
	return 0;
}

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

	packet->head = scratch_head();
	if (!packet->head)
		return MALFORMED;
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

/* Where INT stands behind L4: behind UDP, and behind TCP or its options. */
static __always_inline __u32 payload_at(const struct packet *packet, const struct config *config)
{
	if (packet->protocol == IPPROTO_TCP && config->before_tcp_options)
		return packet->l4 + sizeof(struct tcphdr);
	return packet->behind_l4;
}
