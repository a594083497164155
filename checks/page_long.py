#!/usr/bin/env python3
"""The page for longer than every push can wait: first paint, frames, a large screen, memory, colours. `cargo xtask long page` runs it.

A page that only moves a canvas tells first how fast this machine draws; below 45 frames a second nothing is concluded.
"""

import argparse
import json
import shutil
import statistics
import struct
import sys
import time
import zlib

from page import Browser, Demo, open_view
from page_numbers import SLOW, route_fabric

CALIBRATION = "<canvas width=1440 height=900></canvas>"
MIN_RATE = 45
FRAMES = """seconds => new Promise(done => {
  const times = [], tasks = [];
  const watch = new PerformanceObserver(list => tasks.push(...list.getEntries().map(one => one.duration)));
  watch.observe({ entryTypes: ["longtask"] });
  const canvas = document.querySelector("canvas[width='1440']"), context = canvas?.getContext("2d");
  const step = at => {
    times.push(at);
    if (context) { context.fillStyle = `hsl(${times.length % 360} 50% 50%)`; context.fillRect(0, 0, 1440, 900); }
    if (at - times[0] < seconds * 1000) return requestAnimationFrame(step);
    const gaps = times.slice(1).map((time, index) => time - times[index]);
    done({ rate: 1000 * gaps.length / (at - times[0]), gap: Math.max(...gaps), busy: tasks.reduce((a, b) => a + b, 0) / (at - times[0]) });
  };
  requestAnimationFrame(step);
})"""


def machine_draws_fast_enough(browser):
    page = browser.page()
    page.set_content(CALIBRATION)
    rate = page.evaluate(FRAMES, 3)["rate"]
    page.context.close()
    return rate


def first_paint(demo, browser, _seconds):
    """C1"""
    paint = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
    medians = []
    for is_large, most in [(False, 500), (True, 1_000)]:
        times = []
        for _ in range(5):
            page = browser.page()
            if is_large:
                route_fabric(page, 1_880, 120, SLOW)
            page.goto(demo.url + "/map?live=1m")
            page.wait_for_function(paint)
            times.append(page.evaluate(paint))
            page.unroute_all(behavior="ignoreErrors")
            page.context.close()
        medians.append(statistics.median(times))
        assert medians[-1] <= most, (medians, most)
    return round(max(medians)), "ms to the first paint"


def frames_flow(demo, browser, _seconds):
    """C2, C3: live, 2,000 nodes on the map, at both sizes."""
    worst = 1_000.0
    for width, height in [(1440, 900), (3840, 2160)]:
        page = browser.page(width, height)
        route_fabric(page, 1_880, 120, SLOW)
        for view in ["/map?live=1m", "/queues?live=15m", "/queue/1/2/0?live=1m"]:
            if view != "/map?live=1m":
                page.unroute_all(behavior="ignoreErrors")
            open_view(page, demo.url + view)
            page.wait_for_timeout(3_000)
            seen = page.evaluate(FRAMES, 10)
            assert seen["rate"] >= 30 and seen["gap"] <= 200 and seen["busy"] < 0.05, (view, width, seen)
            worst = min(worst, seen["rate"])
        smallest = page.evaluate("""Math.min(...[...document.querySelectorAll('body *')].filter(one => one.innerText && one.getClientRects().length)
            .map(one => parseFloat(getComputedStyle(one).fontSize)))""")
        used = page.evaluate("document.querySelector('main').getBoundingClientRect().width / innerWidth")
        assert smallest >= 13 and used >= 0.8, (smallest, used)
        page.context.close()
    return round(worst), "frames a second at least"


