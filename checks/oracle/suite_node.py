"""Compares chains of `inband node` with the specification, hop by hop."""

import subprocess
import tempfile
from pathlib import Path

import captures
import carriers
import node_config
import node_model
import report2
import watchlist
from int21 import fixed_rng
from node_config import FABRIC, HOSTS

KINDS = ("dscp", "udp-port", "probe-marker", "udp", "gre", "vxlan-gpe", "geneve")
PACKETS = 20
TUNNELS = ("gre", "vxlan-gpe", "geneve")
START = 1_700_000_000_000_000_000


def run(program, seed, count, findings):
    for number in range(count // PACKETS):
        rng = fixed_rng(seed, "chain", number)
        kind, mode = KINDS[number % len(KINDS)], rng.choice(("md", "md", "mx"))
        nodes = node_config.random_chain(rng, kind, mode)
        name = f"{kind} {mode}, chain {number} of seed {seed}"
        with tempfile.TemporaryDirectory() as folder:
            run_chain(program, Path(folder), rng, nodes, findings, name)


def random_flights(rng, domain):
    """Packets of one link type, in the order of their times."""
    link = rng.choice((captures.ETHERNET,) * 3 + (captures.RAW_IP,))
    flights, time_ns = [], START
    while len(flights) < PACKETS:
        carrier = carriers.random_carrier(rng, domain)
        if carrier.traffic.link != link:
            continue
        time_ns += rng.randrange(0, 5000)
        flights.append(node_model.Flight(carrier, time_ns))
    return link, flights


def run_chain(program, folder, rng, nodes, findings, name):
    link, flights = random_flights(rng, nodes[0].domain)
    frames = [flight.frame() for flight in flights]
    if rng.random() < 0.4 and nodes[0].domain.kind not in TUNNELS:
        flows = [flight.carrier.traffic.flow() for flight in flights]
        nodes[0].watch = watchlist.random_watchlist(rng, flows)
    for place, node in enumerate(nodes):
        ingress = HOSTS if place == 0 else FABRIC
        egress = HOSTS if place == len(nodes) - 1 else FABRIC
        where = f"{name}, node {place + 1} of {len(nodes)}"
        records = [captures.Record(f.time_ns, data) for f, data in zip(flights, frames)]
        out, sent = run_node(program, folder, node, captures.write_pcap(records, link), ingress, egress)
        owed = [(flight, node_model.handle(node, flight, ingress, egress)) for flight in flights]
        left = [flight for flight in flights if not flight.gone]
        if [flight.time_ns for flight in left] != [record.time_ns for record in out]:
            text = f"{len(out)} packets, or their times, where {len(left)} were due\n{node.toml()}"
            findings.difference("node count", where, text)
            return
        for index, (flight, record) in enumerate(zip(left, out)):
            if place == 0 and flight.header is not None:
                flight.free = flight.carrier.like(record.data)
            check_frame(findings, f"{where}, packet {index + 1}", flight.frame(), record.data)
        check_reports(findings, where, node, owed, sent)
        flights, frames = left, [record.data for record in out]


def run_node(program, folder, node, capture, ingress, egress):
    """The packets and the reports that one node writes."""
    (folder / "node.toml").write_text(node.toml())
    (folder / "in").write_bytes(capture)
    command = [program, "node", "-c", "node.toml", "--read", "in", "--write", "out"]
    command += ["--reports", "reports", "--ingress", str(ingress), "--egress", str(egress)]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if run.returncode:
        raise SystemExit(f"oracle: {run.stderr}{node.toml()}")
    return [captures.read((folder / name).read_bytes()) for name in ("out", "reports")]


def check_frame(findings, where, expected, found):
    findings.compared += 1
    if expected != found:
        findings.difference("node frame", where, f"    due   {expected.hex()}\n    found {found.hex()}")


def check_reports(findings, where, node, owed, sent):
    found = []
    for record in sent:
        group = report2.decode_datagram(record.data)
        assert (group.node_id, group.hw_id) == (node.id, node.hw_id), group
        found += [(group.sequence, record.time_ns, individual) for individual in group.reports]
    expected = [(flight, item) for flight, items in owed for item in items]
    if len(expected) != len(found):
        text = f"{len(found)} reports where {len(expected)} were due\n{node.toml()}"
        findings.difference("node reports", where, text)
        return
    numbers = [number for number, _, _ in found]
    if numbers and numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        findings.difference("node sequence", where, str(numbers))
    for (flight, item), (_, time_ns, individual) in zip(expected, found):
        findings.compared += 1
        item.contents.free = flight.free or flight.carrier.like(individual.contents)
        problems = compare_report(item, individual, flight.carrier.traffic.link)
        if time_ns != flight.time_ns:
            problems.append(f"time {time_ns} for packet at {flight.time_ns}")
        if problems:
            findings.difference("node report", where, "\n".join(problems))


def compare_report(item, got, link):
    problems = []
    flags = (False, False, True, item.intermediate)
    if tuple(map(bool, got.flags)) != flags:
        problems.append(f"flags {got.flags}")
    if got.metadata != item.metadata:
        problems.append(f"metadata want {item.metadata} got {got.metadata}")
    if (got.ds_bits, got.ds_words) != (item.ds_bits, item.ds_words):
        problems.append(f"domain want {item.ds_bits, item.ds_words} got {got.ds_bits, got.ds_words}")
    if got.metadata and got.domain != item.ds_id:
        problems.append(f"domain-id want {item.ds_id} got {got.domain}")
    frame = item.contents.frame()
    inner = report2.IPV4 if frame[0] >> 4 == 4 else report2.IPV6
    if link == captures.ETHERNET:
        inner = report2.ETHERNET
    if got.inner != inner:
        problems.append(f"inner {got.inner}")
    kept = node_model.kept_bytes(item.node, item.contents)
    shown = got.contents[:kept]
    padding = got.contents[kept:]
    if len(shown) < kept or shown != frame[: len(shown)] or len(padding) > 3 or any(padding):
        problems.append(f"contents, {kept} bytes kept\n    due   {frame[:kept].hex()}\n    found {got.contents.hex()}")
    return problems
