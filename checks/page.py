#!/usr/bin/env python3
"""The web page from outside: headers, requests, accessibility, addresses, foreign text, exact numbers, ways to a cause.

Runs `inband demo`, and Debian's chromium-headless-shell with Python's playwright; axe-core comes with
axe-playwright-python. Each check prints one line. A missing program is reported, and its checks are skipped.
"""

import argparse
import gzip
import json
import queue
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from page_pixels import contrast

VIEWS = ["/", "/map", "/flows", "/queues", "/events", "/drops", "/reports", "/query?sql=SELECT+*+FROM+paths+LIMIT+5"]
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa", "best-practice"]
FOREIGN = ['<img src=x onerror="window.hit=1">', '"><script>window.hit=1</script>', "javascript:window.hit=1", "\u202eevil\u0000\u2066", "🦀" * 40, "x" * 10_000]

# Checks wait more than they compute, so two run side by side.
BROWSERS = 2


class Server:
    """A running program that serves the page, with requests to it."""

    def __init__(self, program, arguments):
        self.program = program
        self.folder = tempfile.TemporaryDirectory()
        # Its default store is created in its folder.
        self.process = subprocess.Popen(
            [program, *arguments], cwd=self.folder.name, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        # It prints little after the address, which a pipe without a reader holds.
        for line in self.process.stderr:
            if line.startswith("answering on "):
                self.url = line.removeprefix("answering on ").strip().rstrip("/")
                return
        raise AssertionError(f"{arguments[0]} ended with {self.process.wait()}")

    def ask(self, path, headers=None):
        request = urllib.request.Request(self.url + path, headers=headers or {})
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.headers, answer.read()

    def json(self, path):
        return json.loads(self.ask("/api/v1/" + path)[1])

    def wait_for_events(self, kinds):
        """Waits until there is a past event of each kind; returns the latest of each."""
        for _ in range(120):
            events = self.json("events?limit=1000")
            found = {event["event"]: event for event in events if event["phase"] != "begin"}
            if all(kind in found for kind in kinds):
                return found
            time.sleep(0.5)
        raise AssertionError(f"no event of each of {kinds}")

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=120)
        self.folder.cleanup()


class Demo(Server):
    """A running demo."""

    def __init__(self, program, duration="20m"):
        super().__init__(program, ["demo", "--json", "--duration", duration, "--api", "127.0.0.1:0"])


class Collector(Server):
    """A running collector with the given settings, and its report address."""

    def __init__(self, program, settings="", names="", api=""):
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as one:
            one.bind(("::1", 0))
            self.port = one.getsockname()[1]
        self.files = tempfile.TemporaryDirectory()
        file = Path(self.files.name) / "collector.toml"
        listen = f'[receive]\nlisten = ["127.0.0.1:{self.port}", "[::1]:{self.port}"]\n[api]\nlisten = "127.0.0.1:0"\n{api}'
        if names:
            (Path(self.files.name) / "names.toml").write_text(names)
            listen += f"[names]\nfile = \"{self.files.name}/names.toml\"\n"
        file.write_text(listen + settings)
        super().__init__(program, ["collect", "-c", str(file)])

    def stop(self):
        super().stop()
        self.files.cleanup()


class Past:
    """A collector whose history comes from a capture; `write` writes the capture, and its result is kept."""

    def __init__(self, program, write, settings=""):
        self.files = tempfile.TemporaryDirectory()
        capture, file = Path(self.files.name) / "past.pcap", Path(self.files.name) / "replay.toml"
        self.written = write(capture)
        store = f'[store]\npath = "{self.files.name}/store"\nretain = "20y"\n'
        file.write_text(store + settings + '[api]\nlisten = "127.0.0.1:0"\n')
        replay = [program, "collect", "-c", str(file), "--read", str(capture)]
        subprocess.run(replay, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=self.files.name)
        self.collector = Collector(program, store + settings)

    def stop(self):
        self.collector.stop()
        self.files.cleanup()


