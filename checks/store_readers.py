"""Compares DuckDB and ClickHouse (chdb) over the store's Parquet files with `inband query`."""

import argparse
import importlib
import ipaddress
import json
import os
import random
import struct
import subprocess
import sys
import tempfile

START_NS = 1_700_000_000_000_000_000
PORT = 32766
# The instruction bits of a report's metadata, and the bytes of each.
INTERFACES, HOP_LATENCY, QUEUE, INGRESS, EGRESS, LEVEL2, UTILIZATION, BUFFER = 1, 2, 3, 4, 5, 6, 7, 8
SIZES = {INTERFACES: 4, HOP_LATENCY: 4, QUEUE: 4, INGRESS: 8, EGRESS: 8, LEVEL2: 8, UTILIZATION: 4, BUFFER: 4}
DROP_REASON = 15
# The statistics of every column: rows, values, distinct values, least and greatest.
NUMBERS = [
    "time", "flow_id", "protocol", "source_port", "destination_port", "hop_index", "hop_count", "node_id",
    "ingress_interface", "egress_interface", "ingress_interface_level2", "egress_interface_level2", "hop_latency",
    "queue_id", "queue_occupancy", "ingress_timestamp", "egress_timestamp", "egress_utilization", "buffer_id",
    "buffer_occupancy", "drop_reason", "reporter", "hw_id", "sequence", "report_index",
]
TEXTS = ["source", "destination", "origin", "report_version"]
FLAGS = ["dropped", "congested_queue", "tracked_flow", "intermediate"]
SHARES = [0.0, 0.5, 0.9, 0.99, 1.0]
QUANTILES = ["hop_latency", "queue_occupancy"]


def ipv4(protocol, source, destination, payload):
    header = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(payload), 0, 0, 64, protocol, 0)
    return header + source.packed + destination.packed + payload


def ipv6(protocol, source, destination, payload):
    return struct.pack(">IHBB", 6 << 28, len(payload), protocol, 64) + source.packed + destination.packed + payload


def packet(flow):
    """The reported packet: UDP without payload."""
    version, source, destination, port = flow
    network = ipaddress.ip_address("10.0.0.0" if version == 4 else "2001:db8::")
    make = ipv4 if version == 4 else ipv6
    return make(17, network + source, network + destination, struct.pack(">HHHH", port, 4000, 8, 0))


def metadata(rng):
    """Some bits with a value each; sometimes all ones, which means no value."""
    bits = [bit for bit in SIZES if bit in (HOP_LATENCY, QUEUE) or rng.random() < 0.3]
    values = {}
    for bit in bits:
        if rng.random() < 0.05:
            values[bit] = b"\xff" * SIZES[bit]
        elif bit == HOP_LATENCY:
            values[bit] = struct.pack(">I", int(rng.lognormvariate(8, 1.5)) % 2**31)
        elif bit == QUEUE:
            values[bit] = struct.pack(">I", rng.randrange(3) << 24 | rng.randrange(400))
        else:
            values[bit] = rng.randrange(2 ** (8 * SIZES[bit] - 1)).to_bytes(SIZES[bit], "big")
    if rng.random() < 0.05:
        values[DROP_REASON] = bytes([0, rng.randrange(256), 0, 0])
    return values


