/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What a packet leaves to the device that sends it. */
#pragma once

#include "cast.h"

/* Whether the packet's checksum is left to the device. */
static __always_inline int lacks_checksum(struct __sk_buff *skb)
{
	return BPF_CORE_READ_BITFIELD(kernel_of(skb), ip_summed) == CHECKSUM_PARTIAL;
}
