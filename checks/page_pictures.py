#!/usr/bin/env python3
"""Takes the pictures of docs/page.md and README.md from a running `inband demo`."""

import argparse
import re
import shutil
from pathlib import Path

from page import Browser, Demo, open_view, ready

PICTURES = Path(__file__).parent.parent / "docs" / "pictures"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    arguments = parser.parse_args()
    from playwright.sync_api import sync_playwright

    demo = Demo(arguments.program)
    PICTURES.mkdir(exist_ok=True)
    try:
        demo.wait_for_events(["queue-congestion", "path-change", "culprits", "latency-spike"])
        with sync_playwright() as playwright:
            shell = shutil.which("chromium-headless-shell") or shutil.which("chromium")
            browser = Browser(playwright, shell)
            walk(browser.page(1180, 620), demo)
            browser.browser.close()
    finally:
        demo.stop()


def walk(page, demo):
    """A night-time alert: what happens, the queue, the packet, the map."""

    def keep(name):
        ready(page)
        page.mouse.move(0, 0)
        page.wait_for_timeout(1_500)
        page.screenshot(path=PICTURES / f"{name}.png")

    open_view(page, demo.url + "/?live=1m")
    page.wait_for_timeout(3_000)
    keep("now")
    page.get_by_role("link", name=re.compile("was congested")).first.click()
    keep("event")
    page.get_by_role("link", name="The queue at that time").click()
    page.get_by_role("table", name=re.compile("Flows in the queue")).wait_for()
    keep("queue")
    page.get_by_role("table", name=re.compile("Flows in the queue")).get_by_role("link", name=re.compile(":443")).first.click()
    page.get_by_role("table", name=re.compile("Path of the packet")).wait_for()
    keep("path")
    open_view(page, demo.url + "/map?live=5m&sel=1")
    keep("map")


if __name__ == "__main__":
    main()
