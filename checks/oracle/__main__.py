"""Compares `inband` with a second implementation, written from the specification alone."""

import argparse
import collections
import sys

try:
    import scapy  # it makes the packets around INT
except ImportError:
    print("oracle: skipped: scapy is not installed (pip install scapy)")
    sys.exit(0)

import suite_decode
import suite_node

SHOWN_PER_KIND = 3


class Findings:
    """Counts comparisons, and prints the first differences of every kind."""

    def __init__(self):
        self.compared = 0
        self.kinds = collections.Counter()

    def difference(self, kind, where, text):
        self.kinds[kind] += 1
        if self.kinds[kind] <= SHOWN_PER_KIND:
            print(f"{kind}, {where}\n{text}")


def main():
    parser = argparse.ArgumentParser(prog="checks/oracle", description=__doc__)
    parser.add_argument("--program", default="target/debug/inband")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=400, help="packets for each of decode and node")
    arguments = parser.parse_args()
    findings = Findings()
    for suite in (suite_decode, suite_node):
        suite.run(arguments.program, arguments.seed, arguments.count, findings)
    differing = sum(findings.kinds.values())
    print(f"oracle: {findings.compared} frames and reports, {differing} differ")
    sys.exit(1 if differing else 0)


main()
