"""Compares the page with the API: bars, areas, units, filters, files. Run by `page.py`."""

import csv
import functools
import io
import json
import random
import re
import time
import urllib.parse

from page import open_view, ready, sql

THIN = "\u2009"


def waterfall_is_true(demo, browser, _events):
    """C21: lengths, whiskers, and unknown values, on a packet whose report is changed under way."""
    newest = sql(demo, "SELECT flow_id, reporter, hw_id, sequence, report_index, time, hop_count FROM observations WHERE hop_index = 0 AND hop_count = 3 ORDER BY time DESC LIMIT 1")[0]
    flow, *parts = newest[:6]
    name = "-".join(str(part) for part in parts)
    page = browser.page()
    # Delays of 10, 40 and 20 us; a link of 5 us, and one whose far end has no timestamp.
    start = int(parts[4])
    made = [
        {"hop_latency": 10_000, "ingress_timestamp": start, "egress_timestamp": start + 10_000},
        {"hop_latency": 40_000, "ingress_timestamp": start + 15_000, "egress_timestamp": start + 55_000},
        {"hop_latency": 20_000, "ingress_timestamp": None, "egress_timestamp": None},
    ]

    def change(route):
        question = json.loads(route.request.post_data)["sql"]
        answer = route.fetch()
        body = answer.json()
        if "SELECT * FROM observations" in question and f"sequence = {parts[2]}" in question:
            for row, values in zip(body["rows"], made, strict=True):
                for key, value in values.items():
                    row[body["columns"].index(key)] = value
        elif "SELECT * FROM observations" in question:
            body["rows"] = []  # No ghost.
        route.fulfill(response=answer, body=json.dumps(body))

    page.route("**/api/v1/query", change)
    open_view(page, f"{demo.url}/flow/{flow}?packet={name}&at={start}&span=2s")
    page.get_by_role("table", name=re.compile("Path of the packet")).wait_for(timeout=30_000)
    rows = page.eval_on_selector_all(
        ".waterfall tbody tr",
        """rows => rows.map(row => { const track = row.querySelector('.track').getBoundingClientRect();
          return [...row.querySelectorAll('.track .bar')].map(bar => { const box = bar.getBoundingClientRect();
            return { kind: bar.className, left: (box.left - track.left) / track.width, width: box.width / track.width, px: 1 / track.width } }) })""",
    )
    total = 75_000
    hops, links = rows[0::2], rows[1::2]
    assert (len(hops), len(links)) == (3, 2), rows
    for bars, (begin, length) in zip(hops, [(0, 10_000), (15_000, 40_000), (55_000, 20_000)], strict=True):
        px = bars[0]["px"]
        assert abs(bars[0]["left"] - begin / total) <= px, (bars, begin)
        assert abs(sum(bar["width"] for bar in bars) - length / total) <= 2 * px, (bars, length)
    known = {bar["kind"]: bar for bar in links[0]}
    assert abs(known["bar link"]["width"] - 5_000 / total) <= known["bar link"]["px"], links
    uncertainty = next(link["clock_uncertainty"] for link in demo.json("links"))
    assert abs(known["bar whisker"]["width"] - 2 * uncertainty / total) <= 3.5 * known["bar link"]["px"], links
    assert [bar["kind"] for bar in links[1]] == ["bar unknown"], links
    assert "no timestamp at one end" in page.inner_text(".waterfall tbody tr:nth-child(4)"), page.inner_text(".waterfall")
    heading = page.inner_text("#packet").replace(THIN, " ")
    assert heading.endswith("75 µs (known parts only)"), heading
    page.unroute_all(behavior="ignoreErrors")
    page.context.close()
    return 5, "bars within a pixel"


def the_way_before_is_dashed(demo, browser, events):
    """The ghost: struck-through nodes are only those of the old path, on the same axis."""
    event = events["path-change"]
    page = browser.page()
    flow = event["detail"]["flow"]
    name = "-".join(urllib.parse.quote(str(flow[key]), safe="") for key in ["protocol", "source", "source_port", "destination", "destination_port"])
    open_view(page, f"{demo.url}/flow/{name}?at={event['last'] + 1_000_000_000}&span=2s")
    page.get_by_role("table", name=re.compile("Path of the packet")).wait_for(timeout=30_000)
    page.locator(".waterfall .bar.other").first.wait_for()
    names = {node["node_id"]: node["name"] for node in demo.json("nodes")}
    ids = lambda path: [hop["node_id"] for hop in path]  # noqa: E731
    left = [names[node] for node in ids(event["detail"]["old"]) if node not in ids(event["detail"]["new"])]
    struck = page.eval_on_selector_all(".waterfall tr[data-row] del", "all => all.map(one => one.innerText)")
    assert struck == left, (struck, left)
    page.keyboard.press("v")
    page.wait_for_url("**cmp=**")
    page.keyboard.press("ArrowRight")
    page.get_by_text("Dashed: the packet at").wait_for(timeout=20_000)
    page.keyboard.press("v")
    page.wait_for_function("!location.search.includes('cmp=')")
    page.unroute_all(behavior="ignoreErrors")
    page.context.close()
    return len(left), "nodes that were left"


