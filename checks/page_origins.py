"""Data of other origin than the demo's: captures of this repository, names that are markup or very long, no
data, only IPv6, a single node, reports of every version. Run by `page_long.py`.
"""

import re
import socket
import struct
import time
from pathlib import Path

from page import FOREIGN, VIEWS, Collector, open_view
from page_fabric import Fabric, Sender

TESTDATA = Path(__file__).parent.parent / "testdata"


def payloads(capture):
    """The payloads of the UDP datagrams to the report port in a capture of Ethernet or IP."""
    data = capture.read_bytes()
    order = "<" if data[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    (link,) = struct.unpack(order + "I", data[20:24])
    at, found = 24, []
    while at + 16 <= len(data):
        (length,) = struct.unpack(order + "I", data[at + 8 : at + 12])
        frame = data[at + 16 : at + 16 + length][14 if link == 1 else 0 :]
        at += 16 + length
        if not frame or frame[0] >> 4 not in (4, 6):
            continue
        udp = frame[(frame[0] & 15) * 4 if frame[0] >> 4 == 4 else 40 :]
        if len(udp) >= 8 and struct.unpack(">H", udp[2:4])[0] == 32_766:
            found.append(udp[8 : struct.unpack(">H", udp[4:6])[0]])
    return found


def look(collector, browser, also=()):
    """Opens every view and its links, in both themes and widths; returns the number of pictures."""
    flows = collector.json("flows?limit=3")
    nodes = collector.json("nodes?limit=3")
    views = [*VIEWS, "/map?form=matrix", "/map?form=groups", *(f"/flow/{flow['id']}" for flow in flows), *(f"/map?sel={node['node_id']}" for node in nodes), *also]
    about = collector.json("about")
    has_store = bool(about["tables"])
    queues = collector.json("queues?limit=2")
    views += [f"/queue/{queue['node_id']}/{queue['egress_interface'] if queue['egress_interface'] is not None else '-'}/{queue['queue_id'] if queue['queue_id'] is not None else '-'}" for queue in queues]
    views += [f"/event/{event['id']}" for event in collector.json("events?limit=3")]
    looked = 0
    for width, scheme in [(1440, "light"), (390, "dark")]:
        page = browser.page(width, 900, scheme)
        for view in views:
            open_view(page, collector.url + view)
            page.wait_for_timeout(400)
            text = page.inner_text("main")
            assert not re.search(r"NaN|undefined|Infinity|\[object", text), (view, width, re.search(r".{40}(NaN|undefined|Infinity|\[object).{40}", text, re.S))
            assert page.get_by_role("alert").count() == 0, (view, page.get_by_role("alert").first.inner_text())
            assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, (view, width)
            assert page.evaluate("window.hit") is None, view
            looked += 1
        page.context.close()
    # A flow may have expired since; without a store, history is refused.
    expected = ["status of 404"] if has_store else ["status of 404", "status of 503"]
    browser.wrong[:] = [one for one in browser.wrong if not any(status in one for status in expected)]
    return looked


def replayed(program, browser, names, send, settings=""):
    collector = Collector(program, settings, names)
    try:
        send(collector)
        time.sleep(3)
        return look(collector, browser)
    finally:
        collector.stop()


def datagrams_of(captures):
    def send(collector):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            for capture in captures:
                for payload in payloads(capture):
                    sender.sendto(payload, ("127.0.0.1", collector.port))
        assert collector.json("ledger")["total"]["received"] > 0, f"{captures} hold no report"

    return send


def packets_of(fabric, packets=2_000, is_md=True):
    return lambda collector: Sender(fabric, f"127.0.0.1:{collector.port}", is_md).run(0, 1_000, packets)


def captures_are_shown(program, browser):
    """Reports of all versions, from the vectors and a capture."""
    captures = sorted([*TESTDATA.glob("vectors/report*.pcap"), *TESTDATA.glob("captures/*.pcap")])
    return replayed(program, browser, "", datagrams_of(captures)), f"pictures of {len(captures)} captures"


def foreign_names_are_shown(program, browser):
    """C10: names in the operator's file that are markup, very long, or change the writing direction."""
    names = [text.replace("\x00", "\x01") for text in FOREIGN]
    lines = [f"[[node]]\nid = {at + 1}\nname = {toml(text[:250])}\n" for at, text in enumerate(names)]
    hosts = [f"[[host]]\naddress = \"10.0.{at}.1\"\nname = {toml(text[:250])}\n" for at, text in enumerate(names)]
    return replayed(program, browser, "\n".join(lines + hosts), packets_of(Fabric(2, 3, 2, 2, 2, 60))), "pictures with names that are markup"


def toml(text):
    """A TOML string."""
    return '"' + "".join(f"\\u{ord(one):04x}" if ord(one) < 0x20 or one in '"\\' or 0x2000 <= ord(one) < 0x2100 else one for one in text) + '"'


class Timeless(Fabric):
    """Its stacks have node, interfaces and latency, and neither times nor queues."""

    def stacked(self, flow):
        hops, _ = self.measured(flow)
        stack = b"".join(struct.pack(">IHHI", node, ingress, egress, latency) for node, ingress, egress, latency, *_ in reversed(hops))
        shim = struct.pack(">BBBB", 0x10, 3 + len(stack) // 4, 0, 0)
        inner = self.packet(flow, 64 - len(hops), shim + struct.pack(">BBBBHHHH", 0x20, 0, 3, 8, 0xE000, 0, 0, 0) + stack)
        inner += bytes(-len(inner) % 4)
        return [self.group(hops[-1][0], struct.pack(">BBBB", 4, len(inner) // 4, 0, 0x20) + inner)]


class Early(Fabric):
    """Each node sends reports 0.5 of its own, some of them of drops."""

    def stacked(self, flow):
        reports = []
        for at, (node, ingress, egress, _, depth, came, left) in enumerate(self.measured(flow)[0]):
            sequence = self.sequences[node] = self.sequences.get(node, 0) + 1
            original = bytes(12) + b"\x08\x00" + self.packet(flow, 64 - at, b"")
            is_dropped = flow == 5 and at == 1
            head = struct.pack(">III", 0x01800000 if is_dropped else 0x02200000, sequence, came & 0xFFFFFFFF)
            own = struct.pack(">IHHBBH", node, ingress, egress, 0, 71, 0) if is_dropped else struct.pack(">IHHII", node, ingress, egress, depth & 0xFFFFFF, left & 0xFFFFFFFF)
            reports.append(head + own + original)
            if is_dropped:
                break
        return reports


class Late(Fabric):
    """The clocks of its nodes are an hour slow, each by another microsecond; one flow is most of its traffic."""

    def stacked(self, flow):
        return super().stacked(flow if self.random.random() < 0.1 else 7)

    def measured(self, flow):
        hops, is_lost = super().measured(flow)
        slow = lambda node: 3_600 * 10**9 + node * 1_000  # noqa: E731
        return [(node, *rest, came - slow(node), left - slow(node)) for node, *rest, came, left in hops], is_lost


def reports_without_times_are_shown(program, browser):
    return replayed(program, browser, "", packets_of(Timeless(2, 3, 2, 2, 9, 60))), "pictures without times"


def reports_of_0_5_are_shown(program, browser):
    return replayed(program, browser, "", packets_of(Early(2, 3, 2, 2, 10, 60), 700)), "pictures of reports 0.5"


def slow_clocks_are_shown(program, browser):
    return replayed(program, browser, "", packets_of(Late(2, 3, 2, 2, 11, 60, is_v6=True))), "pictures of clocks that are an hour slow"


def no_store_is_shown(program, browser):
    return replayed(program, browser, "", packets_of(Fabric(1, 3, 2, 1, 12, 40), 500), '[store]\npath = ""\n'), "pictures without a history"


def ipv6_alone_is_shown(program, browser):
    return replayed(program, browser, "", packets_of(Fabric(2, 3, 2, 2, 3, 60, is_v6=True))), "pictures of IPv6 alone"


def one_node_alone_is_shown(program, browser):
    return replayed(program, browser, "", packets_of(Fabric(1, 1, 1, 1, 4, 10))), "pictures of one node"


def nodes_that_report_by_themselves_are_shown(program, browser):
    return replayed(program, browser, "", packets_of(Fabric(1, 3, 2, 1, 5, 40), 500, is_md=False)), "pictures of INT-XD"


def nothing_is_shown(program, browser):
    return replayed(program, browser, "", lambda collector: None), "pictures of nothing"


CHECKS = [captures_are_shown, foreign_names_are_shown, ipv6_alone_is_shown, one_node_alone_is_shown, nodes_that_report_by_themselves_are_shown, nothing_is_shown,
          reports_without_times_are_shown, reports_of_0_5_are_shown, slow_clocks_are_shown, no_store_is_shown]
