/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The start of INT in a packet that leaves, where its checksum is complete. */
#pragma once

#include "events.h"
#include "queue.h"
#include "slices.h"
#include "source.h"

/* This host's metadata of a packet that came at `came` and leaves at `leaves`, of the monotonic clock. */
static __always_inline struct hop own_hop(const struct config *config, __u64 came, __u64 leaves)
{
	struct queue_note note = noted_queue(config);

	return (struct hop){
		.ingress_timestamp = came + config->clock_offset,
		.egress_timestamp = leaves + config->clock_offset,
		.queue = note.occupancy,
		.may_wait = note.may_wait,
	};
}

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