class Browser:
    """One browser; its pages record their requests and errors."""

    def __init__(self, playwright, shell):
        self.browser = playwright.chromium.launch(executable_path=shell, args=["--disable-gpu", "--no-sandbox"])
        self.wrong = []
        self.requests = []

    def page(self, width=1440, height=900, scheme="light"):
        context = self.browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
        page = context.new_page()
        page.on("pageerror", lambda error: self.wrong.append(f"{page.url}: {error}"))
        page.on("dialog", lambda dialog: (self.wrong.append("a dialog: " + dialog.message), dialog.dismiss()))
        page.on("console", lambda said: said.type == "error" and self.wrong.append(f"{page.url}: {said.text[:300]}"))
        page.on("response", lambda answer: self.requests.append((answer.url, answer.status)))
        return page

    def close_pages(self):
        """Closes what a check has left open, with its pending requests."""
        for context in self.browser.contexts:
            for page in context.pages:
                page.unroute_all(behavior="ignoreErrors")
            context.close()


def sql(demo, question):
    """The rows of an SQL query over the history."""
    asked = urllib.request.Request(demo.url + "/api/v1/query", json.dumps({"sql": question}).encode(), {"content-type": "application/json"})
    return json.load(urllib.request.urlopen(asked, timeout=20))["rows"]


def open_view(page, url):
    page.goto(url)
    ready(page)


def ready(page):
    page.wait_for_selector("main[data-ready]", timeout=20_000)
    page.wait_for_selector("main h1, main .empty", timeout=20_000)
    page.wait_for_selector("main [role=progressbar]", state="detached", timeout=20_000)


def headers_are_strict(demo, _browser, _events):
    """C4"""
    for path in ["/", "/events", "/page/main.js"]:
        headers, _ = demo.ask(path, {"Accept": "text/html"})
        policy = headers["content-security-policy"]
        assert "unsafe" not in policy and "default-src 'none'" in policy, policy
        assert "frame-ancestors 'none'" in policy and "require-trusted-types-for 'script'" in policy, policy
        assert headers["x-content-type-options"] == "nosniff" and headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-opener-policy"] == "same-origin"
    return policy.count(";") + 1, "directives"


def nothing_is_asked_elsewhere(demo, browser, _events):
    """C5"""
    browser.requests.clear()
    page = browser.page()
    for view in VIEWS:
        open_view(page, demo.url + view)
    foreign = [url for url, _ in browser.requests if not url.startswith(demo.url + "/")]
    failed = [answer for answer in browser.requests if answer[1] not in (200, 304)]
    assert not foreign and not failed, (foreign, failed)
    files = [demo.ask(path, {"Accept": "text/html"}) for path in ["/", "/page/main.js", "/page/main.css", "/page/icon.svg"]]
    size, packed = (sum(len(pack(body)) for _, body in files) for pack in (bytes, gzip.compress))
    assert size <= 400_000 and packed <= 110_000, (size, packed)
    assert all(headers["etag"] for headers, _ in files[1:])
    page.context.close()
    return size, f"bytes at first, {packed} packed"


def everyone_can_use_it(demo, browser, events):
    """C6, C16: in a wide light window."""
    return usable(demo, browser, events, 1440, "light")


def phones_can_use_it(demo, browser, events):
    """C6, C16: in a narrow dark window."""
    return usable(demo, browser, events, 390, "dark")


def usable(demo, browser, events, width, scheme):
    """Looks at every view with axe-core, and for sideways scrolling."""
    import axe_playwright_python

    axe = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()
    flow = demo.json("flows?limit=1")[0]["id"]
    views = [*VIEWS, f"/flow/{flow}", f"/event/{events['queue-congestion']['id']}", "/queue/1/2/0", "/map?form=groups&group=1", "/map?form=matrix&sel=1", "/no-such-view"]
    page = browser.page(width, 900, scheme)
    # Isolated from the page's policy, as a browser's extension would be.
    page.add_init_script(axe)
    for view in views:
        open_view(page, demo.url + view)
        page.wait_for_timeout(300)
        looked_at_by_axe(page, (view, width, scheme))
        over = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert over <= 0, (view, width, over)
        if width < 640:
            page.set_viewport_size({"width": 320, "height": 568})
            over = page.evaluate("document.documentElement.scrollWidth - innerWidth")
            assert over <= 0, (view, 320, over)
            page.set_viewport_size({"width": width, "height": 900})

    # Datagrams that are evidence of several events.
    def of_many_events(route):
        body = (answer := route.fetch()).json()
        body["reports"]["events"] = [[events["queue-congestion"]["id"]] * 3 for _ in body["reports"]["events"]]
        route.fulfill(response=answer, body=json.dumps(body))

    page.route("**/api/v1/reports?**", of_many_events)
    open_view(page, demo.url + "/reports")
    page.locator("td a + a + a").first.wait_for()
    looked_at_by_axe(page, ("reports of many events", width, scheme))
    page.route("**/api/v1/flows/search?**", lambda route: route.fulfill(status=500, body="{}"))
    page.goto(demo.url + "/flows")
    page.get_by_role("alert").wait_for(timeout=20_000)
    looked_at_by_axe(page, ("an error", width, scheme))
    page.unroute_all(behavior="ignoreErrors")
    page.context.close()
    browser.wrong[:] = [one for one in browser.wrong if "status of 500" not in one]
    return len(views) + 2, "pictures without a fault"


