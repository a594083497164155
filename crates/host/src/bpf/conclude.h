/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The end of a packet's treatment: its verdict, and its outcome, which is counted. */
#pragma once

#include <linux/pkt_cls.h>
#include "carries.h"
#include "source.h"

/* Passes the packet to the next programs and filters; any other verdict would end their chain. */
#define TCX_NEXT TC_ACT_UNSPEC

/* Counts the outcome of a packet, and unmarks it where INT was not started. */
static __always_inline void conclude(struct __sk_buff *skb, struct packet *packet,
				     const struct config *config, int outcome, __u64 packets)
{
	count_many(outcome, packets);
	if (outcome != STARTED && outcome != ALREADY_INT && unmark(skb, packet, config))
		count(REMARKED);
}
