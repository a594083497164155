/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The mark in `tc_index` of packets in which this host has started INT. */
#pragma once

#include <linux/types.h>

/* The mark, and the part of it that is the device's interface index, modulo 16,384. */
#define DEPARTED 0x8000U
#define DEPARTED_BY 0x3fffU

/* The mark of packets that leave by `device` after its shim; it stays until they arrive somewhere. */
static __always_inline __u32 departed_by(__u32 device)
{
	return DEPARTED | (device & DEPARTED_BY);
}

/* The device that a packet with this `tc_index` leaves by, modulo 16,384; 0: it has not been in a shim. */
static __always_inline __u32 departed_from(__u32 tc_index)
{
	return tc_index & DEPARTED && !(tc_index & ~(DEPARTED | DEPARTED_BY)) ? tc_index & DEPARTED_BY : 0;
}