FILLS = """all => all.map(one => ["text", "rect"].map(part => getComputedStyle(one.querySelector(part)).fill))"""


def looked_at_by_axe(page, what):
    """No violation of a rule, and no text whose contrast axe cannot tell."""
    found = page.evaluate(f"axe.run({{runOnly: {json.dumps(TAGS)}, resultTypes: ['violations', 'incomplete']}})")
    # Marks and single characters may be no text, and the edge of a table that scrolls cuts its text off.
    # Text in a drawing comes below.
    untold = ("nonBmp", "shortTextContent", "elmPartiallyObscured")
    is_text = lambda node: node["any"][0]["data"].get("messageKey") not in untold and not node["html"].startswith("<text")  # noqa: E731
    unsure = [{**one, "nodes": nodes} for one in found["incomplete"] if one["id"] == "color-contrast" and (nodes := [node for node in one["nodes"] if is_text(node)])]
    faults = [(one["id"], one["nodes"][0]["html"][:160], one["nodes"][0]["any"][:1]) for one in [*found["violations"], *unsure]]
    assert not faults, (what, faults)
    for text, behind in page.eval_on_selector_all(".tiers g.node", FILLS):
        colours = [tuple(map(int, re.findall(r"\d+", colour)[:3])) for colour in (text, behind)]
        assert contrast(*colours) >= 4.5, (what, text, behind)


def addresses_hold_the_state(demo, browser, events):
    """C9"""
    event = events["queue-congestion"]
    middle = (event["first"] + event["last"]) // 2
    # Until then, more may happen in these ranges.
    while time.time_ns() < middle + 12 * 10**9:
        time.sleep(0.5)
    views = [f"/?at={middle}&span=20s", f"/map?by=max&form=matrix&at={middle}&span=20s", f"/queue/1/2/0?at={middle}&span=200ms", f"/events?at={middle}&span=10s", "/query?sql=SELECT+count(*)+FROM+paths+WHERE+time+<+1", f"/event/{event['id']}?at={middle}&span=20s"]
    for view in views:
        texts = []
        for _ in range(2):
            page = browser.page()
            open_view(page, demo.url + view)
            texts.append(settled(page))
            page.reload()
            ready(page)
            texts.append(settled(page))
            page.context.close()
        assert len(set(texts)) == 1, (view, texts[0][:300], texts[-1][:300])
    page = browser.page()
    open_view(page, demo.url + "/flows")
    page.get_by_role("link", name="Events", exact=True).click()
    page.wait_for_url("**/events")
    page.go_back()
    page.wait_for_url("**/flows")
    page.context.close()
    return len(views), "addresses show the same again"


def settled(page):
    """The text of the view, once it has stayed the same for half a second."""
    text = None
    for _ in range(20):
        before, text = text, re.sub(r"in \d+ ms", "", page.inner_text("main"))
        if before == text:
            break
        page.wait_for_timeout(500)
    return text