def report(rng, flows):
    values = metadata(rng)
    inner = packet(rng.choice(flows))
    bitmap = sum(0x8000 >> bit for bit in values)
    body = struct.pack(">HHHH", bitmap, 0, 0, 0) + b"".join(values[bit] for bit in sorted(values)) + inner
    body += b"\0" * (-len(body) % 4)
    words = sum(len(value) for value in values.values()) // 4
    flags = (DROP_REASON in values) << 7 | rng.randrange(2) << 6 | 1 << 5
    kinds = 1 << 4 | (4 if inner[0] >> 4 == 4 else 5)
    return bytes([kinds, len(body) // 4, words, flags]) + body


def datagram(rng, flows, node, sequence):
    header = struct.pack(">II", 2 << 28 | sequence, node)
    payload = header + b"".join(report(rng, flows) for _ in range(rng.randint(1, 5)))
    udp = struct.pack(">HHHH", 5000 + node, PORT, 8 + len(payload), 0) + payload
    loopback = ipaddress.ip_address("127.0.0.1")
    return bytes(12) + b"\x08\x00" + ipv4(17, loopback, loopback, udp)


def write_capture(path, rng, datagrams):
    """Reports of seven nodes over two hours, about flows of which few send most."""
    flows = [(rng.choice([4, 4, 6]), rng.randrange(256), rng.randrange(256), rng.randrange(65536)) for _ in range(300)]
    flows += flows[:5] * 100
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1))
        time = START_NS
        for index in range(datagrams):
            time += rng.randrange(2 * 7200 * 10**9 // datagrams)
            frame = datagram(rng, flows, 1 + index % 7, index // 7)
            file.write(struct.pack("<IIII", time // 10**9, time % 10**9, len(frame), len(frame)) + frame)


def fill(program, folder, capture):
    config = os.path.join(folder, "collector.toml")
    with open(config, "w", encoding="utf-8") as file:
        file.write(f'[store]\npath = "{folder}/store"\nretain = "36500d"\n')
    done = subprocess.run([program, "collect", "-c", config, "--read", capture, "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"inband collect fails: {done.stderr}")
    total = json.loads(done.stdout.splitlines()[-1])["total"]
    return total["stored"]


def questions(quantile, unsigned):
    """The queries by name; `quantile` writes that of a column at a share, `unsigned` the number of a flag."""
    yield "rows", "SELECT count(*) FROM observations"
    for name in NUMBERS + TEXTS:
        value = unsigned(name) if name == "time" else name
        yield name, f"SELECT count({name}), count(DISTINCT {name}), min({value}), max({value}) FROM observations"
    for name in FLAGS:
        yield name, f"SELECT count({name}), sum({unsigned(name)}) FROM observations"
    for name in QUANTILES:
        shares = ", ".join(quantile(name, share) for share in SHARES)
        yield f"quantiles of {name}", f"SELECT node_id, count({name}), {shares} FROM observations GROUP BY node_id ORDER BY node_id"
    yield "flows", (
        "SELECT flow_id, source, destination, source_port, count(*), sum(queue_occupancy) FROM observations "
        "GROUP BY flow_id, source, destination, source_port ORDER BY flow_id"
    )


def normal(value):
    """Numbers and texts in JSON form, independent of the library."""
    if value is None or isinstance(value, str):
        return value
    return int(value)


def asked_of_inband(program, store, sql):
    done = subprocess.run([program, "query", "--store", store, "--json", sql], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"inband query fails: {done.stderr}\n{sql}")
    return [[normal(value) for value in json.loads(line).values()] for line in done.stdout.splitlines()]


def view(reader, program, store):
    """The statement that creates the view of the observations."""
    done = subprocess.run([program, "query", "--view", reader, "--store", store], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"inband query --view fails: {done.stderr}")
    return done.stdout


def duckdb_reader(module, program, store):
    connection = module.connect()
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute(view("duckdb", program, store))

    def ask(sql):
        rows = connection.execute(sql).fetchall()
        return [[normal(value) for value in row] for row in rows]

    def number(name):
        return f"epoch_ns({name})" if name == "time" else f"{name}::INTEGER"

    # The discrete quantile is the least value that at least the share of all values does not exceed.
    return ask, lambda name, share: f"quantile_disc({name}, {share})", number


def chdb_reader(module, program, store):
    # Each query runs separately, so that a view would be lost.
    select = view("clickhouse", program, store).partition(" AS\n")[2].rstrip(";\n")

    def ask(sql):
        answer = str(module.query(sql.replace("observations", f"({select})"), "JSONCompactEachRow"))
        return [[numbered(value) for value in json.loads(line)] for line in answer.splitlines()]

    def numbered(value):
        # Large numbers are quoted.
        return int(value) if isinstance(value, str) and value.lstrip("-").isdigit() else normal(value)

    def quantile(name, share):
        # ClickHouse numbers its exact quantiles differently, so the position is computed here.
        place = f"greatest(1, toUInt64(ceil({share} * count({name}))))"
        return f"arrayElement(arraySort(groupArrayIf(assumeNotNull({name}), isNotNull({name}))), {place})"

    def number(name):
        return f"toUnixTimestamp64Nano({name})" if name == "time" else f"toInt32({name})"

    return ask, quantile, number


def compare(name, reader, program, store):
    ask, quantile, number = reader
    own = dict(questions(lambda column, share: f"quantile({column}, {share})", lambda column: column))
    differ = 0
    for question, sql in questions(quantile, number):
        expected, found = asked_of_inband(program, store, own[question]), ask(sql)
        if expected != found:
            differ += 1
            print(f"{name}: {question}: inband says {expected[:3]}, {name} {found[:3]}")
    print(f"{name}: {len(own)} questions, {differ} differ")
    return differ


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default="target/debug/inband", help="the inband program")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=20_000, help="datagrams of reports")
    arguments = parser.parse_args()
    readers = {}
    for module, reader in [("duckdb", duckdb_reader), ("chdb", chdb_reader)]:
        try:
            readers[module] = (importlib.import_module(module), reader)
        except ImportError:
            print(f"skipped: {module} is not installed (PyPI)")
    if not readers:
        return 0
    with tempfile.TemporaryDirectory() as folder:
        capture, store = os.path.join(folder, "reports.pcap"), os.path.join(folder, "store")
        write_capture(capture, random.Random(arguments.seed), arguments.count)
        stored = fill(arguments.program, folder, capture)
        if stored < arguments.count:
            print(f"{stored} reports of {arguments.count} datagrams are stored")
            return 1
        differ = 0
        for name, (module, reader) in readers.items():
            differ += compare(name, reader(module, arguments.program, store), arguments.program, store)
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
