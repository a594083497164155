/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Is a packet on the flow watchlist? The meaning is that of `[[watch]]` in `node.toml`. */
#pragma once

#include "packet.h"
#include "rules.h"

static __always_inline void map_ipv4(struct prefix *prefix, __be32 address)
{
	__builtin_memset(prefix->address, 0, 10);
	prefix->address[10] = 0xff;
	prefix->address[11] = 0xff;
	__builtin_memcpy(prefix->address + 12, &address, sizeof(address));
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

/* The rules whose prefixes hold both addresses, a bit each. */
static __always_inline __u64 candidates(const struct packet *packet, const struct rules *rules)
{
	struct prefix source, destination;
	__u64 *by_source, *by_destination;

	addresses(packet, &source, &destination);
	by_source = bpf_map_lookup_elem(&SOURCES, &source);
	by_destination = bpf_map_lookup_elem(&DESTINATIONS, &destination);
	return (rules->any_source | (by_source ? *by_source : 0)) &
	       (rules->any_destination | (by_destination ? *by_destination : 0));
}

static __always_inline int rule_matches(const struct rule *rule, const struct packet *packet)
{
	__u16 source, destination;

	if (!rule->any_protocol && rule->protocol != packet->protocol)
		return 0;
	if (!rule->ports)
		return 1;
	if (packet->protocol != IPPROTO_TCP && packet->protocol != IPPROTO_UDP)
		return 0;
	source = bpf_ntohs(udp(packet)->source);
	destination = bpf_ntohs(udp(packet)->dest);
	return source >= rule->source_first && source <= rule->source_last &&
	       destination >= rule->destination_first && destination <= rule->destination_last;
}

/* Whether any rule's prefixes, protocol and ports all match. */
static __always_inline int is_watched(const struct packet *packet)
{
	__u32 zero = 0;
	const struct rules *rules = bpf_map_lookup_elem(&RULES, &zero);
	__u64 left;

	if (!rules || !rules->count)
		return 0;
	left = candidates(packet, rules);
	for (__u32 i = 0; left && i < MOST_RULES; i++, left >>= 1) {
		if ((left & 1) && rule_matches(&rules->rule[i], packet))
			return 1;
	}
	return 0;
}
