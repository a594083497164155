"""Bytes and JSON of an INT 2.1 header, written from the specification alone."""

import random
import struct
from dataclasses import dataclass, field

MD, DESTINATION, MX = 1, 2, 3
TYPE_NAMES = {MD: "md", DESTINATION: "destination", MX: "mx"}
CHECKSUM_COMPLEMENT_BIT = 15
ALL_ONES_4, ALL_ONES_8 = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF

INSTRUCTIONS = {
    0: "node-id",
    1: "level1-interfaces",
    2: "hop-latency",
    3: "queue-occupancy",
    4: "ingress-timestamp",
    5: "egress-timestamp",
    6: "level2-interfaces",
    7: "egress-utilization",
    8: "buffer-occupancy",
    15: "checksum-complement",
}
EIGHT_BYTE_BITS = (4, 5, 6)
KEYS_OF_METADATA_HEADER = (
    "discard",
    "max_hops_exceeded",
    "mtu_exceeded",
    "hop_ml",
    "remaining_hops",
    "instruction_bitmap",
    "domain",
    "ds_instruction",
    "ds_flags",
)


def bits_of(bitmap):
    """The bits that are set, bit 0 (the most significant) first."""
    return [bit for bit in range(16) if bitmap & (0x8000 >> bit)]


def words_of_bit(bit):
    return 2 if bit in EIGHT_BYTE_BITS else 1


def words_of_bitmap(bitmap):
    return sum(words_of_bit(bit) for bit in bits_of(bitmap))


def instruction_name(bit):
    return INSTRUCTIONS.get(bit, f"reserved-bit-{bit}")


def metadata_json(bit, value):
    """The JSON keys of one metadata value; all ones is null."""
    if words_of_bit(bit) == 2:
        missing = value == ALL_ONES_8
    else:
        missing = value == ALL_ONES_4

    def number(part):
        return None if missing else part

    if bit == 0:
        return {"node_id": number(value)}
    if bit == 1:
        # Each half is all ones on its own, as at level 2.
        halves = value >> 16, value & 0xFFFF
        ingress, egress = (None if half == 0xFFFF else half for half in halves)
        return {"ingress_interface": ingress, "egress_interface": egress}
    if bit == 2:
        return {"hop_latency": number(value)}
    if bit == 3:
        return {"queue_id": number(value >> 24), "queue_occupancy": number(value & 0xFFFFFF)}
    if bit == 4:
        return {"ingress_timestamp": number(value)}
    if bit == 5:
        return {"egress_timestamp": number(value)}
    if bit == 6:
        # Each half is a separate 4-byte identifier, and all ones separately.
        halves = value >> 32, value & ALL_ONES_4
        ingress, egress = (None if half == ALL_ONES_4 else half for half in halves)
        return {"ingress_interface_level2": ingress, "egress_interface_level2": egress}
    if bit == 7:
        return {"egress_utilization": number(value)}
    if bit == 8:
        return {"buffer_id": number(value >> 24), "buffer_occupancy": number(value & 0xFFFFFF)}
    if bit == CHECKSUM_COMPLEMENT_BIT:
        return {"checksum_complement": number(value)}
    return {f"reserved_bit_{bit}": number(value)}


@dataclass
class Hop:
    """The metadata of one hop: a value per instruction bit, then domain-specific words."""

    values: dict
    domain: bytes = b""

    def encode(self):
        out = b""
        for bit, value in sorted(self.values.items()):
            if bit != CHECKSUM_COMPLEMENT_BIT:
                out += value.to_bytes(4 * words_of_bit(bit), "big")
        out += self.domain
        if CHECKSUM_COMPLEMENT_BIT in self.values:
            out += self.values[CHECKSUM_COMPLEMENT_BIT].to_bytes(4, "big")
        return out

    def json(self):
        keys = {}
        for bit, value in sorted(self.values.items()):
            keys |= metadata_json(bit, value)
        if self.domain:
            keys["domain"] = self.domain.hex()
        return keys


