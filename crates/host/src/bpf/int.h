/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* INT 2.1 in the current packet. */
#pragma once

#include "format.h"
#include "packet.h"

/* Whether a DSCP marks INT. */
static __always_inline int marks_int(__u8 dscp, const struct config *config)
{
	return config->dscp_mask && !((dscp ^ config->dscp) & config->dscp_mask);
}
