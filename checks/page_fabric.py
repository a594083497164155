#!/usr/bin/env python3
"""A synthetic fabric of leaves, aggregates and cores that reports to a collector, with random faults.

Every packet is built here, byte by byte: an individual report of type *Inner Only* with the INT-MD stack of a
packet (a reporting sink), or a report of each node on its path (INT-XD). `--json` facts about faults go to
stdout, one per line; a check that searches for the faults must not read them before.
"""

import argparse
import ipaddress
import json
import random
import socket
import struct
import sys
import time

MD_BITS = 0xFC00  # Node ID, level 1 interfaces, hop latency, queue, ingress and egress timestamp.
XD_BITS = 0x7C00  # The same without the node ID, which is in the group's header.
HOP = struct.Struct(">IHHIIQQ")
OWN = struct.Struct(">HHIIQQ")
UP_FROM, HOST = 1, 200


class Fabric:
    """Pods of leaves and aggregates below cores; ids count leaves, then aggregates, then cores."""

    def __init__(self, pods, leaves, aggregates, cores, seed, flows, is_v6=False):
        self.random = random.Random(seed)
        self.pods, self.per_pod, self.aggregates, self.cores = pods, leaves, aggregates, cores
        self.leaves = pods * leaves
        self.flows = flows
        self.seed = seed
        self.is_v6 = is_v6
        self.slow = {}  # (node, egress interface): least queueing, nanoseconds
        self.dead = set()  # (node, egress interface) that silently carry nothing
        self.avoided = set()  # (flow, aggregate of the pod) after a change of its route
        self.sequences = {}
        self.clock = time.time_ns

    def aggregate(self, pod, plane):
        return self.leaves + pod * self.aggregates + plane + 1

    def core(self, number):
        return self.leaves + self.pods * self.aggregates + number + 1

    def planes(self, leaf):
        """The aggregates linked to a leaf: even leaves have the first of the pod, odd leaves the others."""
        if self.aggregates < 4:
            return list(range(self.aggregates))
        half = self.aggregates // 2
        return list(range(half)) if leaf % 2 == 0 else list(range(half, self.aggregates))

    def ends(self, flow):
        """The leaves of a flow; every leaf sends and receives, and both have an aggregate in common."""
        source = flow % self.leaves
        step = 2 if self.aggregates >= 4 else 1
        pair = (flow // self.leaves) * 7 + flow // 3 + 1
        target = (source + step * (1 + pair % max(1, self.leaves // step - 1))) % self.leaves
        if step == 2 and target % 2 != source % 2:
            target = (target + 1) % self.leaves
        return source, target if target != source else (source + step) % self.leaves

    def route(self, flow):
        """Hops of a flow: node, ingress and egress interface."""
        source, target = self.ends(flow)
        if self.leaves == 1:
            return [(1, HOST, HOST + 1)]
        planes = self.planes(source)
        plane = planes[(flow * 2654435761 >> 7) % len(planes)]
        if (flow, plane) in self.avoided:
            plane = planes[(planes.index(plane) + 1) % len(planes)]
        from_pod, to_pod = source // self.per_pod, target // self.per_pod
        up, down = UP_FROM + plane, UP_FROM + plane
        first, last = (source + 1, HOST, up), (target + 1, down, HOST)
        if from_pod == to_pod:
            return [first, (self.aggregate(from_pod, plane), 10 + source % self.per_pod, 10 + target % self.per_pod), last]
        share = max(1, self.cores // self.aggregates)
        core = (plane * share + (flow * 40503 >> 3) % share) % max(1, self.cores)
        return [
            first,
            (self.aggregate(from_pod, plane), 10 + source % self.per_pod, UP_FROM + core % share),
            (self.core(core), 1 + from_pod, 1 + to_pod),
            (self.aggregate(to_pod, plane), UP_FROM + core % share, 10 + target % self.per_pod),
            last,
        ]

    def tuple_of(self, flow):
        source, target = self.ends(flow)
        return source, target, 1024 + flow % 60_000, 443 if flow % 3 else 9000

    def addresses(self, flow):
        source, target, *_ = self.tuple_of(flow)
        host = flow // 60_000 % 250 + 1
        if self.is_v6:
            return [b"\x20\x01\x0d\xb8" + bytes(6) + struct.pack(">HHH", leaf + 1, 0, host) for leaf in (source, target)]
        return [bytes([10, leaf >> 8, leaf & 255, host]) for leaf in (source, target)]

    def named(self, flow):
        """The flow as the page writes it."""
        _, _, source_port, target_port = self.tuple_of(flow)
        source, target = (str(ipaddress.ip_address(address)) for address in self.addresses(flow))
        wrap = (lambda text: f"[{text}]") if self.is_v6 else (lambda text: text)
        return f"udp {wrap(source)}:{source_port} > {wrap(target)}:{target_port}"

    def packet(self, flow, ttl, int_part):
        """An IP packet of the flow, starting with its IP header."""
        source, target = self.addresses(flow)
        _, _, source_port, target_port = self.tuple_of(flow)
        payload = int_part + b"inband.."
        udp = struct.pack(">HHHH", source_port, target_port, 8 + len(payload), 0) + payload
        dscp = 0x17 << 2 if int_part else 0
        if self.is_v6:
            return struct.pack(">IHBB", 0x60000000 | dscp << 20, len(udp), 17, ttl) + source + target + udp
        head = struct.pack(">BBHHHBBH", 0x45, dscp, 20 + len(udp), 0, 0x4000, ttl, 17, 0) + source + target
        total = sum(struct.unpack(">10H", head))
        total = (total & 0xFFFF) + (total >> 16)
        check = 0xFFFF ^ ((total & 0xFFFF) + (total >> 16))
        return head[:10] + struct.pack(">H", check) + head[12:] + udp

    def group(self, node, individual):
        """A datagram with one individual report."""
        sequence = self.sequences[node] = (self.sequences.get(node, 0) + 1) & 0x3FFFFF
        return struct.pack(">II", 2 << 28 | sequence, node) + individual

    def measured(self, flow):
        """Each hop of a packet sent at this moment, up to its loss: place, latency, depth, and times."""
        now = self.clock() - 2_000_000
        hops = []
        for node, ingress, egress in self.route(flow):
            queued = self.slow.get((node, egress), 0)
            if queued:
                queued = int(queued * (0.8 + 0.4 * self.random.random()))
            latency = 600 + int(self.random.random() * 200) + queued
            hops.append((node, ingress, egress, latency, 3 + queued // 100, now, now + latency))
            now += latency + 500
            if (node, egress) in self.dead:
                return hops, True
        return hops, False

    def stacked(self, flow):
        """The sink's report of a packet with its stack; nothing if the packet is lost."""
        hops, is_lost = self.measured(flow)
        if is_lost:
            return []
        stack = b"".join(
            HOP.pack(node, ingress, egress, latency, depth & 0xFFFFFF, came, left) for node, ingress, egress, latency, depth, came, left in reversed(hops)
        )
        shim = struct.pack(">BBBB", 0x10, 3 + len(stack) // 4, 0, 0)
        md = struct.pack(">BBBBHHHH", 0x20, 0, HOP.size // 4, 8, MD_BITS, 0, 0, 0)
        inner = self.packet(flow, 64 - len(hops), shim + md + stack)
        inner += bytes(-len(inner) % 4)
        return [self.group(hops[-1][0], struct.pack(">BBBB", 5 if self.is_v6 else 4, len(inner) // 4, 0, 0x20) + inner)]

    def postcards(self, flow):
        """The report of each node that the packet reaches."""
        hops, _ = self.measured(flow)
        reports = []
        for at, (node, ingress, egress, latency, depth, came, left) in enumerate(hops):
            inner = self.packet(flow, 64 - at, b"")
            inner += bytes(-len(inner) % 4)
            main = struct.pack(">HHHH", XD_BITS, 0, 0, 0) + OWN.pack(ingress, egress, latency, depth & 0xFFFFFF, came, left)
            kind = 0x10 | (5 if self.is_v6 else 4)
            reports.append(self.group(node, struct.pack(">BBBB", kind, (len(main) + len(inner)) // 4, OWN.size // 4, 0x20) + main + inner))
        return reports


class Sender:
    """Sends reports of a fabric at a rate, flow after flow."""

    def __init__(self, fabric, to, is_md=True):
        host, port = to.rsplit(":", 1)
        self.fabric, self.to = fabric, (host.strip("[]"), int(port))
        self.socket = socket.socket(socket.AF_INET6 if ":" in self.to[0] else socket.AF_INET, socket.SOCK_DGRAM)
        self.report = fabric.stacked if is_md else fabric.postcards
        self.next, self.sent = 0, 0

    def send(self, flow):
        for datagram in self.report(flow):
            self.socket.sendto(datagram, self.to)
            self.sent += 1

    def run(self, seconds, rate, flows=None):
        """Sends packets at a rate for a time, or each of `flows` flows once."""
        begun, many = time.monotonic(), 0
        while (flows is not None and many < flows) or (flows is None and time.monotonic() - begun < seconds):
            due = min((time.monotonic() - begun) * rate, many + 500)
            while many < due and (flows is None or many < flows):
                self.send(self.next % self.fabric.flows)
                self.next += 1
                many += 1
            time.sleep(0.005)


def write_reports(path, reports):
    """Writes a capture of datagrams to the report port, each with the time at which it arrives."""
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 101))
        for moment, payload in reports:
            udp = struct.pack(">HHHH", 40_000, 32_766, 8 + len(payload), 0) + payload
            frame = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(udp), 0, 0x4000, 64, 17, 0) + bytes([127, 0, 0, 2, 127, 0, 0, 1]) + udp
            file.write(struct.pack("<IIII", moment // 10**9, moment % 10**9, len(frame), len(frame)) + frame)


def write_capture(fabric, path, hours, every, end=None):
    """Writes reports of hours up to `end`, by default now, one per `every` seconds; returns the time of a congestion
    in their middle."""
    end = end or time.time_ns()
    begin = end - int(hours * 3.6e12)
    middle = begin + (end - begin) // 2
    write_reports(path, reports_of(fabric, begin, middle, end, int(every * 1e9)))
    return middle


def reports_of(fabric, begin, middle, end, step, burst=200):
    """One report per `step`, and twice `burst` in 100 us each around the middle, of a queue with long waits."""
    node, _, egress = fabric.route(0)[0]
    for at, moment in enumerate(sorted([*range(begin, end, step), *(middle + at * 100_000 for at in range(-burst, burst))])):
        is_burst = abs(moment - middle) <= burst * 100_000
        fabric.slow = {(node, egress): 4_000_000} if is_burst else {}
        fabric.clock = lambda moment=moment: moment
        for payload in fabric.stacked(0 if is_burst else at % fabric.flows):
            yield moment, payload


def fault(fabric, sender, kind, seconds, rate):
    """Causes one fault for a time without announcing it, and returns what it was."""
    numbers = fabric.random
    flow = numbers.randrange(fabric.flows)
    route = fabric.route(flow)
    if kind == "congested":
        node, _, egress = route[numbers.randrange(len(route))]
        fabric.slow[node, egress] = 4_000_000
        crossing = [one for one in range(fabric.flows) if any((a, c) == (node, egress) for a, _, c in fabric.route(one))]
        begun = time.monotonic()
        while time.monotonic() - begun < seconds:
            for one in crossing[:40]:
                sender.send(one)
            sender.run(0.02, rate)
        del fabric.slow[node, egress]
        return {"kind": kind, "node": node, "interface": egress, "flows": [fabric.named(one) for one in crossing]}
    if kind == "rerouted":
        inner = [one for one in range(fabric.flows) if len(fabric.planes(fabric.ends(one)[0])) > 1 and len(fabric.route(one)) > 1]
        flow = numbers.choice(inner)
        old = [node for node, _, _ in fabric.route(flow)]
        plane = old[1] - fabric.leaves - 1 - (old[1] - fabric.leaves - 1) // fabric.aggregates * fabric.aggregates
        fabric.avoided.add((flow, plane))
        sender.run(seconds, rate)
        return {"kind": kind, "flow": fabric.named(flow), "old": old, "new": [node for node, _, _ in fabric.route(flow)]}
    # A link that silently carries nothing more.
    links = {}
    for one in range(fabric.flows):
        hops = fabric.route(one)
        for (node, _, egress), (other, ingress, _) in zip(hops, hops[1:], strict=False):
            links.setdefault((node, egress, other, ingress), []).append(one)
    # If a link before or behind it carries nothing else, both are silent, and either may be at fault.
    alone = lambda flows: all(set(others) - set(flows) for others in links.values() if set(others) & set(flows) and others is not flows)  # noqa: E731
    (node, egress, other, ingress), crossing = numbers.choice(sorted((link, flows) for link, flows in links.items() if len(flows) >= 4 and alone(flows)))
    fabric.dead.add((node, egress))
    sender.run(seconds, rate)
    return {"kind": kind, "from": node, "interface": egress, "to": other, "ingress": ingress, "flows": [fabric.named(one) for one in crossing]}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--to", required=True, help="where the collector receives, ADDRESS:PORT")
    parser.add_argument("--pods", type=int, default=20)
    parser.add_argument("--leaves", type=int, default=94, help="of a pod")
    parser.add_argument("--aggregates", type=int, default=5, help="of a pod")
    parser.add_argument("--cores", type=int, default=20)
    parser.add_argument("--flows", type=int, default=1_000_000)
    parser.add_argument("--rate", type=int, default=3_000, help="packets a second, once every flow was reported")
    parser.add_argument("--first-rate", type=int, default=40_000, help="packets a second until then, at most")
    parser.add_argument("--seconds", type=float, default=3_600, help="how long, once every flow was reported")
    parser.add_argument("--fault", choices=["congested", "rerouted", "silent"])
    parser.add_argument("--xd", action="store_true", help="every node reports by itself")
    parser.add_argument("--ipv6", action="store_true")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000)
    arguments = parser.parse_args()
    fabric = Fabric(arguments.pods, arguments.leaves, arguments.aggregates, arguments.cores, arguments.seed, arguments.flows, arguments.ipv6)
    sender = Sender(fabric, arguments.to, not arguments.xd)
    sender.run(0, arguments.first_rate, arguments.flows)
    print(json.dumps({"kind": "all", "seed": arguments.seed, "sent": sender.sent}), flush=True)
    if arguments.fault:
        sender.run(3, arguments.rate)
        print(json.dumps(fault(fabric, sender, arguments.fault, 5, arguments.rate)), flush=True)
    sender.run(arguments.seconds, arguments.rate)
    return 0


if __name__ == "__main__":
    sys.exit(main())
