"""What the page makes of answers of the API that cannot be had otherwise. Run by `page.py`."""

import json
import re
import time
from urllib.parse import parse_qs, urlparse

from page import open_view, sql


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
    past, future = began - 10**15, now + 10**14
    for at, said in [(past, "No history of this time range."), (future, "This time range is in the future.")]:
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


def no_kind_crowds_out_others(demo, browser, events):
    """Thirty links whose clocks disagree do not hide one queue that was congested before."""
    page = browser.page()
    ended = events["queue-congestion"]
    link = lambda at: {"from": at, "egress_interface": 1, "to": at + 1, "ingress_interface": 2}  # noqa: E731
    now = time.time_ns()
    clocks = [
        {**ended, "id": str(at), "event": "negative-link-latency", "phase": "begin", "severity": "warning", "key": str(at), "title": str(at),
         "first": now - 10**9, "last": now, "detail": {"link": link(at), "lowest_ns": -4_500}}
        for at in range(30)
    ]
    warned = {**ended, "severity": "warning", "phase": "end", "first": now - 90 * 10**9, "last": now - 80 * 10**9}
    drop = {**ended, "id": "d", "event": "drop", "count": 24, "severity": "info", "key": "d", "phase": "once", "last": now - 10**9,
            "detail": {"node_id": 4, "egress_interface": 1, "packets": 1, "flow_count": 1, "class": "other", "reason_name": "tail", "flows": []}}
    answered(page, r"events\?", lambda wanted: [one for event in [*clocks, warned, drop] for one in of_kind(event, wanted)])
    open_view(page, demo.url + "/?live=15m")
    page.locator(".incidents li").first.wait_for()
    headline, shown = page.inner_text("main h1"), page.locator(".incidents a").all_inner_texts()
    assert "was congested for" in headline, headline
    assert len(shown) == 10 and sum("congested" in text for text in shown) == 1, shown
    assert sum("disagree by 4.5\u2009µs" in text for text in shown) == 8, shown
    assert sum("dropped at least 24 packets" in text for text in shown) == 1, shown
    assert "22 more incidents, of negative-link-latency" in page.inner_text("main"), page.inner_text("main")
    page.unroute_all(behavior="ignoreErrors")
    page.context.close()
    return len(shown), "incidents of three kinds"


def no_history_is_no_failure(demo, browser, _events):
    """A collector without a store is not in trouble, and does not claim to have been quiet."""
    page = browser.page()
    none = {"error": "no history is kept: store.path is empty"}
    page.route("**/api/v1/query", lambda route: route.fulfill(status=503, content_type="application/json", body=json.dumps(none)))
    answered(page, r"events\?", lambda _: [])
    for view in ["/", "/queues", "/queue/1/2", f"/flow/{demo.json('flows?limit=1')[0]['id']}"]:
        open_view(page, demo.url + view)
        page.get_by_text("No history is kept").first.wait_for(timeout=10_000)
        assert page.get_by_role("alert").count() == 0, (view, page.inner_text("main"))
        assert "Quiet for" not in page.inner_text("main"), page.inner_text("main")
    page.unroute_all(behavior="ignoreErrors")
    page.context.close()
    browser.wrong[:] = [one for one in browser.wrong if "status of 503" not in one]
    return 4, "views without a history"


