/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Detection of this domain's INT in a packet; look-alikes are rejected. */
#pragma once

#include "host_int.h"
#include "int.h"

/* The location of INT in a packet. */
struct location {
	/* The start of the gap that is closed when INT is removed. */
	__u32 at;
	__u32 shim;
	__u32 end;
	/* Whether the packet ends at the sink. */
	__u8 discard;
	/* Whether it is Host-INT, which has other formats and places. */
	__u8 is_host_int;
};

/* Whether the domain's mark is on the packet. */
static __always_inline int is_marked(const struct packet *packet, const struct config *config)
{
	if (config->carriage == BEHIND_L4_BY_DSCP) {
		return (packet->protocol == IPPROTO_TCP || packet->protocol == IPPROTO_UDP) &&
		       marks_int(packet->dscp, config);
	}
	return packet->protocol == IPPROTO_UDP && udp(packet)->dest == bpf_htons(config->udp_port);
}

static __always_inline int asks_for_domain(const struct int_header *header)
{
	return header->domain_specific_id && header->ds_instruction;
}

/* Whether an MD header has the Hop ML of its instructions and a whole number of hops. */
static __always_inline int is_md(const struct int_header *header, __u32 stack_words)
{
	__u32 hop_words = header->hop_ml & HOP_ML;
	__u32 asked = words_of(bpf_ntohs(header->instructions));

	/* Domain-specific metadata comes on top, and the source's own may be below the stack. */
	if (asks_for_domain(header))
		return hop_words >= asked;
	if (hop_words != asked)
		return 0;
	return hop_words ? stack_words % hop_words == 0 : stack_words == 0;
}

/* Whether the shim is followed by a header of version 2. */
static __always_inline int is_int(const struct packet *packet, struct location *location)
{
	const struct shim *shim = head_at(packet, location->shim);
	const struct int_header *header = (const struct int_header *)(shim + 1);
	__u8 type = shim->type_npt >> 4;

	location->discard = 0;
	if (type == TYPE_DESTINATION)
		return 1;
	if ((type != TYPE_MD && type != TYPE_MX) || shim->length < INT_WORDS)
		return 0;
	if (location->shim + sizeof(*shim) + sizeof(*header) > packet->visible)
		return 0;
	if (header->version_flags >> 4 != INT_VERSION)
		return 0;
	location->discard = header->version_flags & FLAG_DISCARD;
	/* An MX header is followed by the source's domain-specific data, or by nothing. */
	if (type == TYPE_MX)
		return asks_for_domain(header) || shim->length == INT_WORDS;
	return is_md(header, shim->length - INT_WORDS);
}

/* Reads Host-INT at the shim's place. */
static __always_inline int find_host_int(const struct packet *packet, const struct config *config,
					 struct location *location)
{
	const struct host_int *host = head_at(packet, location->shim);

	if (location->shim + HOST_INT_FIXED_WORDS * 4 > packet->visible || !is_host_int(host))
		return 0;
	location->end = location->shim + host->length * 4;
	/* 0.5 leaves it to each domain whether nodes correct the UDP length. */
	if (location->end > packet->end)
		return 0;
	if (config->carriage != BEHIND_L4_BY_DSCP)
		location->at = packet->l4;
	location->discard = host->version_flags & FLAG_COPY;
	location->is_host_int = 1;
	return 1;
}

/* Reads INT of either version at the shim's place. */
static __always_inline int find_int_at(const struct packet *packet, const struct config *config,
				       struct location *location)
{
	const struct shim *shim = head_at(packet, location->shim);
	__u32 limit = packet->end;
	__u8 npt;

	if (packet->protocol == IPPROTO_UDP)
		limit = packet->l4 + bpf_ntohs(udp(packet)->len);
	if (location->shim + sizeof(*shim) > limit || location->shim + sizeof(*shim) > packet->visible)
		return 0;
	/* Types of 2.1 are in the upper half of the byte, so it is none of these. */
	if (shim->type_npt == HOST_INT_TYPE)
		return find_host_int(packet, config, location);
	location->end = location->shim + sizeof(*shim) + shim->length * 4;
	if (location->end > limit)
		return 0;
	npt = shim->type_npt >> 2 & 3;
	if (config->carriage == BEHIND_L4_BY_DSCP) {
		if (packet->protocol == IPPROTO_UDP && may_be_tunnel_header(udp(packet)->dest) && !is_exact(shim))
			return 0;
	} else {
		if (npt != NPT_UDP_PAYLOAD && npt != NPT_L4_HEADER)
			return 0;
		if (npt == NPT_L4_HEADER)
			location->at = packet->l4;
	}
	return is_int(packet, location);
}

/* Finds INT in a packet with the mark, complete and of version 2 or Host-INT. */
static __always_inline int find_int(const struct packet *packet, const struct config *config,
				    struct location *location)
{
	location->is_host_int = 0;
	location->shim = location->at = packet->l4 + sizeof(struct tcphdr);
	/* Host-INT precedes the TCP options, wherever the domain places INT. The bytes behind them are its own. */
	if (packet->protocol == IPPROTO_TCP && location->shim != payload_at(packet, config) &&
	    find_host_int(packet, config, location))
		return 1;
	location->shim = location->at = payload_at(packet, config);
	return find_int_at(packet, config, location);
}
