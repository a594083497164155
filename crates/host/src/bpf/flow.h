/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Which flow is a packet of? */
#pragma once

#include "watch.h"

static __always_inline void flow_of(const struct packet *packet, struct flow *flow)
{
	addresses(packet, &flow->source, &flow->destination);
	flow->source_port = udp(packet)->source;
	flow->destination_port = udp(packet)->dest;
	flow->protocol = packet->protocol;
}