def names_keep_their_place(demo, browser, _events):
    """Names written from right to left do not turn a path around, and a name of blanks is not empty."""
    page = browser.page()
    nodes = demo.json("nodes")
    for node, name in zip(nodes, ["שלום", "عربية", "  ", *["אבג"] * len(nodes)], strict=False):
        node["name"] = name
    about = demo.json("about")
    about["nodes"] = [{**unit, "name": None} for unit in about["nodes"]]
    answered(page, "about", lambda _: about)
    answered(page, r"nodes$", lambda _: nodes)
    answered(page, r"nodes\?", lambda _: nodes)
    open_view(page, demo.url + "/flows")
    page.get_by_role("link", name="אבג").first.wait_for()
    places = page.eval_on_selector_all("main tbody .path", "all => all.map(one => [...one.querySelectorAll('a')].map(hop => hop.getBoundingClientRect().left))")
    long = [hops for hops in places if len(hops) > 1]
    assert long and all(hops == sorted(hops) for hops in long), places
    empty = page.eval_on_selector_all("main a", "all => all.filter(one => !one.innerText.trim()).map(one => one.outerHTML)")
    assert not empty and page.get_by_role("link", name=f"node {nodes[2]['node_id']}", exact=True).count() > 0, empty
    page.unroute_all(behavior="ignoreErrors")
    page.context.close()
    return len(long), "paths from left to right"


def calm_is_not_called_full(demo, browser, events):
    """A queue in which nothing waits has no flow that fills it, and no level of congestion."""
    page = browser.page()
    event = events["queue-congestion"]
    middle = (event["first"] + event["last"]) // 2

    def change(query, columns, rows):
        if "queue_occupancy" not in query or "AS longest" in query:
            return None
        return rows_of(columns, [{**dict(zip(columns, row, strict=True)), "hop_latency": 700, "queue_occupancy": 3} for row in rows])

    queried(page, change)
    open_view(page, f"{demo.url}/queue/1/2/0?at={middle}&span=2s")
    table = page.get_by_role("table", name=re.compile("Flows in the queue"))
    table.wait_for()
    roles = set(table.locator("tbody td:last-child").all_inner_texts())
    assert roles == {"–"}, roles
    assert page.locator(".levels, .depth .mark.half").count() == 0, page.inner_text(".depth")
    page.unroute_all(behavior="ignoreErrors")
    page.context.close()
    return len(roles), "role in a calm queue"


def ages_grow(demo, browser, events):
    """An age that no answer changes rises; rates come with every line of the stream."""
    event = {**events["queue-congestion"], "last": time.time_ns() - 10**9}
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
    page.wait_for_function(grown, arg=before, timeout=12_000)
    page.context.close()
    assert len(rates) > 1, rates
    return len(rates), "rates in four seconds"


def rows_of(columns, rows):
    return [[row.get(name) for name in columns] for row in rows]


def the_depths_of_a_day_are_whole(demo, browser, _events):
    """The heat map asks for its queues alone, so that its latest columns are within the limit of rows."""
    page = browser.page()

    def change(query, columns, _rows):
        if "AS longest" in query:
            value = {"node_id": 1, "queue_id": 0, "depth": 5_000, "longest": 1_000, "p99": 900, "reports": 1}
            return rows_of(columns, [{**value, "egress_interface": port} for port in range(30)])
        if "AS at, node_id" not in query:
            return None
        each = r"\(node_id = 1 AND egress_interface = (\d+) AND queue_id = 0\)"
        ports = re.findall(each, query) or range(200)
        value = {"node_id": 1, "queue_id": 0, "depth": 5_000}
        every = [{**value, "at": at, "egress_interface": int(port)} for at in range(121) for port in ports]
        return rows_of(columns, every[: int(query.split("LIMIT ")[1])])

    queried(page, change)
    open_view(page, demo.url + "/queues?live=1d")
    page.locator(".heat canvas").wait_for()
    page.wait_for_timeout(300)
    last = page.evaluate("""() => { const one = document.querySelector('.heat canvas'), x = one.width - 2;
      const { data } = one.getContext('2d').getImageData(0, 0, one.width, one.height);
      const at = x => data.slice(4 * x, 4 * x + 4).join(' '); return [at(2), at(x)] }""")
    assert last[0] == last[1], last
    page.unroute_all(behavior="ignoreErrors")
    page.context.close()
    return 24, "queues to the last column"


