"""Millions of packets through a fabric of 4 leaves, 2 spines and 8 hosts. `cargo xtask long fabric` runs it.

A lab forwards UDP and TCP over IPv4 and IPv6 and through VXLAN tunnels, each packet with INT, until the
collector has the reports of as many packets as asked for. Then it holds that

- every payload arrived bit for bit, and every datagram that was sent,
- the ledger has every report that the switches sent, and each watched packet has one,
- every path is one of the routing tables: the addresses' leaves, and the next hops that the leaf has; where
  Linux forwards, it is the next hop that the leaf's kernel names for an IPv4 flow,
- nothing but new flows was announced, and latencies and queues of a machine that has other work.

Then one lab for each fault: a broken link, an incast, a loop and a silent drop raise their events, and no
others.
"""

import argparse
import collections
import ipaddress
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

LEAVES, SPINES, HOSTS = 4, 2, 8
DATAPATHS = {"engine": ["engine"], "kernel": ["kernel"], "mixed": ["kernel", "engine"]}
METRICS = "127.0.0.1:9465"
# What a machine with other work makes of the traffic: its delays are real, and in the metadata. And few flows are
# spread as chance has it.
TIMING = {"latency-spike", "latency-change", "latency-objective", "queue-congestion", "microburst", "microburst-storm", "culprits", "ecmp-imbalance"}
VNI, TUNNEL, PORT = 42, "192.168.7", 5000
# The ids of the switches.
SWITCHES = {f"leaf{at}": at for at in range(1, LEAVES + 1)} | {f"spine{at}": 10 + at for at in range(1, SPINES + 1)}


def leaf_of(host):
    return (host - 1) // 2 + 1


def addresses(host):
    leaf, place = leaf_of(host), (host - 1) % 2 + 1
    return f"10.0.{leaf}.{place}", f"fd00:{leaf}::{place}"


def host_of(address):
    """The host and whether the address is that of a tunnel's end."""
    if address.startswith(TUNNEL):
        return int(address.rpartition(".")[2]), True
    packed = ipaddress.ip_address(address).packed
    leaf = packed[2] if len(packed) == 4 else packed[3]
    return (leaf - 1) * 2 + packed[-1], False


def topology(name, port, kinds, extra="", of_links=None):
    """The fabric; `extra` follows, `of_links` are settings of the links to hosts, by host."""
    text = [f'name = "{name}"', "[collector]", f'api = "127.0.0.1:{port}"', "[defaults.switch.switch]", f'metrics = "{METRICS}"']
    for at, (switch, number) in enumerate(SWITCHES.items()):
        text += ["[[switch]]", f'name = "{switch}"', f"id = {number}", f'datapath = "{kinds[at % len(kinds)]}"']
    for host in range(1, HOSTS + 1):
        v4, v6 = addresses(host)
        text += ["[[host]]", f'name = "h{host}"', f'address = ["{v4}/24", "{v6}/64"]']
        text += ["[[link]]", f'ends = ["h{host}", "leaf{leaf_of(host)}:{(host - 1) % 2 + 1}"]', (of_links or {}).get(host, "")]
    for leaf in range(1, LEAVES + 1):
        for spine in range(1, SPINES + 1):
            text += ["[[link]]", f'ends = ["leaf{leaf}:{10 + spine}", "spine{spine}:{leaf}"]']
    return "\n".join(text) + "\n" + extra


class Lab:
    """A lab that is up; it is taken down at the end."""

    def __init__(self, program, folder, name, port, text):
        self.program, self.name, self.port, self.started = program, name, port, []
        self.file = os.path.join(folder, f"{name}.toml")
        with open(self.file, "w", encoding="utf-8") as file:
            file.write(text)

    def __enter__(self):
        self.run("up", self.file)
        return self

    def __exit__(self, *_):
        for process in self.started:
            process.kill()
            process.wait()
        self.run("down", self.name)

    def run(self, *arguments):
        done = subprocess.run([self.program, "lab", *arguments], capture_output=True, text=True, timeout=180, check=False)
        if done.returncode:
            sys.exit(f"{' '.join(arguments)}: {done.stdout}{done.stderr}")
        return done.stdout

    def on(self, node, *command):
        """Runs a command on a node; returns its output."""
        done = subprocess.run(self.at(node, command), capture_output=True, text=True, timeout=900, check=False)
        if done.returncode:
            sys.exit(f"{node}: {' '.join(command)}: {done.stdout}{done.stderr}")
        return done.stdout

    def start(self, node, *command):
        process = subprocess.Popen(self.at(node, command), stdout=subprocess.PIPE, text=True)
        self.started.append(process)
        return process

    def at(self, node, command):
        return ["ip", "netns", "exec", f"{self.name}-{node}", *command]

    def ask(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=60) as answer:
            return json.load(answer)

    def switches(self):
        """The status of each switch."""
        read = "import sys, urllib.request; sys.stdout.write(urllib.request.urlopen(sys.argv[1]).read().decode())"
        return {name: json.loads(self.on(name, sys.executable, "-c", read, f"http://{METRICS}/status")) for name in SWITCHES}


