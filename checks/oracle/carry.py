"""INT headers in each encapsulation: frames, and what a decoder must return for them."""

from dataclasses import dataclass

from scapy.layers.inet import UDP
from scapy.packet import Raw

import int21
import packets
from captures import RAW_IP
from packets import TCP_NUMBER, UDP_NUMBER

KINDS = ("dscp", "udp-port", "probe-marker", "udp", "udp-new-ip", "gre", "vxlan-gpe", "geneve")
ETHERNET_IN_GPE, IPV4_IN_GPE, IPV6_IN_GPE = 3, 1, 2
GENEVE_OPTION_WORDS = 31


@dataclass
class Carried:
    """A frame with INT, where its shim starts, and the JSON of it."""

    frame: bytes
    link: int
    encapsulation: str
    flow: dict
    checksum: str
    headers: list
    shim_at: int

    def json(self):
        return {
            "kind": "int",
            "flow": self.flow,
            "encapsulation": self.encapsulation,
            "checksum": self.checksum,
            "int": self.headers,
        }


def random_carried(rng, kind=None):
    """A valid INT packet in a random or the given encapsulation."""
    kind = kind or rng.choice(KINDS)
    return {
        "dscp": _behind_transport,
        "udp-port": _behind_transport,
        "probe-marker": _behind_transport,
        "udp": _new_udp,
        "udp-new-ip": _new_ip_and_udp,
        "gre": _gre,
        "vxlan-gpe": _vxlan_gpe,
        "geneve": _geneve,
    }[kind](rng, kind)


def _located(frame, needle):
    at = frame.find(needle)
    assert at > 0
    return at


def _behind_transport(rng, kind):
    header = int21.random_header(rng)
    protocol = UDP_NUMBER if kind == "udp-port" else None
    traffic = packets.random_traffic(rng, protocol)
    how, marker, npt, dscp = {}, b"", 0, rng.getrandbits(6)
    field, original = dscp << 2, {"dscp": dscp}
    if kind == "dscp":
        how["dscp"] = packets.DSCP_INT
    elif kind == "udp-port":
        npt, field = 1, traffic.transport.dport
        original = {"udp_port": field}
        how["destination_port"] = packets.UDP_PORT_INT
    else:
        marker = packets.PROBE_MARKER
    # Behind a marker, the reserved bits help to distinguish INT from host traffic.
    reserved = 0 if marker else rng.choice((0, 0, 0, 3))
    shim = packets.shim(header, npt, field, reserved)
    frame = traffic.frame(middle=marker + shim + header.body(), **how)
    return Carried(
        frame,
        traffic.link,
        kind,
        traffic.flow(),
        traffic.checksum,
        [header.json(original)],
        _located(frame, shim + header.body()),
    )


def _new_udp(rng, kind):
    header = int21.random_header(rng)
    traffic = packets.random_traffic(rng)
    shim = packets.shim(header, 2, traffic.protocol)
    checksum = rng.choice(("absent", "absent", "ok"))
    udp = UDP(sport=rng.randrange(1, 65536), dport=packets.UDP_PORT_INT)
    if checksum == "absent":
        udp.chksum = 0
    middle = shim + header.body()
    inner = traffic.ip_layer() / udp / Raw(middle + traffic.transport_bytes())
    frame = traffic.link_layer(bytes(inner))
    headers = [header.json({"ip_protocol": traffic.protocol})]
    return Carried(
        frame, traffic.link, "udp", traffic.flow(), checksum, headers, _located(frame, middle)
    )


def _new_ip_and_udp(rng, kind):
    header = int21.random_header(rng)
    outer = packets.random_traffic(rng, UDP_NUMBER)
    version = rng.choice((4, 6))
    inner = packets.ipsec_packet(rng, version)
    protocol = 4 if version == 4 else 41
    middle = packets.shim(header, 2, protocol) + header.body()
    udp = UDP(sport=1, dport=packets.UDP_PORT_INT, chksum=0)
    frame = outer.link_layer(bytes(outer.ip_layer() / udp / Raw(middle + bytes(inner))))
    flow = {
        "source": inner.src,
        "destination": inner.dst,
        "protocol": 51,
        "source_port": 0,
        "destination_port": 0,
    }
    headers = [header.json({"ip_protocol": protocol})]
    return Carried(frame, outer.link, "udp", flow, "absent", headers, _located(frame, middle))


