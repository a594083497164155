"""A collector that cannot be reached for a while, and one that restarts. Run by `page.py` and `page_long.py`."""

import contextlib
import re
import socket
import tempfile
import threading
import time

from page import Collector, open_view, ready
from page_fabric import Fabric, Sender


class Cable:
    """Passes connections on to a server; can be pulled out, and plugged in again at the same address."""

    def __init__(self, url):
        host, port = url.removeprefix("http://").split(":")
        self.server, self.port, self.open = (host, int(port)), 0, []
        self.plug_in()
        self.url = f"http://127.0.0.1:{self.port}"

    def plug_in(self):
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind(("127.0.0.1", self.port))
        self.port = self.listener.getsockname()[1]
        self.listener.listen(64)
        threading.Thread(target=self.accept, args=(self.listener,), daemon=True).start()

    def pull_out(self):
        for one in [self.listener, *self.open]:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        self.open.clear()

    def accept(self, listener):
        with contextlib.suppress(OSError):
            while True:
                near, _ = listener.accept()
                far = socket.create_connection(self.server)
                self.open += [near, far]
                for one, other in [(near, far), (far, near)]:
                    threading.Thread(target=self.hand_on, args=(one, other), daemon=True).start()

    def hand_on(self, one, other):
        with contextlib.suppress(OSError):
            while part := one.recv(65_536):
                other.sendall(part)
        for end in (one, other):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


def an_absence_is_waited_out(demo, browser, _events, seconds=6):
    """C15: said within two seconds, the old picture is marked, and all is back after five; no event is missing."""
    cable = Cable(demo.url)
    page = browser.page()
    asked = []
    page.on("request", lambda request: request.url.endswith("/stream") and asked.append(request.headers.get("last-event-id")))
    try:
        open_view(page, cable.url + "/events?live=1h")
        page.locator(".strip .live", has_text=re.compile("/s")).wait_for(timeout=10_000)
        page.locator("main table").first.wait_for()
        begun = time.monotonic()
        cable.pull_out()
        page.get_by_text("disconnected since").wait_for(timeout=2_000)
        page.locator("main .stale table").first.wait_for(timeout=2_000)
        page.wait_for_timeout(max(0, seconds - time.monotonic() + begun) * 1_000)
        page.get_by_text("the collector cannot be reached").first.wait_for(timeout=6_000)
        cable.plug_in()
        page.get_by_text("disconnected since").wait_for(state="detached", timeout=5_000)
        page.wait_for_function("() => !document.querySelector('main .stale, main [role=alert]')", timeout=5_000)
        ready(page)
        known = {event["id"] for event in demo.json("events?limit=300&live=1h")}
        links = "all => all.map(one => one.pathname.split('/').at(-1))"
        # One that came since is on the way.
        for _ in range(50):
            missing = known - set(page.eval_on_selector_all("main tbody a[href*='/event/']", links))
            if not missing:
                break
            page.wait_for_timeout(100)
        assert not missing, f"{len(missing)} of {len(known)} events are missing"
        assert asked[-1], "the stream is not continued after the last event"
    finally:
        cable.pull_out()
    page.context.close()
    browser.wrong[:] = [one for one in browser.wrong if "Failed to load resource" not in one]
    return seconds, f"seconds without a collector; {len(known)} events, {len(asked)} streams"


def a_restart_is_survived(program, browser):
    """C15: a collector that starts again, with the same history: its ledger begins anew, the page goes on."""
    with tempfile.TemporaryDirectory() as folder:
        settings = f'[store]\npath = "{folder}"\n'
        fabric = Fabric(2, 3, 2, 2, 8, 60)
        collector, cable = Collector(program, settings), None
        try:
            Sender(fabric, f"127.0.0.1:{collector.port}").run(4, 300)
            cable = Cable(collector.url)
            page = browser.page()
            open_view(page, cable.url + "/?live=5m")
            page.locator("main .uplot").first.wait_for(timeout=20_000)
            before = strip(page)
            cable.pull_out()
            page.get_by_text("disconnected since").wait_for(timeout=2_000)
            collector.stop()
            collector = Collector(program, settings)
            cable.server = ("127.0.0.1", int(collector.url.rsplit(":", 1)[1]))
            cable.plug_in()
            Sender(fabric, f"127.0.0.1:{collector.port}").run(2, 300)
            page.get_by_text("disconnected since").wait_for(state="detached", timeout=5_000)
            page.wait_for_function("() => !document.querySelector('main .stale, main [role=alert]')", timeout=10_000)
            page.wait_for_timeout(2_000)
            after = strip(page)
            assert 0 < after[0] < before[0] and after[0] == sum(after[1:5]), (before, after)
            text = page.inner_text("main")
            assert not re.search("NaN|undefined|Infinity|-\\d+/s", text) and page.get_by_role("alert").count() == 0, text
            assert "no reports lost" in page.inner_text("main h1"), text
            assert page.locator("main .uplot").count() >= 2, text
            page.context.close()
        finally:
            if cable:
                cable.pull_out()
            collector.stop()
    browser.wrong[:] = [one for one in browser.wrong if "Failed to load resource" not in one]
    return after[0], f"reports after a restart, {before[0]} before"


def strip(page):
    """The numbers of the strip: received, accepted, malformed, duplicate, shed, lost."""
    page.locator(".strip", has_text=re.compile(r"[1-9][\d,]* received.*\d shed", re.S)).wait_for(timeout=10_000)
    return [int(text.replace(",", "")) for text in re.findall(r"([\d,]+) (?:received|accepted|malformed|duplicate|shed|lost)", page.inner_text(".strip"))]


CHECKS = [an_absence_is_waited_out]
