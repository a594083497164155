/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The flow watchlist, with the meaning of `[[watch]]` in `node.toml`. */
#pragma once

#include "packet.h"
#include "rules.h"

/* In whole words, as flows are compared: reading as one word what was just written in parts is slow. */
static __always_inline void map_ipv4(struct prefix *prefix, __be32 address)
{
	__be32 *words = (__be32 *)prefix->address;

	words[0] = words[1] = 0;
	words[2] = bpf_htonl(0xffff);
	words[3] = address;
}

static __always_inline void addresses(const struct packet *packet, struct prefix *source,
				      struct prefix *destination)
{
	source->length = destination->length = 8 * sizeof(source->address);
	if (packet->version == 4) {
		map_ipv4(source, ipv4(packet)->saddr);
		map_ipv4(destination, ipv4(packet)->daddr);
		return;
	}
	__builtin_memcpy(source->address, &ipv6(packet)->saddr, sizeof(source->address));
	__builtin_memcpy(destination->address, &ipv6(packet)->daddr, sizeof(source->address));
}

/* The fields that the watchlist matches. */
struct watched_flow {
	struct prefix source;
	struct prefix destination;
	/* In the host's byte order; 0 for protocols without ports. */
	__u16 source_port;
	__u16 destination_port;
	__u8 protocol;
};

static __always_inline int has_ports(__u8 protocol)
{
	return protocol == IPPROTO_TCP || protocol == IPPROTO_UDP;
}

static __always_inline void watched_flow(const struct packet *packet, struct watched_flow *flow)
{
	addresses(packet, &flow->source, &flow->destination);
	flow->protocol = packet->protocol;
	flow->source_port = flow->destination_port = 0;
	if (has_ports(packet->protocol)) {
		flow->source_port = bpf_ntohs(udp(packet)->source);
		flow->destination_port = bpf_ntohs(udp(packet)->dest);
	}
}

/* Turns the flow into that of the answers. */
static __always_inline void turn_round(struct watched_flow *flow)
{
	struct prefix source = flow->source;
	__u16 source_port = flow->source_port;

	flow->source = flow->destination;
	flow->destination = source;
	flow->source_port = flow->destination_port;
	flow->destination_port = source_port;
}

/* The rules whose prefixes contain both addresses, a bit each. */
static __always_inline __u64 candidates(const struct watched_flow *flow, const struct rules *rules)
{
	__u64 *by_source = bpf_map_lookup_elem(&SOURCES, &flow->source);
	__u64 *by_destination = bpf_map_lookup_elem(&DESTINATIONS, &flow->destination);

	return (rules->any_source | (by_source ? *by_source : 0)) &
	       (rules->any_destination | (by_destination ? *by_destination : 0));
}

static __always_inline int rule_matches(const struct rule *rule, const struct watched_flow *flow)
{
	if (!rule->any_protocol && rule->protocol != flow->protocol)
		return 0;
	if (!rule->ports)
		return 1;
	return has_ports(flow->protocol) && flow->source_port >= rule->source_first &&
	       flow->source_port <= rule->source_last && flow->destination_port >= rule->destination_first &&
	       flow->destination_port <= rule->destination_last;
}

static __always_inline int is_same_address(const __u8 *one, const __u8 *other)
{
	const __u32 *a = (const __u32 *)one, *b = (const __u32 *)other;

	return a[0] == b[0] && a[1] == b[1] && a[2] == b[2] && a[3] == b[3];
}

/* Whether the flow goes to a collector, or between agents: its own reports would never end. */
static __always_inline int is_own(const struct rules *rules, const struct watched_flow *flow)
{
	__u16 control_port = bpf_ntohs(rules->control_port);

	if (flow->protocol != IPPROTO_UDP)
		return 0;
	if (control_port && (flow->destination_port == control_port || flow->source_port == control_port))
		return 1;
	for (__u32 i = 0; i < MAX_COLLECTORS && i < rules->collectors; i++) {
		const struct collector *collector = &rules->collector[i];

		if (flow->destination_port == bpf_ntohs(collector->port) &&
		    is_same_address(flow->destination.address, collector->address))
			return 1;
	}
	return 0;
}

/* Whether the first rule whose prefixes, protocol and ports all match watches the flow. */
VERIFIED_ONCE int is_flow_watched(const struct watched_flow *flow)
{
	__u32 zero = 0;
	const struct rules *rules = bpf_map_lookup_elem(&RULES, &zero);
	__u64 left;

	if (!flow || !rules || !rules->count || is_own(rules, flow))
		return 0;
	left = candidates(flow, rules);
	for (__u32 i = 0; left && i < MAX_RULES; i++, left >>= 1) {
		if ((left & 1) && rule_matches(&rules->rule[i], flow))
			return !rules->rule[i].except;
	}
	return 0;
}

static __always_inline int is_watched(const struct packet *packet)
{
	struct watched_flow flow;

	watched_flow(packet, &flow);
	return is_flow_watched(&flow);
}
