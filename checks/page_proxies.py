"""Access to the page over TLS, with a read-only token, and through a reverse proxy that strips or keeps its
path. Run by `page.py`.
"""

import http.client
import http.server
import re
import shutil
import subprocess
import threading
import urllib.error
import urllib.request
from pathlib import Path

from page import VIEWS, Collector, open_view, ready
from page_fabric import Fabric, Sender

BASE = "/inband"


class Proxy(http.server.ThreadingHTTPServer):
    """Passes requests below BASE on to a collector, with or without BASE."""

    daemon_threads = True

    def __init__(self, upstream, is_stripped):
        self.upstream, self.is_stripped, self.outside = upstream, is_stripped, []
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server_address[1]}"


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def hand_on(self):
        if not self.path.startswith(BASE):
            self.server.outside.append(self.path)
            self.send_error(404)
            return
        path = self.path[len(BASE) :] if self.server.is_stripped else self.path
        body = self.rfile.read(int(self.headers.get("content-length", 0))) or None
        kept = {name: value for name, value in self.headers.items() if name.lower() in ("accept", "content-type", "authorization", "last-event-id", "if-none-match")}
        request = urllib.request.Request(self.server.upstream + (path or "/"), body, kept, method=self.command)
        try:
            answer = urllib.request.urlopen(request, timeout=60)
        except urllib.error.HTTPError as error:
            answer = error
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            if name.lower() not in ("connection", "transfer-encoding", "content-length"):
                self.send_header(name, value)
        self.send_header("connection", "close")
        self.end_headers()
        try:
            while part := answer.read1(65_536):
                self.wfile.write(part)
                self.wfile.flush()
        except (OSError, http.client.HTTPException):
            pass  # The browser has disconnected, or the collector has ended.

    do_GET = do_POST = do_DELETE = hand_on


def proxies_lead_to_every_view(demo, browser, _events):
    looked = 0
    for is_stripped in [True, False]:
        collector = Collector(demo.program, api=f'base_path = "{BASE}"\n')
        proxy = Proxy(collector.url.removesuffix(BASE), is_stripped)
        try:
            Sender(Fabric(1, 3, 2, 1, 6, 20), f"127.0.0.1:{collector.port}").run(0, 500, 200)
            page = browser.page()
            for view in VIEWS:
                open_view(page, proxy.url + BASE + view)
                assert page.get_by_role("alert").count() == 0, (view, is_stripped, page.get_by_role("alert").first.inner_text())
                assert page.url.startswith(proxy.url + BASE), page.url
                looked += 1
            open_view(page, proxy.url + BASE + "/flows")
            page.locator("main tbody a").first.click()
            page.wait_for_url(f"**{BASE}/flow/**")
            ready(page)
            page.get_by_role("link", name="Map", exact=True).click()
            page.wait_for_url(f"**{BASE}/map*")
            page.locator(".strip .live", has_text=re.compile(r"/s")).wait_for(timeout=10_000)
            assert not proxy.outside, proxy.outside
            page.context.close()
        finally:
            proxy.shutdown()
            proxy.server_close()
            collector.stop()
    return looked, "views behind a proxy that strips the path, or keeps it"


def tls_and_a_reading_token_hold(demo, browser, _events):
    """The page over TLS; a read-only token sees everything, and gets an error for what it may not do."""
    if not shutil.which("openssl"):
        return 0, "views by TLS: skipped, openssl is not installed"
    collector = None
    try:
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            key, certificate = Path(folder) / "key.pem", Path(folder) / "certificate.pem"
            command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
            subprocess.run([*command, "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out", certificate], check=True, stderr=subprocess.DEVNULL)
            api = f'token = "all-rights-here"\nread_token = "may-only-read"\ntls_certificate = "{certificate}"\ntls_key = "{key}"\n'
            collector = Collector(demo.program, api=api)
            assert collector.url.startswith("https://"), collector.url
            context = browser.browser.new_context(ignore_https_errors=True)
            page = context.new_page()
            Sender(Fabric(1, 3, 2, 1, 7, 20), f"127.0.0.1:{collector.port}").run(0, 500, 200)
            page.goto(collector.url + "/flows")
            page.get_by_label(re.compile("requires a token")).fill("may-only-read")
            page.get_by_role("button", name="Use token").click()
            page.locator("main tbody tr").first.wait_for(timeout=10_000)
            for view in VIEWS:
                open_view(page, collector.url + view)
                assert page.get_by_role("alert").count() == 0, (view, page.get_by_role("alert").first.inner_text())
            status = page.evaluate("""fetch("/api/v1/silences", { method: "POST", body: '{"kind": "drop"}',
                headers: { "content-type": "application/json", authorization: "Bearer may-only-read" } }).then(answer => answer.status)""")
            assert status == 403, status
            context.close()
    finally:
        if collector:
            collector.stop()
    return len(VIEWS), "views by TLS, with a token that may only read"


CHECKS = [proxies_lead_to_every_view, tls_and_a_reading_token_hold]
