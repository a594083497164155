/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What does INT 2.1 look like on the wire, in a packet at hand? */
#pragma once

#include "format.h"
#include "packet.h"

/* Whether a DSCP is one that marks INT. */
static __always_inline int marks_int(__u8 dscp, const struct config *config)
{
	return config->dscp_mask && !((dscp ^ config->dscp) & config->dscp_mask);
}
