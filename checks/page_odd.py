"""The page on networks that are no healthy fabric: silence, lost nodes, values that nobody reports. Run by `page.py`."""

import re
import socket
import time
import urllib.parse

from page import Collector, open_view, sql
from page_answers import answered, of_kind, queried, rows_of
from page_fabric import Fabric, Sender


def flow_path(flow):
    """The address of a flow by its five-tuple."""
    keys = ["protocol", "source", "source_port", "destination", "destination_port"]
    return "/flow/" + "-".join(urllib.parse.quote(str(flow[key]), safe="") for key in keys)


def silence_is_not_called_quiet(demo, browser, events):
    """A time without reports is called so, with incidents and without; the dot beside a rate of 0 is not green."""
    ended = events["queue-congestion"]
    end = time.time_ns() - 10**9
    start = end - 120 * 10**9

    # The collector goes on counting, but nothing arrives after the first minute.
    def silent(query, columns, _rows):
        if "FROM ledger WHERE node_id" not in query:
            return rows_of(columns, [{"t": start - 10**12}]) if "min(time)" in query else None
        times = range(start - 10 * 10**9, end, 10**10)
        return rows_of(columns, [{"t": at, "accepted": min(at - start, 60 * 10**9) // 10**8, "lost": 36} for at in times])

    page = browser.page()
    queried(page, silent)
    heads = []
    for found in [[], [ended]]:
        answered(page, r"events\?", lambda wanted, found=found: [one for event in found for one in of_kind(event, wanted)])
        open_view(page, f"{demo.url}/?at={(start + end) // 2}&span=2m")
        page.get_by_role("heading", name=re.compile("^No reports accepted in the last (50|60).s of this time range[.;]")).wait_for()
        heads.append(page.inner_text("main h1"))
        # Whether reports are lost meanwhile is unknown.
        assert "Quiet" not in heads[-1] and "no reports lost" not in heads[-1], heads
        assert "points to a fault" not in page.inner_text("main"), page.inner_text("main")[:300]
        page.unroute(re.compile(r"/api/v1/events\?"))
    assert "was congested for" in heads[1], heads
    page.unroute_all(behavior="ignoreErrors")
    page.context.close()
    empty = Collector(demo.program)
    try:
        page = browser.page()
        open_view(page, empty.url + "/")
        page.locator(".strip .live", has_text="0/s").wait_for(timeout=10_000)
        colour = page.eval_on_selector(".strip .live", "one => getComputedStyle(one, '::before').color")
        red, green, blue = map(int, re.findall(r"\d+", colour)[:3])
        assert green - max(red, blue) < 20, colour
        page.context.close()
    finally:
        empty.stop()
    return len(heads), "headlines of silence"


def a_silence_is_told_live(program, browser):
    """An open page says within 45 s that reports have stopped, with a grey dot, and within 15 s that they are back. Run by `page_long.py`."""
    collector = Collector(program)
    try:
        sender = Sender(Fabric(2, 3, 2, 2, 8, 60), f"127.0.0.1:{collector.port}")
        sender.run(12, 200)
        page = browser.page()
        open_view(page, collector.url + "/?live=1m")
        page.get_by_role("heading", name=re.compile("^Quiet for")).wait_for(timeout=15_000)
        begun = time.monotonic()
        page.get_by_role("heading", name=re.compile("^No reports accepted in the last 3")).wait_for(timeout=45_000)
        took = time.monotonic() - begun
        assert page.locator(".strip .live.none").count() == 1, page.inner_text(".strip")
        sender.run(8, 200)
        page.get_by_role("heading", name=re.compile("^Quiet for")).wait_for(timeout=15_000)
        page.context.close()
    finally:
        collector.stop()
    return round(took), "s until an open page says that reports have stopped"


def the_worst_is_told_first(demo, browser, events):
    """A critical loop stands before later warnings and before lost reports; kinds of an incident are counted."""
    base, now = events["queue-congestion"], time.time_ns()
    port = base["detail"]
    warned = {**base, "severity": "warning", "phase": "begin", "first": now - 9 * 10**9, "last": now - 10**9}
    flow = {"source": "10.9.0.1", "destination": "10.9.0.2", "protocol": 17, "source_port": 5000, "destination_port": 80}
    path = [{"node_id": node} for node in (31, 32, 33, 32, 33)]
    loop = {**base, "id": "l", "event": "loop", "severity": "critical", "phase": "begin", "key": "l", "title": "l", "first": now - 60 * 10**9,
            "last": now - 5 * 10**9, "detail": {"flow": flow, "node_id": 33, "path": path}}
    lost = {**base, "id": "r", "event": "report-loss", "severity": "warning", "phase": "begin", "key": "r", "title": "r", "last": now,
            "first": now - 70 * 10**9, "detail": {"node_id": 7, "lost": 36, "accepted": 1_868}}
    bursts = [{**warned, "id": f"b{at}", "event": "microburst", "phase": "once", "first": now - 10**10 - at, "last": now - 10**10 - at,
               "detail": {**port, "duration": 0, "peak_latency": None, "peak_occupancy": None}} for at in range(17)]
    page = browser.page()
    all_of = lambda found: lambda wanted: [one for event in found for one in of_kind(event, wanted)]  # noqa: E731
    answered(page, r"events\?", all_of([loop, warned, lost, *bursts]))
    open_view(page, demo.url + "/?live=15m")
    page.locator(".incidents li").first.wait_for()
    headline = page.inner_text("main h1")
    assert headline.startswith("udp 10.9.0.1:5000 > 10.9.0.2:80 passed node 33 twice"), headline
    assert "with 17 microburst" in page.inner_text(".incidents"), page.inner_text(".incidents")
    page.unroute_all(behavior="ignoreErrors")
    answered(page, r"events\?", all_of([{**warned, "phase": "end"}, lost]))
    page.reload()
    page.get_by_role("heading", name=re.compile("was congested for")).wait_for(timeout=10_000)
    answered(page, r"events/b0$", lambda _: bursts[0])
    open_view(page, demo.url + "/event/b0")
    heading = page.inner_text("h1")
    assert heading.endswith(": a burst"), heading
    page.unroute_all(behavior="ignoreErrors")
    page.context.close()
    return 3, "sentences"


def links_of_one_interface_keep_their_silence(demo, browser, _events):
    """Where a node in between falls silent, the link to it is silent, and the one that skips it is not."""
    found = demo.json("map?live=1m")
    nodes = {name: cells[:3] for name, cells in found["nodes"].items()}
    ids = nodes["node"]
    row = dict(egress_interface=9, value=None, latency_p50=None, uncertainty=None)
    links = [{**row, "from": 0, "to": 1, "ingress_interface": 1, "certain": True, "silent_seconds": 11},
             {**row, "from": 0, "to": 2, "ingress_interface": 2, "certain": False, "silent_seconds": 0}]
    ports = {name: cells[:1] for name, cells in found["interfaces"].items()} | {"node": ids[:1], "interface": [9]}
    page = browser.page()
    told = {**found, "nodes": nodes, "interfaces": ports, "links": {name: [link.get(name) for link in links] for name in found["links"]}}
    answered(page, r"map\?", lambda _: told)
    open_view(page, f"{demo.url}/map?by=silence&live=1m&sel={ids[0]}.9-{ids[1]}.1")
    heads = "table thead th"
    panel = page.locator("section.panel")
    panel.wait_for()
    at = panel.locator(heads).all_inner_texts().index("time since last path")
    silent = panel.locator("tbody tr").first.locator("td").nth(at).inner_text().replace("\u2009", " ")
    table = page.get_by_role("table", name=re.compile("by time since last path"))
    cells = [text.replace("\u2009", " ") for text in table.locator("tbody tr").first.locator("td").all_inner_texts()]
    titles = [text.replace("\u2009", " ") for text in page.eval_on_selector_all(".tiers path.link title", "all => all.map(one => one.textContent)")]
    assert silent == "11 s" and "11 s" in cells and cells[1].endswith(" 1"), (silent, cells)
    assert sorted(title.split(": ")[1] for title in titles) == ["11 s", "under 1 s"], titles
    page.unroute_all(behavior="ignoreErrors")
    page.context.close()
    return len(titles), "links of one interface"


def the_map_of_a_fault_has_tiers(demo, browser, _events):
    """Without a complete path the nodes are not all in one row; in the past, no node is said to be silent."""
    found = demo.json("flows/search?limit=100")
    found["columns"]["complete"] = [False] * len(found["columns"]["path"])
    found["columns"]["path"] = [path[:2] for path in found["columns"]["path"]]
    whole = demo.json("map?live=1m")
    whole["nodes"]["reports_itself"] = [False] * len(whole["nodes"]["node"])
    page = browser.page()
    answered(page, r"flows/search\?limit=2000", lambda wanted: {**found, "found": 0, "columns": {"path": [], "complete": []}} if "filter" in wanted else found)
    answered(page, r"map\?", lambda _: whole)
    open_view(page, demo.url + "/map?live=1m")
    page.locator(".tiers g.node").first.wait_for()
    heights = page.eval_on_selector_all(".tiers g.node", "all => new Set(all.map(one => one.getAttribute('transform').split(' ')[1])).size")
    assert heights > 1, "all nodes are in one row"
    assert page.locator(".tiers g.node.silent").count() == len(whole["nodes"]["node"])
    open_view(page, f"{demo.url}/map?at={time.time_ns() - 10**10}&span=10s")
    page.locator(".tiers g.node").first.wait_for()
    assert page.locator(".tiers g.node.silent").count() == 0 and "only in other nodes" not in page.inner_text("main"), page.inner_text("main")[:400]
    assert "Links, their latencies" in page.inner_text("main .notice"), page.inner_text("main .notice")
    page.unroute_all(behavior="ignoreErrors")
    page.context.close()
    return heights, "tiers"


class Drops(Fabric):
    """Each packet is dropped at its first node, which reports the drop and nothing else."""

    def stacked(self, flow):
        node, ingress, egress = self.route(flow)[0]
        inner = self.packet(flow, 64, b"")
        inner += bytes(-len(inner) % 4)
        main = (0x4001).to_bytes(2, "big") + bytes(6) + ingress.to_bytes(2, "big") + egress.to_bytes(2, "big") + bytes([0, 71, 0, 0])
        head = bytes([0x14, (len(main) + len(inner)) // 4, 2, 0x80])
        return [self.group(node, head + main + inner)]


def lost_flows_are_found(demo, browser, _events):
    """A flow of which only drops are reported is found by its addresses after it ended; others are called unknown."""
    collector = Collector(demo.program)
    page = browser.page()
    try:
        drops = Drops(1, 2, 2, 1, 5, 2)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            for _ in range(10):
                for flow in range(2):
                    for report in drops.stacked(flow):
                        sender.sendto(report, ("127.0.0.1", collector.port))
        for _ in range(60):
            if rows := sql(collector, "SELECT flow_id, source, destination, protocol, source_port, destination_port FROM observations LIMIT 1"):
                break
            time.sleep(0.2)
        assert sql(collector, "SELECT count(*) FROM paths") == [[0]]
        flow = dict(zip(["source", "destination", "protocol", "source_port", "destination_port"], rows[0][1:], strict=True))
        answered(page, r"flows/search\?limit=1&", lambda _: {"found": 0, "known": 0, "base": "0", "columns": {"id": []}, "next": None})
        page.route(re.compile(rf"/api/v1/flows/{rows[0][0]}$"), lambda route: route.fulfill(status=404, content_type="application/json", body='{"error": "no such flow"}'))
        open_view(page, collector.url + flow_path(flow) + "?live=5m")
        page.locator("#packet").wait_for(timeout=10_000)
        assert page.inner_text("h1").endswith(f":{flow['destination_port']}"), page.inner_text("h1")
        # Nothing of it is known in nanoseconds, which is not 0.
        assert "–" in page.inner_text("#packet") and "0\u2009ns" not in page.inner_text("main"), page.inner_text("main")
        assert "Dropped here." in page.inner_text("main .notice"), page.inner_text("main .notice")
        for name in ["nonsense", "17-1.2.3.4-1-5.6.7.8-2"]:
            open_view(page, f"{collector.url}/flow/{name}")
            page.get_by_text(f"Unknown flow “{name}”").wait_for(timeout=5_000)
        # After the last flow has expired, the nodes' configuration is not to blame.
        answered(page, r"flows/search\?", lambda _: {"found": 0, "known": 0, "base": "0", "columns": {"id": []}, "next": None})
        open_view(page, collector.url + "/flows")
        page.get_by_text("No flow was reported lately").wait_for(timeout=5_000)
        assert "node.toml" not in page.inner_text("main")
        page.unroute_all(behavior="ignoreErrors")
        page.context.close()
    finally:
        collector.stop()
    browser.wrong[:] = [one for one in browser.wrong if "status of 404" not in one]
    return 4, "views of flows that ended"


def a_flow_of_the_past_keeps_its_evidence(demo, browser, events):
    """Once a flow has expired, its addresses and its paths come from the history; before, a link leads to its packets."""
    event = events["path-change"]
    tuple_ = event["detail"]["flow"]
    page = browser.page()
    open_view(page, demo.url + flow_path(tuple_) + f"?at={event['last'] + 10**9}&span=2s")
    page.locator("#packet").wait_for(timeout=20_000)
    heading = page.inner_text("h1")
    flow = next(one for one in demo.json("flows?limit=10000") if one["flow"] == tuple_)
    number, last = flow["id"], int(flow["last_seen"])
    # A time range of the past lists the paths up to its end, also of a flow that is active.
    listed = page.get_by_role("table", name="Latest paths of this flow").locator("tbody tr td:first-child")
    after = listed.all_inner_texts()
    open_view(page, f"{demo.url}/flow/{number}?at={event['first'] - 2 * 10**9}&span=2s")
    listed.first.wait_for(timeout=20_000)
    before = listed.all_inner_texts()
    assert before[0] == after[1] != after[0], (before, after)
    page.route(re.compile(rf"/api/v1/flows/{number}$"), lambda route: route.fulfill(status=404, content_type="application/json", body='{"error": "no such flow"}'))
    open_view(page, f"{demo.url}/flow/{number}?at={event['last'] + 10**9}&span=2s")
    page.get_by_text("No recent reports of this flow").wait_for()
    assert page.inner_text("h1") == heading, (page.inner_text("h1"), heading)
    page.get_by_text(re.compile("^Until .* the path was")).wait_for(timeout=20_000)
    paths = page.get_by_role("table", name="Latest paths of this flow").locator("tbody tr").count()
    assert paths >= 2, paths
    page.unroute_all(behavior="ignoreErrors")
    queried(page, lambda query, _columns, _rows: [] if "count(*) AS hops" in query else None)
    open_view(page, f"{demo.url}/flow/{number}?live=1m")
    link = page.get_by_role("link", name="Its latest packets").get_attribute("href")
    shown = int(re.search(r"at=(\d+)", link)[1])
    assert shown >= last and "span=1m" in link, (link, last)
    page.unroute_all(behavior="ignoreErrors")
    page.context.close()
    browser.wrong[:] = [one for one in browser.wrong if "status of 404" not in one]
    return paths, "paths of a flow that ended"


def reports_of_one_hop_are_parts(demo, browser, events):
    """A report of one hop is a part of the path; struck out are the nodes that are not on the path after it."""
    event = events["path-change"]
    page = browser.page()

    def first_hop(query, columns, rows):
        if "SELECT * FROM observations" not in query or not rows:
            return None
        hops = [dict(zip(columns, row, strict=True)) for row in rows]
        lonely = {"origin": "xd-report", "hop_count": 1, "egress_interface": None}
        return rows_of(columns, [{**hop, **lonely} for hop in hops if hop["hop_index"] == 0])

    queried(page, first_hop)
    open_view(page, demo.url + flow_path(event["detail"]["flow"]) + f"?at={event['last'] + 10**9}&span=2s")
    page.locator("p.ghost").wait_for(timeout=20_000)
    names = {node["node_id"]: node["name"] for node in demo.json("nodes")}
    ids = lambda path: [hop["node_id"] for hop in path]  # noqa: E731
    left = [names[node] for node in ids(event["detail"]["old"]) if node not in ids(event["detail"]["new"])]
    struck = page.locator("p.ghost del").all_inner_texts()
    assert struck == left, (struck, left)
    page.get_by_text("no stored report of that time shows all of it").wait_for(timeout=20_000)
    assert page.inner_text("#packet").endswith("(known parts only)"), page.inner_text("#packet")
    # Its queue is that of no interface.
    queue = page.locator(".waterfall tbody th a").first.get_attribute("href")
    assert re.match(r"/queue/\d+/-/", queue), queue
    page.unroute_all(behavior="ignoreErrors")
    page.context.close()
    return len(left), "nodes that were left"


def nodes_without_interfaces_have_queues(demo, browser, events):
    """An event of a node that reports no interface, and its row of the map, lead to its queue."""
    spike = events["latency-spike"]
    spike = {**spike, "detail": {**spike["detail"], "egress_interface": None, "queue_id": None}}
    page = browser.page()
    answered(page, r"events/[^?]+$", lambda _: spike)
    open_view(page, f"{demo.url}/event/{spike['id']}")
    link = page.get_by_role("link", name="The queue at that time").get_attribute("href")
    assert link.startswith(f"/queue/{spike['detail']['node_id']}/-/-?"), link
    found = demo.json("map?live=1m")
    found["interfaces"]["interface"] = [None] * len(found["interfaces"]["interface"])
    found["links"] = {name: [] for name in found["links"]}
    answered(page, r"map\?", lambda _: found)
    open_view(page, demo.url + "/map")
    link = page.get_by_role("link", name="queues", exact=True).first.get_attribute("href")
    assert re.match(r"/queue/\d+/-", link), link
    page.unroute_all(behavior="ignoreErrors")
    page.context.close()
    return 2, "ways to a queue"


def silent_nodes_keep_their_names(demo, browser, _events):
    """Names of the names file are shown for nodes that have not reported since the collector started."""
    page = browser.page()
    answered(page, r"nodes(\?|$)", lambda _: [])
    open_view(page, demo.url + "/flows")
    page.locator("main .path a", has_text="leaf1").first.wait_for(timeout=5_000)
    page.unroute_all(behavior="ignoreErrors")
    page.context.close()
    return 1, "name of a silent node"


def depths_of_unlike_units_are_not_compared(demo, browser, _events):
    """Where no unit holds for all nodes, none is written; the order is by the number that was reported."""
    page = browser.page()
    lane = page.locator(".lane figcaption", has_text="Deepest queue").first
    # The demo's nodes count bytes; one that nobody has described does not, as far as is known.
    for unknown, is_in_bytes in [([], True), ([{"node_id": 77, "name": None}], False)]:
        answered(page, r"nodes(\?|$)", lambda _, unknown=unknown: demo.json("nodes") + unknown)
        open_view(page, demo.url + "/?live=5m")
        lane.filter(has_text=re.compile(r"[KM]iB") if is_in_bytes else re.compile(r"most [\d,]+$")).wait_for(timeout=20_000)
        page.unroute_all(behavior="ignoreErrors")
    open_view(page, demo.url + "/queues")
    page.get_by_role("table", name=re.compile("largest reported depth first")).wait_for()
    name = page.locator(".heat canvas").get_attribute("aria-label")
    assert "largest reported depths" in name and "at most" not in name, name
    page.context.close()
    return 2, "views of depths"


def lost_reports_are_in_sight(demo, browser, _events):
    """At any width the strip ends with the lost reports; changes of a path that are not counted are not called exact."""
    page = browser.page(650)
    open_view(page, demo.url + "/flows")
    lost = page.locator(".strip .balance > span", has_text="lost")
    lost.wait_for()
    for width in [1440, 900, 720, 650, 390]:
        page.set_viewport_size({"width": width, "height": 900})
        box = lost.bounding_box()
        assert box["x"] + box["width"] <= width, (width, box)
        if width <= 900:
            assert not page.locator(".strip .wide").first.is_visible(), width
    found = demo.json("flows/search?limit=100&sort=worst")
    found["columns"]["changes"] = [7, 6, *found["columns"]["changes"][2:]]
    answered(page, r"flows/search\?", lambda _: found)
    open_view(page, demo.url + "/flows")
    page.get_by_role("cell", name="7 or more", exact=True).wait_for()
    page.get_by_role("cell", name="6", exact=True).first.wait_for()
    page.unroute_all(behavior="ignoreErrors")
    page.context.close()
    return 5, "widths"


CHECKS = [
    silence_is_not_called_quiet,
    the_worst_is_told_first,
    links_of_one_interface_keep_their_silence,
    the_map_of_a_fault_has_tiers,
    lost_flows_are_found,
    a_flow_of_the_past_keeps_its_evidence,
    reports_of_one_hop_are_parts,
    nodes_without_interfaces_have_queues,
    silent_nodes_keep_their_names,
    depths_of_unlike_units_are_not_compared,
    lost_reports_are_in_sight,
]
