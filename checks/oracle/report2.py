"""Bytes and JSON of Telemetry Report 2.0 datagrams."""

import struct
from dataclasses import dataclass, field

import carry
import captures
import int21
import packets
from captures import RAW_IP

INNER_ONLY, INT, IOAM = 0, 1, 2
TYPE_NAMES = {INNER_ONLY: "inner-only", INT: "int", IOAM: "ioam"}
NONE, TLV, DOMAIN, ETHERNET, IPV4, IPV6 = range(6)
INNER_NAMES = {
    NONE: "none",
    TLV: "tlv",
    DOMAIN: "domain",
    ETHERNET: "ethernet",
    IPV4: "ipv4",
    IPV6: "ipv6",
}
DROP_REASON_BIT = 15
TO_THE_END = 0xFF


@dataclass
class Individual:
    """One individual report, and what a decoder must return for it."""

    type: int
    inner: int
    flags: tuple
    metadata: dict = field(default_factory=dict)
    domain: int = 0
    ds_bits: int = 0
    ds_status: int = 0
    ds_words: bytes = b""
    contents: bytes = b""
    flow: dict | None = None
    int_headers: list = field(default_factory=list)
    to_the_end: bool = False

    def bitmap(self):
        return sum(0x8000 >> bit for bit in self.metadata)

    def encode(self, md_length=None, length=None):
        main, words = b"", 0
        if self.type == INT:
            baseline = b"".join(
                value.to_bytes(4 * int21.words_of_bit(bit), "big")
                for bit, value in sorted(self.metadata.items())
            )
            words = (len(baseline) + len(self.ds_words)) // 4
            fixed = (self.bitmap(), self.domain, self.ds_bits, self.ds_status)
            main = struct.pack(">HHHH", *fixed) + baseline + self.ds_words
        body = main + self.contents
        if not self.to_the_end:
            body += b"\0" * (-len(body) % 4)
        count = TO_THE_END if self.to_the_end else len(body) // 4
        dropped, queue, flow, intermediate = self.flags
        bits = dropped << 7 | queue << 6 | flow << 5 | intermediate << 4
        kinds = self.type << 4 | self.inner
        return (
            bytes(
                [
                    kinds,
                    count if length is None else length,
                    words if md_length is None else md_length,
                    bits,
                ]
            )
            + body
        )

    def json(self):
        metadata, drop = {}, {"drop_reason": None}
        for bit, value in sorted(self.metadata.items()):
            if bit == DROP_REASON_BIT:
                drop = {"drop_queue_id": value >> 24, "drop_reason": value >> 16 & 0xFF}
            else:
                metadata |= int21.metadata_json(bit, value)
        dropped, queue, flow, intermediate = (bool(flag) for flag in self.flags)
        return {
            "type": TYPE_NAMES[self.type],
            "inner": INNER_NAMES[self.inner],
            "dropped": dropped,
            "queue": queue,
            "flow_report": flow,
            "intermediate": intermediate,
            "metadata": metadata,
            "domain": self.domain,
            "domain_metadata": self.ds_words.hex(),
            "flow": self.flow,
            "int": self.int_headers,
        } | drop


@dataclass
class Group:
    """A report group: one datagram."""

    node_id: int
    hw_id: int
    sequence: int
    reports: list

    def header(self, version=2):
        return struct.pack(">II", version << 28 | self.hw_id << 22 | self.sequence, self.node_id)

    def encode(self):
        return self.header() + b"".join(report.encode() for report in self.reports)

    def json(self):
        return {
            "kind": "report",
            "version": "2.0",
            "node_id": self.node_id,
            "hw_id": self.hw_id,
            "sequence": self.sequence,
            "reports": [report.json() for report in self.reports],
        }


def random_group(rng):
    count = rng.choice((1, 1, 1, 2, 3, 6))
    reports = [random_individual(rng, last=number == count - 1) for number in range(count)]
    return Group(rng.getrandbits(32), rng.randrange(64), rng.getrandbits(22), reports)


