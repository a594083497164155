/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The kernel's structures, as far as they are read; the loader relocates each field. */
#pragma once

#include <linux/types.h>

/* The place of the MTU among a route's metrics, which are at least this many. */
#define RTAX_MTU 2
#define RTAX_MAX 16

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct ns_common {
	unsigned int inum;
};

struct hlist_node {
	struct hlist_node *next;
};

struct hlist_head {
	struct hlist_node *first;
};

struct net {
	struct ns_common ns;
	struct hlist_head *dev_index_head;
};

typedef struct {
	struct net *net;
} possible_net_t;

struct gnet_stats_queue {
	__u32 backlog;
};

struct Qdisc {
	/* Null: packets are not queued. */
	void *enqueue;
	unsigned int flags;
	struct gnet_stats_queue qstats;
	unsigned long state;
};

struct netdev_queue {
	struct Qdisc *qdisc;
};

struct net_device {
	struct netdev_queue *_tx;
	unsigned long state;
	int ifindex;
	struct hlist_node index_hlist;
	possible_net_t nd_net;
	struct Qdisc *qdisc;
};

struct dst_ops {
	unsigned short family;
};

struct dst_entry {
	struct net_device *dev;
	struct dst_ops *ops;
	unsigned long _metrics;
	unsigned long expires;
	short error;
};

/* What `_metrics` refers to. */
struct dst_metrics {
	__u32 metrics[RTAX_MAX];
};

/* A route of IPv4, and one of IPv6; each begins as a `dst_entry`. */
struct rtable {
	unsigned int rt_pmtu : 31;
};

struct ipv6_devconf {
	int mtu6;
};

struct inet6_dev {
	struct ipv6_devconf cnf;
};

struct rt6_info {
	struct inet6_dev *rt6i_idev;
};

struct sock_common {
	unsigned char skc_state;
	possible_net_t skc_net;
};

struct sock {
	struct sock_common __sk_common;
	unsigned short sk_protocol;
};

/* Begins with a `sock`. */
struct inet_connection_sock {
	unsigned int icsk_pmtu_cookie;
	unsigned char icsk_retransmits;
};

struct skb_shared_info {
	unsigned char tx_flags;
	unsigned short gso_segs;
	unsigned int gso_type;
};

struct sk_buff {
	struct net_device *dev;
	struct sock *sk;
	unsigned long _skb_refdst;
	int skb_iif;
	__u8 ip_summed : 2;
	__u16 csum_start;
	__u16 csum_offset;
	__u16 tc_index;
	__be16 protocol;
	__u16 network_header;
	unsigned int tail;
	unsigned int end;
	unsigned char *head;
};

#pragma clang attribute pop

/* The bit beside the address in `_skb_refdst`. */
#define SKB_DST_NOREF 1UL

/* Flags in the lower bits of `_metrics`. */
#define DST_METRICS_FLAGS 3UL

#define AF_INET 2
#define AF_INET6 10

/* Of `skc_state`: not a full socket, before or after a connection, and one without packets of its own. */
#define TCP_ESTABLISHED_STATE 1
#define TCP_TIME_WAIT_STATE 6
#define TCP_LISTEN_STATE 10
#define TCP_NEW_SYN_RECV_STATE 12

/* Of `net_device.state`: the device is up; it has no carrier. */
#define LINK_STATE_START (1UL << 0)
#define LINK_STATE_NOCARRIER (1UL << 2)

/* Of `Qdisc.flags`: drops all; bypassed if empty; a queue per device queue; per-CPU; lockless; offloaded. */
#define TCQ_F_BUILTIN 0x1
#define TCQ_F_CAN_BYPASS 0x4
#define TCQ_F_MQROOT 0x8
#define TCQ_F_CPUSTATS 0x20
#define TCQ_F_NOLOCK 0x100
#define TCQ_F_OFFLOADED 0x200

/* Of `Qdisc.state`, of one without a lock: packets are queued in it, or may be. */
#define QDISC_STATE_NON_EMPTY 0xcUL

/* Of `sk_buff.ip_summed`: the device completes the checksum. */
#define CHECKSUM_PARTIAL 3

/* Of `skb_shared_info.tx_flags`: a timestamp of sending is requested, by hardware, driver or queue. */
#define SKBTX_TIMESTAMPS 0x43

/* Of `skb_shared_info.gso_type`: datagrams that are split by their UDP header; a tunnel's, with checksums or not. */
#define SKB_GSO_UDP_L4 (1U << 17)
#define SKB_GSO_UDP_TUNNELS (3U << 10)
