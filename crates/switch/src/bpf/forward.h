/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The transit hop of a packet that is routed before the stack. */
#pragma once

#include "transit.h"

#define FAMILY_IPV4 2
#define FAMILY_IPV6 10
/* Copies an address of Ethernet by words, as `copy_near` does. */
static __always_inline void copy_address(void *to, const void *from)
{
#pragma unroll
	for (__u32 i = 0; i < ETH_ALEN / sizeof(__u16); i++)
		((__u16 *)to)[i] = ((const __u16 *)from)[i];
}

/* Reads the start of the frame, where INT has to be; returns a negative number where there is too little of it. */
static __always_inline int read_frame(struct xdp_md *frame, struct packet *packet)
{
	void *data = (void *)(long)frame->data;
	void *data_end = (void *)(long)frame->data_end;
	__u64 length = data_end - data;

	packet->length = length;
	if (data + NEAR_BYTES <= data_end) {
		copy_near(packet->head, data);
		packet->visible = NEAR_BYTES;
	} else {
		if (length > NEAR_BYTES)
			return -1;
		APART(length);
		if (length < L3 + sizeof(struct iphdr))
			return -1;
		packet->visible = length;
		if (bpf_xdp_load_bytes(frame, 0, packet->head, length))
			return -1;
	}
	packet->ethertype = ((struct ethhdr *)packet->head)->h_proto;
	return 0;
}

/* Whether the frame is for the device itself, so that a router may forward it. */
static __always_inline int is_addressed_to(const struct packet *packet, const struct port *in)
{
	const __u32 *theirs = (const __u32 *)packet->head;
	const __u32 *ours = (const __u32 *)in->address;

	return theirs[0] == ours[0] && *(__u16 *)(theirs + 1) == *(__u16 *)(ours + 1);
}

/*
 * Whether only a route is needed to forward the packet: it has hops left, no
 * options, and a valid source address. All other packets are left to the stack.
 */
static __always_inline int is_simple(struct packet *packet)
{
	const struct iphdr *ip = ipv4(packet);
	__u8 first;

	if (packet->version == 6) {
		first = ipv6(packet)->saddr.in6_u.u6_addr8[0];
		return ipv6(packet)->hop_limit > 1 && first != 0 && first < 0xfe;
	}
	first = *(const __u8 *)&ip->saddr;
	return ip->ihl == 5 && ip->ttl > 1 && first != 0 && first != 127 && first < 224;
}

/* Looks up the route. Returns whether Linux knows it and would only have to send the packet. */
static __always_inline int find_way(struct xdp_md *frame, struct packet *packet, struct bpf_fib_lookup *fib)
{
	fib->ifindex = frame->ingress_ifindex;
	fib->tot_len = packet->end - L3;
	fib->l4_protocol = packet->protocol;
	if (packet->protocol == IPPROTO_TCP || packet->protocol == IPPROTO_UDP) {
		fib->sport = udp(packet)->source;
		fib->dport = udp(packet)->dest;
	}
	if (packet->version == 4) {
		fib->family = FAMILY_IPV4;
		fib->tos = ipv4(packet)->tos;
		fib->ipv4_src = ipv4(packet)->saddr;
		fib->ipv4_dst = ipv4(packet)->daddr;
	} else {
		fib->family = FAMILY_IPV6;
		/* Traffic class and flow label. */
		fib->flowinfo = *(__be32 *)ipv6(packet) & bpf_htonl(0x0fffffff);
		__builtin_memcpy(fib->ipv6_src, &ipv6(packet)->saddr, sizeof(fib->ipv6_src));
		__builtin_memcpy(fib->ipv6_dst, &ipv6(packet)->daddr, sizeof(fib->ipv6_dst));
	}
	return bpf_fib_lookup(frame, fib, sizeof(*fib), 0) == BPF_FIB_LKUP_RET_SUCCESS;
}

/* Decrements the time to live as Linux does, and addresses the frame to its next hop. */
static __always_inline void route_on(struct packet *packet, const struct bpf_fib_lookup *fib)
{
	struct ethhdr *ethernet = (struct ethhdr *)packet->head;
	struct iphdr *ip = ipv4(packet);
	__u32 check;

	copy_address(ethernet->h_dest, fib->dmac);
	copy_address(ethernet->h_source, fib->smac);
	if (packet->version == 6) {
		ipv6(packet)->hop_limit--;
		return;
	}
	check = (__u32)ip->check + bpf_htons(0x0100);
	ip->check = check + (check >= 0xffff);
	ip->ttl--;
}

/* Writes `head` into the frame, which has grown by `grown` bytes of metadata. Returns success. */
static __always_inline int write_frame(struct xdp_md *frame, struct packet *packet, __u64 grown)
{
	__u64 end = start_end(packet) + grown;

	APART(end);
	if (end > sizeof(packet->head))
		return 0;
	APART(end);
	return end != 0 && !bpf_xdp_store_bytes(frame, 0, packet->head, end);
}
