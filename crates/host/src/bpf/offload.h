/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What a packet leaves to the device that sends it. */
#pragma once

#include <bpf/bpf_core_read.h>

#include "kernel.h"

/* Whether the packet's checksum is left to the device. */
static __always_inline int lacks_checksum(struct __sk_buff *skb)
{
	return BPF_CORE_READ_BITFIELD_PROBED((struct sk_buff *)skb, ip_summed) == CHECKSUM_PARTIAL;
}
