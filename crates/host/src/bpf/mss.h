/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* How do connections leave room for INT? What answers a watched flow with SYN is told of a smaller MSS. */
#pragma once

#include "headers.h"
#include "load.h"
#include "watch.h"

#define TCP_OPTION_END 0
#define TCP_OPTION_NOP 1
#define TCP_OPTION_MSS 2
#define TCP_OPTION_MSS_BYTES 4
/* Most bytes of TCP options. */
#define MOST_OPTIONS 40

/* Where the value of the MSS option is, from the first option; 0: there is none. */
static __always_inline __u32 find_mss(const __u8 *options, __u32 length)
{
	__u32 at = 0;

	for (int i = 0; i < MOST_OPTIONS; i++) {
		__u32 kind, bytes;

		asm volatile("" : "+r"(at));
		if (at + TCP_OPTION_MSS_BYTES > length || at > MOST_OPTIONS)
			return 0;
		kind = options[at];
		bytes = options[at + 1];
		if (kind == TCP_OPTION_END)
			return 0;
		if (kind == TCP_OPTION_MSS)
			return bytes == TCP_OPTION_MSS_BYTES ? at + 2 : 0;
		if (kind != TCP_OPTION_NOP && bytes < 2)
			return 0;
		at += kind == TCP_OPTION_NOP ? 1 : bytes;
	}
	return 0;
}

/* The largest segment that leaves room for INT on the whole way. */
static __always_inline __u32 most_mss(const struct packet *packet, const struct config *config)
{
	__u32 headers = sizeof(struct tcphdr);

	headers += packet->version == 4 ? sizeof(struct iphdr) : sizeof(struct ipv6hdr);
	return config->mtu > headers + config->room ? config->mtu - headers - config->room : 0;
}

/* Whether this host sends INT in answer to the packet, if it can. */
static __always_inline int is_answered_with_int(const struct packet *packet)
{
	struct watched_flow flow;

	watched_flow(packet, &flow);
	turn_round(&flow);
	return bpf_map_lookup_elem(&PEERS, &flow.destination) && is_flow_watched(&flow);
}

/* Lowers the MSS of a SYN that a watched flow answers. */
static __always_inline void lower_mss(struct __sk_buff *skb, struct packet *packet,
				      const struct config *config)
{
	__u8 *options = packet->piece;
	__u32 length, at, most = most_mss(packet, config);
	__u16 mss, lowered = most;
	__be16 old, new;

	if (!most)
		return;
	length = packet->behind_l4 - packet->l4 - sizeof(struct tcphdr);
	asm volatile("" : "+r"(length));
	if (length < TCP_OPTION_MSS_BYTES || length > MOST_OPTIONS || !is_answered_with_int(packet))
		return;
	if (bpf_skb_load_bytes(skb, packet->l4 + sizeof(struct tcphdr), options, length))
		return;
	at = find_mss(options, length);
	if (!at || at > MOST_OPTIONS)
		return;
	mss = options[at] << 8 | options[at + 1];
	if (mss <= lowered)
		return;
	/* A sum has words: what stands at an odd offset counts with its bytes changed about. */
	old = at & 1 ? mss : bpf_htons(mss);
	new = at & 1 ? lowered : bpf_htons(lowered);
	if (bpf_l4_csum_replace(skb, packet->l4 + offsetof(struct tcphdr, check), old, new, sizeof(new)))
		return;
	new = bpf_htons(lowered);
	bpf_skb_store_bytes(skb, packet->l4 + sizeof(struct tcphdr) + at, &new, sizeof(new), 0);
	count(MSS_LOWERED);
}

/* Whether a packet, with its L4 header at `l4`, is a SYN of TCP, and connections are to leave room. */
static __always_inline int is_announcement(const struct packet *packet, const struct config *config)
{
	__u8 protocol = packet->version == 4 ? ipv4(packet)->protocol : ipv6(packet)->nexthdr;

	return config->room && protocol == IPPROTO_TCP &&
	       packet->l4 + sizeof(struct tcphdr) <= packet->visible && tcp(packet)->syn;
}

/*
 * Lowers the MSS that a SYN announces, if it leaves no room for INT in what this host will send. INT is out of the
 * packet. Such packets are few, so they are read once more.
 */
VERIFIED_ONCE int leave_room(struct __sk_buff *skb)
{
	struct config *config = configuration(skb);
	struct packet *packet = packet_at_hand();

	if (config && packet && !read_packet(skb, packet) && is_announcement(packet, config))
		lower_mss(skb, packet, config);
	return 0;
}