def groups_have_units(demo, browser, _events):
    """Groups of nodes: utilisation in the unit of their nodes, reports per second."""
    page = browser.page()
    about = demo.json("about")
    full = {1: 10_000, 2: 10_000, 3: 10_000, 4: 100}
    unit = {**about["nodes"][0], "queue_unit": "bytes"}
    about["nodes"] = [{**unit, "node": node, "utilization_full": value} for node, value in full.items()]
    answered(page, "about", lambda _: about)
    groups = {"name": ["alike", "unlike"], "nodes": [[1, 2], [3, 4]], "value": [9_700] * 2, "reports": [6, 1]}
    bundles = {"from": [0], "to": [1], "links": [1], "value": [9_700], "uncertain": [0]}
    found = {"from": "0", "to": "60000000000", "groups": groups, "bundles": bundles}
    answered(page, r"map\?", lambda _: found)
    for by, values in [("utilization", ["97 %", "–"]), ("reports", ["162/s", "162/s"])]:
        open_view(page, f"{demo.url}/map?form=groups&by={by}")
        page.get_by_text(values[0]).first.wait_for()
        rows = page.get_by_role("table", name=re.compile("^2 groups")).locator("tbody tr")
        cells = [row.replace("\u2009", " ").split("\t") for row in rows.all_inner_texts()]
        shown = sorted((cell[0], cell[2]) for cell in cells)
        assert shown == [("alike", values[0]), ("unlike", values[1])], cells
    page.context.close()
    return 4, "values"


def queues_without_an_id_are_found(demo, browser, events):
    """Events that name no queue lead to all of the interface; waits are shown where no depth is known."""
    spike = events["latency-spike"]
    node, port = spike["detail"]["node_id"], spike["detail"]["egress_interface"]
    page = browser.page()
    open_view(page, f"{demo.url}/event/{spike['id']}")
    page.get_by_role("link", name="The queue at that time").click()
    page.wait_for_url(f"**/queue/{node}/{port}?*")
    page.get_by_role("heading", name=re.compile("all queues")).wait_for()
    page.get_by_role("table", name=re.compile("waited longest")).wait_for()

    # Neither depth nor flow is known, and clocks are short ones that wrap around.
    def change(query, columns, rows):
        if "AS longest" in query:
            return rows_of(columns, [{**dict(zip(columns, row, strict=True)), "depth": None} for row in rows])
        if "queue_occupancy" not in query:
            return None
        assert "queue_id IS NULL" in query, query
        place = f"node_id = {node} AND egress_interface = {port}"
        wanted = f"SELECT {', '.join(columns)} FROM observations WHERE {place} ORDER BY time DESC LIMIT 5"
        made = {"queue_occupancy": None, "flow_id": None, "source": None, "egress_timestamp": 77}
        found = [dict(zip(columns, row, strict=True)) for row in sql(demo, wanted)]
        # Of the last moment, wherever the packets go now.
        latest = time.time_ns() - 10**9
        return rows_of(columns, [{**row, **made, "time": str(latest - at)} for at, row in enumerate(found)])

    queried(page, change)
    open_view(page, f"{demo.url}/queue/{node}/{port}/-?live=10s")
    waits = page.get_by_role("table", name=re.compile("waited longest"))
    waits.wait_for()
    assert "no queue depth" in page.inner_text("main") and "no node clock" in page.inner_text("main")
    assert page.locator("main svg, main canvas").count() == 0
    assert "/report/" in waits.get_by_role("link").first.get_attribute("href")
    open_view(page, demo.url + "/queues")
    page.locator("main table").first.wait_for()
    assert page.locator(".heat").count() == 0, "a heat map without queues"
    page.unroute_all(behavior="ignoreErrors")
    page.context.close()
    return 3, "views of queues"