def random_individual(rng, last):
    flags = tuple(rng.random() < 0.3 for _ in range(4))
    kind = rng.choice((INNER_ONLY, INT, INT, INT))
    report = Individual(kind, NONE, flags)
    if kind == INT:
        bits = [bit for bit in range(1, 9) if rng.random() < 0.4]
        bits += [bit for bit in (9, 12, 14) if rng.random() < 0.05]
        bits += [DROP_REASON_BIT] if rng.random() < 0.3 else []
        for bit in bits:
            report.metadata[bit] = int21.random_value(rng, bit)
        if rng.random() < 0.25:
            report.domain = rng.randrange(1, 0x10000)
            report.ds_bits = rng.randrange(1, 0x10000)
            report.ds_status = rng.getrandbits(16)
            report.ds_words = rng.randbytes(4 * rng.randrange(0, 6))
    pick = rng.random()
    if pick < 0.15:
        return report
    fill_inner(rng, report, packet_inside(rng))
    main = 2 + int21.words_of_bitmap(report.bitmap()) + len(report.ds_words) // 4
    words = (main if kind == INT else 0) + (len(report.contents) + 3) // 4
    report.to_the_end = last and (words >= TO_THE_END or rng.random() < 0.3)
    if words >= TO_THE_END and not last:
        return random_individual(rng, last)
    return report


def packet_inside(rng):
    """An INT packet or a plain one: link type, bytes, flow, INT headers."""
    if rng.random() < 0.6:
        carried = carry.random_carried(rng)
        return carried.link, carried.frame, carried.flow, carried.headers
    traffic = packets.random_traffic(rng)
    return traffic.link, traffic.frame(), traffic.flow(), []


def fill_inner(rng, report, packet):
    link, data, report.flow, report.int_headers = packet
    version = data[0] >> 4
    if link == RAW_IP:
        report.inner = IPV4 if version == 4 else IPV6
    else:
        report.inner = ETHERNET
    report.contents = data
    if rng.random() < 0.15:
        kind = {ETHERNET: 1, IPV4: 2, IPV6: 3}[report.inner]
        words = (len(data) + 3) // 4
        if words < 200:
            report.inner = TLV
            report.contents = tlv(kind, 0, data)
            if rng.random() < 0.3:
                report.contents = tlv(0, rng.getrandbits(16), rng.randbytes(8)) + report.contents


def tlv(kind, template, data):
    data += b"\0" * (-len(data) % 4)
    return struct.pack(">BBH", kind << 4, len(data) // 4, template) + data


def datagram(rng, payload):
    """`payload` in UDP to the report port."""
    outer = packets.random_traffic(rng, packets.UDP_NUMBER, link=captures.ETHERNET)
    outer.transport.dport = packets.REPORT_PORT
    outer.payload, outer.padding = payload, b""
    outer.checksum_error = rng.choice((0, None))
    return outer.frame()


def decode_datagram(frame):
    """The group in a report frame as `inband node` writes it: Ethernet, IPv4, UDP, checked."""
    assert frame[12:14] == b"\x08\x00" and frame[14] == 0x45, frame.hex()
    total, = struct.unpack_from(">H", frame, 16)
    assert total == len(frame) - 14, "IPv4 total length"
    assert _sum(frame[14:34]) == 0xFFFF, "IPv4 checksum"
    length, checksum = struct.unpack_from(">HH", frame, 38)
    assert length == total - 20, "UDP length"
    if checksum:
        pseudo = frame[26:34] + struct.pack(">HH", 17, length)
        assert _sum(pseudo + frame[34:]) == 0xFFFF, "UDP checksum"
    return decode(frame[42:])


def _sum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def decode(payload):
    first, node_id = struct.unpack_from(">II", payload)
    assert first >> 28 == 2, "version"
    group = Group(node_id, first >> 22 & 0x3F, first & 0x3FFFFF, [])
    at = 8
    while at < len(payload):
        kinds, length, md_length, bits = payload[at : at + 4]
        end = len(payload) if length == TO_THE_END else at + 4 + 4 * length
        assert end <= len(payload), "report length"
        flags = tuple(bits >> shift & 1 for shift in (7, 6, 5, 4))
        assert not bits & 15
        report = Individual(kinds >> 4, kinds & 15, flags)
        at += 4
        if report.type == INT:
            at = _decode_main(report, payload, at, md_length)
        report.contents, at = payload[at:end], end
        group.reports.append(report)
    assert group.reports
    return group


def _decode_main(report, payload, at, md_length):
    bitmap, report.domain, report.ds_bits, report.ds_status = struct.unpack_from(">HHHH", payload, at)
    at += 8
    end = at + 4 * md_length
    for bit in int21.bits_of(bitmap):
        width = 4 * int21.words_of_bit(bit)
        report.metadata[bit] = int.from_bytes(payload[at : at + width], "big")
        at += width
    assert at <= end, "MD length"
    report.ds_words = payload[at:end]
    return end