def columns_of(page):
    """The boxes of each column of a queue's lane from the bottom up, top and bottom of each; they have no gap."""
    columns = {}
    for area in page.eval_on_selector_all(".depth .area", "all => all.map(one => one.getAttribute('d'))"):
        for x, low, high in re.findall(r"M([\d.]+) ([\d.]+)H[\d.]+V([\d.]+)H", area):
            columns.setdefault(float(x), []).append((float(high), float(low)))
    for boxes in columns.values():
        boxes.sort(reverse=True)
        assert abs(boxes[0][1] - 256) < 0.2, boxes
        assert all(abs(upper[1] - lower[0]) < 0.2 for lower, upper in zip(boxes, boxes[1:], strict=False)), boxes
    return columns


def shares_add_up(page):
    """The shares of a queue's flows, which add up to 100 %."""
    shares = page.eval_on_selector_all("table", "all => [...all.find(one => one.caption.innerText.startsWith('Flows in the queue')).tBodies[0].rows].map(row => row.cells[2].innerText)")
    total = sum(float(share.split(THIN)[0].removeprefix("under ")) for share in shares)
    assert abs(total - 100) < 0.1 * len(shares), shares
    return shares


def lanes_add_up(demo, browser, events):
    """C22: stacked areas add up to the depth, shares to 1; the band begins at the end of the quota."""
    event = events["queue-congestion"]
    page = browser.page()

    def truncate(route):
        answer = route.fetch()
        route.fulfill(response=answer, body=answer.text().replace('"truncated":false', '"truncated":true'))

    page.route("**/api/v1/events?**kind=queue-congestion**", truncate)
    middle = (event["first"] + event["last"]) // 2
    open_view(page, f"{demo.url}/queue/1/2/0?at={middle}&span=2s")
    page.locator(".depth svg").wait_for(timeout=30_000)
    columns = columns_of(page)
    assert len(columns) > 20, len(columns)
    tops = [boxes[-1][0] for boxes in columns.values()]
    assert abs(min(tops) - 8) < 0.2, min(tops)
    shares_add_up(page)
    # The trigger is where packets began to wait for the configured time.
    trigger = demo.json("about")["congestion"]["trigger_latency"]
    place = f"time >= {middle - 10**9} AND time < {middle + 15 * 10**8} AND node_id = 1 AND egress_interface = 2"
    found = sql(demo, f"SELECT queue_occupancy, hop_latency FROM observations WHERE {place} ORDER BY time LIMIT 40000")
    least = min(depth for depth, latency in found if latency is not None and latency > trigger)
    deepest = max(depth for depth, _ in found)
    line = float(page.locator(".depth line.level.trigger").get_attribute("y1"))
    assert abs(line - (256 - least / deepest * 248)) < 1, (line, least, deepest)
    told = rf"trigger: .+, the lowest depth at which packets waited more than {trigger // 1_000_000} ms\b"
    assert re.search(told, page.inner_text(".levels").replace(THIN, " ")), page.inner_text(".levels")
    bands = page.eval_on_selector_all(".depth g", "all => all.map(one => [one.querySelector('path').getAttribute('d'), +one.querySelector('rect').getAttribute('x')])")
    assert bands and all(abs(float(re.search(r"H([\d.]+)V", path)[1]) - x) < 0.01 for path, x in bands), bands
    assert "quota" in page.inner_text("main .notice")
    assert page.locator(".heat canvas").count() == 1
    page.unroute_all(behavior="ignoreErrors")
    page.context.close()
    return len(columns), "columns"