def late_reports_are_found(demo, browser, _events):
    """A flow in a queue leads to its packets, though their reports arrived after the range; a range that has just ended is asked for again."""
    until = time.time_ns() - 3 * 10**9
    columns = ["time", "egress_timestamp", "flow_id"]
    place = f"node_id = 1 AND egress_interface = 2 AND queue_id = 0 AND time >= {until - 2 * 10**9} AND time < {until}"
    rows = [dict(zip(columns, map(int, row), strict=True)) for row in sql(demo, f"SELECT {', '.join(columns)} FROM observations WHERE {place} AND flow_id IS NOT NULL")]

    half = 10_000

    def place(row):
        """The place of a report on the axis, if all reports of its flow arrive outside of a range around it."""
        delay = lambda since: min(one["time"] - one["egress_timestamp"] for one in rows if since <= one["time"] < since + 5 * 10**8)  # noqa: E731
        ahead = delay(row["time"] - 10**8)
        at = row["egress_timestamp"] + ahead
        same = [one for one in rows if one["flow_id"] == row["flow_id"] and at - half <= one["time"] < at + half]
        return None if same or ahead != delay(at - half) else at

    middle = (row for row in rows if until - 18 * 10**8 < row["time"] < until - 8 * 10**8)
    at, flow = next((at, row["flow_id"]) for row in middle if (at := place(row)))
    page = browser.page()
    open_view(page, f"{demo.url}/queue/1/2/0?at={at}&span={2 * half}ns")
    flows = page.get_by_role("table", name="Flows in the queue")
    flows.locator(f"a[href*='/flow/{flow}']").click()
    page.get_by_role("table", name=re.compile("Path of the packet")).wait_for()

    def packets():
        found = re.search(r"of ([\d,]+) reported packet", page.inner_text("main"))
        return int(found[1].replace(",", "")) if found else 0

    open_view(page, f"{demo.url}/queue/1/2/0?at={time.time_ns()}&span=4s")
    first = packets()
    for _ in range(40):
        if packets() > first:
            break
        page.wait_for_timeout(500)
    assert packets() > first, first
    page.context.close()
    return 2, "ranges whose reports arrived after them"


def the_present_is_asked_for(demo, browser, _events):
    """A tab that comes back asks at once; a stream whose connection never answers counts as cut off."""
    page = browser.page()
    open_view(page, demo.url + "/queues")
    page.wait_for_timeout(500)
    with page.expect_request("**/api/v1/query", timeout=1_500):
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    page.context.close()
    page = browser.page()
    page.clock.install()
    page.route("**/api/v1/stream", lambda route: None)
    open_view(page, demo.url + "/flows")
    page.clock.fast_forward(21_000)
    page.get_by_text("disconnected since").wait_for(timeout=5_000)
    page.unroute_all(behavior="ignoreErrors")
    page.context.close()
    return 2, "ways to the present"


def losses_are_counted_once(demo, browser, _events):
    """What the kernel dropped is part of what is lost."""
    page = browser.page()
    parts = {"accepted": 9, "malformed": 1, "duplicate": 0, "shed": 0}
    totals = {"received": 10, **parts, "lost": 3, "kernel_dropped": 2}
    body = f"event: ledger\ndata: {json.dumps(totals)}\n\n"
    page.route("**/api/v1/stream", lambda route: route.fulfill(content_type="text/event-stream", body=body))
    open_view(page, demo.url + "/flows")
    page.locator(".strip .bad", has_text=re.compile("^3 lost$")).wait_for(timeout=5_000)
    page.unroute_all(behavior="ignoreErrors")
    page.context.close()
    return 3, "lost"


def a_map_of_the_past_is_of_the_past(demo, browser, _events):
    """A link used after the range has no silence in it, and what is of the present is called so."""
    page = browser.page()
    found = demo.json(f"map?from={time.time_ns() - 60 * 10**9}&to={time.time_ns()}")
    found["links"]["silent_seconds"] = [None] * len(found["links"]["from"])
    answered(page, r"map\?", lambda _: found)
    open_view(page, f"{demo.url}/map?by=silence&at={time.time_ns()}&span=1m")
    page.get_by_text("of the present, not of the chosen time").wait_for()
    rows = page.get_by_role("table", name=re.compile("time since last path$")).locator("tbody tr")
    at = page.locator("main thead th").all_inner_texts().index("time since last path")
    silences = {row.split("\t")[at] for row in rows.all_inner_texts()}
    assert silences == {"–"}, silences
    page.context.close()
    return len(silences), "silence of unknown length"


