"""A model of source, transit hop and sink, by the specification's per-hop rules."""

import copy
from dataclasses import dataclass, field

import int21
from int21 import CHECKSUM_COMPLEMENT_BIT, MD, MX, Hop, IntHeader
from node_config import HOSTS
from watchlist import watched

RESERVED_BITS = range(9, 15)
LEVEL2_UNKNOWN = 0xFFFFFFFF


@dataclass
class Flight:
    """A packet on its path: the host's packet and the INT header in it, if any."""

    carrier: object
    time_ns: int
    header: IntHeader | None = None
    free: bytes = b""
    gone: bool = False
    restored: bool = True

    def frame(self):
        if self.header is None:
            return self.carrier.without_int(self.restored)
        return self.carrier.with_int(self.header, self.free)


@dataclass
class Expected:
    """An individual report that a node must send."""

    node: object
    contents: Flight
    metadata: dict = field(default_factory=dict)
    ds_id: int = 0
    ds_bits: int = 0
    ds_words: bytes = b""
    intermediate: bool = False


def handle(node, flight, ingress, egress):
    """Processes `flight` at `node`, in place; returns the reports it must send."""
    entered_without = flight.header is None
    reports = []
    starts = entered_without and ingress == HOSTS and node.source is not None
    starts = starts and watched(node.watch, flight.carrier.traffic.flow())
    if starts:
        start(node, flight, ingress, egress, reports)
    elif not entered_without and egress != HOSTS and flight.header.type == MD:
        transit(node, flight, ingress, egress, reports)
    if flight.header is None:
        return reports
    silent = node.sink_metadata == "none" if egress == HOSTS else starts and not node.source.own_metadata
    if flight.header.type == MX and not silent:
        report_mx(node, flight, ingress, egress, reports)
    if egress == HOSTS:
        if flight.header.type == MD:
            sink_md(node, flight, ingress, egress, reports, entered_without)
        flight.gone = flight.header.discard
        flight.restored = node.restore_dscp
        flight.header = None
    return reports


def value_of(node, bit, time_ns, ingress, egress):
    """This node's value for a baseline instruction; None where it has none."""
    o = node.offline
    name = int21.INSTRUCTIONS.get(bit)
    if name is None or name in node.unavailable:
        return None
    if bit == 0:
        return node.id
    if bit == 1:
        return ingress << 16 | egress
    if bit == 2:
        return o["hop_latency"]
    if bit == 3:
        return o["queue_id"] << 24 | o["queue_occupancy"]
    if bit == 4:
        return time_ns
    if bit == 5:
        return time_ns + o["hop_latency"]
    if bit == 6:
        levels = [node.level2.get(number, LEVEL2_UNKNOWN) for number in (ingress, egress)]
        return levels[0] << 32 | levels[1]
    if bit == 7:
        return o["egress_utilization"]
    if bit == 8:
        return o["buffer_id"] << 24 | o["buffer_occupancy"]
    return None


def ds_words(node, header, placements):
    """The domain-specific words that this node adds, in the order of DS Instruction."""
    out = b""
    for item in node.domain.ds_metadata:
        asked = header.ds_instruction & (0x8000 >> item.bit)
        if asked and item.placement in placements:
            out += item.value
    return out


def hop_of(node, header, time_ns, ingress, egress, placements=("every-hop",)):
    """The metadata that this node pushes; None if it skips the packet."""
    values = {}
    for bit in int21.bits_of(header.bitmap):
        if bit in RESERVED_BITS and node.unknown_instructions == "skip":
            return None
        value = value_of(node, bit, time_ns, ingress, egress)
        values[bit] = (1 << 32 * int21.words_of_bit(bit)) - 1 if value is None else value
    known = header.domain == 0 or (node.knows_domain and header.domain == node.domain.ds_id)
    if known:
        return Hop(values, ds_words(node, header, placements) if header.domain else b"")
    if node.unknown_instructions == "skip":
        return None
    missing = header.hop_ml - int21.words_of_bitmap(header.bitmap)
    return Hop(values, b"\xff" * 4 * missing)


def push(node, flight, hop, before):
    """Pushes `hop` onto the stack of `before` if there is room; returns what happened."""
    header = flight.header
    grown = copy.deepcopy(header)
    grown.hops.insert(0, hop)
    if grown.length_words() > flight.carrier.limit_words():
        return "room"
    if flight.carrier.ip_length(grown) > node.mtu:
        return "mtu"
    header.hops.insert(0, hop)
    header.remaining_hops -= 1
    complement(node, flight, hop, before)
    return "pushed"


def complement(node, flight, hop, before):
    """Makes the checksum complement keep the L4 checksum of `before`, if the node does so."""
    asked = CHECKSUM_COMPLEMENT_BIT in hop.values and node.checksum_update == "complement"
    if not asked or "checksum-complement" in node.unavailable:
        return
    if not flight.carrier.covers_checksum():
        return
    hop.values[CHECKSUM_COMPLEMENT_BIT] = 0
    checksums = [flight.carrier.checksum_of(frame) for frame in (flight.frame(), before)]
    hop.values[CHECKSUM_COMPLEMENT_BIT] = (checksums[0] - checksums[1]) % 0xFFFF


