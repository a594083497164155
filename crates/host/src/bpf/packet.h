/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The headers of a packet and their offsets. */
#pragma once

#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/tcp.h>
#include <linux/udp.h>

#include "scratch.h"

/* Offset of the IP header; tags are beside the frame, not in it. */
#define L3 ((__u32)sizeof(struct ethhdr))
/* Maximum bytes of headers before INT: Ethernet, IPv4 and TCP with all their options. */
#define MAX_HEADERS (L3 + 60 + 60)
/* Minimum bytes of a first piece that holds all headers: Ethernet, IPv4, and TCP with timestamps. */
#define MIN_HEADERS (L3 + 20 + 32)
/* Fragment offset and More Fragments of an IPv4 header. */
#define FRAGMENT_BITS 0x3fff
#define DONT_FRAGMENT 0x4000

/* Bytes of a packet's start that are read. */
#define HEAD_BYTES 256

/* The first bytes of the packet, and the offsets in them. */
struct packet {
	__u8 head[HEAD_BYTES];
	/* A piece of what follows them. */
	__u8 piece[HEAD_BYTES];
	/* The number of packet bytes in `head`. */
	__u32 visible;
	/* Offsets from the start of the frame; `end` by the IP header's length. */
	__u32 l4;
	__u32 behind_l4;
	__u32 end;
	/* The largest packet that may leave, bytes of IP; of outgoing packets only. */
	__u32 mtu;
	/* The largest packet from which the destination is proven to remove INT. */
	__u32 proven_mtu;
	/* When the proof is to be renewed, nanoseconds of the monotonic clock. */
	__u64 renew_at;
	__u8 version;
	__u8 protocol;
	__u8 dscp;
};

/* The current packet, which is too large for the stack. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct packet);
} SCRATCH SEC(".maps");

/* Memory for the current packet; it still holds an earlier one. */
static __always_inline struct packet *packet_at_hand(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&SCRATCH, &zero);
}

/* `packet->head` at an offset that the verifier knows to be below HEAD_BYTES. */
static __always_inline void *head_at(const struct packet *packet, __u32 at)
{
	asm volatile("" : "+r"(at));
	return (__u8 *)packet->head + (at & (HEAD_BYTES - 1));
}

static __always_inline struct iphdr *ipv4(const struct packet *packet)
{
	return (struct iphdr *)((__u8 *)packet->head + L3);
}

static __always_inline struct ipv6hdr *ipv6(const struct packet *packet)
{
	return (struct ipv6hdr *)((__u8 *)packet->head + L3);
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
	/* Fragments get no INT: the data behind the first one's end would move. */
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

/* Maximum bytes read before INT is recognised: shim and header. */
#define MIN_INT 16

/* Where INT is behind L4: behind UDP, and behind TCP or its options. */
static __always_inline __u32 payload_at(const struct packet *packet, const struct config *config)
{
	if (packet->protocol == IPPROTO_TCP && config->before_tcp_options)
		return packet->l4 + sizeof(struct tcphdr);
	return packet->behind_l4;
}
