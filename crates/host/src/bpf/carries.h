/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Whether a packet carries INT of this domain. */
#pragma once

#include "find.h"
#include "load.h"
#include "scratch.h"

/* The end of the last header that is read because of INT: with a new UDP header TCP is behind INT. */
static __always_inline __u32 end_of_headers(const struct location *location)
{
	return location->end + (location->at == location->shim ? 0 : sizeof(struct tcphdr));
}

/* Finds INT in a packet with the domain's mark. As much of INT is visible as the buffer holds. */
VERIFIED_ONCE int find_behind_mark(struct __sk_buff *skb, struct packet *packet, const struct config *config,
				   struct location *location)
{
	if (!packet || !config || !location)
		return 0;
	if (packet->visible < packet->behind_l4 + MIN_INT)
		look_further(skb, packet);
	if (!find_int(packet, config, location))
		return 0;
	if (packet->visible < end_of_headers(location))
		look_further(skb, packet);
	return 1;
}

/* Whether a packet whose headers are read carries INT. */
static __always_inline int carries_int(struct __sk_buff *skb, struct packet *packet,
				       const struct config *config, struct location *location)
{
	return is_marked(packet, config) && find_behind_mark(skb, packet, config, location);
}