def start(node, flight, ingress, egress, reports):
    source, carrier = node.source, flight.carrier
    if not carrier.possible():
        return
    bits = sum(0x8000 >> bit for bit in source.ds_bits)
    header = IntHeader(type=MD if source.mode == "md" else MX, bitmap=source.bitmap())
    header.discard, header.remaining_hops = source.discard, source.remaining_hops
    if source.ds_bits or source.ds_flags:
        header.domain = node.domain.ds_id
        header.ds_instruction, header.ds_flags = bits, source.ds_flags
    if header.type == MX:
        header.source_only = ds_words(node, header, ("source-inserted",))
    else:
        every_hop = ds_words(node, header, ("every-hop",)) if header.domain else b""
        header.hop_ml = int21.words_of_bitmap(header.bitmap) + len(every_hop) // 4
    leaves = egress != HOSTS
    if header.length_words() > carrier.limit_words():
        return
    if leaves and carrier.ip_length(header) > node.mtu:
        return
    header.remaining_hops = min(header.remaining_hops, hops_that_fit(node, header, carrier))
    before = flight.frame()
    flight.header = header
    if header.type == MD and source.own_metadata and header.remaining_hops:
        hop = hop_of(node, header, flight.time_ns, ingress, egress)
        source_only = ds_words(node, header, ("source-only",)) if header.domain else b""
        unbounded = copy.copy(node)
        if not leaves:
            unbounded.mtu = 65535
        header.source_only = source_only
        result = push(unbounded, flight, hop, before)
        if result != "pushed":
            header.source_only = b""
        header.mtu_exceeded = result == "mtu"
    if header.type == MD and not header.hops:
        # DS Instruction selects the source-only metadata in the packet.
        every_hop = sum(0x8000 >> item.bit for item in node.domain.ds_metadata if item.placement != "source-only")
        header.ds_instruction &= every_hop


def hops_that_fit(node, header, carrier):
    """How many hops a Geneve option has room for; for other encapsulations, the configured number."""
    if node.domain.kind != "geneve" or not header.hop_ml:
        return header.remaining_hops
    source_only = ds_words(node, header, ("source-only",)) if node.source.own_metadata else b""
    return (carrier.limit_words() - 3 - len(source_only) // 4) // header.hop_ml


def transit(node, flight, ingress, egress, reports, bounded=True):
    header, before = flight.header, flight.frame()
    if header.remaining_hops == 0:
        header.max_hops_exceeded = True
        return
    hop = hop_of(node, header, flight.time_ns, ingress, egress)
    if hop is None:
        return
    limits = node
    if not bounded:
        limits = copy.copy(node)
        limits.mtu = 65535
    if push(limits, flight, hop, before) != "mtu":
        return
    if node.mtu_action == "set-m-bit":
        header.mtu_exceeded = True
    else:
        make_room(node, flight, hop, before, reports)


def make_room(node, flight, hop, before, reports):
    """Reports the stack so far and removes it, then pushes onto the empty stack."""
    header = flight.header
    if not header.hops or not can_tell_source_only(node, header):
        header.mtu_exceeded = True
        return
    reports.append(Expected(node, copy.deepcopy(flight), intermediate=True))
    header.hops = []
    if push(node, flight, hop, before) == "mtu":
        header.mtu_exceeded = True


def can_tell_source_only(node, header):
    """Whether the node knows which words below the hops are only the source's."""
    if not header.domain or not header.ds_instruction:
        return True
    if node.knows_domain and header.domain == node.domain.ds_id:
        return True
    has_words = header.hop_ml > int21.words_of_bitmap(header.bitmap)
    return has_words and header.ds_instruction.bit_count() == 1


def sink_md(node, flight, ingress, egress, reports, started_here):
    header = flight.header
    if node.sink_metadata == "stack" and not started_here:
        transit(node, flight, ingress, egress, reports, bounded=False)
    no_hop_left = node.sink_metadata == "report" and not started_here and header.remaining_hops == 0
    if no_hop_left:
        header.max_hops_exceeded = True
    report = Expected(node, copy.deepcopy(flight))
    # A sink that skips unknown domains reports only the stack.
    if node.sink_metadata == "report" and not no_hop_left and not skips(node, header):
        report_baseline(node, report, header, flight.time_ns, ingress, egress, "every-hop")
    reports.append(report)


def report_mx(node, flight, ingress, egress, reports):
    header = flight.header
    report = Expected(node, copy.deepcopy(flight))
    if skips(node, header):
        return
    report_baseline(node, report, header, flight.time_ns, ingress, egress, "export")
    reports.append(report)


def skips(node, header):
    """Whether the packet requests a domain that this node does not know and skips."""
    known = header.domain == 0 or (node.knows_domain and header.domain == node.domain.ds_id)
    return not known and node.unknown_instructions == "skip"


def report_baseline(node, report, header, time_ns, ingress, egress, placement):
    """Main contents: clears bit 0, reserved bits and unavailable metadata."""
    for bit in int21.bits_of(header.bitmap):
        value = value_of(node, bit, time_ns, ingress, egress)
        if bit not in (0, CHECKSUM_COMPLEMENT_BIT) and value is not None:
            if bit != 6 or value != int21.ALL_ONES_8:
                report.metadata[bit] = value
    report.ds_id = header.domain
    if not (node.knows_domain and header.domain and header.domain == node.domain.ds_id):
        return
    for item in node.domain.ds_metadata:
        if header.ds_instruction & (0x8000 >> item.bit) and item.placement == placement:
            report.ds_bits |= 0x8000 >> item.bit
            report.ds_words += item.value


def kept_bytes(node, flight):
    """The bytes of a packet that a report keeps: all of INT, and `truncate` bytes of the original."""
    frame, body = flight.frame(), flight.header.body()
    wanted = node.truncate + len(frame) - len(flight.carrier.without_int(True))
    if len(frame) <= wanted:
        return len(frame)
    end_of_int = frame.find(body) + len(body)
    return min(max(wanted // 4 * 4, (end_of_int + 3) // 4 * 4), len(frame))
