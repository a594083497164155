/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The socket that a packet comes from. */
#pragma once

#include <bpf/bpf_core_read.h>

#include <linux/in.h>

#include "kernel.h"

/* The packet's own TCP socket; null: it comes from another socket, or is forwarded. */
static __always_inline const struct inet_connection_sock *tcp_socket(struct __sk_buff *skb)
{
	const struct sock *sk = BPF_CORE_READ((struct sk_buff *)skb, sk);

	if (!sk || BPF_CORE_READ(sk, sk_protocol) != IPPROTO_TCP)
		return 0;
	/* The kernel's mini-sockets before and after a connection are shorter. */
	switch (BPF_CORE_READ(sk, __sk_common.skc_state)) {
	case TCP_TIME_WAIT_STATE:
	case TCP_NEW_SYN_RECV_STATE:
	case TCP_LISTEN_STATE:
		return 0;
	}
	return (const struct inet_connection_sock *)sk;
}

/* Whether the application requested a timestamp of sending, which each device on the way would send. */
static __always_inline int is_timestamped(struct __sk_buff *skb)
{
	const struct sk_buff *packet = (struct sk_buff *)skb;
	const struct skb_shared_info *shared =
		(void *)(BPF_CORE_READ(packet, head) + BPF_CORE_READ(packet, end));

	return BPF_CORE_READ(shared, tx_flags) & SKBTX_TIMESTAMPS;
}

/* Whether the connection has received nothing since a timeout: INT may be what gets packets lost. */
static __always_inline int is_unanswered(struct __sk_buff *skb)
{
	const struct inet_connection_sock *socket = tcp_socket(skb);

	return socket && BPF_CORE_READ(socket, icsk_retransmits);
}
