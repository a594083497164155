"""The page's states: keyboard only, names of pictures, errors, zones, tokens. Run by `page.py`."""

import datetime
import json
import re
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
import zoneinfo
from pathlib import Path

from page import VIEWS, open_view, ready

FOCUS = """() => {
  const at = document.activeElement;
  if (!at || at === document.body) return null;
  const box = at.getBoundingClientRect(), style = getComputedStyle(at);
  return { text: (at.getAttribute("aria-label") || at.innerText || at.value || "").slice(0, 200), tag: at.tagName.toLowerCase(),
    isSeen: at.matches("main") || style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1 && box.bottom > 0 && box.top < innerHeight };
}"""


def tab_to(page, pattern, most=120, tag=None):
    """Presses Tab until the focused element's text matches `pattern`; returns the number of presses."""
    for pressed in range(1, most):
        page.keyboard.press("Tab")
        at = page.evaluate(FOCUS)
        if at is None:
            continue  # The browser's own frame comes after the last element.
        assert at["isSeen"], f"focus is not visible on {at}"
        if re.search(pattern, at["text"]) and (tag is None or at["tag"] == tag):
            return pressed
    raise AssertionError(f"no Tab leads to {pattern!r} in {page.url}")


def the_keyboard_reaches_the_cause(demo, browser, _events):
    """C7"""
    page = browser.page()
    open_view(page, demo.url + "/")
    page.get_by_role("link", name=re.compile("congested for")).first.wait_for()
    page.keyboard.press(".")  # A live view would move under the cursor.
    page.wait_for_timeout(500)
    presses = tab_to(page, "congested for", tag="a")
    page.keyboard.press("Enter")
    page.wait_for_url("**/event/**")
    ready(page)
    presses += tab_to(page, "The queue at that time")
    page.keyboard.press("Enter")
    page.wait_for_url("**/queue/**")
    page.locator(".depth svg").wait_for()
    presses += tab_to(page, "^Depth over", tag="svg")
    before = page.inner_text(".depth figcaption")
    page.keyboard.press("ArrowRight")
    page.wait_for_timeout(200)
    assert page.inner_text(".depth figcaption") != before, "the chart's cursor does not speak"
    presses += tab_to(page, r"443", tag="a")
    page.keyboard.press("Enter")
    page.get_by_role("table", name=re.compile("Path of the packet")).wait_for()
    for key, view in [("m", "map"), ("f", "flows"), ("q", "queues"), ("e", "events"), ("r", "reports"), ("s", "query")]:
        page.keyboard.press("g")
        page.keyboard.press(key)
        page.wait_for_url(f"**/{view}*")
        at = page.evaluate(FOCUS)
        if at and at["tag"] in ("textarea", "input"):
            page.keyboard.press("Escape")
    open_view(page, demo.url + "/events")
    tab_to(page, "^UTC$")
    page.keyboard.press("?")
    page.get_by_role("dialog", name="Keys").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("dialog", name="Keys").wait_for(state="detached")
    assert page.evaluate(FOCUS)["text"] == "UTC", page.evaluate(FOCUS)
    page.context.close()
    return presses, "presses of Tab from alert to cause"


SPOKEN = """window.spoken = []; for (const one of document.querySelectorAll('[aria-live], [role=status]'))
  new MutationObserver(() => window.spoken.push(performance.now())).observe(one, {childList: true, characterData: true, subtree: true})"""


