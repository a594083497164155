"""Latencies of the page's requests over a network's history. `cargo xtask long history` runs it.

Stores reports of the made network through `inband collect --read`, paths, events and evidence included, then
queries each endpoint many times: warm, and cold, in a program that has not answered anything and without the
store's files in the page cache. Every answer must be a 200.
"""

import argparse
import atexit
import gzip
import json
import math
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

from history_verdicts import Verdicts

SECOND = 10**9
CONFIG = """
[receive]
listen = ["127.0.0.1:0"]
[api]
listen = "127.0.0.1:0"
[store]
path = {store}
retain = "36500days"
max_size = "100GB"
[paths]
max_flows = {flows}
max_paths = {flows}
[ports]
max_ports = 65536
"""


class Collector:
    """`inband collect` over a store; it prints the ports it chose on stderr."""

    def __init__(self, program, config):
        self.process = subprocess.Popen([program, "collect", "-c", config], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        atexit.register(self.stop)
        told = ""
        for line in self.process.stderr:
            told += line
            found = re.search(r"http://127\.0\.0\.1:(\d+)", line)
            receives = re.search(r"127\.0\.0\.1:(\d+)", line)
            if receives and not found:
                self.receives = int(receives[1])
            if found:
                self.url = f"http://127.0.0.1:{found[1]}"
                break
        else:
            sys.exit(f"the collector does not start: {told}")
        os.set_blocking(self.process.stderr.fileno(), False)

    def ask(self, path, body=None):
        request = urllib.request.Request(self.url + path, data=body and json.dumps(body).encode())
        if body:
            request.add_header("content-type", "application/json")
        request.add_header("accept-encoding", "gzip")
        begun = time.perf_counter()
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                answered = answer.read()
                packed = answer.headers.get("content-encoding")
        except urllib.error.HTTPError as error:
            sys.exit(f"{path}: {error.code} {error.read()[:300]!r}")
        except TimeoutError:
            return b"", (time.perf_counter() - begun) * 1000, 0
        took = (time.perf_counter() - begun) * 1000
        if packed == "gzip":
            length, answered = len(answered), gzip.decompress(answered)
        else:
            length = len(answered)
        return answered, took, length

    def memory(self, what="VmRSS"):
        with open(f"/proc/{self.process.pid}/status") as status:
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith(what))

    def processor_seconds(self):
        with open(f"/proc/{self.process.pid}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self):
        atexit.unregister(self.stop)
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(timeout=120)
        self.process.stderr.close()


def configured(store):
    """The path of a configuration file for a collector with this store."""
    os.makedirs(store, exist_ok=True)
    config = os.path.join(store, "collector.toml")
    with open(config, "w") as file:
        file.write(CONFIG.format(store=json.dumps(store), flows=1 << 20))
    return config


def make(arguments, config):
    """Fills the store from a capture that is never written to disk."""
    reports = arguments.rows // 5
    begun = time.monotonic()
    capture = [arguments.bench, "--capture", "-", "--reports", str(reports), "--rate", str(arguments.rate), "--flows", str(arguments.flows)]
    bench = subprocess.Popen(capture, stdout=subprocess.PIPE)
    collect = subprocess.run([arguments.program, "collect", "-c", config, "--read", "-", "--json"], stdin=bench.stdout, capture_output=True, text=True)
    if collect.returncode or bench.wait():
        sys.exit(f"the history cannot be stored: {collect.stderr}")
    print(f"stored in {time.monotonic() - begun:.0f} s, making the reports included")


def settle(arguments, config):
    """Waits until each past hour is one file, which a collector does a minute after its last report."""
    hours = os.path.join(arguments.store, "hours")
    count = lambda: [len([name for name in files if name.endswith(".parquet")]) for _, _, files in os.walk(hours) if files]
    collector, end = Collector(arguments.program, config), time.monotonic() + 300
    while max(count(), default=0) > 1 and time.monotonic() < end:
        time.sleep(1)
    collector.stop()
    print(f"files of hours: {count()}")


def forget(folder):
    """Evicts the files from the page cache."""
    for place, _, files in os.walk(folder):
        for name in files:
            file = os.open(os.path.join(place, name), os.O_RDONLY)
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(file)


def facts(collector):
    """Values that queries are built from."""

    def rows(sql):
        return json.loads(collector.ask("/api/v1/query", {"sql": sql})[0])["rows"]

    first, last = rows("SELECT min(time) AS first, max(time) + 60000000000 AS last FROM minutes")[0]
    middle = (first + last) // 2
    some = f"time >= {middle} AND time < {middle + 60 * SECOND}"
    flows = [row[0] for row in rows(f"SELECT flow_id, reports AS n FROM flow_minutes WHERE {some} ORDER BY n DESC LIMIT 400")]
    queues = rows(f"SELECT node_id, egress_interface, queue_id, count AS n FROM minutes WHERE {some} ORDER BY n DESC LIMIT 400")
    events = [event["id"] for event in json.loads(collector.ask(f"/api/v1/events?from={first}&to={last}&limit=200")[0])]
    reports = rows("SELECT node_id, hw_id, sequence, time FROM reports ORDER BY time DESC LIMIT 200")
    return first, last, flows, queues, events, reports


def questions(known, pick):
    """The queries by name, each with random parameters."""
    first, last, flows, queues, events, reports = known

    def at(span):
        begin = pick.randrange(first, max(first + 1, last - span))
        return f"from={begin}&to={begin + span}"

    minutes, second = 60 * SECOND, SECOND
    whole = f"from={first}&to={last}"
    flow = lambda: pick.choice(flows)
    queue = lambda: pick.choice(queues)
    event = lambda: pick.choice(events)
    asked = {
        "2 map, 1 minute": lambda: f"/api/v1/map?{at(minutes)}",
        "2 map, 5 minutes": lambda: f"/api/v1/map?{at(5 * minutes)}",
        "2 map, groups, all": lambda: f"/api/v1/map?{whole}&group=auto",
        "2 map, matrix, 5 minutes": lambda: f"/api/v1/map?{at(5 * minutes)}&form=matrix",
        "2 map of a node, all": lambda: f"/api/v1/map?{whole}&node={queue()[0]}",
        "3 packets, 5 minutes": lambda: f"/api/v1/flows/{flow()}/packets?{at(5 * minutes)}&limit=100",
        "3 packets, slowest, all": lambda: f"/api/v1/flows/{flow()}/packets?{whole}&order=slowest&limit=20",
        "4 history of a flow, all": lambda: f"/api/v1/flows/{flow()}/history?{whole}",
        "4 two times compared": lambda: f"/api/v1/flows/{flow()}/history?{at(minutes)}&compare={first + 60 * second},{last - 120 * second}",
        "5 queue timeline, 1 s": lambda: "/api/v1/queues/timeline?node={}&interface={}&queue={}&".format(*queue()[:3]) + at(second),
        "5 queue timeline, 1 minute": lambda: "/api/v1/queues/timeline?node={}&interface={}&queue={}&".format(*queue()[:3]) + at(minutes),
        "6 heat of an interface, 5 minutes": lambda: "/api/v1/heat?node={}&interface={}&".format(*queue()[:2]) + at(5 * minutes),
        "6 heat of an interface, all": lambda: "/api/v1/heat?node={}&interface={}&".format(*queue()[:2]) + whole,
        "6 heat of a flow, 5 minutes": lambda: f"/api/v1/heat?flow={flow()}&{at(5 * minutes)}",
        "6 heat of all, all": lambda: f"/api/v1/heat?{whole}",
        "6 heat of a link, 10 s": lambda: "/api/v1/heat?of=link&node={}&interface={}&".format(*queue()[:2]) + at(10 * second),
        "7 flow search": lambda: "/api/v1/flows/search?limit=100&filter=" + urllib.parse.quote(f"latency > {pick.randrange(1, 40)}us"),
        "7 completion": lambda: "/api/v1/filter/complete?text=lat",
        "8 list of reports": lambda: f"/api/v1/reports?{whole}&limit=100",
        "9 events, 5 minutes": lambda: f"/api/v1/events?{at(5 * minutes)}&limit=200",
        "9 events of a node, all": lambda: f"/api/v1/events?{whole}&node={queue()[0]}&limit=100",
        "10 drops, all": lambda: f"/api/v1/drops?{whole}",
        "10 drops by node, 5 minutes": lambda: f"/api/v1/drops?{at(5 * minutes)}&by=node",
        "11 ecmp of a node, 5 minutes": lambda: f"/api/v1/ecmp?{at(5 * minutes)}&node={queue()[0]}",
        "11 ecmp, 5 minutes": lambda: f"/api/v1/ecmp?{at(5 * minutes)}&limit=20",
        "12 summary, 5 minutes": lambda: f"/api/v1/summary?{at(5 * minutes)}",
        "12 summary, all": lambda: f"/api/v1/summary?{whole}",
        "14 query, roll-up by node": lambda: ("/api/v1/query", {"sql": f"SELECT node_id, sum(count) AS n, max(latency_max) AS l FROM minutes WHERE node_id = {queue()[0]} GROUP BY node_id"}),
        "14 query, hops of a flow, 1 minute": lambda: (
            "/api/v1/query",
            {"sql": "SELECT time, node_id, hop_latency FROM observations WHERE flow_id = {} AND time >= {} AND time < {}".format(flow(), first, first + minutes)},
        ),
        "15 about": lambda: "/api/v1/about",
        "16 page": lambda: "/page/main.js",
    }
    if events:
        asked["9 related events"] = lambda: f"/api/v1/events?{whole}&related={event()}"
        asked["8 reports of an event"] = lambda: f"/api/v1/reports?event={event()}"
    if reports:
        asked["8 bytes of a report"] = lambda: "/api/v1/reports/{}/{}/{}?at={}".format(*pick.choice(reports))
    return asked


def share(times, part):
    """The quantile by the nearest rank."""
    return sorted(times)[max(math.ceil(len(times) * part), 1) - 1]


def ask_once(collector, question):
    asked = question()
    return collector.ask(*asked) if isinstance(asked, tuple) else collector.ask(asked)


def table(arguments, config, verdicts):
    """Prints a line for each query."""
    collector = Collector(arguments.program, config)
    known = facts(collector)
    collector.stop()
    names = [name for name in questions(known, random.Random(1)) if arguments.only in name]
    figures, lengths, costs = {name: {} for name in names}, dict.fromkeys(names, 0), {}
    for state, times in [("cold", arguments.cold), ("warm", arguments.warm)]:
        asked = questions(known, random.Random(7))
        for name in names:
            collector = Collector(arguments.program, config) if state == "cold" else collector
            collector.ask("/healthz")
            took = []
            if state == "warm":
                ask_once(collector, asked[name])
            used = collector.processor_seconds()
            for _ in range(times):
                if state == "cold":
                    forget(arguments.store)
                answer = ask_once(collector, asked[name])
                took.append(answer[1])
                lengths[name] = max(lengths[name], answer[2])
            figures[name][state] = took
            costs[name] = (collector.processor_seconds() - used) / times * 1000
            if state == "cold" and name != names[-1]:
                collector.stop()
    collector.stop()
    print(f"{'milliseconds':36}{'cold p50':>10}{'p95':>8}{'warm p50':>10}{'p95':>8}{'max':>8}{'CPU':>8}{'bytes':>10}")
    for name in names:
        cold, warm = figures[name]["cold"], figures[name]["warm"]
        print(f"{name:36}{share(cold, 0.5):>10.1f}{share(cold, 0.95):>8.1f}{share(warm, 0.5):>10.1f}{share(warm, 0.95):>8.1f}{max(warm):>8.1f}{costs[name]:>8.1f}{lengths[name]:>10}", flush=True)
        of_cold, of_warm = share(cold, 0.95), share(warm, 0.95)
        verdicts.add(name, of_cold, of_warm, arguments.most, max(of_cold, of_warm) <= arguments.most)


LIVE = {
    "summary": lambda: "/api/v1/summary?live=1m",
    "map": lambda: "/api/v1/map?live=1m",
    "map, groups": lambda: "/api/v1/map?live=1m&group=auto",
    "flow search": lambda: "/api/v1/flows/search?limit=100&sort=worst",
    "flow search, filter": lambda: "/api/v1/flows/search?limit=100&filter=" + urllib.parse.quote("destination = 10.3.0.0/16 and latency > 1us"),
    "flows": lambda: "/api/v1/flows?limit=50",
    "nodes": lambda: "/api/v1/nodes",
    "links": lambda: "/api/v1/links",
    "interfaces": lambda: "/api/v1/interfaces?limit=100",
    "queues": lambda: "/api/v1/queues?limit=100",
    "queues, window of 10 s": lambda: "/api/v1/queues?limit=100&window=10s",
    "nodes, window of 10 s": lambda: "/api/v1/nodes?window=10s",
    "ecmp": lambda: "/api/v1/ecmp?live=1m&limit=20",
    "events": lambda: "/api/v1/events?limit=100",
    "ledger": lambda: "/api/v1/ledger",
    "metrics": lambda: "/metrics",
}
# The requests of a page that shows live state, and their interval.
PAGE = ["/api/v1/summary?live=1m", "/api/v1/map?live=1m&group=auto", "/api/v1/flows/search?limit=50", "/api/v1/queues?limit=20&window=10s", "/api/v1/events?limit=50"]


def live(arguments, config, verdicts):
    """Queries over a million flows that are reported while the page asks."""
    collector = Collector(arguments.program, config)
    before = collector.memory()
    send = [arguments.bench, "--send", f"127.0.0.1:{collector.receives}", "--flows", str(arguments.live_flows), "--each-flow"]
    count = arguments.live_flows + arguments.live_rate * 60
    sender = subprocess.Popen([*send, "--reports", str(count), "--rate", str(arguments.live_rate)])
    try:
        expected = arguments.live_flows / arguments.live_rate
        end = time.monotonic() + 3 * expected + 60
        # Each flow is reported once, then random ones are.
        accepted = lambda: json.loads(collector.ask("/api/v1/ledger")[0])["total"]["accepted"]
        while accepted() < arguments.live_flows:
            if time.monotonic() > end:
                sys.exit("the reports of all flows do not arrive")
            time.sleep(1)
        known = json.loads(collector.ask("/api/v1/summary?live=1m")[0])["flows"]
        least = arguments.live_flows * 0.98
        verdicts.add("live, flows known, at least", None, known, least, known >= least, "")
        ledger = json.loads(collector.ask("/api/v1/ledger")[0])
        total = ledger["total"]
        queues = json.loads(collector.ask("/api/v1/queues?limit=10000")[0])
        print(f"{known} flows, at least {len(queues)} queues: {(collector.memory() - before) >> 20} MiB more than at the start, of {collector.memory() >> 20}; "
              f"{total['accepted']} reports accepted, {total['lost']} lost, {total['shed']} shed; overflows {json.dumps(ledger.get('overflows'))}")
        print(f"{'live, milliseconds':36}{'p50':>10}{'p95':>8}{'max':>8}{'bytes':>10}")
        for name, question in LIVE.items():
            answers = []
            for _ in range(arguments.warm):
                answers.append(ask_once(collector, question))
                time.sleep(0.05)
            took, length = [answer[1] for answer in answers], max(answer[2] for answer in answers)
            print(f"{name:36}{share(took, 0.5):>10.1f}{share(took, 0.95):>8.1f}{max(took):>8.1f}{length:>10}", flush=True)
            verdicts.add(f"live, {name}", None, share(took, 0.95), arguments.most, share(took, 0.95) <= arguments.most)
    finally:
        sender.kill()
        sender.wait()
        collector.stop()


def reception(arguments, config, clients):
    """Processor microseconds per report while `clients` clients send a page's requests once a second."""
    collector = Collector(arguments.program, config)
    rate, seconds = arguments.client_rate, arguments.client_seconds
    send = [arguments.bench, "--send", f"127.0.0.1:{collector.receives}", "--flows", "100000", "--rate", str(rate), "--reports", str(rate * (seconds + 10))]
    sender = subprocess.Popen(send, stdout=subprocess.DEVNULL)
    ended = threading.Event()

    def client():
        while not ended.is_set():
            for path in PAGE:
                collector.ask(path)
            ended.wait(1)

    try:
        threads = [threading.Thread(target=client, daemon=True) for _ in range(clients)]
        for thread in threads:
            thread.start()
        time.sleep(5)
        accepted = lambda: json.loads(collector.ask("/api/v1/ledger")[0])["total"]["accepted"]
        reports, used = accepted(), understanding(collector.process.pid)
        time.sleep(seconds)
        reports, used = accepted() - reports, understanding(collector.process.pid) - used
        ended.set()
        for thread in threads:
            thread.join(timeout=60)
    finally:
        sender.kill()
        sender.wait()
        collector.stop()
    return used / max(reports, 1) * 1e6


def understanding(process):
    """Processor seconds of the threads that receive and process reports."""
    used = 0.0
    for thread in os.listdir(f"/proc/{process}/task"):
        task = f"/proc/{process}/task/{thread}"
        try:
            with open(f"{task}/comm") as name, open(f"{task}/schedstat") as times:
                if name.read().startswith(("understand", "receive")):
                    used += int(times.read().split()[0]) / 1e9
        except (FileNotFoundError, ProcessLookupError):
            # Another thread has ended meanwhile.
            continue
    return used


def ten_clients(arguments, config, verdicts):
    """Alternating rounds, so that the machine's other load affects both."""
    alone, asked = [], []
    for _ in range(arguments.rounds):
        alone.append(reception(arguments, config, 0))
        asked.append(reception(arguments, config, 10))
    before, beside = statistics.median(alone), statistics.median(asked)
    print(f"reception of a report: {before:.2f} us of a processor, {beside:.2f} while ten clients ask what a page asks: {100 * (beside / before - 1):+.1f} %")
    more = 100 * (beside / before - 1)
    verdicts.add("reception beside ten clients, more CPU", None, more, 5.0, more <= 5.0, "%")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help="the inband program, a release build")
    parser.add_argument("--bench", required=True, help="inband-bench, a release build")
    parser.add_argument("--store", required=True, help="directory of the history, created if it is missing")
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--rate", type=int, default=3_333, help="reports per second")
    parser.add_argument("--flows", type=int, default=200_000)
    parser.add_argument("--cold", type=int, default=40, help="cold runs of each query")
    parser.add_argument("--warm", type=int, default=40, help="warm runs of each query")
    parser.add_argument("--most", type=float, default=100.0, help="limit of the 95th percentile, milliseconds")
    parser.add_argument("--only", default="", help="only queries whose name contains this")
    parser.add_argument("--live-flows", type=int, default=1_000_000)
    parser.add_argument("--live-rate", type=int, default=20_000)
    parser.add_argument("--no-live", action="store_true")
    parser.add_argument("--no-clients", action="store_true")
    parser.add_argument("--client-rate", type=int, default=20_000, help="reports per second while clients send requests")
    parser.add_argument("--client-seconds", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-history", action="store_true")
    parser.add_argument("--verdicts", help="file to which a line for each query is appended")
    arguments = parser.parse_args()
    config = configured(arguments.store)
    if not os.path.isdir(os.path.join(arguments.store, "observations")):
        make(arguments, config)
        settle(arguments, config)
    verdicts = Verdicts(arguments.verdicts)
    if not arguments.no_history:
        table(arguments, config, verdicts)
    with tempfile.TemporaryDirectory(prefix="inband-live-") as folder:
        now = configured(folder)
        if not arguments.no_live:
            live(arguments, now, verdicts)
        if not arguments.no_clients:
            ten_clients(arguments, now, verdicts)
    if verdicts.missed:
        print(f"over {arguments.most:.0f} ms at p95, or dearer: {', '.join(verdicts.missed)}")
    return 1 if verdicts.missed else 0


if __name__ == "__main__":
    sys.exit(main())
