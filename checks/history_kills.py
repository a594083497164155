"""Kills collectors under load at random times: every report that one has called stored is there, and roll-ups equal the rows.

`cargo xtask long history` runs it.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time

from history_api import Collector, configured
from history_verdicts import Verdicts

# Roll-ups, and the same from rows.
EQUAL = [
    ("SELECT sum(count) AS n FROM minutes", "SELECT count(hop_latency) AS n FROM observations"),
    ("SELECT sum(count) AS n FROM hours", "SELECT count(hop_latency) AS n FROM observations"),
    ("SELECT sum(reports) AS n FROM flow_minutes", "SELECT count(*) AS n FROM observations WHERE hop_index = 0"),
    (
        "SELECT node_id, sum(count) AS n, max(latency_max) AS longest FROM minutes GROUP BY node_id ORDER BY node_id",
        "SELECT node_id, count(hop_latency) AS n, max(hop_latency) AS longest FROM observations GROUP BY node_id ORDER BY node_id",
    ),
]
# Seconds until a collector has stored its first report.
PATIENCE = 60


class Store:
    """A history, read without a collector."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder

    def rows(self, sql):
        asked = subprocess.run([self.program, "query", "--store", self.folder, "--json", sql], capture_output=True, text=True)
        if asked.returncode:
            sys.exit(f"{sql}: {asked.stderr}")
        return [json.loads(line) for line in asked.stdout.splitlines()]

    def reports(self):
        return self.rows("SELECT count(*) AS n FROM observations WHERE hop_index = 0")[0]["n"]


def kill_one(arguments, config, pick):
    """Starts a collector under load and kills it; the number of reports that it has called stored."""
    collector, stored = Collector(arguments.program, config), 0
    send = [arguments.bench, "--send", f"127.0.0.1:{collector.receives}", "--flows", "20000", "--rate", str(arguments.rate)]
    sender = subprocess.Popen([*send, "--reports", str(arguments.rate * 30)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + pick.uniform(0.2, 5)
        while time.monotonic() < end or not stored:
            if time.monotonic() > end + PATIENCE:
                sys.exit("the collector stores nothing")
            stored = json.loads(collector.ask("/api/v1/ledger")[0])["total"]["stored"]
            time.sleep(0.02)
    finally:
        collector.process.kill()
        collector.process.wait()
        sender.kill()
        sender.wait()
    return stored


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help="the inband program, a release build")
    parser.add_argument("--bench", required=True, help="inband-bench, a release build")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--rate", type=int, default=60_000, help="reports per second")
    parser.add_argument("--seed", type=int, default=time.time_ns())
    parser.add_argument("--verdicts", help="file to which a line for each query is appended")
    arguments = parser.parse_args()
    pick, verdicts = random.Random(arguments.seed), Verdicts(arguments.verdicts)
    with tempfile.TemporaryDirectory(prefix="inband-kills-") as folder:
        config, store = configured(folder), Store(arguments.program, folder)
        before = told = lost = 0
        for _ in range(arguments.kills):
            stored = kill_one(arguments, config, pick)
            found = store.reports()
            lost += max(before + stored - found, 0)
            before, told = found, told + stored
        # The next one recovers what the last one left, and adds nothing.
        collector = Collector(arguments.program, config)
        collector.stop()
        more = store.reports() - before
        differ = [roll_up for roll_up, rows in EQUAL if store.rows(roll_up) != store.rows(rows)]
    print(f"{arguments.kills} kills, seed {arguments.seed}: {told} reports called stored, {before} found, {lost} lost, {more} twice; roll-ups that differ: {differ or 'none'}")
    verdicts.add("lost after kill -9, or twice", None, lost + abs(more), 0, lost == more == 0, "")
    verdicts.add("roll-ups that differ from the rows", None, len(differ), 0, not differ, "")
    return 1 if verdicts.missed else 0


if __name__ == "__main__":
    sys.exit(main())
