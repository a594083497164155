"""The packets that a flow watchlist selects."""

import ipaddress

from packets import TCP_NUMBER, UDP_NUMBER

PROTOCOLS = {"tcp": TCP_NUMBER, "udp": UDP_NUMBER, "icmp": 1}


def watched(watchlist, flow):
    """Whether any entry matches; all keys of an entry must."""
    return any(_matches(entry, flow) for entry in watchlist)


def _matches(entry, flow):
    return all(_key_matches(key, value, flow) for key, value in entry.items())


def _key_matches(key, value, flow):
    if key in ("source", "destination"):
        return _inside(value, flow[key])
    if key == "either":
        return _inside(value, flow["source"]) or _inside(value, flow["destination"])
    if key == "protocol":
        return PROTOCOLS.get(value, value) == flow["protocol"]
    low, _, high = str(value).partition("-")
    return int(low) <= flow[key] <= int(high or low)


def _inside(prefix, address):
    network, address = ipaddress.ip_network(prefix, strict=False), ipaddress.ip_address(address)
    return network.version == address.version and address in network


def random_watchlist(rng, flows):
    """Entries derived from the flows that will pass."""
    return [_random_entry(rng, rng.choice(flows)) for _ in range(rng.choice((0, 1, 1, 2, 4)))]


def _random_entry(rng, flow):
    entry = {}
    for key in ("source", "destination", "either"):
        if rng.random() < 0.25:
            address = flow["source" if key == "either" and rng.random() < 0.5 else "destination"]
            if key == "source":
                address = flow["source"]
            entry[key] = _random_prefix(rng, address)
    if rng.random() < 0.3:
        entry["protocol"] = rng.choice(("tcp", "udp", 6, 17, "icmp"))
    for key in ("source_port", "destination_port"):
        if rng.random() < 0.25:
            entry[key] = _random_ports(rng, flow[key])
    return entry


def _random_prefix(rng, address):
    bits = 32 if ipaddress.ip_address(address).version == 4 else 128
    length = rng.choice((0, 8, 12, bits - 1, bits))
    return str(ipaddress.ip_network(f"{address}/{length}", strict=False))


def _random_ports(rng, port):
    if rng.random() < 0.4:
        return port
    if rng.random() < 0.5:
        return f"{max(0, port - rng.randrange(3))}-{min(65535, port + rng.randrange(3))}"
    low = rng.randrange(0, 65535)
    return f"{low}-{rng.randrange(low, 65536)}"
