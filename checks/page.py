#!/usr/bin/env python3
"""The web page from outside: headers, requests, accessibility, addresses, foreign text, exact numbers, ways to a cause.

Runs `inband demo`, and Debian's chromium-headless-shell with Python's playwright; axe-core comes with
axe-playwright-python. Each check prints one line. A missing program is reported, and its checks are skipped.
"""

import argparse
import json
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from pathlib import Path

VIEWS = ["/", "/map", "/flows", "/queues", "/events", "/drops", "/reports", "/query?sql=SELECT+*+FROM+paths+LIMIT+5"]
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa", "best-practice"]
FOREIGN = ['<img src=x onerror="window.hit=1">', '"><script>window.hit=1</script>', "javascript:window.hit=1", "\u202eevil\u0000\u2066", "🦀" * 40, "x" * 10_000]


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
        self.process.wait(timeout=60)
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
    size = sum(len(demo.ask("/page/" + name)[1]) for name in ["main.js", "main.css", "icon.svg"])
    assert size <= 400_000, size
    assert all(demo.ask("/page/" + name)[0]["etag"] for name in ["main.js", "main.css"])
    page.context.close()
    return size, "bytes at first"


def everyone_can_use_it(demo, browser, events):
    """C6, C16"""
    import axe_playwright_python

    axe = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()
    flow = demo.json("flows?limit=1")[0]["id"]
    views = [*VIEWS, f"/flow/{flow}", f"/event/{events['queue-congestion']['id']}", "/queue/1/2/0", "/map?form=groups&group=1", "/map?form=matrix&sel=1", "/no-such-view"]
    looked = 0
    for width, scheme in [(1440, "light"), (390, "dark")]:
        page = browser.page(width, 900, scheme)
        for view in views:
            open_view(page, demo.url + view)
            page.wait_for_timeout(300)
            # Isolated from the page's policy, as a browser's extension would be.
            session = page.context.new_cdp_session(page)
            session.send("Page.setBypassCSP", {"enabled": True})
            session.send("Runtime.evaluate", {"expression": axe})
            run = f"axe.run({{runOnly: {json.dumps(TAGS)}, resultTypes: ['violations']}})"
            found = page.evaluate(run)
            faults = [(one["id"], one["nodes"][0]["html"][:160]) for one in found["violations"]]
            assert not faults, (view, width, scheme, faults)
            over = page.evaluate("document.documentElement.scrollWidth - innerWidth")
            assert over <= 0, (view, width, over)
            looked += 1
        page.context.close()
    return looked, "pictures without a fault"


def addresses_hold_the_state(demo, browser, events):
    """C9"""
    event = events["queue-congestion"]
    middle = (event["first"] + event["last"]) // 2
    views = [f"/queue/1/2/0?at={middle}&span=200ms", f"/events?at={middle}&span=10s", "/query?sql=SELECT+count(*)+FROM+paths+WHERE+time+<+1", f"/event/{event['id']}?at={middle}&span=20s"]
    for view in views:
        texts = []
        for _ in range(2):
            page = browser.page()
            open_view(page, demo.url + view)
            page.wait_for_timeout(800)
            texts.append(re.sub(r"in \d+ ms", "", page.inner_text("main")))
            page.reload()
            ready(page)
            page.wait_for_timeout(800)
            texts.append(re.sub(r"in \d+ ms", "", page.inner_text("main")))
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


def foreign_text_stays_text(demo, browser, _events):
    """C10"""
    page = browser.page()

    def with_foreign(route):
        answer = route.fetch()
        body = answer.text()
        for name, text in zip(["leaf1", "leaf2", "leaf3", "leaf4", "spine1", "spine2"], FOREIGN, strict=True):
            body = body.replace(f'"{name}"', json.dumps(text))
        route.fulfill(response=answer, body=body)

    page.route(re.compile(r"/api/v1/(nodes|map|flows|links|events)"), with_foreign)
    for view in ["/", "/map", "/flows", "/queues", "/events", "/reports"]:
        open_view(page, demo.url + view)
        page.wait_for_timeout(600)
        assert page.evaluate("window.hit") is None, view
        assert page.locator("main img, main script").count() == 0, view
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, view
    assert "⟨U+202E⟩" in page.inner_text("main"), "bidirectional marks are not shown"
    page.unroute_all(behavior="ignoreErrors")
    page.context.close()
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
    return followed, f"links of {len(events)} kinds of events"


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
    assert "9000" in table.inner_text(), table.inner_text()
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
    addresses_hold_the_state,
    foreign_text_stays_text,
    events_lead_on,
    numbers_are_exact,
    causes_are_found,
]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--only", default="")
    arguments, _ = parser.parse_known_args()
    shell = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    try:
        import axe_playwright_python  # noqa: F401
        from playwright.sync_api import sync_playwright
    except ImportError:
        shell = None
    if not shell:
        print("page: skipped, chromium-headless-shell, playwright or axe-playwright-python is not installed")
        return 0
    failed = 0
    import page_hidden

    demo, hidden = Demo(arguments.program), page_hidden.Hidden(arguments.program)
    try:
        events = demo.wait_for_events(["queue-congestion", "path-change", "culprits", "latency-spike"])
        with sync_playwright() as playwright:
            browser = Browser(playwright, shell)
            import page_answers
            import page_numbers
            import page_proxies
            import page_states

            def faults_are_found(_demo, browser, _events):
                return page_hidden.faults_are_found(hidden, browser)

            modules = [page_states, page_numbers, page_answers, page_proxies]
            for check in [*CHECKS, *(check for one in modules for check in one.CHECKS), faults_are_found]:
                if arguments.only not in check.__name__:
                    continue
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
    finally:
        demo.stop()
        hidden.stop()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
