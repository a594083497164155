"""Unannounced faults in random fabrics, found from `/` using only accessible names. Run by `page.py`.

Four collectors receive from four fabrics, each with one fault at a random place; the fault is read only after
the page has been searched.
"""

import json
import random
import re
import subprocess
import sys
from pathlib import Path

from page import Collector, open_view, ready

FABRIC = [sys.executable, str(Path(__file__).parent / "page_fabric.py")]
MAX_STEPS = 6


class Hidden:
    """Collectors with faulty fabrics, started early, so that the faults are there when needed."""

    def __init__(self, program):
        numbers = random.Random()
        self.running = {}
        for name, fault, *more in [("congested", "congested"), ("rerouted", "rerouted"), ("silent", "silent", "--xd"), ("unannounced", "silent")]:
            collector = Collector(program)
            seed = numbers.randrange(1 << 30)
            shape = ["--pods=2", f"--leaves={numbers.randint(3, 6)}", f"--aggregates={numbers.randint(2, 3)}", "--cores=6", "--flows=300"]
            if numbers.random() < 0.5:
                more.append("--ipv6")
            arguments = [*FABRIC, f"--to=127.0.0.1:{collector.port}", f"--seed={seed}", *shape, "--rate=300", "--first-rate=500", f"--fault={fault}", *more]
            sender = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
            self.running[name] = (collector, sender, arguments[3:])

    def truth(self, name):
        """The fault, once it has happened."""
        _, sender, _ = self.running[name]
        sender.stdout.readline()
        return json.loads(sender.stdout.readline())

    def end(self, name):
        """Ends a fabric and its collector, which would take time from other checks."""
        collector, sender, _ = self.running.pop(name)
        sender.terminate()
        sender.wait(timeout=30)
        collector.stop()

    def stop(self):
        for name in list(self.running):
            self.end(name)


class Walk:
    """Steps on the page, using accessible names."""

    def __init__(self, page, url):
        self.page, self.steps = page, 0
        open_view(page, url + "/")

    def click(self, name, wait=60_000):
        link = self.page.get_by_role("link", name=re.compile(name)).first
        link.wait_for(timeout=wait)
        link.click()
        self.steps += 1
        assert self.steps <= MAX_STEPS, f"{name} is more than {MAX_STEPS} steps away"
        ready(self.page)


def a_hidden_congestion_is_found(hidden, browser):
    """C24"""
    truth = hidden.truth("congested")
    walk = Walk(browser.page(), hidden.running["congested"][0].url)
    walk.click("congested for")
    walk.click("The queue at that time")
    queue = walk.page.inner_text("h1")
    table = walk.page.get_by_role("table", name=re.compile("Flows in the queue"))
    table.wait_for()
    flows = table.locator("tbody tr td:nth-child(2)").all_inner_texts()
    assert queue.startswith(f"node {truth['node']} interface {truth['interface']} queue"), (queue, truth)
    assert flows and set(flows) <= set(truth["flows"]), (flows, truth)
    return walk.steps


def a_hidden_change_of_path_is_found(hidden, browser):
    """C24"""
    truth = hidden.truth("rerouted")
    walk = Walk(browser.page(), hidden.running["rerouted"][0].url)
    walk.click("took another path")
    heading = walk.page.inner_text("h1")
    way = lambda nodes: " → ".join(f"node {node}" for node in nodes)  # noqa: E731
    assert f"{truth['flow']} took another path" in heading, (heading, truth)
    assert heading.endswith(f"{way(truth['old'])} became {way(truth['new'])}"), (heading, truth)
    return walk.steps


def a_silent_link_is_found(hidden, browser):
    """C24: if each node reports, the link is named."""
    truth = hidden.truth("silent")
    walk = Walk(browser.page(), hidden.running["silent"][0].url)
    walk.click("not seen past the link")
    walk.click("The link on the map")
    panel = walk.page.locator("section.panel h2")
    panel.wait_for()
    link = f"node {truth['from']} {truth['interface']} → node {truth['to']} {truth['ingress']}"
    assert panel.inner_text() == link, (panel.inner_text(), truth)
    return walk.steps


def a_link_of_which_nothing_tells_is_found(hidden, browser):
    """C24: if only sinks report, nothing is announced; the map shows when a link was last on a path."""
    truth = hidden.truth("unannounced")
    walk = Walk(browser.page(), hidden.running["unannounced"][0].url)
    walk.click("^Map$")
    walk.page.get_by_label("Colour by").select_option(label="time since last path")
    walk.steps += 1
    table = walk.page.get_by_role("table", name=re.compile("by time since last path"))
    table.wait_for()
    link = f"node {truth['from']} {truth['interface']}"
    walk.page.wait_for_function("name => document.querySelector('main table tbody td').innerText === name", arg=link, timeout=15_000)
    walk.click(f"^{link}$")
    panel = walk.page.locator("section.panel h2")
    panel.wait_for()
    assert panel.inner_text() == f"{link} → node {truth['to']} {truth['ingress']}", (panel.inner_text(), truth)
    return walk.steps


FOUND = {
    "congested": a_hidden_congestion_is_found,
    "rerouted": a_hidden_change_of_path_is_found,
    "silent": a_silent_link_is_found,
    "unannounced": a_link_of_which_nothing_tells_is_found,
}


def faults_are_found(hidden, browser):
    """C24: all four."""
    worst = 0
    for name, find in FOUND.items():
        try:
            worst = max(worst, find(hidden, browser))
        except Exception as error:
            raise AssertionError(f"{find.__name__}: {error}; its fabric: {hidden.running[name][2]}") from error
        browser.close_pages()
        hidden.end(name)
    return worst, "steps at most to a hidden fault"
