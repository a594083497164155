"""Moves a route away from a full queue: reads the collector's stream, and acts on `queue-congestion`.

Usage: feedback.py LAB SWITCH PREFIX NEXT. It takes PREFIX of SWITCH by way of NEXT as soon as a queue of SWITCH is congested.
"""

import json
import os
import subprocess
import sys
import urllib.request

lab, switch, prefix, following = sys.argv[1:]
collector = os.environ.get("INBAND_COLLECTOR", "http://127.0.0.1:8080")
stream = urllib.request.urlopen(collector + "/api/v1/stream")
kind = None
for line in stream:
    field, _, value = line.decode().rstrip("\n").partition(": ")
    if field == "event":
        kind = value
    elif field == "data" and kind == "event":
        event = json.loads(value)
        title = event.get("title", event.get("key", ""))
        if event["event"] == "queue-congestion" and title.startswith(switch):
            print(f"{title} is congested: {prefix} goes by {following} now", flush=True)
            subprocess.run(["inband", "lab", "misroute", lab, switch, prefix, following], check=True)
            break
