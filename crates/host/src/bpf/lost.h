/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The kernel's metadata of a dropped packet, for all programs that watch drops. */
#pragma once

#include <bpf/bpf_core_read.h>

#include "kernel.h"

/* The kernel's event of a drop, as far as it is read. */
struct trace_event_raw_kfree_skb {
	void *rx_sk;
} __attribute__((preserve_access_index));

/* The socket that a dropped packet was for; null: none, or unknown, as before Linux 6.11. */
static __always_inline const struct sock *socket_of(const __u64 *ctx)
{
	const struct trace_event_raw_kfree_skb *event = 0;

	return bpf_core_field_exists(event->rx_sk) ? (const struct sock *)ctx[3] : 0;
}

/* The number of packets on the wire that this one stands for. */
static __always_inline __u32 segments_of(const struct sk_buff *skb)
{
	const struct skb_shared_info *shared = (void *)(BPF_CORE_READ(skb, head) + BPF_CORE_READ(skb, end));
	__u32 segments = BPF_CORE_READ(shared, gso_segs);

	return segments ? segments : 1;
}

/* The packet's route; null: none. */
static __always_inline const struct dst_entry *route_of(const struct sk_buff *skb)
{
	return (void *)(BPF_CORE_READ(skb, _skb_refdst) & ~SKB_DST_NOREF);
}

/* The error number of a route, which IPv4 stores as it is and IPv6 as its negative; 0: none. */
static __always_inline __u16 error_of(const struct dst_entry *route)
{
	short error = route ? BPF_CORE_READ(route, error) : 0;

	return error < 0 ? -error : error;
}
