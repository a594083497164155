"""Packets of hosts with INT, and the fields that a source may choose freely."""

import struct
from dataclasses import dataclass

from scapy.layers.inet import GRE, IP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Raw

import packets
from captures import ETHERNET, RAW_IP
from packets import TCP_NUMBER, UDP_NUMBER, Traffic

LONGEST = 255
MAX_GENEVE_OPTION = 31
GENEVE_OPTIONS_BYTES = 252
LINK_HEADER = 14


@dataclass
class Carrier:
    """A packet of a host that can carry INT; this base class carries none."""

    traffic: Traffic
    domain: object

    def frame(self):
        return self.traffic.frame()

    def possible(self):
        """Whether INT can be added to this packet."""
        return False

    def limit_words(self):
        return LONGEST

    def link_bytes(self):
        """The number of bytes before the IP packet in a frame."""
        traffic = self.traffic
        if traffic.link == RAW_IP:
            return 0
        return LINK_HEADER + 4 * len(traffic.vlans) + len(traffic.padding)

    def ip_length(self, header):
        return len(self.with_int(header, b"")) - self.link_bytes()

    def without_int(self, restored):
        """The frame that leaves the domain; without `restored` the bits of the mark are 0."""
        return self.frame()

    def covers_checksum(self):
        """Whether a TCP or UDP checksum covers INT."""
        return self.traffic.checksum_error is not None

    def checksum_of(self, frame):
        """The checksum of TCP, UDP, or GRE in `frame`, which is this packet with INT."""
        traffic = self.traffic
        network = len(bytes(traffic.ip_layer()))
        at = self.link_bytes() - len(traffic.padding) + network + self.checksum_at()
        return struct.unpack_from(">H", frame, at)[0]

    def checksum_at(self):
        return self.traffic.checksum_at()

    def like(self, actual):
        """The freely chosen fields of `actual`, for `with_int`."""
        return b""


class Dscp(Carrier):
    def possible(self):
        return True

    def marked(self):
        d = self.domain
        return self.traffic.dscp & ~d.dscp_mask & 0x3F | d.dscp & d.dscp_mask

    def with_int(self, header, free):
        shim = packets.shim(header, 0, self.traffic.dscp << 2)
        middle = shim + header.body()
        return self.traffic.frame(
            middle=middle, dscp=self.marked(), options=self.domain.tcp_options
        )

    def without_int(self, restored):
        unmarked = self.traffic.dscp & ~self.domain.dscp_mask & 0x3F
        return self.frame() if restored else self.traffic.frame(dscp=unmarked)


class UdpPort(Carrier):
    def possible(self):
        return self.traffic.protocol == UDP_NUMBER

    def with_int(self, header, free):
        middle = packets.shim(header, 1, self.traffic.transport.dport) + header.body()
        return self.traffic.frame(middle=middle, destination_port=self.domain.udp_port)


class ProbeMarker(Carrier):
    """The shim carries the DSCP, which stays unchanged in the IP header."""

    def possible(self):
        return True

    def with_int(self, header, free):
        shim = packets.shim(header, 0, self.traffic.dscp << 2)
        middle = self.domain.probe_marker + shim + header.body()
        return self.traffic.frame(middle=middle, options=self.domain.tcp_options)


class NewUdp(Carrier):
    """A new UDP header with any source port."""

    def possible(self):
        return True

    def with_int(self, header, free):
        traffic = self.traffic
        udp = UDP(sport=0, dport=self.domain.udp_port, chksum=0)
        udp.sport = int.from_bytes(free, "big")
        middle = packets.shim(header, 2, traffic.protocol) + header.body()
        inner = traffic.ip_layer() / udp / Raw(middle + traffic.transport_bytes())
        return traffic.link_layer(bytes(inner))

    def like(self, actual):
        traffic = self.traffic
        network = len(bytes(traffic.ip_layer()))
        at = self.link_bytes() - len(traffic.padding) + network
        return actual[at : at + 2]

    def covers_checksum(self):
        return False


class NewGre(Carrier):
    """A new outer IPv4 header with any identification, TTL, and type of service."""

    tunnel = ("192.0.2.1", "192.0.2.2")

    def possible(self):
        return True

    def with_int(self, header, free):
        traffic = self.traffic
        packet = traffic.ip_packet()
        ethertype = 0x0800 if packet[0] >> 4 == 4 else 0x86DD
        shim = bytes([header.type << 4 | 8, header.length_words()]) + struct.pack(">H", ethertype)
        outer = IP(src=self.tunnel[0], dst=self.tunnel[1], proto=47)
        if free:
            outer.tos, outer.ttl = free[0], free[1]
            outer.id, flags = struct.unpack(">HH", free[2:])
            outer.flags = flags >> 13
        gre = GRE(proto=self.domain.gre_protocol)
        return traffic.link_layer(bytes(outer / gre / Raw(shim + header.body() + packet)))

    def like(self, actual):
        at = self.link_bytes() - len(self.traffic.padding)
        ip = actual[at : at + 20]
        return bytes([ip[1], ip[8]]) + ip[4:8]

    def covers_checksum(self):
        return False


