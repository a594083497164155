"""Compares `inband decode` with packets of scapy's INT contribution."""

import argparse
import importlib.util
import json
import os
import random
import subprocess
import sys
import tempfile

BITS = [
    (0, "node-id", [("node_id", "node_id", 32)]),
    (1, "level1-interfaces", [("igr_l1_intf", "ingress_interface", 16), ("egr_l1_intf", "egress_interface", 16)]),
    (2, "hop-latency", [("latency", "hop_latency", 32)]),
    (3, "queue-occupancy", [("que_id", "queue_id", 8), ("que_occupy", "queue_occupancy", 24)]),
    (4, "ingress-timestamp", [("igr_ts", "ingress_timestamp", 64)]),
    (5, "egress-timestamp", [("egr_ts", "egress_timestamp", 64)]),
    (6, "level2-interfaces", [
        ("igr_l2_intf", "ingress_interface_level2", 32),
        ("egr_l2_intf", "egress_interface_level2", 32),
    ]),
    (7, "egress-utilization", [("egr_tx_info", "egress_utilization", 32)]),
    (8, "buffer-occupancy", [("buf_id", "buffer_id", 8), ("buf_occupy", "buffer_occupancy", 24)]),
    (15, "checksum-complement", [("checksum", "checksum_complement", 32)]),
]


def skip(why):
    print(f"scapy_int: skipped: {why}")
    sys.exit(0)


def load():
    """scapy with the contribution, from wherever it is installed."""
    try:
        import scapy.all
    except ImportError:
        skip("scapy is not installed (pip install scapy)")
    path = os.environ.get("SCAPY_INT")
    try:
        if path is None:
            import scapy.contrib.int as contribution
        else:
            spec = importlib.util.spec_from_file_location("scapy_int_contribution", path)
            contribution = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(contribution)
    except ImportError:
        skip("this scapy has no INT; set SCAPY_INT to the int.py of the contribution")
    return scapy.all, contribution


def random_hop(rng, contribution, bits):
    """One hop for scapy, and its JSON in decode; all ones mean not available."""
    values, shown = {}, {}
    for _, _, fields in bits:
        missing = rng.random() < 0.1
        for theirs, ours, width in fields:
            value = (1 << width) - 1 if missing else rng.getrandbits(width) % ((1 << width) - 1)
            values[theirs] = value
            shown[ours] = None if missing else value
    return contribution.INTMetaHop(**values), shown


def random_int(rng, contribution, is_md):
    """An INT header with its stack, and its JSON in decode."""
    choice = BITS if is_md else BITS[:-1]
    bits = [bit for bit in choice if rng.random() < 0.5] or choice[:1]
    bitmap = sum(0x8000 >> bit for bit, _, _ in bits)
    discard = rng.random() < 0.2
    shown = {
        "version": "2.1",
        "discard": discard,
        "instructions": [name for _, name, _ in bits],
        "instruction_bitmap": bitmap,
        "domain": 0,
        "hops": [],
    }
    if not is_md:
        return contribution.INTMetaMx(version=2, discard=int(discard), instr_bitmap=bitmap), {**shown, "type": "mx"}
    hops = [random_hop(rng, contribution, bits) for _ in range(rng.randint(1, 4))]
    left, exceeded = rng.randint(0, 255), rng.random() < 0.2
    header = contribution.INTMetaMd(
        version=2, discard=int(discard), exceed_mht=int(exceeded), hop_left=left, instr_bitmap=bitmap,
        meta_hops=[hop for hop, _ in hops],
    )
    shown.update(type="md", remaining_hops=left, max_hops_exceeded=exceeded, hops=[hop for _, hop in hops])
    return header, shown


