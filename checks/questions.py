"""The cost of queries for reception. `cargo xtask long questions` runs it.

A collector follows 131,072 flows of the made network while their reports arrive, at a rate that takes a part of
a processor: the measured cost of a report, which depends on the machine, decides how many they are. Each kind of
query is sent a hundred times a second. Two figures tell what it costs the threads that receive and process
reports:

- `queries`: the processor time that these threads spend on queries, of what they spend on reports, without
  that by which it is read. It is counted, not compared, so that the load of others does not change it.
- `in turn`: by how much their time per report rises from requests for a file of the page, which need nothing of
  these threads, to the query. A round is file, query, query, file; the mean of the rounds stands with its 95 %
  interval, which other load on the machine widens.

A kind costs too much if its `queries`, or the lower end of its interval, are above the limit.
"""

import argparse
import contextlib
import http.client
import json
import math
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from history_api import LIVE, Collector, configured, understanding

SPENT = re.compile(r'^inband_processing_seconds_total\{for="(\w+)"\} (\S+)', re.MULTILINE)

# A request that needs nothing of the threads by which reports come in.
FILE = "/page/main.js"
# Seconds from the first query of an interval to its measurement.
SETTLES = 0.2
# Seconds in which processor time is counted.
COUNTED = 60
# Reports a second while the cost of a report is first measured.
FIRST = 10_000
# Student's t of 10 rounds; of more it is smaller.
T_OF_95 = 2.26


def kinds(collector):
    """Live queries by name, including those about one flow."""
    flows = [flow["id"] for flow in json.loads(collector.ask("/api/v1/flows?limit=1000")[0])]
    turn = iter(range(1 << 60))

    def of_a_flow(rest):
        return lambda: f"/api/v1/flows/{flows[next(turn) % len(flows)]}{rest}"

    return LIVE | {"flow": of_a_flow("")}


class Asker:
    """Threads that send one query at a rate, while they are let to."""

    def __init__(self, collector, question, rate, threads=4):
        self.address, self.question, self.pause = collector.url.removeprefix("http://"), question, threads / rate
        self.let, self.ended, self.answers, self.faults = threading.Event(), threading.Event(), 0, []
        self.threads = [threading.Thread(target=self.run, args=(at * self.pause / threads,), daemon=True) for at in range(threads)]
        for thread in self.threads:
            thread.start()

    def run(self, wait):
        connection = http.client.HTTPConnection(self.address, timeout=60)
        due = time.monotonic() + wait
        while not self.ended.is_set():
            if not self.let.wait(0.2):
                # The collector would close it; the next query opens a new one.
                connection.close()
                continue
            # After a delay, or a rest, the rate is not raised to catch up.
            due = max(due + self.pause, time.monotonic() - self.pause)
            if self.ended.wait(max(0.0, due - time.monotonic())):
                return
            connection.request("GET", self.question())
            answer = connection.getresponse()
            answer.read()
            if answer.status != 200:
                self.faults.append(answer.status)
            self.answers += 1

    def stop(self):
        self.ended.set()
        for thread in self.threads:
            thread.join(timeout=90)


def cost(collector, sender, asker, seconds):
    """Processor seconds and sent reports while `asker` may ask; `None`: nobody asks."""
    if asker:
        asker.let.set()
        time.sleep(SETTLES)
    begun, used = time.monotonic(), understanding(collector.process.pid)
    time.sleep(seconds)
    passed, used = time.monotonic() - begun, understanding(collector.process.pid) - used
    if asker:
        asker.let.clear()
        if asker.faults:
            sys.exit(f"{asker.question()}: {asker.faults[0]}")
    # The ledger's counts would be those of some seconds ago.
    return used, sender.rate * passed


def accepted(collector):
    """Accepted reports, as of a few seconds ago at most."""
    return json.loads(collector.ask("/api/v1/ledger")[0])["total"]["accepted"]


def per_report(*costs):
    """Processor seconds per report in these intervals together."""
    return sum(used for used, _ in costs) / sum(reports for _, reports in costs)


def spent(collector, before=(0.0, 0.0)):
    """Processor seconds of the thread that processes reports: on queries, and on reports; later than `before`."""
    for _ in range(60):
        seconds = dict(SPENT.findall(collector.ask("/metrics")[0].decode()))
        told = float(seconds["queries"]), float(seconds["reports"])
        # An answer with metrics is used again for a while.
        if told != before:
            return told
        time.sleep(0.5)
    sys.exit("the metrics do not change")


def share(collector, asker):
    """The part of the time for reports that queries take besides, in percent, one for metrics included."""
    asker.let.set()
    first = spent(collector)
    time.sleep(COUNTED)
    last = spent(collector, first)
    asker.let.clear()
    return 100 * (last[0] - first[0]) / (last[1] - first[1])


