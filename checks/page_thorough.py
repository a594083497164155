"""What `page.py` looks at in part, in full: every theme and width, a wide screen, many filters, a minute later,
a long absence. Run by `page_long.py`.
"""

import re
from time import sleep

from page import VIEWS, open_view, settled, usable
from page_absence import an_absence_is_waited_out
from page_numbers import filters_agree

KINDS = ["queue-congestion", "path-change", "culprits", "latency-spike"]


def everyone_can_use_all_of_it(demo, browser):
    """C6, C16: both widths in both themes."""
    events = demo.wait_for_events(KINDS)
    looked = sum(usable(demo, browser, events, width, scheme)[0] for width in (1440, 390) for scheme in ("light", "dark"))
    return looked, "pictures without a fault, at 1440 and 390 pixels, light and dark"


WIDE = """() => {
  const seen = [...document.querySelectorAll("body *")].filter(one => one.getClientRects().length);
  const own = one => [...one.childNodes].some(node => node.nodeType === 3 && node.data.trim());
  const images = [...document.querySelectorAll("main svg[viewBox]:not([preserveAspectRatio=none])")].map(one =>
    one.getScreenCTM().a / one.getScreenCTM().d);
  return { text: Math.min(...seen.filter(own).map(one => parseFloat(getComputedStyle(one).fontSize) * (one.getScreenCTM?.()?.a ?? 1))),
    used: document.querySelector("main").getBoundingClientRect().width / innerWidth, stretched: images.filter(ratio => Math.abs(ratio - 1) > 0.01).length,
    over: document.documentElement.scrollWidth - innerWidth }; }"""


def a_wide_screen_is_used(demo, browser):
    """C3: at 3840 by 2160, text of 13 pixels or more in every view, nothing stretched, 80 % of the width used."""
    event = demo.wait_for_events(KINDS)["queue-congestion"]["id"]
    flow = demo.json("flows?limit=1")[0]["id"]
    smallest, looked = 1_000.0, 0
    for scheme in ["light", "dark"]:
        page = browser.page(3840, 2160, scheme)
        for view in [*VIEWS, f"/flow/{flow}", f"/event/{event}", "/queue/1/2/0", "/map?form=groups", "/map?form=matrix&sel=1"]:
            open_view(page, demo.url + view)
            page.wait_for_timeout(500)
            seen = page.evaluate(WIDE)
            assert seen["text"] >= 13 and seen["used"] >= 0.8 and not seen["stretched"] and seen["over"] <= 0, (view, seen)
            smallest, looked = min(smallest, seen["text"]), looked + 1
        page.context.close()
    return smallest, f"pixels at least is the text of {looked} views"


def frozen_views_stay(demo, browser):
    """C9: an address with a time shows the same numbers a minute later, and in a second window."""
    event = demo.wait_for_events(KINDS)["queue-congestion"]
    flow = demo.json("flows?limit=1")[0]["id"]
    middle = (event["first"] + event["last"]) // 2
    time = f"at={middle}&span=20s"
    # By then all of it is in the history.
    while demo.json("events?limit=1")[0]["last"] < middle + 40 * 10**9:
        sleep(1)
    views = [f"/?{time}", f"/queues?{time}", f"/queue/1/2/0?{time}", f"/events?{time}", f"/flow/{flow}?{time}&order=time", f"/event/{event['id']}?{time}", f"/drops?{time}"]
    read = []
    for _ in range(2):
        page = browser.page()
        texts = []
        for view in views:
            open_view(page, demo.url + view)
            page.wait_for_timeout(1_000)
            # Under "At present" is the present.
            texts.append(re.sub(r"(not )?congested(?=\t)", "", settled(page)))
        read.append(texts)
        page.wait_for_timeout(60_000 if len(read) == 1 else 0)
        page.context.close()
    for view, before, after in zip(views, *read, strict=True):
        assert before == after, (view, [(one, other) for one, other in zip(before.split("\n"), after.split("\n"), strict=False) if one != other][:4])
    return len(views), "views are the same a minute later"


def many_filters_agree(demo, browser):
    """C14: 200 generated filters."""
    return filters_agree(demo, browser, {}, many=200)


def a_long_absence_is_waited_out(demo, browser):
    """C15: 30 seconds without a collector."""
    return an_absence_is_waited_out(demo, browser, {}, seconds=30)


CHECKS = [everyone_can_use_all_of_it, a_wide_screen_is_used, frozen_views_stay, many_filters_agree, a_long_absence_is_waited_out]
