/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The root queue of the device that a packet leaves by. */
#pragma once

#include "cast.h"

/* The occupancy is not available. */
#define QUEUE_UNKNOWN 0xffffffffU
/* Maximum value of a 24-bit occupancy. */
#define MAX_OCCUPANCY 0x00ffffff

/* The root queue of the device that a packet leaves by; null: there is none. */
static __always_inline const struct Qdisc *root_queue(struct __sk_buff *skb)
{
	const struct Qdisc *qdisc = kernel_of(skb)->dev->qdisc;

	return qdisc && qdisc->enqueue ? qdisc : 0;
}

/*
 * The bytes waiting in a root queue. Unknown where there is no queue, where there
 * are several, or where its counters are kept for each processor or in the device.
 */
static __always_inline __u32 occupancy_of(const struct Qdisc *queue)
{
	__u32 backlog;

	if (!queue || (queue->flags & (TCQ_F_MQROOT | TCQ_F_CPUSTATS | TCQ_F_OFFLOADED)))
		return QUEUE_UNKNOWN;
	backlog = queue->qstats.backlog;
	return backlog < MAX_OCCUPANCY ? backlog : MAX_OCCUPANCY;
}

/*
 * Whether a packet may wait in a root queue. It does not where there is none, or where
 * the kernel bypasses an empty one; of several queues the one it will enter is not known yet.
 */
static __always_inline __u32 may_wait_in(const struct Qdisc *queue)
{
	unsigned int flags;

	if (!queue)
		return 0;
	flags = queue->flags;
	if (!(flags & TCQ_F_CAN_BYPASS) || (flags & (TCQ_F_MQROOT | TCQ_F_OFFLOADED)))
		return 1;
	if (flags & TCQ_F_NOLOCK)
		return !!(queue->state & QDISC_STATE_NON_EMPTY);
	return queue->qstats.backlog != 0;
}
