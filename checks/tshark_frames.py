"""Compares lengths and checksums of `inband node`'s output with tshark's."""

import argparse
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile

KINDS = ["dscp", "udp-port", "udp", "probe-marker", "gre", "vxlan-gpe", "geneve"]


def checksum(data):
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ip_packet(rng, version, protocol, l4, at):
    """IPv4 or IPv6 around `l4`, whose checksum field is at `at`."""
    if version == 4:
        source, destination = bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])
        header = struct.pack(">BBHHHBBH", 0x45, rng.randint(0, 62) << 2, 20 + len(l4), rng.getrandbits(16), 0x4000, 64, protocol, 0)
        header += source + destination
        header = header[:10] + struct.pack(">H", checksum(header)) + header[12:]
    else:
        source, destination = (bytes.fromhex(f"20010db8{0:022x}{end:02x}") for end in (1, 2))
        header = struct.pack(">IHBB", 6 << 28 | rng.randint(0, 62) << 22, len(l4), protocol, 64) + source + destination
    pseudo = source + destination + struct.pack(">II", len(l4), protocol)
    value = checksum(pseudo + l4)
    if protocol == 17 and value == 0:
        value = 0xFFFF
    return header + l4[:at] + struct.pack(">H", value) + l4[at + 2 :]


def udp(rng, version, port, payload):
    header = struct.pack(">HHHH", rng.randint(1024, 30000), port, 8 + len(payload), 0)
    return ip_packet(rng, version, 17, header + payload, 6)


def tcp(rng, version, payload):
    options = bytes([1]) * (4 * rng.randint(0, 5))
    header = struct.pack(
        ">HHIIBBHHH", rng.randint(1024, 30000), 80, rng.getrandbits(32), rng.getrandbits(32),
        (5 + len(options) // 4) << 4, 0x18, 8192, 0, 0,
    )
    return ip_packet(rng, version, 6, header + options + payload, 16)


def ethernet(packet):
    kind = 0x0800 if packet[0] >> 4 == 4 else 0x86DD
    return bytes.fromhex("020000000002020000000001") + struct.pack(">H", kind) + packet


def host_packet(rng, kind):
    """A host's packet that the encapsulation can carry."""
    version = rng.choice([4, 6])
    payload = rng.randbytes(rng.randint(0, 300))
    inner = ethernet(tcp(rng, 4, payload))
    if kind == "vxlan-gpe":
        return ethernet(udp(rng, version, 4789, bytes.fromhex("0800000000000700") + inner))
    if kind == "geneve":
        return ethernet(udp(rng, version, 6081, bytes.fromhex("0000655800000700") + inner))
    if kind == "udp-port" or rng.random() < 0.5:
        return ethernet(udp(rng, version, 7777, payload))
    return ethernet(tcp(rng, version, payload))


def write_capture(path, frames):
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for number, frame in enumerate(frames):
            file.write(struct.pack("<IIII", 1_700_000_000 + number, 0, len(frame), len(frame)) + frame)


def node(kind, mode, node_id, is_source):
    return f"""
[node]
id = {node_id}
[[interface]]
id = 1
edge = {"true" if is_source else "false"}
mtu = 9000
[[interface]]
id = 2
edge = false
mtu = 9000
[encapsulation]
kind = "{kind}"
[source]
mode = "{mode}"
instructions = ["node-id", "level1-interfaces", "hop-latency", "ingress-timestamp"]
[[watch]]
"""


def run_node(program, folder, kind, mode, source, step):
    configuration = os.path.join(folder, f"{kind}-{mode}-{step}.toml")
    written = os.path.join(folder, f"{kind}-{mode}-{step}.pcap")
    with open(configuration, "w", encoding="utf-8") as file:
        file.write(node(kind, mode, step + 1, step == 0))
    ports = ["--ingress", "1", "--egress", "2"]
    subprocess.run(
        [program, "node", "-c", configuration, "--read", source, "--write", written, *ports],
        check=True, capture_output=True,
    )
    return written


# Fields that exist if tshark finds a wrong checksum or length.
WRONG = [
    "ip.checksum.status == 0",
    "tcp.checksum.status == 0",
    "udp.checksum.status == 0",
    "ip.bogus_ip_length",
    "ip.bogus_header_length",
    "ipv6.plen_exceeds_framing",
    "tcp.bogus_header_length",
    "udp.length.bad",
]


def faults(capture):
    """Frames whose lengths or checksums tshark considers wrong."""
    command = ["tshark", "-n", "-r", capture, "-Y", " || ".join(WRONG), "-T", "fields", "-e", "frame.number"]
    for protocol in ("ip", "tcp", "udp"):
        command += ["-o", f"{protocol}.check_checksum:TRUE"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode:
        raise SystemExit(f"tshark_frames: {run.stderr}")
    return run.stdout.split()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default="target/debug/inband")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=2000)
    arguments = parser.parse_args()
    if shutil.which("tshark") is None:
        print("tshark_frames: skipped: tshark is not installed")
        return
    rng = random.Random(arguments.seed)
    frames, differing = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for kind in KINDS:
            hosts = os.path.join(folder, f"{kind}.pcap")
            each = max(1, arguments.count // (4 * len(KINDS)))
            write_capture(hosts, [host_packet(rng, kind) for _ in range(each)])
            for mode in ("md", "mx"):
                capture = hosts
                for step in range(2):
                    capture = run_node(arguments.program, folder, kind, mode, capture, step)
                    frames += each
                    for number in faults(capture):
                        differing += 1
                        print(f"{kind} {mode} hop {step + 1}: frame {number} (seed {arguments.seed})")
    print(f"tshark_frames: {frames} frames, {differing} with a fault")
    sys.exit(1 if differing else 0)


main()
