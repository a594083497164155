/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Does anybody take INT out again where a packet goes? */
#pragma once

#include "events.h"
#include "watch.h"

/* How long the agent is not told of the same destination again, nanoseconds. */
#define ASK_AGAIN_NS 1000000000ULL

/* How exact the time of a lease's last use is, nanoseconds. */
#define USED_NS 1000000000ULL

/* Whether it is time to tell the agent of a destination without a lease. */
static __always_inline int is_to_be_asked(const struct prefix *destination, __u64 now)
{
	__u64 *last = bpf_map_lookup_elem(&ASKED, destination);

	if (last && now - *last < ASK_AGAIN_NS)
		return 0;
	bpf_map_update_elem(&ASKED, destination, &now, BPF_ANY);
	return 1;
}

/* Whether the destination of a watched packet may get INT; the agent is told of one that might if it were asked. */
static __always_inline int is_leased(struct __sk_buff *skb, const struct watched_flow *flow)
{
	struct lease *lease = bpf_map_lookup_elem(&PEERS, &flow->destination);
	__u64 now = bpf_ktime_get_ns();

	if (!lease)
		return 0;
	if (now < lease->until) {
		/* Rarely, because all processors would want the same cache line. */
		if (now - lease->used > USED_NS)
			lease->used = now;
		return 1;
	}
	if (lease->ask && is_to_be_asked(&flow->destination, now))
		tell(skb, now, EVENT_UNLEASED, NOT_AVAILABLE);
	return 0;
}