def pictures_have_names_and_tables(demo, browser, _events):
    """C8"""
    named, seen = 0, []
    page = browser.page()
    for view in [*VIEWS[:5], "/map?form=matrix", "/queue/1/2/0?live=1m", "/flow/" + demo.json("flows?limit=1")[0]["id"]]:
        open_view(page, demo.url + view)
        if view == "/":
            page.locator("main .uplot").first.wait_for()  # Lanes come after the incidents.
        page.wait_for_timeout(800)
        pictures = page.eval_on_selector_all(
            "main canvas, main svg, main .uplot",
            "all => all.filter(one => !one.closest('.uplot') || one.matches('.uplot')).map(one => [one.getAttribute('role'), one.getAttribute('aria-label')])",
        )
        seen.append((view, len(pictures)))
        for role, name in pictures:
            assert role == "img" and name and re.search(r"\d|–", name), (view, role, name)
            assert page.locator("main table").count() > 0, f"{view}: no table beside {name}"
            named += 1
    assert named >= 6, seen
    page.context.close()
    # Live views, all in the same five seconds.
    views = ["/", "/map", "/flows", "/queues", "/queue/1/2/0?live=1m", "/events", "/reports"]
    pages = [browser.page() for _ in views]
    for page, view in zip(pages, views, strict=True):
        open_view(page, demo.url + view)
        page.evaluate(SPOKEN)
    pages[0].wait_for_timeout(5_000)
    for page, view in zip(pages, views, strict=True):
        spoken = page.evaluate("window.spoken.filter(at => at > performance.now() - 5_000).length")
        assert spoken <= 1, f"{spoken} changes of {view} are spoken in five seconds"
        page.context.close()
    return named, "pictures with their number and a table"


TOLD_AT = """const ask = fetch;
  fetch = (...all) => { if (String(all[0]).includes("flows/search") && !window.toldAt) window.askedAt = performance.now(); return ask(...all) };
  new MutationObserver(() => { if (document.querySelector("[role=alert]")) window.toldAt ??= performance.now() }).observe(document, { childList: true, subtree: true })"""


def trouble_is_said(demo, browser, _events):
    """C15: said within two seconds of the request, gone five seconds after the trouble."""
    problem = lambda status, text: lambda route: route.fulfill(status=status, content_type="application/json", body=json.dumps({"error": text}))  # noqa: E731
    troubles = [
        ("the collector cannot be reached", lambda route: route.abort()),
        ("it met its limit", problem(422, "it met its limit")),
        ("it broke", problem(500, "it broke")),
        ("incomplete or invalid answer (HTTP 200", lambda route: route.fulfill(status=200, content_type="application/json", body='[{"id": ')),
        ("HTTP 502", lambda route: route.fulfill(status=502, content_type="text/html", body="<h1>502 Bad Gateway</h1>")),
        ("A token is needed", problem(401, "no token")),
    ]
    pages = []
    for _ in troubles:
        page = browser.page()
        page.add_init_script(TOLD_AT)
        open_view(page, demo.url + "/flows")
        page.locator("main table").first.wait_for()
        pages.append(page)
    # Each has its own trouble, all at the same time; one more is slow.
    slow, held, is_slow = browser.page(), [], [True]
    open_view(slow, demo.url + "/flows")
    slow.locator("main table").first.wait_for()
    slow.route("**/api/v1/flows/search?**", lambda route: held.append(route) if is_slow else route.continue_())
    begun = time.monotonic()
    for page, (_, answer) in zip(pages, troubles, strict=True):
        page.route("**/api/v1/flows/search?**", answer)
    for page, (said, _) in zip(pages, troubles, strict=True):
        alert = page.get_by_role("alert")
        alert.wait_for(timeout=6_000)
        assert said in alert.inner_text(), (said, alert.inner_text())
        late = page.evaluate("window.toldAt - window.askedAt")
        assert late <= 2_000, f"{said}: shown {late:.0f} ms after the request that failed"
        assert page.locator("main .stale table").count() == 1, f"{said}: the old picture is not marked"
    slow.get_by_role("progressbar", name="Loading").wait_for(timeout=3_000)
    slow.wait_for_timeout(max(0, 5 - time.monotonic() + begun) * 1_000)
    assert slow.locator("main table").count() == 1 and slow.get_by_role("alert").count() == 0, slow.inner_text("main")[:300]
    is_slow.clear()
    for route in held:
        route.continue_()
    slow.get_by_role("progressbar").wait_for(state="detached", timeout=5_000)
    slow.context.close()
    for page in pages:
        page.unroute("**/api/v1/flows/search?**")
    for page in pages:
        page.get_by_role("alert").wait_for(state="detached", timeout=5_000)
        assert page.locator("main .stale").count() == 0
        page.context.close()
    # A deliberate refusal is in the console, too.
    browser.wrong[:] = [one for one in browser.wrong if "Failed to load resource" not in one]
    return len(troubles) + 1, "troubles"