def memory_stays(demo, browser, seconds):
    """C12, C13: fifty zooms, then live for the time that is given."""
    page = browser.page()
    session = page.context.new_cdp_session(page)

    def heap():
        session.send("HeapProfiler.collectGarbage")
        return session.send("Runtime.getHeapUsage")["usedSize"]

    open_view(page, demo.url + "/queue/1/2/0?live=1m")
    page.wait_for_timeout(3_000)
    before = heap()
    for _ in range(50):
        page.keyboard.press("w")
        page.wait_for_timeout(200)
        page.keyboard.press("s")
        page.wait_for_timeout(200)
    zoomed = heap()
    assert zoomed <= 1.5 * before + 2_000_000, (before, zoomed)
    open_view(page, demo.url + "/")
    page.wait_for_timeout(5_000)
    before = heap()
    for _ in range(max(1, seconds // 10)):
        page.wait_for_timeout(10_000)
        nodes = page.evaluate("document.querySelectorAll('*').length")
        assert nodes <= 20_000, nodes
    growth = heap() - before
    assert growth <= 20_000_000, growth
    page.context.close()
    return growth, f"bytes more after {seconds} s"


DEFICIENCIES = ["none", "protanopia", "deuteranopia", "tritanopia"]
SWATCHES = """() => { const style = getComputedStyle(document.documentElement);
  document.body.replaceChildren(...[1, 2, 3, 4, 5, 6].map(flow => { const one = document.createElement("div");
    one.setAttribute("class", `flow f${flow} swatch-check`); one.style.setProperty("border-left-width", "100px"); one.style.setProperty("height", "40px");
    one.style.setProperty("display", "block"); return one; })); }"""


def flows_differ_for_everyone(demo, browser, _seconds):
    """C20: the six colours of flows, in the pixels, for those who see fewer colours."""
    least = 100.0
    for scheme in ["light", "dark"]:
        page = browser.page(600, 400, scheme)
        session = page.context.new_cdp_session(page)
        open_view(page, demo.url + "/reports")
        page.evaluate(SWATCHES)
        for deficiency in DEFICIENCIES:
            session.send("Emulation.setEmulatedVisionDeficiency", {"type": deficiency})
            pixels = png(page.screenshot())
            labs = [oklab(*pixels[20 + 40 * flow][50]) for flow in range(6)]
            for at, one in enumerate(labs):
                for other in labs[at + 1 :]:
                    least = min(least, 100 * sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) ** 0.5)
        page.context.close()
    assert least >= 7, least
    return round(least, 1), "OKLab x 100 between any two flows"


def nothing_flashes(demo, browser, _seconds):
    """C25: live for half a minute, no part of a hundredth of the picture changes by a tenth three times in a second."""
    worst = 0
    for view in ["/?live=1m", "/map?live=1m", "/queue/1/2/0?live=1m"]:
        page = browser.page(480, 300)
        open_view(page, demo.url + view)
        page.wait_for_timeout(2_000)
        frames, begun = [], time.monotonic()
        while time.monotonic() - begun < 30:
            frames.append((time.monotonic() - begun, page.screenshot()))
            page.wait_for_timeout(100)
        page.context.close()
        # Parts of 48 by 30 pixels are a hundredth of the picture.
        levels = [(at, parts(png(data), 48, 30)) for at, data in frames]
        changes = [
            (at, {part for part, level in enumerate(now) if abs(level - before[part]) > 0.1})
            for (_, before), (at, now) in zip(levels, levels[1:], strict=False)
        ]
        for at, _ in changes:
            within = [changed for time_, changed in changes if at <= time_ < at + 1]
            counts = [sum(part in changed for changed in within) for part in range(len(levels[0][1]))]
            worst = max(worst, *counts)
        assert worst < 3, (view, worst)
    return worst, "changes of a part in a second at most"


def parts(rows, width, height):
    """The mean relative luminance of each part of a picture."""
    linear = [(c / 255 / 12.92) if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in range(256)]
    means = []
    for top in range(0, len(rows) - height + 1, height):
        for left in range(0, len(rows[0]) - width + 1, width):
            # Every third pixel of every third row is enough for a mean.
            seen = [rows[y][x] for y in range(top, top + height, 3) for x in range(left, left + width, 3)]
            means.append(sum(0.2126 * linear[r] + 0.7152 * linear[g] + 0.0722 * linear[b] for r, g, b in seen) / len(seen))
    return means


def png(data):
    """Rows of pixels of a PNG with 8 bits a channel."""
    at, packed = 8, b""
    while at < len(data):
        (length,), kind = struct.unpack(">I", data[at : at + 4]), data[at + 4 : at + 8]
        body = data[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            width, _, _, colour = struct.unpack(">IIBB", body[:10])
        elif kind == b"IDAT":
            packed += body
        at += 12 + length
    size = {2: 3, 6: 4}[colour]
    raw, rows, before = zlib.decompress(packed), [], bytearray(width * size)
    for start in range(0, len(raw), width * size + 1):
        line = bytearray(raw[start + 1 : start + 1 + width * size])
        for index in range(len(line)):
            left = line[index - size] if index >= size else 0
            up, corner = before[index], before[index - size] if index >= size else 0
            guess = left + up - corner
            nearest = min((abs(guess - left), 0, left), (abs(guess - up), 1, up), (abs(guess - corner), 2, corner))[2]
            line[index] = (line[index] + [0, left, up, (left + up) // 2, nearest][raw[start]]) % 256
        rows.append([tuple(line[pixel : pixel + 3]) for pixel in range(0, len(line), size)])
        before = line
    return rows


def oklab(*rgb):
    red, green, blue = ((c / 255 / 12.92) if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in rgb)
    long = (0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue) ** (1 / 3)
    middle = (0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue) ** (1 / 3)
    short = (0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue) ** (1 / 3)
    return (
        0.2104542553 * long + 0.7936177850 * middle - 0.0040720468 * short,
        1.9779984951 * long - 2.4285922050 * middle + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * middle - 0.8086757660 * short,
    )


CHECKS = [flows_differ_for_everyone, nothing_flashes, first_paint, frames_flow, memory_stays]
TIMED = [first_paint, frames_flow]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--seconds", type=int, default=3600, help="how long the page stays open for its memory")
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    from playwright.sync_api import sync_playwright

    shell = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    failed = 0
    demo = Demo(arguments.program, f"{arguments.seconds + 1_800}s")
    try:
        demo.wait_for_events(["queue-congestion"])
        with sync_playwright() as playwright:
            browser = Browser(playwright, shell)
            rate = machine_draws_fast_enough(browser)
            print(f"page: this machine draws {rate:.0f} frames a second", flush=True)
            for check in CHECKS:
                if arguments.only not in check.__name__:
                    continue
                if check in TIMED and rate < MIN_RATE:
                    failed += 1
                    print(f"page: {check.__name__}: void, {MIN_RATE} frames a second are needed", flush=True)
                    continue
                try:
                    number, what = check(demo, browser, arguments.seconds)
                    result = f"{number} {what}"
                except Exception as error:  # noqa: BLE001
                    failed += 1
                    result = f"FAILED: {json.dumps(str(error)[:1500])}"
                print(f"page: {check.__name__}: {result}", flush=True)
            browser.browser.close()
    finally:
        demo.stop()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