UNITS = [
    (0, "0 B", "0 ns"),
    (1, "1 B", "1 ns"),
    (999, "999 B", "999 ns"),
    (1_000, "1,000 B", "1 µs"),
    (1_023, "1,023 B", "1.02 µs"),
    (1_024, "1 KiB", "1.02 µs"),
    (999_499, "976 KiB", "999 µs"),
    (999_500, "976 KiB", "1 ms"),
    (2**32, "4 GiB", "4.29 s"),
    (2**63 - 1, "8 EiB", "106752 d"),
    (None, "–", "–"),
]


def units_hold(demo, browser, _events):
    """C18"""
    page = browser.page()

    def change(route):
        answer = route.fetch()
        body = answer.json()
        if "AS longest" in json.loads(route.request.post_data)["sql"]:
            body["rows"] = [
                [1 if name == "node_id" else at if name in ("egress_interface", "queue_id") else value if name in ("depth", "longest", "p99") else 1 for name in body["columns"]]
                for at, (value, *_) in enumerate(UNITS)
            ]
        route.fulfill(response=answer, body=json.dumps(body))

    page.route("**/api/v1/query", change)
    open_view(page, demo.url + "/queues")
    page.locator("main tbody tr").first.wait_for()
    rows = page.eval_on_selector_all("main tbody tr", "rows => rows.map(row => [row.cells[1].innerText.trim(), row.cells[2].innerText])")
    for (value, size, length), shown in zip(UNITS, rows, strict=True):
        written = [text.replace(THIN, " ") for text in shown]
        assert written == [size, length], (value, written, (size, length))
    text = page.inner_text("main")
    assert "NaN" not in text and "undefined" not in text and "Infinity" not in text
    page.unroute_all(behavior="ignoreErrors")
    page.context.close()
    return 2 * len(UNITS), "values"


OPERATORS = {"=": lambda a, b: a == b, "!=": lambda a, b: a != b, ">": lambda a, b: a > b, "<": lambda a, b: a < b, ">=": lambda a, b: a >= b, "<=": lambda a, b: a <= b}


def generated(numbers, flows):
    """A condition as text, and as a function of a flow."""
    kind = numbers.choice(["port", "protocol", "hops", "node", "source", "latency"])
    compare = numbers.choice(["=", "!="] if kind == "protocol" else list(OPERATORS))
    holds = OPERATORS[compare]
    isolated = compare != "!="

    def any_of(values, wanted):
        return any(holds(value, wanted) for value in values) if isolated else all(value != wanted for value in values)

    flow = numbers.choice(flows)
    if kind == "port":
        wanted = numbers.choice([443, 9000, flow["flow"]["source_port"]])
        return f"port {compare} {wanted}", lambda one: any_of([one["flow"]["source_port"], one["flow"]["destination_port"]], wanted)
    if kind == "protocol":
        wanted, text = numbers.choice([(6, "tcp"), (17, "udp"), (6, "6")])
        return f"protocol {compare} {text}", lambda one: any_of([one["flow"]["protocol"]], wanted)
    if kind == "hops":
        return f"hops {compare} 3", lambda one: any_of([len(one["path"])] if one["path"] else [], 3)
    if kind == "node":
        wanted = numbers.choice([1, 4, 11, 12])
        return f"node = {wanted}", lambda one: any(hop["node_id"] == wanted for hop in one["path"] or [])
    if kind == "source":
        text = flow["flow"]["source"]
        return f"source = {text.rsplit('.', 1)[0]}.0/24", lambda one: one["flow"]["source"].rsplit(".", 1)[0] == text.rsplit(".", 1)[0]
    wanted, text = numbers.choice([(1_000, "1us"), (1_000_000, "1ms"), (37_480, "37480ns")])
    return f"latency {compare} {text}", lambda one: bool(known := [value for value in one["hop_latency"] if value is not None]) and any_of([max(known)], wanted)


