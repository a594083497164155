"""A reader and writer of pcap and pcapng, independent of the program's own."""

import struct
from dataclasses import dataclass

ETHERNET, RAW_IP = 1, 101


@dataclass
class Record:
    time_ns: int
    data: bytes
    original_length: int | None = None
    link: int = ETHERNET


def write_pcap(records, link=ETHERNET, order="<", nanoseconds=True, snap=262144):
    magic = 0xA1B23C4D if nanoseconds else 0xA1B2C3D4
    out = [struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, snap, link)]
    for record in records:
        seconds, rest = divmod(record.time_ns, 1_000_000_000)
        fraction = rest if nanoseconds else rest // 1000
        original = len(record.data) if record.original_length is None else record.original_length
        out.append(struct.pack(order + "IIII", seconds, fraction, len(record.data), original))
        out.append(record.data)
    return b"".join(out)


def _block(order, kind, body):
    body += b"\0" * (-len(body) % 4)
    total = len(body) + 12
    return struct.pack(order + "II", kind, total) + body + struct.pack(order + "I", total)


def _option(order, code, value):
    return struct.pack(order + "HH", code, len(value)) + value + b"\0" * (-len(value) % 4)


def write_pcapng(records, links=(ETHERNET,), order="<", resolution=9):
    """One section, one interface per link type, an enhanced packet block per record."""
    section = struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1)
    out = [_block(order, 0x0A0D0D0A, section)]
    for link in links:
        options = _option(order, 9, bytes([resolution])) + _option(order, 0, b"")
        out.append(_block(order, 1, struct.pack(order + "HHI", link, 0, 0) + options))
    for record in records:
        ticks = record.time_ns // 10 ** (9 - resolution)
        original = len(record.data) if record.original_length is None else record.original_length
        head = struct.pack(
            order + "IIIII",
            links.index(record.link),
            ticks >> 32,
            ticks & 0xFFFFFFFF,
            len(record.data),
            original,
        )
        out.append(_block(order, 6, head + record.data))
    return b"".join(out)


def read(data):
    """The records of a pcap or pcapng file."""
    if data[:4] == b"\x0a\x0d\x0d\x0a":
        return _read_pcapng(data)
    return _read_pcap(data)


def _read_pcap(data):
    order = "<" if data[0] in (0x4D, 0xD4) else ">"
    magic, _, _, _, _, _, link = struct.unpack_from(order + "IHHiIII", data)
    unit = {0xA1B23C4D: 1, 0xA1B2C3D4: 1000}[magic]
    records, at = [], 24
    while at < len(data):
        seconds, fraction, length, original = struct.unpack_from(order + "IIII", data, at)
        at += 16
        time = seconds * 1_000_000_000 + fraction * unit
        records.append(Record(time, data[at : at + length], original, link))
        at += length
    return records


def _read_pcapng(data):
    records, interfaces, at, order = [], [], 0, "<"
    while at < len(data):
        if data[at : at + 4] == b"\x0a\x0d\x0d\x0a":
            order = "<" if data[at + 8 : at + 12] == b"\x4d\x3c\x2b\x1a" else ">"
            interfaces = []
        kind, total = struct.unpack_from(order + "II", data, at)
        body = data[at + 8 : at + total - 4]
        assert struct.unpack_from(order + "I", data, at + total - 4)[0] == total
        if kind == 1:
            interfaces.append((struct.unpack_from(order + "H", body)[0], _resolution(order, body)))
        elif kind == 6:
            index, high, low, length, original = struct.unpack_from(order + "IIIII", body)
            link, ticks_per_second = interfaces[index]
            time = (high << 32 | low) * 1_000_000_000 // ticks_per_second
            records.append(Record(time, body[20 : 20 + length], original, link))
        at += total
    return records


def _resolution(order, body):
    at = 8
    while at + 4 <= len(body):
        code, length = struct.unpack_from(order + "HH", body, at)
        if code == 0:
            break
        if code == 9:
            value = body[at + 4]
            return 2 ** (value & 0x7F) if value & 0x80 else 10**value
        at += 4 + length + (-length % 4)
    return 1_000_000
