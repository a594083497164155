/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The time of arrival: which packets need it. */
#pragma once

#include "transit.h"

/* Whether metadata with the time of arrival is requested. */
static __always_inline int requests_arrival(const struct int_header *header)
{
	return !!(bpf_ntohs(header->instructions) & (HOP_LATENCY | INGRESS_TIMESTAMP));
}

/*
 * The INT of the packet, in place, where the DSCP marks it; `is_marked` is whether the packet has that mark,
 * as far as known. Nothing if it is not INT-MD of 2.1 behind UDP or TCP without options.
 */
static __always_inline const struct int_header *marked_int(struct __sk_buff *skb, const struct config *config,
							   int *is_marked)
{
	const void *data = (const void *)(long)skb->data;
	const void *data_end = (const void *)(long)skb->data_end;
	const struct int_header *header;
	const struct shim *shim;
	__u8 dscp, protocol;
	const void *at;

	*is_marked = 1;
	if (config->kind != KIND_DSCP || !config->dscp_mask)
		return 0;
	if (skb->protocol == bpf_htons(ETH_P_IP)) {
		const struct iphdr *ip = data + L3;

		at = ip + 1;
		if (at > data_end)
			return 0;
		dscp = ip->tos >> 2;
		protocol = ip->ihl == 5 ? ip->protocol : 0;
	} else {
		const struct ipv6hdr *ip = data + L3;

		at = ip + 1;
		if (at > data_end)
			return 0;
		dscp = ip->priority << 2 | ip->flow_lbl[0] >> 6;
		protocol = ip->nexthdr;
	}
	*is_marked = !((dscp ^ config->dscp) & config->dscp_mask);
	if (!*is_marked)
		return 0;
	if (protocol == IPPROTO_UDP) {
		at += sizeof(struct udphdr);
	} else {
		const struct tcphdr *tcp = at;

		at = tcp + 1;
		if (protocol != IPPROTO_TCP || at > data_end || tcp->doff != 5)
			return 0;
	}
	shim = at;
	header = at + sizeof(*shim);
	if ((const void *)(header + 1) > data_end)
		return 0;
	return shim->type_npt >> 4 == TYPE_MD && header->version_flags >> 4 == INT_VERSION ? header : 0;
}

/* Whether the egress may use the time of arrival. To read the clock takes longer than to look. */
static __always_inline int needs_time(struct __sk_buff *skb, const struct config *config, const struct port *in)
{
	const struct int_header *header;
	int is_marked;

	/* A time from elsewhere, which would pass for that of arrival. */
	if (skb->tstamp_type == BPF_SKB_TSTAMP_DELIVERY_MONO)
		return 1;
	if (in->is_edge || (config->flags & (ALL_TO_ENGINE | INT_TO_ENGINE)))
		return 1;
	header = marked_int(skb, config, &is_marked);
	if (!header)
		return is_marked;
	if (!(config->flags & ONLY_TRANSIT))
		return 1;
	return requests_arrival(header);
}
