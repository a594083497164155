/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The root queue of the device that a packet leaves by. */
#pragma once

#include <bpf/bpf_core_read.h>

#include "kernel.h"

/* The occupancy is not available. */
#define QUEUE_UNKNOWN 0xffffffffU
/* Maximum value of a 24-bit occupancy. */
#define MAX_OCCUPANCY 0x00ffffff

/*
 * The bytes waiting in the root queue of the device that a packet leaves by. Unknown where there is no
 * queue, where there are several, or where its counters are kept for each processor or in the device.
 */
static __always_inline __u32 root_queue(struct __sk_buff *skb)
{
	const struct Qdisc *qdisc = BPF_CORE_READ((struct sk_buff *)skb, dev, qdisc);
	__u32 backlog;

	if (!qdisc || !BPF_CORE_READ(qdisc, enqueue))
		return QUEUE_UNKNOWN;
	if (BPF_CORE_READ(qdisc, flags) & (TCQ_F_MQROOT | TCQ_F_CPUSTATS | TCQ_F_OFFLOADED))
		return QUEUE_UNKNOWN;
	backlog = BPF_CORE_READ(qdisc, qstats.backlog);
	return backlog < MAX_OCCUPANCY ? backlog : MAX_OCCUPANCY;
}

/*
 * Whether a packet may wait in the root queue of the device it leaves by. It does not where there is none,
 * or where the kernel bypasses an empty one; of several queues the one it will enter is not known yet.
 */
static __always_inline __u32 may_wait(struct __sk_buff *skb)
{
	const struct Qdisc *qdisc = BPF_CORE_READ((struct sk_buff *)skb, dev, qdisc);
	unsigned int flags;

	if (!qdisc || !BPF_CORE_READ(qdisc, enqueue))
		return 0;
	flags = BPF_CORE_READ(qdisc, flags);
	if (!(flags & TCQ_F_CAN_BYPASS) || (flags & (TCQ_F_MQROOT | TCQ_F_OFFLOADED)))
		return 1;
	if (flags & TCQ_F_NOLOCK)
		return !!(BPF_CORE_READ(qdisc, state) & QDISC_STATE_NON_EMPTY);
	return BPF_CORE_READ(qdisc, qstats.backlog) != 0;
}
