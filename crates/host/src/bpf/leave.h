/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The start of INT in a packet that leaves, where its checksum is complete. */
#pragma once

#include "events.h"
#include "slices.h"
#include "source.h"

/* Starts INT in a packet, reports it with MX, and counts it; returns the outcome. `sliced` may be null. */
VERIFIED_ONCE int leave_with_int(struct __sk_buff *skb, struct packet *packet, const struct config *config,
				 const struct hop *hop, struct sliced_flow *sliced)
{
	__u64 bytes;
	int outcome;

	if (!packet || !config || !hop)
		return MALFORMED;
	bytes = packet->end - L3;
	if (config->mode == MODE_MX)
		tell_if_due(skb, packet, config, EVENT_LEAVES);
	outcome = start_int(skb, packet, config, hop);
	if (outcome != STARTED)
		return outcome;
	count_traffic(WITH_INT, 1, bytes);
	if (sliced)
		__sync_fetch_and_add(&sliced->with_int, 1);
	return STARTED;
}