def filters_agree(demo, browser, _events, many=40):
    """C14: generated filters against their meaning; the API's offers; an error points at its character."""
    numbers = random.Random(14)
    page = browser.page()
    open_view(page, demo.url + "/flows")
    page.locator("main tbody tr").first.wait_for()
    field = page.get_by_label("Filter")
    shown = "all => all.map(one => one.pathname)"
    for _ in range(many):
        flows = demo.json("flows?limit=10000")
        conditions = [generated(numbers, flows) for _ in range(numbers.randint(1, 3))]
        text = " and ".join(text for text, _ in conditions)
        passing = lambda: {f"/flow/{flow['id']}" for flow in demo.json("flows?limit=10000") if all(holds(flow) for _, holds in conditions)}  # noqa: E731
        field.fill(text)
        field.press("Enter")
        # Latencies and paths change while the page is read.
        for _ in range(80):
            before, found = passing(), set(page.eval_on_selector_all("main tbody tr td:first-child a", shown))
            if found in (before, passing()) and page.locator("main .stale").count() == 0:
                break
            page.wait_for_timeout(100)
        else:
            raise AssertionError((text, found ^ before))
    for typed in ["", "port ", "port = 443 ", "protocol = t", "not "]:
        field.fill(typed)
        wanted = demo.json("filter/complete?text=" + urllib.parse.quote(typed))["options"]
        page.wait_for_function(
            "wanted => JSON.stringify([...document.querySelectorAll('#offers li code')].map(one => one.innerText)) === JSON.stringify(wanted)",
            arg=[option["text"] for option in wanted[:20]],
            timeout=5_000,
        )
    field.fill("port = 443 and colour = red")
    field.press("Enter")
    error = page.locator("#filter-error")
    error.wait_for(timeout=5_000)
    assert "at character 16" in error.inner_text(), error.inner_text()
    page.context.close()
    # A deliberate error is in the console, too.
    browser.wrong[:] = [one for one in browser.wrong if "status of 400" not in one]
    return many, "filters"


def downloads_hold(demo, browser, _events):
    """C26"""
    question = "SELECT '=1+1' AS a, '+x' AS b, '-y' AS c, '@z' AS d, 'a,\"b' AS e, time, flow_id, -5 AS n FROM observations ORDER BY time LIMIT 20"
    rows = sql(demo, question)
    page = browser.page()
    open_view(page, f"{demo.url}/query?sql={urllib.parse.quote(question)}")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Save as CSV").click()
    text = open(waiting.value.path(), newline="").read()
    read = list(csv.reader(io.StringIO(text)))
    assert read[0] == ["a", "b", "c", "d", "e", "time", "flow_id", "n"], read[0]
    assert [row[5:] for row in read[1:]] == [[str(cell) for cell in row[5:]] for row in rows]
    assert read[1][:5] == ["'=1+1", "'+x", "'-y", "'@z", 'a,"b'], read[1]
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Save as JSON Lines").click()
    lines = [list(json.loads(line).values()) for line in open(waiting.value.path())]
    assert lines == rows, (lines[0], rows[0])
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Save as Parquet").click()
    file = waiting.value.path()
    assert open(file, "rb").read(4) == b"PAR1"
    try:
        import duckdb

        assert [list(row) for row in duckdb.read_parquet(str(file)).fetchall()] == rows
    except ImportError:
        print("page: downloads_hold: duckdb is not installed, the file of Parquet is looked at by its first bytes alone")
    page.unroute_all(behavior="ignoreErrors")
    page.context.close()
    return 3 * len(rows), "rows read again"


def strip_balances(demo, browser, _events):
    """C23: the strip's parts add up at every refresh."""
    page = browser.page()
    open_view(page, demo.url + "/reports")
    page.locator(".strip", has_text=re.compile(r"\d received.*\d shed", re.S)).wait_for()
    seen = set()
    # At least four seconds; longer where the machine has other work.
    for look in range(40):
        if look >= 8 and len(seen) > 2:
            break
        parts = [int(text.replace(",", "")) for text in re.findall(r"([\d,]+) (?:received|accepted|malformed|duplicate|shed)", page.inner_text(".strip"))]
        assert len(parts) == 5 and parts[0] == sum(parts[1:]), parts
        seen.add(parts[0])
        page.wait_for_timeout(500)
    assert len(seen) > 2, "the strip stands still"
    page.unroute_all(behavior="ignoreErrors")
    page.context.close()
    return len(seen), "balances"


def bundle_is_plain(demo, _browser, _events):
    """C27: no code that evaluates text, no source map, licences listed."""
    script = demo.ask("/page/main.js")[1].decode()
    for word in [r"\beval\(", r"new Function\(", "sourceMappingURL", r"document\.write"]:
        assert not re.search(word, script), word
    licences = demo.ask("/page/licences.txt")[1].decode()
    for name in ["preact", "@preact/signals", "@preact/signals-core", "uplot"]:
        assert re.search(rf"^{re.escape(name)} \d", licences, re.M), name
    return len(script), "bytes of script"


