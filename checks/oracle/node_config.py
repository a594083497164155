"""INT domains and nodes, and their `node.toml`."""

from dataclasses import dataclass, field

import int21

FABRIC, HOSTS = 1, 2
NAMES = {name: bit for bit, name in int21.INSTRUCTIONS.items()}


@dataclass
class DomainMetadata:
    """One piece of domain-specific metadata that a domain defines."""

    bit: int
    words: int
    placement: str
    value: bytes | str
    reporting: str = "none"


@dataclass
class Domain:
    """The common configuration of all nodes of a chain."""

    kind: str = "dscp"
    dscp: int = 0x17
    dscp_mask: int = 0x3F
    udp_port: int = 33122
    probe_marker: bytes = bytes.fromhex("aaaaaaaabbbbbbbb")
    gre_protocol: int = 0x4569
    vxlan_gpe_next_protocol: int = 0x82
    geneve_class: int = 0x0103
    tcp_options: str = "after"
    ds_id: int = 0
    ds_metadata: list = field(default_factory=list)


@dataclass
class Source:
    mode: str = "md"
    instructions: list = field(default_factory=list)
    remaining_hops: int = 8
    own_metadata: bool = True
    discard: bool = False
    ds_bits: list = field(default_factory=list)
    ds_flags: int = 0

    def bitmap(self):
        return sum(0x8000 >> NAMES[name] for name in self.instructions)


@dataclass
class NodeConfig:
    id: int
    domain: Domain
    source: Source | None = None
    knows_domain: bool = True
    unknown_instructions: str = "pad"
    mtu: int = 1500
    mtu_action: str = "set-m-bit"
    checksum_update: str = "l4"
    level2: dict = field(default_factory=dict)
    sink_metadata: str = "stack"
    restore_dscp: bool = True
    hw_id: int = 0
    truncate: int = 128
    offline: dict = field(default_factory=dict)
    unavailable: list = field(default_factory=list)
    watch: list = field(default_factory=list)

    def toml(self):
        d = self.domain
        out = ["[node]", f"id = {self.id:#x}", f'unknown_instructions = "{self.unknown_instructions}"']
        for number in (FABRIC, HOSTS):
            out += ["[[interface]]", f"id = {number}", f"mtu = {self.mtu}"]
            out += [f"edge = {'true' if number == HOSTS else 'false'}"]
            if number in self.level2:
                out += [f"level2_id = {self.level2[number]:#x}"]
        out += [
            "[encapsulation]",
            f'kind = "{d.kind}"',
            f"dscp = {d.dscp:#x}",
            f"dscp_mask = {d.dscp_mask:#x}",
            f"udp_port = {d.udp_port}",
            f'probe_marker = "0x{d.probe_marker.hex()}"',
            f"gre_protocol = {d.gre_protocol:#x}",
            f"vxlan_gpe_next_protocol = {d.vxlan_gpe_next_protocol:#x}",
            f"geneve_class = {d.geneve_class:#x}",
            f'tcp_options = "{d.tcp_options}"',
        ]
        if self.source:
            out += self._source_toml()
        for entry in self.watch:
            out += ["[[watch]]"] + [f"{key} = {_literal(value)}" for key, value in entry.items()]
        if self.knows_domain and d.ds_id:
            out += self._domain_toml()
        out += [
            "[sink]",
            f'own_metadata = "{self.sink_metadata}"',
            f"restore_dscp = {_literal(self.restore_dscp)}",
            "[mtu]",
            f'action = "{self.mtu_action}"',
            "[checksum]",
            f'update = "{self.checksum_update}"',
            "[report]",
            f"hw_id = {self.hw_id}",
            f"truncate = {self.truncate}",
            "[offline]",
        ]
        out += [f"{key} = {value}" for key, value in self.offline.items()]
        out += [f"unavailable = {self.unavailable!r}".replace("'", '"')]
        return "\n".join(out) + "\n"

    def _source_toml(self):
        s = self.source
        out = [
            "[source]",
            f'mode = "{s.mode}"',
            f"instructions = {s.instructions!r}".replace("'", '"'),
            f"remaining_hops = {s.remaining_hops}",
            f"own_metadata = {_literal(s.own_metadata)}",
            f"discard = {_literal(s.discard)}",
        ]
        if s.ds_bits or s.ds_flags:
            out += ["[source.domain]", f"id = {self.domain.ds_id:#x}"]
            out += [f"instructions = {s.ds_bits}", f"flags = {s.ds_flags:#x}"]
        return out

    def _domain_toml(self):
        out = ["[[domain]]", f"id = {self.domain.ds_id:#x}"]
        for item in self.domain.ds_metadata:
            value = item.value if isinstance(item.value, str) else item.value.hex()
            out += [
                "[[domain.metadata]]",
                f"bit = {item.bit}",
                f'name = "item-{item.bit}"',
                f"words = {item.words}",
                f'placement = "{item.placement}"',
                f'value = "{value}"',
            ]
            if item.placement == "source-inserted":
                out += [f'reporting = "{item.reporting}"']
        return out