def foreign_text_stays_text(demo, browser, events):
    """C10"""
    def with_foreign(route):
        answer = route.fetch()
        body = answer.text()
        for name, text in zip(["leaf1", "leaf2", "leaf3", "leaf4", "spine1", "spine2"], FOREIGN, strict=True):
            body = body.replace(f'"{name}"', json.dumps(text))
        route.fulfill(response=answer, body=body)

    flow = demo.json("flows?limit=1")[0]["id"]
    event = events["path-change"]["id"]
    for width in [1440, 390]:
        page = browser.page(width)
        page.route(re.compile(r"/api/v1/(nodes|map|flows|links|events)"), with_foreign)
        for view in ["/", "/map", "/flows", "/queues", "/events", "/reports", f"/flow/{flow}", f"/event/{event}"]:
            open_view(page, demo.url + view)
            page.wait_for_timeout(600)
            assert page.evaluate("window.hit") is None, view
            assert page.locator("main img, main script").count() == 0, view
            over = page.evaluate("document.documentElement.scrollWidth - innerWidth")
            assert over <= 0, (view, width, over)
            if view == "/reports":
                assert "⟨U+202E⟩" in page.inner_text("main"), "bidirectional marks are not shown"
        # In addresses, filters, and results of SQL, all at once.
        every = " ".join(text[:500].replace("\x00", "\x01") for text in FOREIGN)
        query = urllib.parse.quote("SELECT '" + every.replace("'", "''") + "' AS a")
        quoted = urllib.parse.quote(every, safe="")
        for view in [f"/query?sql={query}", f"/flows?q={quoted}", f"/event/{quoted}", f"/map?sel={quoted}"]:
            open_view(page, demo.url + view)
            page.wait_for_timeout(100)
            assert page.evaluate("window.hit") is None, view
            assert page.locator("main img, main script").count() == 0, view
            assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, (view, width)
            if "/query" not in view:  # Its editor has the text as it is.
                assert "\u202e" not in page.inner_text("main"), f"a bidirectional mark of {view} is not made visible"
        page.unroute_all(behavior="ignoreErrors")
        page.context.close()
    # Filters and ids that do not exist are refused.
    browser.wrong[:] = [one for one in browser.wrong if "status of 400" not in one and "status of 404" not in one]
    return len(FOREIGN), "texts"


def events_lead_on(demo, browser, events):
    """C11"""
    followed = 0
    for kind, event in events.items():
        page = browser.page()
        open_view(page, f"{demo.url}/event/{event['id']}")
        heading = page.inner_text("h1")
        assert "No event" not in page.inner_text("main"), kind
        leads = page.locator("main a[href^='/flow/'], main a[href^='/queue/'], main a[href^='/report/']")
        links = {leads.nth(at).get_attribute("href") for at in range(min(4, leads.count()))}
        assert links, (kind, heading)
        for link in links:
            open_view(page, demo.url + link)
            page.wait_for_timeout(500)
            assert page.locator("main table, main svg").count() > 0, (kind, link, page.inner_text("main")[:200])
            followed += 1
        page.context.close()
    read = fields_are_those_of_decode(demo, browser, events["queue-congestion"])
    return followed, f"links of {len(events)} kinds of events; {read} fields as `inband decode` prints them"


def fields_are_those_of_decode(demo, browser, event):
    """The bytes of a report on the page, given to `inband decode`, have the fields beside them."""
    report = event["evidence"][0]
    page = browser.page()
    open_view(page, f"{demo.url}/report/{report['node_id']}/{report['hw_id']}/{report['sequence']}?at={report['received_at']}&span=2s")
    page.locator(".bytes .hex").wait_for()
    payload = bytes.fromhex("".join(page.locator(".hex [data-byte]").all_inner_texts()).replace(" ", ""))
    shown = dict.fromkeys(row.replace("\u2009", " ") for row in page.locator(".bytes tbody tr").all_inner_texts())
    udp = struct.pack(">HHHH", 40_000, 32_766, 8 + len(payload), 0) + payload
    packet = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(udp), 0, 0x4000, 64, 17, 0) + bytes([127, 0, 0, 2, 127, 0, 0, 1]) + udp
    capture = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 101) + struct.pack("<IIII", 0, 0, len(packet), len(packet)) + packet
    decoded = subprocess.run([demo.program, "decode", "-"], input=capture, capture_output=True, check=True).stdout.decode()
    fields = re.findall(r"^ +(Sequence number|hw_id|Ingress interface|Egress interface|Queue ID|Hop latency|Queue occupancy)(?:, level 1)?: (\d+)", decoded, re.M)
    for name, value in fields:
        assert any(name.lower() in row.lower() and re.search(rf"\b{value}\b", row.replace(",", "")) for row in shown), (name, value, list(shown)[:40])
    assert len(fields) > 4, decoded
    page.context.close()
    return len(fields)