@dataclass
class InGre(Carrier):
    """A GRE packet of a host: `traffic` is its outer IP, `inner` what the tunnel carries."""

    gre: GRE = None
    inner: bytes = b""

    def _build(self, protocol, payload):
        gre = self.gre.copy()
        gre.proto = protocol
        packet = bytes(self.traffic.ip_layer() / gre / Raw(payload))
        return self.traffic.link_layer(packet)

    def frame(self):
        return self._build(self.gre.proto, self.inner)

    def possible(self):
        return True

    def with_int(self, header, free):
        shim = struct.pack(">BBH", header.type << 4, header.length_words(), self.gre.proto)
        return self._build(self.domain.gre_protocol, shim + header.body() + self.inner)

    def covers_checksum(self):
        return bool(self.gre.chksum_present)

    def checksum_at(self):
        return 4


@dataclass
class InVxlan(Carrier):
    """A VXLAN or VXLAN-GPE packet of a host."""

    vni: int = 0
    next_protocol: int | None = 3
    inner: bytes = b""

    def _build(self, port, vxlan, payload):
        traffic = packets.plain(self.traffic, payload=vxlan + payload)
        return traffic.frame(destination_port=port)

    def frame(self):
        if self.next_protocol is None:
            return self._build(4789, packets.vxlan_gpe_header(self.vni, 0, flags=0x08), self.inner)
        return self._build(4790, packets.vxlan_gpe_header(self.vni, self.next_protocol), self.inner)

    def possible(self):
        return True

    def with_int(self, header, free):
        plain = self.next_protocol is None
        gpe = packets.vxlan_gpe_header(self.vni, self.domain.vxlan_gpe_next_protocol)
        follows = 3 if plain else self.next_protocol
        first = header.type << 4
        shim = bytes([first, header.length_words(), 0x80 if plain else 0, follows])
        return self._build(4790, gpe, shim + header.body() + self.inner)


@dataclass
class InGeneve(Carrier):
    """A Geneve packet of a host, with options."""

    options: bytes = b""
    vni: int = 0
    inner: bytes = b""

    def _build(self, options):
        base = packets.geneve_header(options, 0x6558, self.vni)
        traffic = packets.plain(self.traffic, payload=base + self.inner)
        return traffic.frame(destination_port=6081)

    def frame(self):
        return self._build(self.options)

    def possible(self):
        return True

    def limit_words(self):
        room = (GENEVE_OPTIONS_BYTES - len(self.options)) // 4 - 1
        return min(MAX_GENEVE_OPTION, room)

    def with_int(self, header, free):
        option = packets.geneve_option(self.domain.geneve_class, header.type, header.body())
        return self._build(self.options + option)


def random_carrier(rng, domain):
    """A packet of a host, usually one that the domain's encapsulation fits."""
    kind = domain.kind
    if kind == "gre" and rng.random() < 0.5:
        return _random_gre(rng, domain)
    if kind == "vxlan-gpe" and rng.random() < 0.85:
        next_protocol = rng.choice((None, 3, 3, 3))
        outer, inner = _tunnel(rng)
        return InVxlan(outer, domain, rng.getrandbits(24), next_protocol, inner)
    if kind == "geneve" and rng.random() < 0.85:
        options = b""
        for _ in range(rng.choice((0, 0, 1, 3, 8))):
            body = rng.randbytes(4 * rng.randrange(0, 8))
            options += packets.geneve_option(0x0102, rng.randrange(128), body)
        outer, inner = _tunnel(rng)
        return InGeneve(outer, domain, options, rng.getrandbits(24), inner)
    traffic = random_unmarked(rng, domain)
    plain = {"dscp": Dscp, "udp-port": UdpPort, "probe-marker": ProbeMarker, "udp": NewUdp, "gre": NewGre}
    return plain.get(kind, Carrier)(traffic, domain)


def random_unmarked(rng, domain, **wanted):
    """A packet without the domain's mark, as the specification requires of packets that enter a domain."""
    while True:
        traffic = packets.random_traffic(rng, **wanted)
        marked = traffic.dscp & domain.dscp_mask == domain.dscp & domain.dscp_mask
        port = traffic.transport.dport in (domain.udp_port, packets.UDP_PORT_INT)
        if not port and not (marked and domain.kind == "dscp"):
            return traffic


def _tunnel(rng):
    outer = packets.random_traffic(rng, UDP_NUMBER)
    outer.padding = b"" if outer.link == ETHERNET else outer.padding
    return outer, packets.random_traffic(rng, link=ETHERNET).frame()


def _random_gre(rng, domain):
    inner = packets.random_traffic(rng)
    ethertype = 0x6558
    if inner.link == RAW_IP:
        ethertype = 0x0800 if inner.network.version == 4 else 0x86DD
    outer = packets.random_traffic(rng, UDP_NUMBER)
    outer.padding = b""
    return InGre(outer, domain, packets.gre_header(rng, ethertype), inner.frame())
