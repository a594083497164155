/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The flow of a packet. */
#pragma once

#include "watch.h"

static __always_inline void flow_of(const struct packet *packet, struct flow *flow)
{
	addresses(packet, &flow->source, &flow->destination);
	*(__be32 *)&flow->source_port = *(const __be32 *)&udp(packet)->source;
	flow->protocol = packet->protocol;
}
