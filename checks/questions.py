"""The cost of queries for reception. `cargo xtask long questions` runs it.

A collector follows 131,072 flows of the made network while their reports arrive. For each kind of query, the
processor time of the receiving threads is measured without queries, with a hundred a second, and without
again; the ratio is that of the middle to the mean of its neighbours, and the median of several rounds counts.
A file of the page is requested as often: what that costs, any load on the same processors does.
"""

import argparse
import http.client
import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from history_api import LIVE, Collector, configured, understanding

# A request that needs nothing of the threads by which reports come in: what it costs them, any load beside them does.
CONTROL = "a file, as a control"


def kinds(collector):
    """Live queries by name, including those about one flow."""
    flows = [flow["id"] for flow in json.loads(collector.ask("/api/v1/flows?limit=1000")[0])]
    turn = iter(range(1 << 60))

    def of_a_flow(rest):
        return lambda: f"/api/v1/flows/{flows[next(turn) % len(flows)]}{rest}"

    return {CONTROL: lambda: "/page/main.js"} | LIVE | {"flow": of_a_flow("")}


class Asker:
    """Threads that send one query at a rate."""

    def __init__(self, collector, question, rate, threads=4):
        self.address, self.question, self.pause = collector.url.removeprefix("http://"), question, threads / rate
        self.ended, self.answers, self.faults = threading.Event(), 0, []
        self.threads = [threading.Thread(target=self.run, args=(at * self.pause / threads,), daemon=True) for at in range(threads)]
        for thread in self.threads:
            thread.start()

    def run(self, wait):
        connection = http.client.HTTPConnection(self.address, timeout=60)
        due = time.monotonic() + wait
        while not self.ended.wait(max(0.0, due - time.monotonic())):
            connection.request("GET", self.question())
            answer = connection.getresponse()
            answer.read()
            if answer.status != 200:
                self.faults.append(answer.status)
            self.answers += 1
            # After a delay the rate is not raised to catch up.
            due = max(due + self.pause, time.monotonic() - self.pause)

    def stop(self):
        self.ended.set()
        for thread in self.threads:
            thread.join(timeout=90)


def cost(collector, seconds):
    """Processor microseconds per report, and reports per second."""
    accepted = lambda: json.loads(collector.ask("/api/v1/ledger")[0])["total"]["accepted"]
    begun, reports, used = time.monotonic(), accepted(), understanding(collector.process.pid)
    time.sleep(seconds)
    reports, used = accepted() - reports, understanding(collector.process.pid) - used
    return used / max(reports, 1) * 1e6, reports / (time.monotonic() - begun)


def measure(arguments, collector):
    """Prints a line for each kind; returns those that cost too much."""
    asked = {name: question for name, question in kinds(collector).items() if arguments.only in name or name == CONTROL}
    ratios, answers = {name: [] for name in asked}, dict.fromkeys(asked, 0.0)
    before, rate = cost(collector, arguments.seconds)
    first = before
    for _ in range(arguments.rounds):
        for name, question in asked.items():
            asker = Asker(collector, question, arguments.rate)
            beside, _ = cost(collector, arguments.seconds)
            count = asker.answers
            asker.stop()
            if asker.faults:
                sys.exit(f"{name}: {asker.faults[0]}")
            after, rate = cost(collector, arguments.seconds)
            ratios[name].append(2 * beside / (before + after))
            answers[name] = count / arguments.seconds
            before = after
    print(f"{rate:.0f} reports a second, {first:.2f} us of a processor each while nobody asks")
    print(f"{'asked 100 times a second':36}{'answers/s':>10}{'reception':>11}{'least':>8}{'most':>8}")
    dear = []
    control = 100 * (statistics.median(ratios[CONTROL]) - 1)
    for name, of_name in ratios.items():
        middle = 100 * (statistics.median(of_name) - 1)
        print(f"{name:36}{answers[name]:>10.0f}{middle:>+10.1f} %{100 * (min(of_name) - 1):>+7.1f}%{100 * (max(of_name) - 1):>+7.1f}%")
        if middle - control > arguments.most:
            dear.append(name)
    return dear


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help="the inband program, a release build")
    parser.add_argument("--bench", required=True, help="inband-bench, a release build")
    parser.add_argument("--flows", type=int, default=131_072)
    parser.add_argument("--reports", type=int, default=40_000, help="reports per second")
    parser.add_argument("--rate", type=float, default=100, help="queries per second")
    parser.add_argument("--seconds", type=float, default=4, help="length of a measurement, seconds")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="only queries whose name contains this")
    parser.add_argument("--most", type=float, default=2.0, help="most that a query may cost reception beyond the control, percent")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="inband-questions-") as folder:
        collector = Collector(arguments.program, configured(folder))
        seconds = 60 + (2 * arguments.rounds * (len(LIVE) + 2) + 1) * (arguments.seconds + 5)
        send = [arguments.bench, "--send", f"127.0.0.1:{collector.receives}", "--flows", str(arguments.flows), "--each-flow"]
        sender = subprocess.Popen([*send, "--rate", str(arguments.reports), "--reports", str(int(arguments.reports * seconds))], stdout=subprocess.DEVNULL)
        try:
            known, end = 0, time.monotonic() + 60
            while known < arguments.flows * 0.98 and time.monotonic() < end:
                time.sleep(1)
                known = json.loads(collector.ask("/api/v1/flows/search?limit=1")[0])["known"]
            print(f"{known} flows are known")
            dear = measure(arguments, collector)
        finally:
            sender.kill()
            sender.wait()
            collector.stop()
    if dear:
        print(f"more than {arguments.most} %: {', '.join(dear)}")
    return 1 if dear else 0


if __name__ == "__main__":
    sys.exit(main())