def fabric(leaves, spines, bad):
    """API answers for a made fabric: each leaf to five spines; one spine, leaf and link are slow."""
    slow_leaf, slow_spine, slow_link = bad
    ids = range(1, leaves + spines + 1)
    names = [f"leaf{one}" if one <= leaves else f"spine{one - leaves}" for one in ids]
    columns = lambda names: {name: [] for name in names.split()}  # noqa: E731
    nodes = {"node": list(ids), "name": names, "reports_itself": [True] * len(ids), "value": [None] * len(ids), "reports": [1] * len(ids)}
    links = columns("from egress_interface to ingress_interface value certain latency_p50 uncertainty silent_seconds")
    ports = columns("node interface value reports p50 p99 max depth utilization drops")
    for leaf in range(1, leaves + 1):
        for up in range(5):
            spine = leaves + 1 + (leaf * 5 + up) % spines
            is_slow = leaf == slow_leaf or spine == leaves + slow_spine or (leaf, up) == slow_link
            value = 20_000_000 if is_slow else 5_000
            for name, cell in zip(links, [leaf - 1, up + 1, spine - 1, leaf, value, True, 500, 100, 0], strict=True):
                links[name].append(cell)
            for name, cell in zip(ports, [leaf, up + 1, value, 60, value, value, value, 0, 1_000, 0], strict=True):
                ports[name].append(cell)
    path = lambda leaf: [leaf, leaves + 1 + leaf * 5 % spines, leaf % leaves + 1]  # noqa: E731
    # Every spine is on a path.
    paths = [path(leaf) for leaf in range(1, leaves + 1)] + [[1, leaves + 1 + spine, 2] for spine in range(spines)]
    found = {"found": len(paths), "known": len(paths), "base": "0", "columns": {"path": paths}, "next": None}
    return {"map": {"from": "0", "to": "60000000000", "nodes": nodes, "interfaces": ports, "links": links}, "flows/search": found}


def answer_with(body, route):
    route.fulfill(status=200, content_type="application/json", body=body)


def route_fabric(page, leaves, spines, bad):
    for name, answer in fabric(leaves, spines, bad).items():
        fulfil = functools.partial(answer_with, json.dumps(answer))
        page.route(re.compile(rf"/api/v1/{name}(\\?|$)"), fulfil)


SLOW = (700, 40, (300, 2))


def a_large_map_shows_its_faults(demo, browser, _events):
    """2,000 nodes: a slow leaf is a row of the matrix, a slow spine a column, a slow link a cell."""
    page = browser.page()
    route_fabric(page, 1_880, 120, SLOW)
    started = time.monotonic()
    open_view(page, demo.url + "/map?live=1m")
    page.locator(".matrix canvas").wait_for()
    took = time.monotonic() - started
    # What has neither the colour of a fast link nor that of none is slow.
    slow = page.evaluate("""() => { const canvas = document.querySelector('.matrix canvas');
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height), cells = new Map();
      new Uint32Array(data.buffer).forEach((colour, at) => colour && (cells.get(colour) ?? cells.set(colour, []).get(colour)).push(at));
      const rarest = [...cells.values()].sort((a, b) => a.length - b.length)[0];
      return { fold: +canvas.dataset.fold, width: canvas.width, height: canvas.height, cells: rarest.map(at => [Math.floor(at / canvas.width), at % canvas.width]) } }""")
    fold = slow["fold"]
    assert (slow["height"], slow["width"]) == (-(-1_880 // fold), 120), (slow["height"], slow["width"])
    shown = page.locator(".matrix canvas").bounding_box()["height"]
    assert shown >= slow["height"], f"{slow['height']} lines in {shown} pixels: some are not drawn"
    expected = {((leaf - 1) // fold, (leaf * 5 + up) % 120) for leaf in range(1, 1_881) for up in range(5)
                if leaf == SLOW[0] or (leaf * 5 + up) % 120 == SLOW[1] - 1 or (leaf, up) == SLOW[2]}
    assert {tuple(cell) for cell in slow["cells"]} == expected, (len(slow["cells"]), len(expected))
    canvas = page.locator(".matrix canvas")
    canvas.focus()
    page.keyboard.press("ArrowDown")
    page.wait_for_function("arg => document.querySelector('.matrix figcaption').innerText.startsWith(arg)", arg=f"node {fold + 1} to node {2 * fold} and")
    page.unroute_all(behavior="ignoreErrors")
    page.context.close()
    return round(1_000 * took), "ms to a matrix of 1,880 by 120"


CHECKS = [
    a_large_map_shows_its_faults,
    waterfall_is_true,
    the_way_before_is_dashed,
    lanes_add_up,
    units_hold,
    filters_agree,
    downloads_hold,
    strip_balances,
    bundle_is_plain,
]
