/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What does INT 2.1 look like on the wire, in a packet at hand? */
#pragma once

#include "format.h"
#include "packet.h"