def compared(arguments, collector, sender, asker, other):
    """By how many percent reception costs more than beside `other`, and the ends of the 95 % interval."""
    ratios = []
    for _ in range(arguments.rounds):
        turns = [cost(collector, sender, who, arguments.seconds) for who in (other, asker, asker, other)]
        ratios.append(math.log(per_report(*turns[1:3]) / per_report(turns[0], turns[3])))
    mean, off = statistics.mean(ratios), T_OF_95 * statistics.stdev(ratios) / math.sqrt(len(ratios))
    return [100 * math.expm1(of) for of in (mean, mean - off, mean + off)]


def line(arguments, collector, sender, name, asker, other, base=0.0):
    """Prints the line of a kind; returns its share beyond `base`, and the lower end of its interval."""
    begun, before = time.monotonic(), asker.answers
    own = share(collector, asker) - base
    answers = (asker.answers - before) / (time.monotonic() - begun)
    more, least, most = compared(arguments, collector, sender, asker, other)
    print(f"{name:32}{answers:>10.0f}{own:>8.2f} %{more:>+8.1f} %{least:>+10.1f} to{most:>+5.1f} %", flush=True)
    return own, least


class Sender:
    """Reports to a collector at a rate, for some seconds."""

    def __init__(self, arguments, collector, rate, seconds):
        self.rate = rate
        send = [arguments.bench, "--send", f"127.0.0.1:{collector.receives}", "--flows", str(arguments.flows), "--each-flow"]
        self.process = subprocess.Popen([*send, "--rate", str(rate), "--reports", str(int(rate * seconds))], stdout=subprocess.DEVNULL)

    def stop(self):
        self.process.kill()
        self.process.wait()


@contextlib.contextmanager
def reported_to(arguments, rate, seconds):
    """A new collector that knows all flows, and the sender of their reports for `seconds` more."""
    with tempfile.TemporaryDirectory(prefix="inband-questions-") as folder:
        collector = Collector(arguments.program, configured(folder))
        longest = 2 * arguments.flows / rate + 60
        sender, known, end = Sender(arguments, collector, rate, longest + seconds), 0, time.monotonic() + longest
        try:
            while known < arguments.flows * 0.98 and time.monotonic() < end:
                time.sleep(1)
                known = json.loads(collector.ask("/api/v1/flows/search?limit=1")[0])["known"]
            print(f"{known} flows are known", flush=True)
            if known < arguments.flows * 0.98:
                sys.exit("that is too few: the machine is too slow, or has other work")
            # New flows cost more than known ones.
            time.sleep(10)
            yield collector, sender
        finally:
            sender.stop()
            collector.stop()


def fitting_rate(arguments):
    """Reports a second that take `--load` of a processor."""
    with reported_to(arguments, FIRST, 30) as (collector, sender):
        return int(arguments.load / per_report(cost(collector, sender, None, 5)))


def measure(arguments, collector, sender):
    """Prints a line for each kind; returns those that cost too much."""
    asked = {name: question for name, question in kinds(collector).items() if arguments.only in name}
    alone, begun, before = cost(collector, sender, None, 4 * arguments.seconds), time.monotonic(), accepted(collector)
    print(f"{sender.rate} reports a second, {per_report(alone) * 1e6:.2f} us of a processor each while nobody asks")
    print(f"{'asked 100 times a second':32}{'answers/s':>10}{'queries':>10}{'in turn':>10}{'95 % interval':>19}")
    file, dear = Asker(collector, lambda: FILE, arguments.rate), []
    base, _ = line(arguments, collector, sender, "the file, beside no query", file, None)
    for name, question in asked.items():
        asker = Asker(collector, question, arguments.rate)
        if max(line(arguments, collector, sender, name, asker, file, base)) > arguments.most:
            dear.append(name)
        asker.stop()
    file.stop()
    arrived, sent = accepted(collector) - before, sender.rate * (time.monotonic() - begun)
    print(f"{100 * arrived / sent:.1f} % of the reports were accepted")
    if arrived < 0.95 * sent:
        sys.exit("that is too few: the machine is too slow, or has other work")
    return dear


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help="the inband program, a release build")
    parser.add_argument("--bench", required=True, help="inband-bench, a release build")
    parser.add_argument("--flows", type=int, default=131_072)
    parser.add_argument("--reports", type=int, help="reports per second, instead of --load")
    parser.add_argument("--load", type=float, default=0.5, help="part of a processor that reports take")
    parser.add_argument("--rate", type=float, default=100, help="queries per second")
    parser.add_argument("--seconds", type=float, default=1, help="length of a measurement, seconds")
    parser.add_argument("--rounds", type=int, default=20, help="from 10")
    parser.add_argument("--only", default="", help="only queries whose name contains this")
    parser.add_argument("--most", type=float, default=2.0, help="most that a kind of query may cost, percent")
    arguments = parser.parse_args()
    reports = arguments.reports or fitting_rate(arguments)
    seconds = 120 + (4 * arguments.rounds * (arguments.seconds + 1) + COUNTED + 10) * (len(LIVE) + 2)
    with reported_to(arguments, reports, seconds) as (collector, sender):
        dear = measure(arguments, collector, sender)
    if dear:
        print(f"more than {arguments.most} %: {', '.join(dear)}")
    return 1 if dear else 0


if __name__ == "__main__":
    sys.exit(main())
