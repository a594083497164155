"""Flashes: the brightness of 64 by 40 parts of every frame. Run by `page_long.py`; needs Pillow and numpy."""

import base64
import io
import re

from page import open_view

SECONDS = 30
WIDTH, HEIGHT, COLUMNS, ROWS = 1280, 800, 64, 40
CHANGE, AREA, MOST = 0.1, 0.01, 2
BLINKS = """<body style="margin:0"><div id=one style="width:140px;height:140px"></div><script>setInterval(() =>
  document.querySelector("#one").style.background = Date.now() % 500 < 250 ? "#000" : "#fff", 50)</script>"""


def views(demo):
    """All eight views, while the demo's faults occur every half minute."""
    flow = demo.json("flows?limit=1")[0]["id"]
    return ["/?live=1m", "/map?live=1m", "/flows?live=1m", f"/flow/{flow}?live=1m", "/queue/1/2/0?live=1m", "/events?live=1m", "/reports?live=1m", "/query?sql=SELECT+*+FROM+paths+LIMIT+5"]


class Film:
    """Records the frames of a page."""

    def __init__(self, page):
        self.frames, self.is_over = [], False
        self.session = page.context.new_cdp_session(page)
        self.session.on("Page.screencastFrame", self.keep)
        self.session.send("Page.startScreencast", {"format": "jpeg", "quality": 90, "everyNthFrame": 1})

    def keep(self, frame):
        self.frames.append((frame["metadata"]["timestamp"], base64.b64decode(frame["data"])))
        if not self.is_over:
            self.session.send("Page.screencastFrameAck", {"sessionId": frame["sessionId"]})

    def stop(self):
        self.is_over = True
        self.session.send("Page.stopScreencast")

    def changes(self):
        """Most changes in a second, of parts that cover more than a hundredth of the picture, and of any part.

        A part changes when its relative luminance differs by a tenth from its last change, however slowly.
        """
        import numpy
        from PIL import Image

        value = numpy.arange(256) / 255
        linear = numpy.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)
        times, last = [], None
        # The browser packs frames side by side, and a small one may overtake.
        for at, data in sorted(self.frames):
            pixels = linear[numpy.asarray(Image.open(io.BytesIO(data)).convert("RGB"))] @ numpy.array([0.2126, 0.7152, 0.0722])
            high, wide = (pixels.shape[0] // ROWS, pixels.shape[1] // COLUMNS)
            parts = pixels[: high * ROWS, : wide * COLUMNS].reshape(ROWS, high, COLUMNS, wide).mean(axis=(1, 3)).ravel()
            if last is None:
                last = parts
            changed = abs(parts - last) > CHANGE
            last = numpy.where(changed, parts, last)
            times.append((at, changed))
        wide_most, any_most = 0, 0
        for begin, (at, _) in enumerate(times):
            within = sum(changed.astype(int) for time, changed in times[begin:] if time < at + 1)
            ranked = numpy.sort(within)[::-1]
            any_most, wide_most = max(any_most, int(ranked[0])), max(wide_most, int(ranked[int(AREA * COLUMNS * ROWS)]))
        return wide_most, any_most


def nothing_flashes(demo, browser):
    """C25: live, with faults, no hundredth of the picture changes by a tenth three times a second."""
    try:
        import numpy  # noqa: F401
        import PIL  # noqa: F401
    except ImportError as error:
        raise AssertionError("needs `pip install pillow numpy`") from error
    # A picture that blinks four times a second is detected.
    page = browser.page(WIDTH, HEIGHT)
    page.set_content(BLINKS)
    film = Film(page)
    page.wait_for_timeout(3_000)
    film.stop()
    blinks, _ = film.changes()
    page.context.close()
    assert blinks > MOST, f"a square that blinks changes {blinks} times"
    worst, frames, faults = 0, 0, []
    for view in views(demo):
        pages = {scheme: browser.page(WIDTH, HEIGHT, scheme) for scheme in ["light", "dark"]}
        for page in pages.values():
            open_view(page, demo.url + view)
        page.wait_for_timeout(2_000)
        films = {scheme: Film(page) for scheme, page in pages.items()}
        page.wait_for_timeout(1_000 * SECONDS)
        name = re.sub(r"/flow/[^?]*", "/flow/ID", view)
        for film in films.values():
            film.stop()
        for scheme, film in films.items():
            wide, anywhere = film.changes()
            pages[scheme].context.close()
            print(f"page:   {name} {scheme}: {len(film.frames)} frames, {wide} changes in a second over a hundredth, {anywhere} in any part", flush=True)
            worst, frames = max(worst, wide), frames + len(film.frames)
            if wide > MOST:
                faults.append((name, scheme, wide))
    assert not faults, faults
    return worst, f"changes in a second at most of more than a hundredth of the picture, in {frames} frames of 8 views and 2 themes; a square that blinks has {blinks}"
