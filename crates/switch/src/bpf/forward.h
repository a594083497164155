/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The transit hop of a packet that is routed before the stack. */
#pragma once

#include "transit.h"

#define FAMILY_IPV4 2
#define FAMILY_IPV6 10
/* Routes that a processor remembers, a power of two. */
#define ROUTES 256
/* Words of `struct bpf_fib_lookup` up to the destination. */
#define ROUTE_KEY_WORDS 6

/*
 * A route that the kernel found, until the next tick of its timer: packets of a flow come in succession, and
 * a lookup takes longer than the rest of the hop.
 */
struct route {
	/* What was looked up, without the length of the packet. */
	__u64 key[ROUTE_KEY_WORDS];
	/* The tick in which it was found. */
	__u64 found_at;
	/* Index of the device that packets leave by. */
	__u32 device;
	__u32 mtu;
	__u8 source[ETH_ALEN];
	__u8 destination[ETH_ALEN];
};

/* By a hash of the key. Later entries replace earlier ones. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, ROUTES);
	__type(key, __u32);
	__type(value, struct route);
} ROUTE SEC(".maps");

/* Copies an address of Ethernet by words, as `read_near` does. */
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

	packet->length = data_end - data;
	if (!read_near(packet, data, data_end))
		return -1;
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

/* The place for the route of this key. */
static __always_inline struct route *place_of(const __u64 *key)
{
	__u64 mixed = (key[0] ^ key[1]) * 0x9e3779b97f4a7c15;
	__u32 place;

	mixed = (mixed ^ key[2] ^ key[3]) * 0xd6e8feb86659fd93;
	mixed = (mixed ^ (mixed >> 32) ^ key[4] ^ key[5]) * 0x9e3779b97f4a7c15;
	place = mixed >> 56;
	return bpf_map_lookup_elem(&ROUTE, &place);
}

/* Whether the route was found for this key, and in this tick. */
static __always_inline int is_known(const struct route *route, const __u64 *key, __u64 now)
{
	__u64 differs = route->found_at ^ now;

#pragma unroll
	for (int i = 0; i < ROUTE_KEY_WORDS; i++)
		differs |= route->key[i] ^ key[i];
	return !differs;
}

/* Looks up the route. Returns it if Linux knows it and would only have to send the packet; otherwise nothing. */
static __always_inline const struct route *find_route(struct xdp_md *frame, struct packet *packet)
{
	struct bpf_fib_lookup fib = {};
	__u64 now = bpf_jiffies64();
	__u64 key[ROUTE_KEY_WORDS];
	struct route *route;

	fib.ifindex = frame->ingress_ifindex;
	fib.l4_protocol = packet->protocol;
	if (packet->protocol == IPPROTO_TCP || packet->protocol == IPPROTO_UDP) {
		fib.sport = udp(packet)->source;
		fib.dport = udp(packet)->dest;
	}
	if (packet->version == 4) {
		fib.family = FAMILY_IPV4;
		fib.tos = ipv4(packet)->tos;
		fib.ipv4_src = ipv4(packet)->saddr;
		fib.ipv4_dst = ipv4(packet)->daddr;
	} else {
		fib.family = FAMILY_IPV6;
		/* Traffic class and flow label. */
		fib.flowinfo = *(__be32 *)ipv6(packet) & bpf_htonl(0x0fffffff);
		__builtin_memcpy(fib.ipv6_src, &ipv6(packet)->saddr, sizeof(fib.ipv6_src));
		__builtin_memcpy(fib.ipv6_dst, &ipv6(packet)->daddr, sizeof(fib.ipv6_dst));
	}
	__builtin_memcpy(key, &fib, sizeof(key));
	route = place_of(key);
	if (!route)
		return 0;
	if (is_known(route, key, now) && packet->end - L3 <= route->mtu)
		return route;
	fib.tot_len = packet->end - L3;
	if (bpf_fib_lookup(frame, &fib, sizeof(fib), 0) != BPF_FIB_LKUP_RET_SUCCESS)
		return 0;
	__builtin_memcpy(route->key, key, sizeof(key));
	route->found_at = now;
	route->device = fib.ifindex;
	route->mtu = fib.mtu_result;
	copy_address(route->source, fib.smac);
	copy_address(route->destination, fib.dmac);
	return route;
}

/* Decrements the time to live as Linux does, and addresses the frame to its next hop. */
static __always_inline void route_on(struct packet *packet, const struct route *route)
{
	struct ethhdr *ethernet = (struct ethhdr *)packet->head;
	struct iphdr *ip = ipv4(packet);
	__u32 check;

	copy_address(ethernet->h_dest, route->destination);
	copy_address(ethernet->h_source, route->source);
	if (packet->version == 6) {
		ipv6(packet)->hop_limit--;
		return;
	}
	check = (__u32)ip->check + bpf_htons(0x0100);
	ip->check = check + (check >= 0xffff);
	ip->ttl--;
}