def numbers_are_exact(demo, browser, _events):
    """C17"""
    question = "SELECT time, flow_id, sequence FROM observations ORDER BY time LIMIT 100"
    rows = sql(demo, question)
    page = browser.page()
    open_view(page, f"{demo.url}/query?sql={urllib.parse.quote(question)}")
    page.wait_for_selector("main tbody tr")
    shown = page.eval_on_selector_all(
        "main tbody tr", "rows => rows.map(row => [row.cells[0].querySelector('time').title, row.cells[1].innerText, row.cells[2].innerText])"
    )
    assert [[str(cell) for cell in row] for row in rows] == shown, (rows[0], shown[0])
    assert max(row[1] for row in rows) > 2**53
    page.context.close()
    return 3 * len(rows), "numbers"


def causes_are_found(demo, browser, _events):
    """C24: from / using only accessible names."""
    page = browser.page()
    open_view(page, demo.url + "/")
    page.get_by_role("link", name=re.compile("congested")).first.click()
    page.get_by_role("link", name="The queue at that time").click()
    page.wait_for_selector("svg[role=img]")
    table = page.get_by_role("table", name=re.compile("Flows in the queue"))
    table.wait_for()
    # What a queue does at this moment is in the history soon after.
    table.get_by_text(":9000").first.wait_for(timeout=20_000)
    table.get_by_role("link", name=re.compile(":443")).click()
    page.get_by_role("table", name=re.compile("Path of the packet")).wait_for()
    assert "leaf1" in page.inner_text("main")
    open_view(page, demo.url + "/")
    page.get_by_role("link", name=re.compile("took another path")).first.click()
    page.wait_for_selector("h1 >> text=became")
    page.context.close()
    return 5, "steps"


CHECKS = [
    headers_are_strict,
    nothing_is_asked_elsewhere,
    everyone_can_use_it,
    phones_can_use_it,
    addresses_hold_the_state,
    foreign_text_stays_text,
    events_lead_on,
    numbers_are_exact,
    causes_are_found,
]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--only", default="", help="parts of names of checks, separated by commas")
    arguments, _ = parser.parse_known_args()
    shell = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    try:
        import axe_playwright_python  # noqa: F401
        import playwright  # noqa: F401
    except ImportError:
        shell = None
    if not shell:
        print("page: skipped, chromium-headless-shell, playwright or axe-playwright-python is not installed")
        return 0
    import page_absence
    import page_answers
    import page_hidden
    import page_numbers
    import page_odd
    import page_proxies
    import page_states

    demo, hidden = Demo(arguments.program), page_hidden.Hidden(arguments.program)

    def faults_are_found(_demo, browser, _events):
        return page_hidden.faults_are_found(hidden, browser)

    modules = [page_absence, page_states, page_numbers, page_answers, page_odd, page_proxies]
    checks = [faults_are_found, *CHECKS, *(check for one in modules for check in one.CHECKS)]
    left = queue.SimpleQueue()
    for check in checks:
        if any(text in check.__name__ for text in arguments.only.split(",")):
            left.put(check)
    try:
        events = demo.wait_for_events(["queue-congestion", "path-change", "culprits", "latency-spike"])
        with ThreadPoolExecutor(BROWSERS) as threads:
            started = [threads.submit(work_off, left, shell, demo, events) for _ in range(BROWSERS)]
            failed = sum(one.result() for one in started)
    finally:
        demo.stop()
        hidden.stop()
    return 1 if failed else 0


def next_of(left):
    """The next check, or `None`."""
    try:
        return left.get_nowait()
    except queue.Empty:
        return None


def work_off(left, shell, demo, events):
    """Runs checks in a browser of its own until none is left; returns how many failed."""
    from playwright.sync_api import sync_playwright

    failed = 0
    with sync_playwright() as playwright:
        browser = Browser(playwright, shell)
        while check := next_of(left):
            started = time.monotonic()
            browser.wrong.clear()
            try:
                number, what = check(demo, browser, events)
                assert not browser.wrong, browser.wrong[:3]
                result = f"{number} {what}"
            except Exception as error:  # noqa: BLE001
                failed += 1
                result = f"FAILED: {str(error)[:1500]}"
            browser.close_pages()
            print(f"page: {check.__name__}: {result} ({time.monotonic() - started:.1f} s)", flush=True)
        browser.browser.close()
    return failed


if __name__ == "__main__":
    sys.exit(main())
