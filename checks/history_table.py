"""The size of a network's history, and the time of operators' queries beside DuckDB and ClickHouse (chdb)."""

import argparse
import importlib
import os
import subprocess
import sys
import time

from history_verdicts import Verdicts

TIMES = 3
LINK = "node_id = 513 AND egress_interface = 33"
# Queries in the SQL of `inband query`, and their replacements in other dialects.
QUESTIONS = [
    ("p99 hop latency by node", "SELECT node_id, quantile(hop_latency, 0.99) AS p99 FROM observations GROUP BY node_id ORDER BY p99 DESC, node_id"),
    (
        "p50 and p99 by link",
        "SELECT node_id, egress_interface, quantile(hop_latency, 0.5) AS p50, quantile(hop_latency, 0.99) AS p99 "
        "FROM observations GROUP BY node_id, egress_interface ORDER BY node_id, egress_interface",
    ),
    (
        "hops of one flow",
        "SELECT time, hop_index, node_id, hop_latency FROM observations WHERE flow_id = {flow} ORDER BY sequence, hop_index",
    ),
    (
        "slowest flows by p99 of the path",
        "SELECT flow_id, quantile(total, 0.99) AS p99 FROM (SELECT flow_id, reporter, hw_id, sequence, report_index, "
        "sum(hop_latency) AS total FROM observations GROUP BY flow_id, reporter, hw_id, sequence, report_index) "
        "GROUP BY flow_id ORDER BY p99 DESC, flow_id LIMIT 20",
    ),
    (
        "queue depth of a link by 10 s",
        f"SELECT bucket(time, '10s') AS step, max(queue_occupancy) AS depth, count(*) AS n FROM observations WHERE {LINK} "
        "GROUP BY step ORDER BY step",
    ),
    (
        "flows through a link in a minute",
        f"SELECT flow_id, source, destination, count(*) AS n FROM observations WHERE {LINK} AND time >= {{minute}} AND "
        "time < {minute} + 60000000000 GROUP BY flow_id, source, destination ORDER BY n DESC, flow_id",
    ),
    (
        "reports by reporter and minute",
        "SELECT reporter, bucket(time, '1m') AS step, count(*) AS n FROM observations WHERE hop_index = 0 GROUP BY reporter, step "
        "ORDER BY reporter, step",
    ),
    (
        "top talkers",
        "SELECT source, destination, count(*) AS n FROM observations WHERE hop_index = 0 GROUP BY source, destination "
        "ORDER BY n DESC, source, destination LIMIT 10",
    ),
]


