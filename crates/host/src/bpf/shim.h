/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Whether the shim takes packets: what is sent into a device that is gone or down is lost. */
#pragma once

#include <bpf/bpf_core_read.h>

#include "kernel.h"

/* The kernel's devices by index, in lists of those whose index has the same remainder. */
#define INDEX_BUCKETS 256
/* How many devices of a list are looked at; packets get no INT where the shim is further behind. */
#define MAX_LOOKED_AT 32

/* The device with this index in the network namespace of the packet's own; null: there is none. */
static __always_inline const struct net_device *device_by_index(struct __sk_buff *skb, __u32 index)
{
	const struct hlist_head *buckets = BPF_CORE_READ((struct sk_buff *)skb, dev, nd_net.net, dev_index_head);
	const struct hlist_node *node;

	if (!buckets || !index)
		return 0;
	node = BPF_CORE_READ(buckets + index % INDEX_BUCKETS, first);
	for (int i = 0; node && i < MAX_LOOKED_AT; i++) {
		const struct net_device *device =
			(void *)node - bpf_core_field_offset(struct net_device, index_hlist);

		if (BPF_CORE_READ(device, ifindex) == (int)index)
			return device;
		node = BPF_CORE_READ(node, next);
	}
	return 0;
}

/*
 * Whether what enters the device gets out: it has no queue, or a real one. The kernel gives it one some time after its
 * carrier came, and until then it drops everything.
 */
static __always_inline int takes_packets(const struct net_device *device)
{
	const struct Qdisc *qdisc = BPF_CORE_READ(device, _tx, qdisc);

	return qdisc && (!BPF_CORE_READ(qdisc, enqueue) || !(BPF_CORE_READ(qdisc, flags) & TCQ_F_BUILTIN));
}

/* Whether the near side of the shim is up and ready; its carrier says that the far side is up. */
static __always_inline int shim_is_up(struct __sk_buff *skb, const struct config *config)
{
	const struct net_device *near = device_by_index(skb, config->shim_in);
	unsigned long state;

	if (!near)
		return 0;
	state = BPF_CORE_READ(near, state);
	return (state & LINK_STATE_START) && !(state & LINK_STATE_NOCARRIER) && takes_packets(near);
}
