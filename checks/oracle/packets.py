"""Packets of hosts, and where they carry INT. Outer headers come from scapy."""

import ipaddress
import struct
from dataclasses import dataclass, field, replace

from scapy.config import conf
from scapy.layers.inet import (
    GRE,
    IP,
    TCP,
    UDP,
    IPOption,
    IPOption_NOP,
    IPOption_RR,
)
from scapy.layers.inet6 import (
    IPv6,
    IPv6ExtHdrDestOpt,
    IPv6ExtHdrFragment,
    IPv6ExtHdrHopByHop,
    IPv6ExtHdrRouting,
    PadN,
)
from scapy.layers.ipsec import AH
from scapy.layers.l2 import Dot1AD, Dot1Q, Ether
from scapy.packet import Raw

import captures

conf.route.routes.clear()
conf.route6.routes.clear()

DSCP_INT = 0x17
UDP_PORT_INT = 33122
PROBE_MARKER = bytes.fromhex("aaaaaaaabbbbbbbb")
GRE_PROTOCOL_INT = 0x4569
VXLAN_GPE_INT = 0x82
GENEVE_CLASS_INT = 0x0103
REPORT_PORT = 32766
TAKEN_PORTS = {UDP_PORT_INT, REPORT_PORT, 4789, 4790, 6081, 8472}
TCP_NUMBER, UDP_NUMBER = 6, 17


@dataclass
class Traffic:
    """One packet of a host: everything except INT."""

    link: int = captures.ETHERNET
    vlans: list = field(default_factory=list)
    network: object = None
    extensions: list = field(default_factory=list)
    transport: object = None
    payload: bytes = b""
    checksum_error: int | None = 0
    padding: bytes = b""
    dscp: int = 0
    ecn: int = 0

    @property
    def checksum(self):
        """A decoder's result for the TCP or UDP checksum."""
        return "absent" if self.checksum_error is None else "bad" if self.checksum_error else "ok"

    def checksum_at(self):
        return 16 if self.protocol == TCP_NUMBER else 6

    @property
    def protocol(self):
        return TCP_NUMBER if isinstance(self.transport, TCP) else UDP_NUMBER

    def flow(self, destination_port=None):
        destination = self.network.dst
        return {
            "source": str(ipaddress.ip_address(self.network.src)),
            "destination": str(ipaddress.ip_address(destination)),
            "protocol": self.protocol,
            "source_port": self.transport.sport,
            "destination_port": destination_port or self.transport.dport,
        }

    def ip_layer(self, dscp=None):
        """The IP header and its extension headers, without payload."""
        layer = self.network.copy()
        value = (self.dscp if dscp is None else dscp) << 2 | self.ecn
        if layer.version == 4:
            layer.tos = value
        else:
            layer.tc = value
        for extension in self.extensions:
            layer = layer / extension.copy()
        return layer

    def transport_bytes(self):
        """The TCP or UDP header and payload, with this packet's checksum."""
        packet = self.ip_packet()
        return packet[len(packet) - self.transport_length() :]

    def transport_length(self):
        return len(bytes(self.transport)) + len(self.payload)

    def ip_packet(self, middle=b"", dscp=None, destination_port=None, options="after"):
        """The IP packet, with `middle` between the TCP or UDP header and the payload."""
        transport = self.transport.copy()
        if destination_port is not None:
            transport.dport = destination_port
        if self.checksum_error is None:
            transport.chksum = 0
        packet = bytes(self.ip_layer(dscp) / transport / Raw(middle + self.payload))
        length = len(bytes(transport))
        start = len(packet) - length - len(middle) - len(self.payload)
        segment = bytearray(packet[start:])
        if self.checksum_error:
            spoil_checksum(segment, self.checksum_at(), self.checksum_error)
        if options == "before" and self.protocol == TCP_NUMBER:
            segment = segment[:20] + middle + segment[20:length] + segment[length + len(middle) :]
        return packet[:start] + bytes(segment)

    def link_layer(self, inner):
        """`inner`, an IP packet, after this packet's Ethernet header and tags."""
        if self.link == captures.RAW_IP:
            return inner
        header = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
        for number, tag in enumerate(self.vlans):
            last = number == len(self.vlans) - 1
            header = header / (Dot1Q(vlan=tag) if last else Dot1AD(vlan=tag))
        header.lastlayer().type = 0x0800 if inner[0] >> 4 == 4 else 0x86DD
        return bytes(header) + inner + self.padding

    def frame(self, **how):
        return self.link_layer(self.ip_packet(**how))


def spoil_checksum(segment, at, error):
    """Adds `error` to a correct checksum in one's complement; avoids 0, which means no checksum."""
    value = (struct.unpack_from(">H", segment, at)[0] + error) % 0xFFFF
    struct.pack_into(">H", segment, at, value or 0xFFFF)


def random_address(rng, version):
    if version == 4:
        return f"10.{rng.randrange(256)}.{rng.randrange(256)}.{rng.randrange(1, 255)}"
    return str(ipaddress.IPv6Address((0x2001_0DB8 << 96) | rng.getrandbits(64)))


def random_port(rng):
    while True:
        port = rng.choice((80, 443, 53, rng.randrange(1, 65536)))
        if port not in TAKEN_PORTS:
            return port


