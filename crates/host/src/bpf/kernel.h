/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What of the kernel's own structures is read? The loader finds each field where the running kernel has it. */
#pragma once

#include <linux/types.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct ns_common {
	unsigned int inum;
};

struct net {
	struct ns_common ns;
};

typedef struct {
	struct net *net;
} possible_net_t;

struct gnet_stats_queue {
	__u32 backlog;
};

struct Qdisc {
	/* Null: packets do not wait. */
	void *enqueue;
	unsigned int flags;
	struct gnet_stats_queue qstats;
};

struct net_device {
	int ifindex;
	possible_net_t nd_net;
	struct Qdisc *qdisc;
};

struct dst_entry {
	struct net_device *dev;
	short error;
};

struct sock_common {
	possible_net_t skc_net;
};

struct sock {
	struct sock_common __sk_common;
};

struct skb_shared_info {
	unsigned short gso_segs;
};

struct sk_buff {
	struct net_device *dev;
	struct sock *sk;
	unsigned long _skb_refdst;
	int skb_iif;
	__be16 protocol;
	__u16 network_header;
	unsigned int tail;
	unsigned int end;
	unsigned char *head;
};

#pragma clang attribute pop

/* The bit beside the address in `_skb_refdst`. */
#define SKB_DST_NOREF 1UL

/* Of `Qdisc.flags`: a queue for each of the device's; numbers for each processor; in the device. */
#define TCQ_F_MQROOT 0x8
#define TCQ_F_CPUSTATS 0x20
#define TCQ_F_OFFLOADED 0x200
