"""What the page makes of answers of the API that cannot be had otherwise. Run by `page.py`."""

import json
import re
import time
from urllib.parse import parse_qs, urlparse

from page import open_view


def answered(page, pattern, answer):
    """Answers requests whose path below `/api/v1/` matches with what `answer` makes of their parameters."""

    def fulfil(route):
        wanted = parse_qs(urlparse(route.request.url).query)
        route.fulfill(status=200, content_type="application/json", body=json.dumps(answer(wanted)))

    page.route(re.compile(r"/api/v1/" + pattern), fulfil)


def queried(page, change):
    """Replaces rows of SQL queries by those of `change(query, columns, rows)`, unless that is `None`."""

    def fulfil(route):
        answer = route.fetch()
        body = answer.json()
        if answer.ok:
            rows = change(json.loads(route.request.post_data)["sql"], body["columns"], body["rows"])
            body["rows"] = body["rows"] if rows is None else rows
        route.fulfill(response=answer, body=json.dumps(body))

    page.route("**/api/v1/query", fulfil)


def of_kind(event, wanted):
    """An event as the API has it, if the parameters ask for its kind and severity."""
    kinds, least = wanted.get("kind", [event["event"]]), wanted.get("severity", ["info"])[0]
    order = ["info", "warning", "critical"]
    is_it = event["event"] in kinds and order.index(event["severity"]) >= order.index(least)
    return [event] if is_it else []


def the_headline_says_what_is_known(demo, browser, events):
    """New flows do not crowd out an ended congestion; a time without history, or to come, is not quiet."""
    ended = events["queue-congestion"]
    page = browser.page()
    new = {**ended, "event": "new-flow", "severity": "info", "detail": {"flow": None, "path": []}}
    flood = [{**new, "id": str(at)} for at in range(100)]
    is_flood = lambda wanted: not {"kind", "severity"} & set(wanted)  # noqa: E731
    answered(page, r"events\?", lambda wanted: flood if is_flood(wanted) else of_kind(ended, wanted))
    open_view(page, demo.url + "/?live=1h")
    headline = page.locator("main h1")
    assert "was congested for" in headline.inner_text(), headline.inner_text()
    page.unroute_all(behavior="ignoreErrors")
    began, now = int(demo.json("events?limit=1")[0]["first"]), time.time_ns()
    answered(page, r"events\?", lambda _: [])
    seen = []
    times = {began - 10**15: "No history of this time range.", now + 10**14: "This time range is in the future."}
    for at, said in times.items():
        open_view(page, f"{demo.url}/?at={at}&span=15m")
        page.get_by_role("heading", name=said).wait_for(timeout=10_000)
        seen.append(page.get_by_role("button", name="One span forward").is_disabled())
    assert seen == [False, True], seen
    open_view(page, demo.url + "/?live=15m")
    page.keyboard.press("]")
    page.wait_for_timeout(200)
    assert page.url.endswith("live=15m"), page.url
    page.unroute_all(behavior="ignoreErrors")
    # While the collector is away, the sentence is in the frame of the old picture, and its time stands still.
    page.route("**/api/v1/**", lambda route: route.abort())
    page.locator("main .stale h1").wait_for(timeout=20_000)
    page.context.close()
    browser.wrong[:] = [one for one in browser.wrong if "Failed to load resource" not in one]
    return 4, "headlines"


def ages_grow(demo, browser, events):
    """An age that no answer changes rises; rates come with every line of the stream."""
    event = events["queue-congestion"]
    page = browser.page()
    answered(page, r"events\?", lambda wanted: of_kind(event, wanted))
    open_view(page, demo.url + "/?live=1h")
    age = page.locator(".incidents time .muted").first
    before = age.inner_text()
    lane = page.locator(".lane figcaption").first
    lane.wait_for()
    rates = set()
    for _ in range(4):
        rates.add(lane.inner_text())
        page.wait_for_timeout(1_100)
    grown = "was => document.querySelector('.incidents time .muted').innerText !== was"
    page.wait_for_function(grown, arg=before, timeout=65_000)
    page.context.close()
    assert len(rates) > 1, rates
    return len(rates), "rates in four seconds"


CHECKS = [
    the_headline_says_what_is_known,
    ages_grow,
]
