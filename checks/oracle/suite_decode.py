"""Compares `inband decode --json` with what was put into the packets."""

import json
import subprocess

import captures
import carry
import report2
from int21 import fixed_rng

BATCH = 200
LINKS = (captures.ETHERNET, captures.RAW_IP)
START = 1_700_000_000_000_000_000
# Keys that decode takes from documents other than the oracle's.
NOT_COMPARED = ("drop_reason_name",)


def run(program, seed, count, findings):
    check(program, "int", seed, count, findings, carried)
    check(program, "report", seed, count, findings, group)


def carried(rng):
    case = carry.random_carried(rng)
    return case.frame, case.link, case.json()


def group(rng):
    case = report2.random_group(rng)
    return report2.datagram(rng, case.encode()), captures.ETHERNET, case.json()


def check(program, name, seed, count, findings, make):
    for start in range(0, count, BATCH):
        numbers = range(start, min(start + BATCH, count))
        cases = [make(fixed_rng(seed, name, number)) for number in numbers]
        records = [
            captures.Record(START + 1001 * n, frame, link=link) for n, (frame, link, _) in enumerate(cases)
        ]
        lines = decode(program, captures.write_pcapng(records, LINKS))
        for n, (frame, _, expected) in enumerate(cases):
            findings.compared += 1
            expected = expected | {"packet": n + 1, "time": records[n].time_ns}
            different = list(differences("", expected, lines.get(n + 1)))
            if different:
                where = f"number {start + n} of seed {seed}"
                findings.difference(f"decode {name}", where, "\n".join([frame.hex(), *different]))


def decode(program, data):
    """The decoder's lines by packet number."""
    run = subprocess.run([program, "decode", "--json", "-"], input=data, capture_output=True, check=True)
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    for line in lines:
        for report in line.get("reports", []):
            for key in NOT_COMPARED:
                report.pop(key, None)
    return {line["packet"]: line for line in lines}


def differences(path, expected, found):
    """The differences of two JSON values, as text."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for key in sorted(expected.keys() | found.keys()):
            yield from differences(f"{path}.{key}", expected.get(key, "(no key)"), found.get(key, "(no key)"))
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for index, (one, other) in enumerate(zip(expected, found)):
            yield from differences(f"{path}[{index}]", one, other)
    elif expected != found:
        yield f"    {path}: {found} where {expected} was written"