def random_packet(rng, scapy, contribution):
    """A frame in one of the encapsulations, and its JSON in decode."""
    is_md = rng.random() < 0.6
    metadata, shown = random_int(rng, contribution, is_md)
    kind = 1 if is_md else 3
    ip = scapy.IP(src="10.0.0.1", dst="10.0.0.2") if rng.random() < 0.5 else scapy.IPv6(src="2001:db8::1", dst="2001:db8::2")
    payload = bytes(rng.getrandbits(8) for _ in range(rng.randint(0, 60)))
    ports = {"sport": rng.randint(1024, 30000), "dport": rng.randint(1024, 30000)}
    place = rng.choice(["dscp-tcp", "dscp-udp", "udp-port", "gre", "vxlan-gpe"])
    if place in ("dscp-tcp", "dscp-udp"):
        dscp = rng.randint(0, 63)
        set_dscp(ip, 0x17)
        l4 = scapy.TCP(**ports) if place == "dscp-tcp" else scapy.UDP(**ports)
        shim = contribution.INTShimTcpUdp(type=kind, npt=0, dscp=dscp, metadata=metadata)
        shown.update(encapsulation="dscp", original={"dscp": dscp})
        return ip / l4 / shim / scapy.Raw(payload), shown
    if place == "udp-port":
        original = rng.randint(1, 65535)
        l4 = scapy.UDP(sport=ports["sport"], dport=33122)
        shim = contribution.INTShimTcpUdp(type=kind, npt=1, l4_dport=original, metadata=metadata)
        shown.update(encapsulation="udp-port", original={"udp_port": original})
        return ip / l4 / shim / scapy.Raw(payload), shown
    if place == "gre":
        inner = scapy.IP(src="192.0.2.1", dst="192.0.2.2") / scapy.UDP(**ports) / scapy.Raw(payload)
        shim = contribution.INTShimGre(type=kind, gre=rng.randint(0, 1), gre_proto=0x0800, metadata=metadata)
        shown.update(encapsulation="gre", original={"ethertype": 0x0800})
        return ip / scapy.GRE(proto=0x4569) / shim / inner, shown
    inner = scapy.Ether(src="02:00:00:00:00:03", dst="02:00:00:00:00:04") / scapy.IP(src="192.0.2.1", dst="192.0.2.2") / scapy.TCP(**ports) / scapy.Raw(payload)
    shim = contribution.INTShimVxlan(type=kind, gpe=rng.randint(0, 1), vxlan_proto=3, metadata=metadata)
    vxlan = scapy.VXLAN(flags=0x0C, NextProtocol=0x82, vni=rng.getrandbits(24))
    shown.update(encapsulation="vxlan-gpe", original={"next_protocol": 3})
    return ip / scapy.UDP(sport=ports["sport"], dport=4790) / vxlan / shim / inner, shown


def set_dscp(ip, dscp):
    if ip.version == 4:
        ip.tos = dscp << 2
    else:
        ip.tc = dscp << 2


def compare(frame, line, shown):
    """The keys in which decode and scapy differ."""
    if line.get("kind") != "int":
        return [f"kind: {line}"]
    header = line["int"][0]
    found = {**header, "encapsulation": line["encapsulation"]}
    differences = [f"{key}: {found.get(key)} where scapy wrote {value}" for key, value in shown.items() if found.get(key) != value]
    if line["checksum"] == "bad":
        differences.append("checksum: bad where scapy computed it")
    return differences


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default="target/debug/inband")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=2000)
    arguments = parser.parse_args()
    scapy, contribution = load()
    rng = random.Random(arguments.seed)
    packets = [random_packet(rng, scapy, contribution) for _ in range(arguments.count)]
    frames = [bytes(scapy.Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02") / packet) for packet, _ in packets]
    with tempfile.TemporaryDirectory() as folder:
        capture = os.path.join(folder, "scapy.pcap")
        scapy.wrpcap(capture, frames, linktype=1)
        run = subprocess.run([arguments.program, "decode", "--json", capture], capture_output=True, text=True, check=False)
    lines = {line["packet"]: line for line in map(json.loads, run.stdout.splitlines())}
    differing = 0
    for number, (frame, (_, shown)) in enumerate(zip(frames, packets), 1):
        differences = compare(frame, lines.get(number, {}), shown)
        if differences:
            differing += 1
            print(f"packet {number}: {frame.hex()}", *differences, sep="\n    ")
    print(f"scapy_int: {len(frames)} packets, {differing} differ")
    sys.exit(1 if differing or run.returncode else 0)


main()