def a_view_of_the_past_recovers(demo, browser, events):
    """C15: nothing repeats its requests but the trouble itself."""
    event = events["queue-congestion"]
    page = browser.page()
    page.route("**/api/v1/events?**", lambda route: route.abort())
    page.goto(f"{demo.url}/events?at={event['first']}&span=20s")
    alert = page.get_by_role("alert")
    alert.wait_for(timeout=6_000)
    page.unroute("**/api/v1/events?**")
    alert.wait_for(state="detached", timeout=6_000)
    page.locator("main table").first.wait_for()
    page.context.close()
    browser.wrong[:] = [one for one in browser.wrong if "Failed to load resource" not in one]
    return 1, "frozen view recovered"


def spans_have_any_length(demo, browser, events):
    """C9: a drag over a lane gives a span of whole microseconds, `w` one of nanoseconds."""
    middle = events["queue-congestion"]["first"]
    page = browser.page()
    for text, seconds in [("1200123456us", 1_200), ("1757812500ns", 2), ("7d", 604_800)]:
        open_view(page, f"{demo.url}/events?at={middle}&span={text}")
        assert page.get_by_label("Span", exact=True).input_value() == text
        first, last = re.findall(r"(?:(\d{4}-\d\d-\d\d) )?(\d\d:\d\d:\d\d)", page.inner_text(".time .interval"))
        today = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d")
        times = [datetime.datetime.fromisoformat(f"{day or today}T{clock}") for day, clock in (first, last)]
        assert abs((times[1] - times[0]).total_seconds() - seconds) <= 1, (text, times)
    open_view(page, f"{demo.url}/events?live=15m")
    spans = []
    for _ in range(10):
        page.keyboard.press("w")
        page.wait_for_timeout(100)
        spans.append(page.get_by_label("Span", exact=True).input_value())
    assert spans[-1] == "878906250ns", spans
    page.context.close()
    return 4, "spans"


def the_filter_completes_at_the_caret(demo, browser, _events):
    """C14"""
    page = browser.page()
    open_view(page, demo.url + "/flows")
    field = page.get_by_label("Filter")
    field.fill("proto = udp and latency > 1ms")
    for _ in range(len(" = udp and latency > 1ms")):
        page.keyboard.press("ArrowLeft")
    page.get_by_role("option", name=re.compile("^protocol")).wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    assert field.input_value() == "protocol = udp and latency > 1ms", field.input_value()
    page.keyboard.type("~")
    assert field.input_value() == "protocol ~= udp and latency > 1ms", field.input_value()
    page.context.close()
    return 1, "completion inside of a filter"


def a_wrong_clock_is_corrected(demo, browser, _events):
    """C15: the browser's clock is an hour ahead."""
    page = browser.page()
    page.add_init_script("const true_ = Date.now.bind(Date); Date.now = () => true_() + 3_600_000")
    asked = []
    page.on("request", lambda request: asked.extend(re.findall(r"/events\?.*&to=(\d+)", request.url)))
    open_view(page, demo.url + "/events")
    page.wait_for_timeout(500)
    ends = [(int(end) - time.time_ns()) / 10**9 for end in asked]
    assert min(map(abs, ends)) < 5, f"the first answers are of {ends} seconds from now"
    page.wait_for_timeout(2_000)
    shown = re.findall(r"\d\d:\d\d:\d\d", page.inner_text(".time .interval"))[-1]
    now = datetime.datetime.now(datetime.UTC)
    off = min(abs((now - datetime.timedelta(seconds=late)).strftime("%H:%M:%S") != shown) for late in range(-5, 6))
    assert off == 0, (shown, now)
    page.context.close()
    return 0, "hours off"


ZONES = ["Asia/Kolkata", "Europe/Berlin", "Australia/Lord_Howe"]
# Around changes of summer time: Berlin, Lord Howe by half an hour, and none.
MOMENTS = [1_792_890_000, 1_775_314_800, 1_767_225_600]