def random_network(rng, version):
    source, destination = random_address(rng, version), random_address(rng, version)
    if version == 6:
        return IPv6(src=source, dst=destination, hlim=rng.randrange(1, 256), fl=rng.getrandbits(20))
    options = []
    if rng.random() < 0.2:
        options = rng.choice(
            (
                [IPOption_NOP()],
                [IPOption_RR(routers=["1.2.3.4"])],
                [IPOption(copy_flag=1, optclass=0, option=20, value=b"\0\0")],
                [IPOption_NOP()] * 40,
            )
        )
    return IP(
        src=source,
        dst=destination,
        ttl=rng.randrange(1, 256),
        id=rng.getrandbits(16),
        flags=rng.choice(("", "DF")),
        options=options,
    )


def random_extensions(rng):
    out = []
    if rng.random() < 0.5:
        out.append(IPv6ExtHdrHopByHop(options=[PadN(optdata=b"\0" * rng.choice((4, 12)))]))
    if rng.random() < 0.5:
        out.append(IPv6ExtHdrDestOpt(options=[PadN(optdata=b"\0" * rng.choice((4, 20)))]))
    if rng.random() < 0.3:
        out.append(IPv6ExtHdrRouting(addresses=["2001:db8::77"], segleft=0))
    if rng.random() < 0.2:
        out.append(IPv6ExtHdrFragment(offset=0, m=0, id=rng.getrandbits(32)))
    return out


def random_transport(rng, protocol=None):
    ports = {"sport": random_port(rng), "dport": random_port(rng)}
    if (protocol or rng.choice((TCP_NUMBER, UDP_NUMBER))) == UDP_NUMBER:
        return UDP(**ports)
    options = rng.choice(
        (
            [],
            [],
            [("MSS", 1460), ("NOP", None), ("WScale", 7)],
            [("NOP", None), ("NOP", None), ("Timestamp", (rng.getrandbits(32), 7))],
            [("NOP", None)] * 40,
        )
    )
    return TCP(
        seq=rng.getrandbits(32),
        ack=rng.getrandbits(32),
        flags=rng.choice(("S", "A", "PA", "FA")),
        options=options,
        **ports,
    )


def random_traffic(rng, protocol=None, version=None, link=None, longest=200):
    """A packet of a host that does not look like INT."""
    version = version or rng.choice((4, 4, 6))
    link = link or rng.choice((captures.ETHERNET,) * 4 + (captures.RAW_IP,))
    traffic = Traffic(
        link=link,
        network=random_network(rng, version),
        transport=random_transport(rng, protocol),
        payload=rng.randbytes(rng.choice((0, 1, 2, 3, rng.randrange(longest + 1)))),
        dscp=rng.choice((0, 0, 10, 46)),
        ecn=rng.randrange(4),
    )
    if version == 6 and rng.random() < 0.3:
        traffic.extensions = random_extensions(rng)
    if rng.random() < 0.25:
        traffic.checksum_error = rng.randrange(1, 0xFFFF)
    elif traffic.protocol == UDP_NUMBER and rng.random() < 0.3:
        traffic.checksum_error = None
    if link == captures.ETHERNET:
        tags = rng.choice((0, 0, 0, 1, 2))
        traffic.vlans = [rng.randrange(1, 4095) for _ in range(tags)]
        bare = len(traffic.frame())
        if bare < 60 and rng.random() < 0.8:
            traffic.padding = bytes(60 - bare)
        elif rng.random() < 0.1:
            traffic.padding = rng.randbytes(rng.randrange(1, 9))
    return traffic


def plain(traffic, **changes):
    """A copy of the packet with changes."""
    return replace(traffic, **changes)


def shim(header, npt, field_16, reserved=0, length=None):
    """The INT shim header for TCP/UDP."""
    words = header.length_words() if length is None else length
    return struct.pack(">BBH", header.type << 4 | npt << 2 | reserved, words, field_16)


def ipsec_packet(rng, version):
    """An IP packet with an authentication header, which the specification wraps into new IP."""
    network = random_network(rng, version)
    auth = AH(spi=rng.getrandbits(32), seq=1, nh=TCP_NUMBER, icv=rng.randbytes(12))
    return network / auth / Raw(rng.randbytes(40))


def gre_header(rng, protocol):
    """A GRE header with some of its optional fields; scapy fills in the checksum."""
    header = GRE(proto=protocol)
    if rng.random() < 0.3:
        header.chksum_present = 1
    if rng.random() < 0.3:
        header.key_present, header.key = 1, rng.getrandbits(32)
    if rng.random() < 0.3:
        header.seqnum_present, header.seqence_number = 1, rng.getrandbits(32)
    return header


def vxlan_gpe_header(vni, next_protocol, flags=0x0C):
    return struct.pack(">BHBI", flags, 0, next_protocol, vni << 8)


def geneve_header(options, protocol, vni):
    assert len(options) % 4 == 0 and len(options) <= 252
    return struct.pack(">BBHI", len(options) // 4, 0, protocol, vni << 8) + options


def geneve_option(option_class, kind, body, length=None):
    words = len(body) // 4 if length is None else length
    return struct.pack(">HBB", option_class, kind, words) + body
