"""The page over a known past: times in every zone, bursts of a microsecond with twelve flows, values that are not
available. Run by `page_long.py`.
"""

import datetime
import re
import struct
import zoneinfo

from page import Past, open_view, sql
from page_fabric import HOST, MD_BITS, Fabric, write_capture, write_reports
from page_numbers import THIN, columns_of, shares_add_up

# At each, the clocks of the zone change: by an hour, by half an hour, and not at all.
CHANGES = [("Europe/Berlin", 1_792_890_000), ("Australia/Lord_Howe", 1_775_314_800), ("Asia/Kolkata", 1_767_225_600)]
# What is written into canvases is read as well.
WRITTEN = """(() => { const draw = CanvasRenderingContext2D.prototype.fillText; window.written = [];
  CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) { window.written.push(String(text)); return draw.call(this, text, ...rest); }; })()"""
TIME = re.compile(r"(?:(\d{4}-\d\d-\d\d) )?(\d\d:\d\d:\d\d)(?:\.(\d{3})(?: (\d{3}) (\d{3}))?)?(?: (UTC|[A-Z]\w+/\w+))?")


def local(nanos, zone):
    return datetime.datetime.fromtimestamp(nanos // 10**9, zoneinfo.ZoneInfo(zone)).strftime("%Y-%m-%d %H:%M:%S")


def marks(page):
    """The marks of the time axes of all lanes, as they are drawn."""
    page.evaluate("window.written = []; dispatchEvent(new Event('resize'))")
    page.set_viewport_size({"width": page.viewport_size["width"] - 2, "height": 900})
    page.wait_for_function("() => window.written.some(text => /^\\d\\d:\\d\\d/.test(text))", timeout=5_000)
    return {text for text in page.evaluate("window.written") if re.match(r"\d\d:\d\d", text)}


def point(page):
    """Moves the cursors of the lane and of the heat map."""
    page.locator(".depth svg").focus()
    page.keyboard.press("ArrowRight")
    page.locator(".heat canvas").focus()
    page.keyboard.press("ArrowLeft")


def told(page):
    """Times in a lane's ends and cursor, below and beside the heat map, and in the table."""
    found = [page.inner_text(".depth figcaption"), page.inner_text(".heat figcaption"), *page.locator(".ends span").all_inner_texts()]
    found += page.eval_on_selector_all("table", "all => [...all.find(one => one.caption.innerText.startsWith('Packets that waited')).tBodies[0].rows].map(row => row.cells[0].innerText)")
    return [match for text in found for match in TIME.findall(text.replace(THIN, " "))]


def texts_follow_the_zone(program, browser):
    """C19: axes, cursors and tables beside the interval, around changes of summer time."""
    compared = 0
    for zone, moment in CHANGES:
        past = Past(program, lambda path, end=moment + 3_600: write_capture(Fabric(2, 3, 2, 2, 1, 10), path, hours=2, every=2, end=end * 10**9))
        context = browser.browser.new_context(timezone_id=zone, viewport={"width": 1440, "height": 900})
        context.add_init_script(WRITTEN + "; localStorage.setItem('inband-zone', 'local')")
        try:
            page = context.new_page()
            url = past.collector.url
            open_view(page, f"{url}/?at={moment}000000000&span=2h")
            for name in [zone, "UTC"]:
                drawn = marks(page)
                right = {local((moment + by) * 10**9, name)[11:] for by in range(-3_600, 3_601, 60)}
                assert len(drawn) >= 4 and drawn <= right, (name, sorted(drawn))
                compared += len(drawn)
                page.keyboard.press("z")
                page.wait_for_timeout(300)
            node, _, egress = Fabric(2, 3, 2, 2, 1, 10).route(0)[0]
            # Around the congestion, which is at the change itself.
            open_view(page, f"{url}/queue/{node}/{egress}/0?at={past.written}&span=200ms")
            called = page.evaluate("Intl.DateTimeFormat().resolvedOptions().timeZone")
            point(page)
            address, here = page.url, told(page)
            page.keyboard.press("z")
            page.wait_for_function("() => document.querySelector('.depth .ends').innerText.includes('UTC')", timeout=5_000)
            there = told(page)
            assert page.url == address and len(here) == len(there) > 10, (page.url, len(here), len(there))
            for (day, clock, *parts, in_zone), (utc_day, utc_clock, *utc_parts, in_utc) in zip(here, there, strict=True):
                nanos = int(datetime.datetime.fromisoformat(f"{utc_day} {utc_clock}+00:00").timestamp()) * 10**9
                assert f"{day} {clock}" == local(nanos, zone) and parts == utc_parts, (zone, day, clock, utc_day, utc_clock)
                assert (in_zone, in_utc) in [(called, "UTC"), ("", "")], (in_zone, in_utc)
                exact = nanos + int("".join(parts).ljust(9, "0"))
                assert abs(exact - past.written) <= 100_000_000, (zone, exact, past.written)
                compared += 1
        finally:
            context.close()
            past.stop()
    return compared, f"times in {len(CHANGES)} zones, as axes, cursors, tables and addresses"


class Bursts(Fabric):
    """Twelve flows that meet in one queue: a burst lasts a microsecond, and the node reports it as congestion."""

    FLOWS, PACKETS, GAP = 12, 36, 25  # 36 packets that leave 25 ns apart: 900 ns.

    def __init__(self):
        super().__init__(1, 1, 1, 1, 3, self.FLOWS)
        self.hop = None

    def measured(self, flow):
        latency, depth, left = self.hop
        return [(1, HOST, HOST + 1, latency, depth, left - latency, left)], False

    def stacked(self, flow):
        (report,) = super().stacked(flow)
        at = 8 + 3  # Behind the group's header: flags of the individual report.
        return [report[:at] + bytes([report[at] | 0x40]) + report[at + 1 :]]

    def packets(self, bursts):
        """When each packet leaves, nanoseconds after the first, and the depth it met, which grows within a burst."""
        for burst in range(bursts):
            for at in range(self.PACKETS):
                yield burst * 10_000 + at * self.GAP, (at + 1) * 1_500

    def reports(self, begin, bursts):
        """Each report with its time of arrival. The wait grows with each packet of a burst."""
        for number, (left, depth) in enumerate(self.packets(bursts)):
            at = number % self.PACKETS
            self.hop = (at * self.GAP + 1, depth, begin + left)
            # A third of the packets belongs to the first flow, the rest to all.
            flow = 0 if at % 3 == 0 else at * 2 // 3 % self.FLOWS
            for report in self.stacked(flow):
                yield begin + left + 2_000_000, report


BEGIN = 1_792_000_000 * 10**9


def bursts_of_a_microsecond_add_up(program, browser):
    """C22: twelve flows in bursts of 1 us; the areas sum to the depth, the quota's band begins at its end."""
    fabric = Bursts()
    bursts, quota = 4, 100
    settings = f"[events.queue_congestion]\nquota = {quota}\n"
    past = Past(program, lambda path: write_reports(path, fabric.reports(BEGIN, bursts)), settings)
    page = browser.page()
    try:
        # No packet lies on the border of two of the 400 steps of the axis.
        span, before = 50_000, 4_997
        # By the clock of the collector: the reports arrive 2 ms after the packets left.
        begin = BEGIN + 2_000_000
        open_view(page, f"{past.collector.url}/queue/1/{HOST + 1}/0?at={begin + span // 2 - before}&span={span}ns")
        page.locator(".depth svg").wait_for(timeout=30_000)
        areas = page.eval_on_selector_all(".depth .area", "all => all.map(one => one.getAttribute('d'))")
        assert len(areas) == 7 and all(areas), [len(one) for one in areas]
        columns = columns_of(page)
        deepest = {}
        for at, depth in fabric.packets(bursts):
            step = (at + before) * 400 // span
            deepest[step] = max(deepest.get(step, 0), depth)
        assert sorted(deepest) == sorted(round(x / 3) for x in columns), (sorted(deepest), sorted(columns))
        most = max(deepest.values())
        for x, boxes in columns.items():
            assert abs(boxes[-1][0] - (256 - deepest[round(x / 3)] / most * 248)) < 0.3, (x, boxes, deepest[round(x / 3)])
        shares = shares_add_up(page)
        assert len(shares) == fabric.FLOWS, shares
        # The report that used up the quota ends what is known.
        *_, (last, _) = fabric.packets(bursts)
        end = (last + before) / span * 1_200
        bands = page.eval_on_selector_all(".depth g rect", "all => all.map(one => [+one.getAttribute('x'), +one.getAttribute('x') + +one.getAttribute('width')])")
        assert len(bands) == 1 and abs(bands[0][0] - end) < 3 and abs(bands[0][1] - 1_200) < 0.1, (bands, end)
        assert "quota" in page.inner_text("main .notice")
    finally:
        page.context.close()
        past.stop()
    return len(columns), f"columns of {bursts} bursts of 1 µs with {fabric.FLOWS} flows"


class Unavailable(Fabric):
    """Its nodes have no value for anything but their id: all bits of every value are set (int-2.1, 5.7.1)."""

    def stacked(self, flow):
        hops = self.route(flow)
        stack = b"".join(struct.pack(">I", node) + b"\xff" * 28 for node, _, _ in reversed(hops))
        shim = struct.pack(">BBBB", 0x10, 3 + len(stack) // 4, 0, 0)
        inner = self.packet(flow, 64 - len(hops), shim + struct.pack(">BBBBHHHH", 0x20, 0, 8, 8, MD_BITS, 0, 0, 0) + stack)
        inner += bytes(-len(inner) % 4)
        return [self.group(hops[-1][0], struct.pack(">BBBB", 4, len(inner) // 4, 0, 0x20) + inner)]


def values_that_are_not_available_have_no_number(program, browser):
    """C18: all ones are "–" in every view, and never a number, a length or an interface."""
    past = Past(program, lambda path: write_capture(Unavailable(2, 3, 2, 2, 13, 40), path, hours=0.05, every=0.2))
    page = browser.page()
    looked = 0
    try:
        collector, time = past.collector, f"at={past.written}&span=3m"
        flow = sql(collector, "SELECT flow_id FROM paths LIMIT 1")[0][0]
        for view in ["/", "/map", "/flows", f"/flow/{flow}", "/queues", "/map?sel=1", "/reports"]:
            open_view(page, f"{collector.url}{view}{'&' if '?' in view else '?'}{time}")
            page.wait_for_timeout(500)
            text = page.inner_text("main").replace(THIN, " ")
            wrong = re.search(r"4[ ,]?294[ ,]?967[ ,]?295|4\.29 s|16[ ,]?777[ ,]?215|16 MiB|4 GiB|1[ ,]?844[ ,]?674|584 [ay]|\b65[ ,]?535\b|NaN|undefined", text)
            assert not wrong, (view, wrong[0], text[max(0, wrong.start() - 60) : wrong.end() + 20])
            looked += 1
        open_view(page, f"{collector.url}/flow/{flow}?{time}")
        assert "–" in page.inner_text("main"), "the path shows a number for what no node told"
    finally:
        page.context.close()
        past.stop()
    # A flow of the past is not among the present ones.
    browser.wrong[:] = [one for one in browser.wrong if "status of 404" not in one]
    return looked, "views of values that no node could tell"


CHECKS = [texts_follow_the_zone, bursts_of_a_microsecond_add_up, values_that_are_not_available_have_no_number]