class Checks:
    """What did not hold."""

    def __init__(self):
        self.failed = []

    def that(self, holds, text):
        if not holds:
            self.failed.append(text)
            print(f"  NOT: {text}")


def senders(lab, packets, rate):
    """Commands that send about `packets` together: UDP and TCP, IPv4 and IPv6, and both through a tunnel."""
    commands, each = [], max(1, packets // (HOSTS * 6))
    for host in range(1, HOSTS + 1):
        other = (host + 2) % HOSTS + 1
        v4, v6 = addresses(other)
        for to in (v4, v6, f"{TUNNEL}.{other}"):
            for tcp in (False, True):
                size = 1_300 if tcp else 100
                command = [lab.program, "lab", "traffic", "send", to, "--flows", "8", "--bytes", str(size), "--packets", str(each), "--for", "900s"]
                # A stream of segments is as fast as its acknowledgements; datagrams have to be paced.
                command += ["--rate", f"{int(rate * size * 8 / (HOSTS * 6))}bit"]
                commands.append((host, other, command + (["--tcp"] if tcp else [])))
    return commands


def tunnels(lab):
    """A VXLAN device on each host, which knows all others."""
    for host in range(1, HOSTS + 1):
        own = addresses(host)[0]
        lab.on(f"h{host}", "ip", "link", "add", "vx0", "mtu", "1400", "type", "vxlan", "id", str(VNI), "local", own, "dstport", "4789", "dev", "eth0")
        lab.on(f"h{host}", "ip", "addr", "add", f"{TUNNEL}.{host}/24", "dev", "vx0")
        lab.on(f"h{host}", "ip", "link", "set", "vx0", "up")
        for other in range(1, HOSTS + 1):
            if other != host:
                lab.on(f"h{host}", "bridge", "fdb", "append", "00:00:00:00:00:00", "dev", "vx0", "dst", addresses(other)[0])


def reports(switches):
    return sum(switch["reports"]["sent"] for switch in switches.values())


def forward(lab, check, packets, rate):
    """Sends until the collector has that many reports; checks everything but paths."""
    tunnels(lab)
    receivers = {host: lab.start(f"h{host}", lab.program, "lab", "traffic", "receive") for host in range(1, HOSTS + 1)}
    time.sleep(2)
    sent, begun = collections.Counter(), time.monotonic()
    while True:
        started = [(other, lab.start(f"h{host}", *command)) for host, other, command in senders(lab, min(packets, 1_000_000), rate)]
        for other, process in started:
            told = json.loads(process.communicate(timeout=1_200)[0])
            check.that(told["refused"] == 0, f"h{other} refused {told}")
            sent[other] += told["sent"]
        total = lab.ask("/api/v1/ledger")["total"]
        seconds = time.monotonic() - begun
        print(f"  {total['accepted_reports']:,} reports after {seconds:.0f} s", flush=True)
        if total["accepted_reports"] >= packets:
            break
    time.sleep(5)
    for host, process in receivers.items():
        process.terminate()
        told = json.loads(process.communicate(timeout=60)[0])
        check.that(told["wrong"] == 0, f"h{host}: {told['wrong']} payloads were changed")
        check.that(told["received"] == sent[host], f"h{host} has {told['received']} of {sent[host]} payloads")
    # Connections of the receivers end with packets of their own.
    time.sleep(5)
    switches, total = lab.switches(), lab.ask("/api/v1/ledger")["total"]
    for name in ("kernel_dropped", "malformed", "shed", "duplicate", "lost", "lost_unknown", "store_failed"):
        check.that(total[name] == 0, f"{name} is {total[name]}")
    check.that(total["received"] == total["accepted"] == reports(switches), f"{reports(switches)} reports were sent, {total} have come")
    started, stripped = (sum(switch["outcomes"][outcome] for switch in switches.values()) for outcome in ("started", "stripped"))
    print(f"  {started:,} packets got INT, INT of {stripped:,} was removed, {total['accepted_reports']:,} reports")
    # A packet between two hosts of a leaf starts and ends there, and counts as the latter.
    check.that(started <= stripped == total["accepted_reports"], "a packet with INT has no report, or more than one")
    for name, switch in switches.items():
        for outcome in ("malformed", "not_stripped", "report_shed", "report_limited", "report_withheld", "discarded", "dropped"):
            check.that(switch["outcomes"][outcome] == 0, f"{name}: {outcome} is {switch['outcomes'][outcome]}")
        for interface in switch["interfaces"]:
            check.that(interface["receive_losses"] == 0, f"{name} {interface['device']}: {interface['receive_losses']} frames lost at reception")
            check.that(not interface["drops"], f"{name} {interface['device']}: {interface['drops']}")
    events = lab.ask("/api/v1/events?limit=4096")
    # A host gives the packets of one connection in a tunnel several outer ports: the kernel's hash of its socket.
    is_move = lambda event: event["event"] == "path-change" and TUNNEL in event["detail"]["flow"]["source"]
    kinds = collections.Counter(event["event"] for event in events if not is_move(event))
    check.that(not set(kinds) - {"new-flow"} - TIMING, f"events: {dict(kinds)}")
    return switches


def next_hops(lab, leaf, flow, linux):
    """The devices by which a leaf may send a flow; where Linux forwards, the one that it names."""
    to = ["-6"] if ":" in flow["destination"] else []
    if linux:
        ports = ["ipproto", {6: "tcp", 17: "udp"}[flow["protocol"]], "sport", str(flow["source_port"]), "dport", str(flow["destination_port"])]
        came = host_of(flow["source"])[0]
        found = lab.on(leaf, "ip", "-j", *to, "route", "get", flow["destination"], "from", flow["source"], "iif", f"eth{(came - 1) % 2 + 1}", *ports)
        return {json.loads(found)[0]["dev"]}
    found = json.loads(lab.on(leaf, "ip", "-j", *to, "route", "show", "match", flow["destination"]))
    best = max((route for route in found if route["dst"] != "default"), key=lambda route: int(route["dst"].rpartition("/")[2]) if "/" in route["dst"] else 128)
    return {hop["dev"] for hop in best.get("nexthops", [best])}


def check_paths(lab, check, switches):
    """Every flow took a way that the routing tables have."""
    flows, spines = lab.ask("/api/v1/flows?limit=4096"), collections.Counter()
    for found in flows:
        flow, path = found["flow"], found["path"]
        if PORT not in (flow["source_port"], flow["destination_port"]):
            continue
        (source, tunnelled), (destination, _) = host_of(flow["source"]), host_of(flow["destination"])
        leaves = [leaf_of(source), leaf_of(destination)]
        nodes = [hop["node_id"] for hop in path]
        named = f"{flow['source']}:{flow['source_port']} > {flow['destination']}:{flow['destination_port']}"
        if leaves[0] == leaves[1]:
            check.that(nodes == leaves[:1], f"{named} took {nodes}")
            continue
        check.that(len(nodes) == 3 and [nodes[0], nodes[2]] == leaves and nodes[1] in (11, 12), f"{named} took {nodes}")
        check.that(found["complete"], f"{named} is not complete")
        spines[nodes[1]] += 1
        if len(nodes) != 3:
            continue
        leaf = f"leaf{leaves[0]}"
        outer = {"source": addresses(source)[0], "destination": addresses(destination)[0]} if tunnelled else {}
        # The port of a tunnel's outer header is not in the report's flow, and `ip route get` spreads IPv6 by something else.
        linux = switches[leaf]["io"] == "kernel" and not tunnelled and ":" not in flow["source"]
        hops = next_hops(lab, leaf, flow | outer, linux)
        check.that(f"eth{path[0]['egress_interface']}" in hops, f"{named} left {leaf} by eth{path[0]['egress_interface']}, its routes have {hops}")
        check.that(path[0]["egress_interface"] == nodes[1] and path[1]["ingress_interface"] == leaves[0], f"{named}: links of {path}")
        check.that(path[1]["egress_interface"] == leaves[1] and path[2]["egress_interface"] == (destination - 1) % 2 + 1, f"{named}: links of {path}")
    print(f"  {len(flows)} flows; by spine: {dict(spines)}")
    check.that(len(flows) >= 300 and len(spines) == SPINES and min(spines.values()) * 4 > max(spines.values()), f"{len(flows)} flows by spine: {dict(spines)}")


STEP = '[[step]]\nat = "{at}"\n{what}\n'
SEND = 'run = {{ on = "h{host}", command = "inband lab traffic send {to} --flows {flows} --rate {rate} --for {time}" }}'


def steps(*given):
    return "".join(STEP.format(at=at, what=what) for at, what in given)


def receive(host, time_):
    return "0s", f'run = {{ on = "h{host}", command = "inband lab traffic receive --for {time_}" }}'


def send(host, to, flows, rate, time_, at="1s"):
    return at, SEND.format(host=host, to=to, flows=flows, rate=rate, time=time_)


def expects(event, after, by, only):
    kinds = ", ".join(f'"{kind}"' for kind in only)
    return f'[[expect]]\nevent = "{event}"\nafter = "{after}"\nby = "{by}"\n[[expect]]\nonly = [{kinds}]\nby = "{by}"\n'


def faults():
    """Each fault by name: its steps and expectations, and settings of links to hosts."""
    to8, to1 = addresses(8)[0], addresses(1)[0]
    # Without times and queues the metadata does not show what else the machine does.
    plain = '[defaults.switch.source]\ninstructions = ["node-id", "level1-interfaces"]\n'
    across = [receive(8, "13s"), receive(7, "13s"), send(1, to8, 16, "400kbit", "11s"), send(3, addresses(7)[0], 16, "400kbit", "11s")]
    return {
        # Packets may meet the link while it goes down.
        "break": (plain + steps(*across, ("5s", 'break = ["leaf1", "spine1"]')) + expects("path-change", "5s", "13s", ["new-flow", "path-change", "drop"]), {}),
        "incast": (
            steps(receive(1, "10s"), *[send(host, to1, 1, "3Mbit", "4s") for host in range(2, 9)])
            + expects("queue-congestion", "1s", "10s", ["new-flow", "drop", *sorted(TIMING)]),
            {1: 'rate = "10Mbit"\nqueue_bytes = 60000'},
        ),
        "loop": (plain + steps(*across, ("5s", 'loop = ["leaf1", "spine1"]')) + expects("loop", "5s", "13s", ["new-flow", "loop", "path-change", "drop"]), {}),
        "silent": (
            plain
            + 'mode = "xd"\n'
            + steps(receive(8, "17s"), receive(7, "17s"), send(1, to8, 16, "400kbit", "16s"), send(3, addresses(7)[0], 16, "400kbit", "16s"), ("5s", 'drop = ["spine1", "silent"]'))
            + expects("silent-loss", "5s", "17s", ["new-flow", "silent-loss"]),
            {},
        ),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help="the inband program")
    parser.add_argument("--packets", type=int, default=10_000_000, help="packets with INT through each fabric")
    parser.add_argument("--rate", type=int, default=30_000, help="payloads a second, of all hosts together")
    parser.add_argument("--only", default="", help="only fabrics and faults whose name, such as kernel-loop, contains this")
    arguments = parser.parse_args()
    if os.geteuid() != 0 or not shutil.which("ip"):
        sys.exit("needs root and iproute2")
    check, folder, number = Checks(), tempfile.mkdtemp(prefix="inband-fabric-"), 0
    program = os.path.abspath(arguments.program)
    os.environ["PATH"] = os.path.dirname(program) + os.pathsep + os.environ["PATH"]
    try:
        for datapath, kinds in DATAPATHS.items():
            name = f"fab{os.getpid() % 10_000}"
            if arguments.only in f"{datapath}-packets":
                print(f"== {datapath}: {arguments.packets:,} packets", flush=True)
                number += 1
                with Lab(program, folder, name, 18_000 + number, topology(name, 18_000 + number, kinds)) as lab:
                    check_paths(lab, check, forward(lab, check, arguments.packets, arguments.rate))
            for fault, (extra, of_links) in faults().items():
                if arguments.only not in f"{datapath}-{fault}":
                    continue
                print(f"== {datapath}: {fault}", flush=True)
                number += 1
                path = os.path.join(folder, f"{fault}.toml")
                with open(path, "w", encoding="utf-8") as file:
                    file.write(topology(name, 18_000 + number, kinds, extra, of_links))
                done = subprocess.run([program, "lab", "run", path], capture_output=True, text=True, timeout=300, check=False)
                check.that(done.returncode == 0, f"{datapath}, {fault}: {done.stdout}{done.stderr}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{len(check.failed)} of the expectations do not hold" if check.failed else "everything is as expected")
    return 1 if check.failed else 0


if __name__ == "__main__":
    sys.exit(main())
