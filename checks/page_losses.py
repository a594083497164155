"""Lost reports on the page: a relay between demo and collector drops some at random. Run by `page_long.py`."""

import random
import re
import select
import socket
import statistics
import subprocess
import tempfile
import threading
import time

from page import Collector, open_view

SHARE, SECONDS, WITHIN = 0.05, 30, 2.0
LOOK = """() => ({
  strip: [...document.querySelector(".strip").innerText.matchAll(/([\\d,]+) (received|accepted|malformed|duplicate|shed|lost)/g)].map(one => [one[2], +one[1].replaceAll(",", "")]),
  sheet: document.querySelector(".balance-sheet p")?.innerText ?? "",
  streams: [...document.querySelectorAll("table")].filter(one => /streams?,/.test(one.caption?.innerText ?? "")).flatMap(one => [...one.tBodies[0].rows].map(row => [row.cells[0].innerText, +row.cells[1].innerText, +row.cells[5].innerText.replaceAll(",", "")])),
})"""


class Relay:
    """Forwards datagrams, drops a share, and records per stream when the first one after a drop passed."""

    def __init__(self, port, share, seed):
        self.share, self.numbers, self.port = share, random.Random(seed), port
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        self.socket.bind(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.socket.getsockname()[1]
        self.is_over = False
        self.passed = self.dropped = 0
        # For each stream: how many were dropped before one that passed, and when that passed.
        self.pending, self.gaps = {}, {}
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.is_over:
            if not select.select([self.socket], [], [], 0.2)[0]:
                continue
            data = self.socket.recv(65_535)
            # A report of version 2.0: version, hw_id and sequence in one word, then the node's id.
            word, node = int.from_bytes(data[:4], "big"), int.from_bytes(data[4:8], "big")
            stream = (node, word >> 22 & 63)
            known = stream in self.gaps
            if known and self.numbers.random() < self.share:
                self.pending[stream] = self.pending.get(stream, 0) + 1
                self.dropped += 1
                continue
            gaps = self.gaps.setdefault(stream, [])
            if self.pending.get(stream):
                gaps.append((time.monotonic(), (gaps[-1][1] if gaps else 0) + self.pending.pop(stream)))
            self.socket.sendto(data, ("127.0.0.1", self.port))
            self.passed += 1

    def stop(self):
        self.is_over = True
        self.thread.join()
        self.socket.close()


def losses_are_named(program, browser):
    """C23: 5 % of the reports do not arrive; sums balance, and streams show each loss within two seconds.

    A gap is visible from the first report after it; the time counts from there.
    """
    seed = time.time_ns() % 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        names = f"{folder}/names.toml"
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
        subprocess.run([program, "demo", "--duration", "500ms", "--no-page", "--write-names", names], check=True, timeout=60, **quiet)
        collector = Collector(program, names=open(names).read())
        relay = Relay(collector.port, SHARE, seed)
        sender = subprocess.Popen([program, "demo", "--duration", f"{SECONDS + 60}s", "--no-page", "--report-to", relay.address], **quiet)
        try:
            return watched(collector, relay, browser, seed)
        finally:
            sender.terminate()
            sender.wait(timeout=30)
            relay.stop()
            collector.stop()


def watched(collector, relay, browser, seed):
    page = browser.page()
    open_view(page, collector.url + "/reports?live=1m")
    page.get_by_role("table", name=re.compile("streams?, most lost")).wait_for(timeout=20_000)
    page.locator(".strip", has_text=re.compile(r"\d received.*\d shed", re.S)).wait_for()
    ids = {node["name"]: node["node_id"] for node in collector.json("nodes")}
    looks, balances = [], set()
    begun = time.monotonic()
    while time.monotonic() - begun < SECONDS:
        seen = page.evaluate(LOOK)
        strip = dict(seen["strip"])
        parts = [strip[name] for name in ["accepted", "malformed", "duplicate", "shed"]]
        assert strip["received"] == sum(parts), (seed, strip)
        numbers = [int(text.replace(",", "")) for text in re.findall(r"[\d,]*\d", seen["sheet"])]
        assert len(numbers) == 5 and numbers[0] == sum(numbers[1:]) and "≠" not in seen["sheet"], (seed, seen["sheet"])
        balances.update([("strip", strip["received"]), ("sheet", numbers[0])])
        lost = {}
        for name, hw_id, count in seen["streams"]:
            node = ids.get(name, int(name) if name.isdigit() else None)
            lost[node, hw_id] = lost.get((node, hw_id), 0) + count
        looks.append((time.monotonic(), lost))
        page.wait_for_timeout(100)
    page.context.close()
    delays = []
    for stream, gaps in list(relay.gaps.items()):
        for at, total in gaps:
            if at < begun or at > looks[-1][0] - WITHIN:
                continue
            told = next((when for when, lost in looks if when >= at and lost.get(stream, -1) >= total), None)
            delays.append((told - at if told else float("inf"), stream, total))
        final = looks[-1][1].get(stream, 0)
        assert final <= (gaps[-1][1] if gaps else 0), (seed, stream, final, gaps[-1:])
    assert len(delays) > 50 and len(balances) > 20, (seed, len(delays), len(balances))
    delays.sort()
    worst = delays[-1]
    text = f"{relay.dropped} of {relay.dropped + relay.passed} reports dropped, {len(delays)} gaps of {len(relay.gaps)} streams, {len(balances)} balances, seed {seed}; median {statistics.median(one[0] for one in delays):.2f} s"
    assert worst[0] <= WITHIN, (text, worst)
    return round(worst[0], 2), f"s until a loss stands at its stream, at most; {text}"