def large_maps_group_themselves(demo, browser, _events):
    """The first answer with over 5,000 nodes leads to groups; tiers come although one request fails."""
    page = browser.page()
    known = demo.json("map?live=1m")
    number = 1_000 * len(known["nodes"]["node"])
    many = {name: cells * 1_000 for name, cells in known["nodes"].items()} | {"node": list(range(1, number + 1))}
    groups = {"name": ["all"], "nodes": [list(range(1, number + 1))], "value": [5], "reports": [1]}
    bundles = {"from": [], "to": [], "links": [], "value": [], "uncertain": []}
    grouped = {**known, "groups": groups, "bundles": bundles}
    found = {**known, "nodes": many}
    answered(page, r"map\?", lambda wanted: grouped if "group" in wanted else found)
    open_view(page, demo.url + "/map")
    page.get_by_text(f"{number:,} nodes in 1 group").wait_for()
    page.unroute_all(behavior="ignoreErrors")
    page.context.close()
    page = browser.page()
    refused = iter([True])

    def refuse_once(route):
        busy = json.dumps({"error": "the collector is starting"})
        route.fulfill(status=503, body=busy) if next(refused, False) else route.continue_()

    page.route("**/api/v1/flows/search?**", refuse_once)
    open_view(page, f"{demo.url}/map?at={time.time_ns() - 10**9}&span=1m")
    page.locator(".tiers g.node").first.wait_for(timeout=8_000)
    heights = "all => new Set(all.map(one => one.getAttribute('transform').split(' ')[1])).size"
    rows = page.eval_on_selector_all(".tiers g.node", heights)
    assert rows > 1, "all nodes are in one row"
    page.unroute_all(behavior="ignoreErrors")
    page.context.close()
    browser.wrong[:] = [one for one in browser.wrong if "status of 503" not in one]
    return rows, "tiers"


def whiskers_stay_inside(demo, browser, _events):
    """A large uncertainty is within the axis from its start; without usual values, a hop is of one kind."""
    names = "flow_id, reporter, hw_id, sequence, report_index, time"
    place = "hop_index = 0 AND hop_count = 3 AND egress_timestamp > 4294967295"
    flow, *parts = sql(demo, f"SELECT {names} FROM observations WHERE {place} ORDER BY time DESC LIMIT 1")[0]
    links = [{**link, "clock_uncertainty": 50_000_000} for link in demo.json("links?limit=1000")]
    page = browser.page()
    answered(page, r"links\?", lambda _: links)
    queried(page, lambda query, _columns, _rows: [] if "quantile(" in query else None)
    open_view(page, f"{demo.url}/flow/{flow}?packet={'-'.join(map(str, parts))}&at={parts[-1]}&span=2s")
    page.locator(".waterfall .bar.whisker").first.wait_for()
    # Found and measured in one step: the page may draw the pieces again between two.
    outside = page.evaluate("""() => [...document.querySelectorAll('.waterfall .track .bar:not(.other)')].filter(bar => {
      const [one, track] = [bar, bar.closest('.track')].map(part => part.getBoundingClientRect());
      return one.left < track.left - 1 || one.right > track.right + 3 }).map(bar => bar.outerHTML)""")
    assert not outside, outside
    assert page.locator(".waterfall .track .bar.whole").count() == 3
    assert page.locator(".waterfall .track .bar.queued, .waterfall .track .bar.base").count() == 0
    page.unroute_all(behavior="ignoreErrors")
    page.context.close()
    return 5, "pieces within the axis"