def times_follow_the_zone(demo, browser, _events):
    """C19"""
    compared = 0
    for name in ZONES:
        context = browser.browser.new_context(timezone_id=name)
        context.add_init_script("localStorage.setItem('inband-zone', 'local')")
        page = context.new_page()
        for moment in MOMENTS:
            open_view(page, f"{demo.url}/events?at={moment}000000000&span=2h")
            written = [
                datetime.datetime.fromtimestamp(moment + by, zoneinfo.ZoneInfo(name)).strftime("%Y-%m-%d %H:%M:%S") for by in (-3600, 3600)
            ]
            assert page.inner_text(".time .interval") == " to ".join(written), (name, page.inner_text(".time .interval"), written)
            page.keyboard.press("z")
            utc = [datetime.datetime.fromtimestamp(moment + by, datetime.UTC).strftime("%Y-%m-%d %H:%M:%S") for by in (-3600, 3600)]
            page.wait_for_function("text => document.querySelector('.time .interval').innerText === text", arg=" to ".join(utc), timeout=3_000)
            compared += 4
        context.close()
    return compared, f"times in {len(ZONES)} zones"


def tokens_stay_secret(demo, browser, _events):
    """C28"""
    with tempfile.TemporaryDirectory() as folder:
        with socket.socket() as one, socket.socket(type=socket.SOCK_DGRAM) as two:
            one.bind(("127.0.0.1", 0))
            two.bind(("127.0.0.1", 0))
            port, reports = one.getsockname()[1], two.getsockname()[1]
        settings = Path(folder) / "collector.toml"
        secret = "a-secret-of-the-tests"
        settings.write_text(f'[receive]\nlisten = ["127.0.0.1:{reports}"]\n[api]\nlisten = "127.0.0.1:{port}"\ntoken = "{secret}"\n')
        process = subprocess.Popen([demo.program, "collect", "-c", str(settings)], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            url = f"http://127.0.0.1:{port}"
            for _ in range(100):
                try:
                    urllib.request.urlopen(url + "/healthz")
                    break
                except urllib.error.HTTPError:
                    break
                except OSError:
                    time.sleep(0.1)
            page = browser.page()
            asked = []
            page.on("request", lambda request: asked.append(request.url))
            page.goto(url + "/flows?q=latency+%3E+1ms")
            for text in ["wrong", secret]:
                page.get_by_label(re.compile("requires a token")).fill(text)
                page.get_by_role("button", name="Use token").click()
                page.wait_for_timeout(2_500)
            page.get_by_text("No flows reported yet").wait_for()
            assert page.url.endswith("/flows?q=latency+%3E+1ms"), page.url
            page.get_by_role("link", name="Query").click()
            page.get_by_role("link", name="observations").wait_for(timeout=6_000)
            frozen = page.context.new_page()
            frozen.goto(url + "/events?at=1700000000000000000&span=1m")
            frozen.get_by_label(re.compile("requires a token")).fill(secret)
            frozen.get_by_role("button", name="Use token").click()
            frozen.wait_for_function("() => !document.querySelector(\"[role=alert]\")", timeout=8_000)
            frozen.close()
            kept = page.evaluate("JSON.stringify(localStorage) + document.cookie")
            assert secret not in kept and not any(secret in one for one in [*asked, page.url]), "the token is kept or told"
            other = page.context.new_page()
            other.goto(url + "/flows")
            other.get_by_label(re.compile("requires a token")).wait_for()
            page.context.close()
        finally:
            process.terminate()
            process.wait(timeout=30)
    browser.wrong[:] = [one for one in browser.wrong if "401" not in one]
    return len(asked), "requests without the token in their address"


def forms_take_the_focus(demo, browser, events):
    """C7: a form that opens takes the focus, and gives it back; what is typed in it is no shortcut."""
    page = browser.page()
    focused = "document.activeElement.innerText || document.activeElement.tagName"
    page.route("**/acknowledge", lambda route: route.fulfill(content_type="application/json", body="{}"))
    open_view(page, f"{demo.url}/event/{events['queue-congestion']['id']}")
    for _ in range(2):
        page.keyboard.press("a")
        page.get_by_label("Acknowledged by").wait_for()
        page.keyboard.type("zoe t")
        assert page.get_by_label("Acknowledged by").input_value().endswith("zoe t"), "shortcuts took the name"
        page.keyboard.press("Enter")
        page.get_by_label("Acknowledged by").wait_for(state="detached")
        assert page.evaluate(focused) == "Acknowledge", page.evaluate(focused)
    page.keyboard.press("s")
    page.get_by_role("form", name="Silence").wait_for()
    assert page.evaluate("document.activeElement.type") == "checkbox", page.evaluate(focused)
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("form", name="Silence").wait_for(state="detached")
    assert page.evaluate(focused) == "Silence", page.evaluate(focused)
    open_view(page, demo.url + "/map?sel=none")
    page.get_by_role("button", name="Clear selection").click()
    page.wait_for_url("**/map")
    assert page.evaluate("document.activeElement.id") == "main", page.evaluate(focused)
    open_view(page, demo.url + "/reports")
    page.get_by_label("Node").fill("1")
    with page.expect_response("**/api/v1/reports?**"):
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    page.wait_for_timeout(200)
    assert page.get_by_label("Node").input_value() == "1", "an answer wiped what was typed"
    page.unroute_all(behavior="ignoreErrors")
    page.context.close()
    return 5, "forms"


def shortcuts_act_where_they_should(demo, browser, _events):
    """C7: rows that take no focus, an open dialog, brackets behind AltGr, arrow keys in a wide table."""
    page = browser.page(width=500)
    open_view(page, demo.url + "/map?sel=1")
    page.get_by_role("table", name="Egress interfaces").wait_for()
    for _ in range(3):
        page.keyboard.press("j")
    at = page.evaluate("document.activeElement.closest('table')?.caption.innerText")
    assert at and "by p99" in at, f"j stops at {at}"
    page.keyboard.press("?")
    page.get_by_role("dialog", name="Keys").wait_for()
    page.keyboard.press("t")
    theme = page.evaluate("document.documentElement.dataset.theme")
    assert theme == "system", "a letter acts behind the dialog"
    page.keyboard.press("Escape")
    alt_graph = "{key: '[', ctrlKey: true, altKey: true, modifierAltGraph: true, bubbles: true}"
    page.evaluate(f"document.body.dispatchEvent(new KeyboardEvent('keydown', {alt_graph}))")
    page.wait_for_url("**at=*")
    open_view(page, demo.url + "/flow/" + demo.json("flows?limit=1")[0]["id"] + "?live=1m&order=time")
    table = page.get_by_role("region", name=re.compile("reported packet"))
    table.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("one => one.scrollLeft > 0", arg=table.element_handle())
    assert "packet=" not in page.url, "an arrow key in a table chose a packet"
    page.context.close()
    return 4, "places"


def the_clipboard_is_not_needed(demo, browser, _events):
    """Over plain HTTP, browsers have no clipboard; what was done is said for four seconds, and said again."""
    page = browser.page()
    page.add_init_script("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page.clock.install()
    open_view(page, demo.url + "/events")
    said = page.locator(".said", has_text="address copied")
    for _ in range(2):
        page.keyboard.press("y")
        said.wait_for(timeout=2_000)
        page.clock.fast_forward(4_100)
        said.wait_for(state="hidden", timeout=2_000)
    asked = []
    page.on("request", lambda request: asked.append(request.url.endswith("/api/v1/query")))
    open_view(page, demo.url + "/query?sql=SELECT+1+AS+one")
    for _ in range(2):
        page.get_by_role("button", name="Run", exact=True).click()
        page.locator("main .stale").wait_for(state="detached")
        page.wait_for_timeout(200)
    assert sum(asked) == 3, f"two runs ask {sum(asked) - 1} times"
    page.context.close()
    return 2, "copies and runs"


CHECKS = [
    the_keyboard_reaches_the_cause,
    forms_take_the_focus,
    shortcuts_act_where_they_should,
    the_clipboard_is_not_needed,
    pictures_have_names_and_tables,
    trouble_is_said,
    a_view_of_the_past_recovers,
    spans_have_any_length,
    the_filter_completes_at_the_caret,
    a_wrong_clock_is_corrected,
    times_follow_the_zone,
    tokens_stay_secret,
]