def _literal(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    return f'"{value}"' if isinstance(value, str) else str(value)


def random_domain(rng, kind, mode):
    domain = Domain(kind=kind)
    if rng.random() < 0.3:
        domain.dscp, domain.dscp_mask = rng.choice(((0x20, 0x20), (0x01, 0x01), (0x2A, 0x3F), (0x22, 0x36)))
        domain.udp_port = rng.choice((33122, 555, 17768))
        domain.probe_marker = rng.choice((domain.probe_marker, rng.randbytes(8)))
        domain.gre_protocol = rng.choice((0x4569, 0x8899))
        domain.vxlan_gpe_next_protocol = rng.choice((0x82, 0x80))
        domain.geneve_class = rng.choice((0x0103, 0xFF01))
    domain.tcp_options = rng.choice(("after", "after", "before"))
    if rng.random() < 0.35:
        domain.ds_id = rng.randrange(1, 0x10000)
        bits = sorted(rng.sample(range(16), rng.randrange(1, 4)))
        places = ("source-only", "every-hop") if mode == "md" else ("export", "source-inserted")
        for bit in bits:
            words = rng.randrange(1, 3)
            item = DomainMetadata(bit, words, rng.choice(places), rng.randbytes(4 * words))
            item.reporting = rng.choice(("all-nodes", "sink-node", "none"))
            domain.ds_metadata.append(item)
    return domain


def random_instructions(rng):
    names = [name for name in NAMES if name != "checksum-complement" and rng.random() < 0.4]
    if rng.random() < 0.15:
        names.append("checksum-complement")
    return names or ["node-id"]


def random_chain(rng, kind, mode):
    """The nodes of a chain: source, transit hops, sink; a single node is both source and sink."""
    domain = random_domain(rng, kind, mode)
    source = Source(
        mode=mode,
        instructions=random_instructions(rng),
        remaining_hops=rng.choice((0, 1, 2, 3, 8, 8, 8, 255)),
        own_metadata=rng.random() < 0.8,
        discard=rng.random() < 0.1,
    )
    if mode == "mx":
        source.instructions = [n for n in source.instructions if n != "checksum-complement"] or ["node-id"]
    if domain.ds_id and rng.random() < 0.9:
        known = [item.bit for item in domain.ds_metadata]
        source.ds_bits = sorted(rng.sample(known, rng.randrange(1, len(known) + 1)))
        source.ds_flags = rng.getrandbits(16)
    count = rng.randrange(1, 7)
    nodes = [random_node(rng, number + 1, domain) for number in range(count)]
    nodes[0].source, nodes[0].knows_domain, nodes[0].watch = source, True, [{}]
    return nodes


def random_node(rng, number, domain):
    node = NodeConfig(id=rng.choice((number, rng.getrandbits(32))), domain=domain)
    node.knows_domain = rng.random() < 0.7
    node.unknown_instructions = rng.choice(("pad", "pad", "skip"))
    node.mtu = rng.choice((1500, 1500, 1500, rng.randrange(68, 400)))
    node.mtu_action = rng.choice(("set-m-bit", "set-m-bit", "intermediate-report"))
    node.checksum_update = rng.choice(("l4", "l4", "complement"))
    node.level2 = {n: rng.getrandbits(32) for n in (FABRIC, HOSTS) if rng.random() < 0.6}
    node.sink_metadata = rng.choice(("stack", "report", "none"))
    node.restore_dscp = rng.random() < 0.9
    node.hw_id = rng.randrange(64)
    node.truncate = rng.choice((128, 128, 64, 200, 1500, rng.randrange(60, 300)))
    node.offline = {
        "hop_latency": rng.choice((0, 1000, rng.getrandbits(31))),
        "queue_id": rng.randrange(256),
        "queue_occupancy": rng.getrandbits(24),
        "buffer_id": rng.randrange(256),
        "buffer_occupancy": rng.getrandbits(24),
        "egress_utilization": rng.getrandbits(32),
    }
    node.unavailable = [name for name in NAMES if rng.random() < 0.08]
    return node