def processor_seconds():
    """Processor time of this process and its children."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def best(ask):
    """The answer, its least wall time, and its least processor time, milliseconds."""
    least, cost, answer = float("inf"), float("inf"), None
    for _ in range(TIMES):
        begun, used = time.perf_counter(), processor_seconds()
        answer = ask()
        least, cost = min(least, time.perf_counter() - begun), min(cost, processor_seconds() - used)
    return answer, least * 1000, cost * 1000


def asked_of_inband(program, store, sql):
    done = subprocess.run([program, "query", "--store", store, "--csv", sql], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"inband query fails: {done.stderr}\n{sql}")
    return done.stdout.splitlines()[1:]


def duckdb_reader(module, store):
    connection = module.connect()
    connection.execute("SET TimeZone = 'UTC'; SET threads = 2")
    files = f"read_parquet('{store}/observations/**/*.parquet', hive_partitioning = false)"

    def dialect(sql):
        sql = sql.replace("SELECT time,", "SELECT epoch_ns(time),").replace("quantile(", "quantile_disc(").replace("FROM observations", f"FROM {files}")
        for span, nanos in [("10s", 10**10), ("1m", 6 * 10**10)]:
            sql = sql.replace(f"bucket(time, '{span}')", f"(epoch_ns(time) // {nanos}) * {nanos}")
        return sql.replace("time >= ", "time::TIMESTAMP_NS >= make_timestamp_ns(", 1).replace(" AND time < ", ") AND time::TIMESTAMP_NS < make_timestamp_ns(", 1).replace(
            "60000000000 GROUP", "60000000000) GROUP", 1
        )

    return lambda sql: connection.execute(dialect(sql)).fetchall()


def chdb_reader(module, store):
    files = f"file('{store}/observations/*/*/*.parquet', Parquet)"

    def dialect(sql):
        for column in ("hop_latency", "total"):
            for share in ("0.5", "0.99"):
                sql = sql.replace(f"quantile({column}, {share})", f"quantileExactLow({share})({column})")
        sql = sql.replace("FROM observations", f"FROM {files}")
        for span, nanos in [("10s", 10**10), ("1m", 6 * 10**10)]:
            sql = sql.replace(f"bucket(time, '{span}')", f"intDiv(toUnixTimestamp64Nano(time), {nanos}) * {nanos}")
        sql = sql.replace("time >= ", "time >= fromUnixTimestamp64Nano(toInt64(").replace(" AND time < ", ")) AND time < fromUnixTimestamp64Nano(toInt64(")
        sql = sql.replace("60000000000 GROUP", "60000000000)) GROUP") if "fromUnix" in sql else sql
        return sql + " SETTINGS max_threads = 2"

    return lambda sql: str(module.query(dialect(sql), "CSV")).splitlines()


def bytes_of(folder):
    return sum(os.path.getsize(os.path.join(place, file)) for place, _, files in os.walk(folder) for file in files)


def read_bare(folder):
    """Reads every file to its end."""
    for place, _, files in os.walk(folder):
        for file in files:
            with open(os.path.join(place, file), "rb", buffering=0) as file:
                while file.read(1 << 20):
                    pass


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True, help="the inband program, a release build")
    parser.add_argument("--store", required=True, help="a store that `inband-bench --network` made")
    parser.add_argument("--verdicts", help="a file that a line for each question is appended to")
    arguments = parser.parse_args()
    verdicts = Verdicts(arguments.verdicts)
    ask = lambda sql: asked_of_inband(arguments.program, arguments.store, sql)
    rows = int(ask("SELECT count(*) FROM observations")[0])
    observations = os.path.join(arguments.store, "observations")
    sizes = {table: bytes_of(os.path.join(arguments.store, table)) / rows for table in sorted(os.listdir(arguments.store)) if os.path.isdir(os.path.join(arguments.store, table))}
    print(f"{rows} rows, bytes a hop: " + ", ".join(f"{table} {size:.2f}" for table, size in sizes.items() if size) + f"; all {sum(sizes.values()):.2f}")
    verdicts.add("size of a hop", None, sizes["observations"], 7.0, sizes["observations"] <= 7.0, "B")
    print(f"read from the bare disk: {best(lambda: read_bare(observations))[1]:.0f} ms")
    _, start, start_cost = best(lambda: ask("SELECT 1"))
    flow = ask("SELECT flow_id, count(*) AS n FROM observations GROUP BY flow_id ORDER BY n DESC, flow_id LIMIT 1 OFFSET 200")[0].split(",")[0]
    minute = (int(ask("SELECT min(time) FROM observations")[0]) // 60_000_000_000 + 3) * 60_000_000_000
    readers = {}
    for module, reader in [("duckdb", duckdb_reader), ("chdb", chdb_reader)]:
        try:
            readers[module] = reader(importlib.import_module(module), arguments.store)
        except ImportError:
            print(f"skipped: {module} is not installed (PyPI)")
    print(f"milliseconds, least of {TIMES}; of inband less the {start:.0f} ms of SELECT 1; CPU: of all processors, to 10 ms")
    print("".join([f"{'':34}{'rows':>8}{'inband':>10}{'CPU':>8}"] + [f"{name:>10}{'CPU':>8}" for name in readers] + [f"{'x duckdb':>10}{'CPU':>8}"]))
    for name, sql in QUESTIONS:
        sql = sql.replace("{flow}", flow).replace("{minute}", str(minute))
        found, took, cost = best(lambda: ask(sql))
        took, cost = max(took - start, 0), max(cost - start_cost, 0)
        line, differ, of_duckdb = f"{name:34}{len(found):>8}{took:>10.0f}{cost:>8.0f}", "", None
        for reader, other in readers.items():
            answer, theirs, their_cost = best(lambda: other(sql))
            line += f"{theirs:>10.0f}{their_cost:>8.0f}"
            of_duckdb = (theirs, max(their_cost, 1)) if reader == "duckdb" else of_duckdb
            differ += "" if len(answer) == len(found) else f"  {reader} has {len(answer)} rows"
        ratio = f"{took / of_duckdb[0]:>10.2f}{cost / of_duckdb[1]:>8.2f}" if of_duckdb else ""
        print(f"{line}{ratio}{differ}", flush=True)
        if of_duckdb:
            verdicts.add(name, None, took, 3 * of_duckdb[0], took <= 3 * of_duckdb[0])
    return 0


if __name__ == "__main__":
    sys.exit(main())