def pictures_follow_their_surroundings(demo, browser, events):
    """Marks have a date over days and fractions within a second; canvases follow the system's theme."""
    page = browser.page()
    page.add_init_script("""window.texts = []; const write = CanvasRenderingContext2D.prototype.fillText;
      CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
        window.texts.push(text); return write.call(this, text, ...rest) }""")
    middle = events["queue-congestion"]["first"]
    for span, pattern in [("7d", r"^\d+ [A-Z][a-z]+(, \d\d:\d\d)?$"), ("20ms", r"^\d\d:\d\d:\d\d\.\d{3}$")]:
        open_view(page, f"{demo.url}/?at={middle}&span={span}")
        page.locator(".uplot").first.wait_for()
        page.wait_for_timeout(300)
        marks = [text for text in page.evaluate("window.texts") if re.search(pattern, text)]
        assert len(set(marks)) > 2, (span, marks, page.evaluate("window.texts")[:20])
    open_view(page, demo.url + "/map?form=matrix")
    page.locator(".matrix canvas").wait_for()
    colours = """() => { const one = document.querySelector('.matrix canvas');
      return String(one.getContext('2d').getImageData(0, 0, one.width, one.height).data) }"""
    light = page.evaluate(colours)
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(f"was => ({colours})() !== was", arg=light, timeout=2_000)
    page.context.close()
    return 3, "pictures"


def unknown_and_little_are_told_apart(demo, browser, events):
    """No value is not 0, a small share is not nothing, and what is cut is called so."""
    page = browser.page()
    found = demo.json("map?live=1m")
    for name in ["value", "utilization"]:
        found["interfaces"][name] = [None] * len(found["interfaces"]["node"])
    answered(page, r"map\?", lambda _: found)
    for view, picture in [("tiers", ".tiers svg"), ("matrix", ".matrix canvas")]:
        open_view(page, f"{demo.url}/map?by=utilization&form={view}")
        name = page.locator(picture).get_attribute("aria-label")
        assert "by utilisation: –." in name, name
    ledger = demo.json("ledger")
    ledger["streams"] = [{**ledger["streams"][0], "accepted": 58_422, "lost": 5}]
    answered(page, "ledger$", lambda _: ledger)
    open_view(page, demo.url + "/reports")
    page.get_by_role("cell", name=re.compile("^under 0.1")).wait_for()
    event = events["queue-congestion"]
    near = [{**events["culprits"], "id": str(at)} for at in range(200)]
    answered(page, r"events\?", lambda _: near)
    open_view(page, f"{demo.url}/event/{event['id']}")
    page.get_by_role("table", name=re.compile("the latest 200$")).wait_for()
    page.keyboard.press("s")
    page.get_by_text("of 200 events of the last day").wait_for()
    page.unroute_all(behavior="ignoreErrors")
    open_view(page, f"{demo.url}/flow/{demo.json('flows?limit=1')[0]['id']}?at={10**18}&span=1h")
    page.get_by_text("for the last minute of this time range").wait_for()
    page.add_init_script("delete AbortSignal.any")
    page.goto(demo.url + "/flows")
    page.get_by_text("This browser is too old").wait_for()
    page.context.close()
    return 7, "texts"


CHECKS = [
    the_headline_says_what_is_known,
    no_kind_crowds_out_others,
    no_history_is_no_failure,
    names_keep_their_place,
    calm_is_not_called_full,
    ages_grow,
    the_depths_of_a_day_are_whole,
    groups_have_units,
    queues_without_an_id_are_found,
    late_reports_are_found,
    the_present_is_asked_for,
    losses_are_counted_once,
    a_map_of_the_past_is_of_the_past,
    large_maps_group_themselves,
    whiskers_stay_inside,
    pictures_follow_their_surroundings,
    unknown_and_little_are_told_apart,
]