@dataclass
class IntHeader:
    """One INT header of version 2.1: MD with its stack, MX, or an opaque destination header."""

    type: int = MD
    discard: bool = False
    max_hops_exceeded: bool = False
    mtu_exceeded: bool = False
    hop_ml: int = 0
    remaining_hops: int = 8
    bitmap: int = 0
    domain: int = 0
    ds_instruction: int = 0
    ds_flags: int = 0
    hops: list = field(default_factory=list)
    source_only: bytes = b""
    reserved: int = 0
    version: int = 2
    opaque: bytes = b""

    def body(self):
        """The metadata header and what follows it, without the shim."""
        if self.type == DESTINATION:
            return self.opaque
        word = self.version << 28 | self.discard << 27
        if self.type == MD:
            word |= self.max_hops_exceeded << 26 | self.mtu_exceeded << 25
            word |= (self.reserved & 0xFFF) << 13 | self.hop_ml << 8 | self.remaining_hops
        else:
            word |= self.reserved & 0x7FFFFFF
        header = struct.pack(
            ">IHHHH", word, self.bitmap, self.domain, self.ds_instruction, self.ds_flags
        )
        return header + b"".join(hop.encode() for hop in self.hops) + self.source_only

    def length_words(self):
        return len(self.body()) // 4

    def json(self, original):
        """The JSON of this header in `inband decode --json`."""
        if self.type == DESTINATION:
            return dict.fromkeys(KEYS_OF_METADATA_HEADER) | {
                "version": "2.1",
                "type": "destination",
                "instructions": [],
                "original": original,
                "hops": [],
                "source_only": "",
                "data": self.opaque.hex(),
            }
        md = self.type == MD
        return {
            "version": "2.1",
            "type": TYPE_NAMES[self.type],
            "discard": self.discard,
            "max_hops_exceeded": self.max_hops_exceeded if md else None,
            "mtu_exceeded": self.mtu_exceeded if md else None,
            "hop_ml": self.hop_ml if md else None,
            "remaining_hops": self.remaining_hops if md else None,
            "instructions": [instruction_name(bit) for bit in bits_of(self.bitmap)],
            "instruction_bitmap": self.bitmap,
            "domain": self.domain,
            "ds_instruction": self.ds_instruction,
            "ds_flags": self.ds_flags,
            "original": original,
            "hops": [hop.json() for hop in self.hops],
            "source_only": self.source_only.hex(),
        }


def random_value(rng, bit):
    width = 4 * words_of_bit(bit)
    pick = rng.random()
    if pick < 0.2:
        return (1 << 8 * width) - 1
    if pick < 0.3:
        return 0
    if pick < 0.35 and bit == 6:
        return rng.getrandbits(32) << 32 | ALL_ONES_4
    return rng.getrandbits(8 * width)


def random_bitmap(rng):
    pick = rng.random()
    if pick < 0.1:
        return 0x8000 >> rng.choice(list(INSTRUCTIONS))
    if pick < 0.6:
        return rng.getrandbits(16) & 0xFF81
    if pick < 0.65:
        return 0xFFFF
    if pick < 0.7:
        return 0xFF80
    return rng.getrandbits(16)


def random_header(rng, types=(MD, MX), limit_words=255):
    """A valid header of one of `types`, no longer than `limit_words`."""
    header = IntHeader(type=rng.choice(types), discard=rng.random() < 0.2)
    if header.type == DESTINATION:
        header.opaque = rng.randbytes(4 * rng.randrange(0, min(limit_words, 12) + 1))
        return header
    header.bitmap = random_bitmap(rng)
    header.reserved = rng.getrandbits(27) if rng.random() < 0.1 else 0
    domain_words = 0
    if rng.random() < 0.35:
        header.domain = rng.randrange(1, 0x10000)
        header.ds_instruction = rng.getrandbits(16)
        header.ds_flags = rng.getrandbits(16)
        if header.ds_instruction:
            domain_words = rng.randrange(0, 5)
    if header.type == MX:
        header.bitmap &= 0xFFFE
        if header.ds_instruction:
            words = rng.randrange(0, min(limit_words - 3, 16) + 1)
            header.source_only = rng.randbytes(4 * words)
        return header
    header.max_hops_exceeded = rng.random() < 0.2
    header.mtu_exceeded = rng.random() < 0.2
    header.remaining_hops = rng.choice((0, 1, 8, 255, rng.randrange(256)))
    header.hop_ml = words_of_bitmap(header.bitmap) + domain_words
    hops = (limit_words - 3) // header.hop_ml if header.hop_ml else 0
    hops = rng.randrange(0, min(hops, rng.choice((3, 6, 6, 63))) + 1)
    for _ in range(hops):
        values = {bit: random_value(rng, bit) for bit in bits_of(header.bitmap)}
        header.hops.append(Hop(values, rng.randbytes(4 * domain_words)))
    left = limit_words - header.length_words()
    if header.ds_instruction and hops and header.hop_ml > 1 and rng.random() < 0.4:
        # Without the domain's definition only a part shorter than a hop can be recognised.
        words = rng.randrange(0, min(left, header.hop_ml - 1) + 1)
        header.source_only = rng.randbytes(4 * words)
    return header


def fixed_rng(*seed):
    """A random number generator from a seed, so that a case can be repeated."""
    return random.Random(":".join(map(str, seed)))