def _tunnel(rng):
    """The outer headers of a tunnel, and the packet inside it."""
    outer = packets.random_traffic(rng, UDP_NUMBER)
    outer.payload = b""
    inner = packets.random_traffic(rng)
    return outer, inner


def _gre(rng, kind):
    header = int21.random_header(rng)
    outer, inner = _tunnel(rng)
    data = inner.frame()
    ethertype = 0x6558
    if inner.link == RAW_IP:
        ethertype = 0x0800 if inner.network.version == 4 else 0x86DD
    g_bit = rng.choice((0, 8))
    first = header.type << 4 | g_bit
    middle = bytes([first, header.length_words()]) + ethertype.to_bytes(2, "big") + header.body()
    gre = packets.gre_header(rng, packets.GRE_PROTOCOL_INT)
    packet = bytes(outer.ip_layer() / gre / Raw(middle + data))
    frame = outer.link_layer(packet)
    checksum = "ok" if gre.chksum_present else "absent"
    headers = [header.json({"ethertype": ethertype})]
    return Carried(
        frame, outer.link, "gre", inner.flow(), checksum, headers, _located(frame, middle)
    )


def _tunnelled_protocol(inner, numbers):
    if inner.link != RAW_IP:
        return numbers[0]
    return numbers[1] if inner.network.version == 4 else numbers[2]


def _random_chain(rng, limit_words=255):
    """One MD or MX header, and sometimes a destination header behind it."""
    chain = [int21.random_header(rng, limit_words=limit_words)]
    if rng.random() < 0.25:
        chain.append(int21.random_header(rng, types=(int21.DESTINATION,)))
    return chain


def _in_udp(outer, port, payload):
    outer.transport.dport = port
    outer.payload = payload
    return outer.frame()


def _vxlan_gpe(rng, kind):
    chain = _random_chain(rng)
    outer, inner = _tunnel(rng)
    final = _tunnelled_protocol(inner, (ETHERNET_IN_GPE, IPV4_IN_GPE, IPV6_IN_GPE))
    middle, headers = b"", []
    for number, header in enumerate(chain):
        last = number == len(chain) - 1
        follows = final if last else packets.VXLAN_GPE_INT
        middle += bytes([header.type << 4, header.length_words(), rng.choice((0, 0x80)), follows])
        middle += header.body()
        headers.append(header.json({"next_protocol": follows}))
    gpe = packets.vxlan_gpe_header(rng.getrandbits(24), packets.VXLAN_GPE_INT)
    frame = _in_udp(outer, 4790, gpe + middle + inner.frame())
    at = _located(frame, gpe + middle) + len(gpe)
    return Carried(frame, outer.link, kind, inner.flow(), outer.checksum, headers, at)


def _geneve(rng, kind):
    chain = _random_chain(rng, limit_words=GENEVE_OPTION_WORDS)
    outer, inner = _tunnel(rng)
    protocol = _tunnelled_protocol(inner, (0x6558, 0x0800, 0x86DD))
    ours, headers = b"", []
    for header in chain:
        body = header.body()
        ours += packets.geneve_option(packets.GENEVE_CLASS_INT, header.type, body)
        headers.append(header.json({}))
    before, after = (_other_options(rng, 252 - len(ours)) for _ in range(2))
    if len(before) + len(ours) + len(after) > 252:
        after = b""
    base = packets.geneve_header(before + ours + after, protocol, rng.getrandbits(24))
    frame = _in_udp(outer, 6081, base + inner.frame())
    at = _located(frame, base) + 8 + len(before)
    return Carried(frame, outer.link, kind, inner.flow(), outer.checksum, headers, at)


def _other_options(rng, room):
    out = b""
    while rng.random() < 0.4:
        body = rng.randbytes(4 * rng.randrange(0, 5))
        if len(out) + 4 + len(body) > room:
            break
        out += packets.geneve_option(rng.choice((0x0102, 0xFFFF)), rng.randrange(128), body)
    return out


def is_tcp(carried):
    return carried.flow["protocol"] == TCP_NUMBER
