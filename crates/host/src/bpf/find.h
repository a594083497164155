/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Does a packet carry INT of this domain? What only looks like it does not. */
#pragma once

#include "int.h"

/* Where INT is in a packet. */
struct location {
	/* Where the gap begins that closes when INT is gone. */
	__u32 at;
	__u32 shim;
	__u32 end;
	/* Whether the packet ends at the sink. */
	__u8 discard;
};

/* Whether the domain's mark is on the packet. */
static __always_inline int is_marked(const struct packet *packet, const struct config *config)
{
	if (config->carriage == BEHIND_L4_BY_DSCP) {
		return (packet->protocol == IPPROTO_TCP || packet->protocol == IPPROTO_UDP) &&
		       config->dscp_mask && !((packet->dscp ^ config->dscp) & config->dscp_mask);
	}
	return packet->protocol == IPPROTO_UDP && udp(packet)->dest == bpf_htons(config->udp_port);
}

/* Whether a header of MD has the Hop ML of its instructions, and behind it a whole number of hops. */
static __always_inline int is_md(const struct int_header *header, __u32 stack_words)
{
	__u32 hop_words = header->hop_ml & HOP_ML;
	__u32 asked = words_of(bpf_ntohs(header->instructions));

	/* Metadata of a domain comes on top, and the source's own may stand below the stack. */
	if (header->domain_specific_id && header->ds_instruction)
		return hop_words >= asked;
	if (hop_words != asked)
		return 0;
	return hop_words ? stack_words % hop_words == 0 : stack_words == 0;
}

/* Whether what follows the shim is a header of version 2. */
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
	return type == TYPE_MX || is_md(header, shim->length - INT_WORDS);
}

/* Finds INT behind the mark, whole and of version 2. */
static __always_inline int find_int(const struct packet *packet, const struct config *config,
				    struct location *location)
{
	const struct shim *shim;
	__u32 limit = packet->end;
	__u8 npt;

	if (!is_marked(packet, config))
		return 0;
	if (packet->protocol == IPPROTO_UDP)
		limit = packet->l4 + bpf_ntohs(udp(packet)->len);
	location->shim = location->at = payload_at(packet, config);
	if (location->shim + sizeof(*shim) > limit || location->shim + sizeof(*shim) > packet->visible)
		return 0;
	shim = head_at(packet, location->shim);
	location->end = location->shim + sizeof(*shim) + shim->length * 4;
	if (location->end > limit)
		return 0;
	npt = shim->type_npt >> 2 & 3;
	if (config->carriage != BEHIND_L4_BY_DSCP) {
		if (npt != NPT_UDP_PAYLOAD && npt != NPT_L4_HEADER)
			return 0;
		if (npt == NPT_L4_HEADER)
			location->at = packet->l4;
	}
	return is_int(packet, location);
}
