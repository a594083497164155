#!/usr/bin/env python3
"""Compares the collector's OTLP, read by another program's decoder, with what the collector knows.

A receiver on loopback accepts the posts of `inband collect`; `opentelemetry-proto` of PyPI decodes them.
"""

import argparse
import json
import socket
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

try:
    from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
except ImportError:
    print("otlp: skipped: the package opentelemetry-proto is not installed (pip install opentelemetry-proto)")
    sys.exit(0)

ROOT = Path(__file__).resolve().parent.parent
CAPTURE = ROOT / "testdata/vectors/report_v2_0.pcap"


class Receiver(BaseHTTPRequestHandler):
    """Keeps the bodies of POST requests."""

    bodies = []

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        Receiver.bodies.append((self.path, self.headers["Content-Type"], body))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments):
        pass


def free_port(kind):
    with socket.socket(socket.AF_INET, kind) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def settings(folder, endpoint):
    text = f"""
[receive]
listen = ["127.0.0.1:{free_port(socket.SOCK_DGRAM)}"]
[api]
listen = "127.0.0.1:{free_port(socket.SOCK_STREAM)}"
[store]
path = ""
[jsonl]
path = "out.jsonl"
what = ["paths"]
[otlp]
endpoint = "{endpoint}"
interval_seconds = 0
metrics_seconds = 1
"""
    (folder / "collector.toml").write_text(text)


def attributes(of):
    return {pair.key: pair.value.string_value or pair.value.int_value for pair in of.attributes}


def posted(path, message):
    """The messages that were posted to a path."""
    for found, content_type, body in Receiver.bodies:
        if found == path:
            assert content_type == "application/x-protobuf", content_type
            yield message.FromString(body)


def check_traces(folder):
    """Each path of the JSON Lines is a trace with its hops."""
    paths = [json.loads(line) for line in (folder / "out.jsonl").read_text().splitlines()]
    assert paths, "the capture shows no path"
    traces = {}
    for request in posted("/v1/traces", ExportTraceServiceRequest):
        for resource in request.resource_spans:
            assert attributes(resource.resource)["service.name"] == "inband"
            for span in (span for scope in resource.scope_spans for span in scope.spans):
                assert len(span.trace_id) == 16 and len(span.span_id) == 8
                assert span.start_time_unix_nano <= span.end_time_unix_nano
                traces.setdefault(span.trace_id, []).append(span)
    found = []
    for spans in traces.values():
        root = [span for span in spans if not span.parent_span_id]
        hops = [span for span in spans if span.parent_span_id]
        assert len(root) == 1 and all(span.parent_span_id == root[0].span_id for span in hops)
        hops.sort(key=lambda span: attributes(span)["inband.hop_index"])
        flow = attributes(root[0])
        found.append((flow["source.address"], flow["inband.received_at_ns"],
                      [attributes(span)["inband.node_id"] for span in hops],
                      [attributes(span).get("inband.hop_latency_ns") for span in hops]))
    expected = [(path["flow"]["source"], path["received_at"], [hop["node_id"] for hop in path["path"]],
                 path["hop_latency"]) for path in paths]
    assert sorted(found, key=repr) == sorted(expected, key=repr), (found, expected)
    return len(expected)


def check_metrics():
    """The sums grow and have the names of /metrics."""
    metrics = {}
    for request in posted("/v1/metrics", ExportMetricsServiceRequest):
        for resource in request.resource_metrics:
            for metric in (metric for scope in resource.scope_metrics for metric in scope.metrics):
                metrics[metric.name] = metric
    received = metrics["inband_datagrams_received_total"]
    assert received.sum.is_monotonic and received.sum.data_points[0].as_double == 0.0
    assert metrics["inband_streams"].WhichOneof("data") == "gauge"
    return len(metrics)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    program = parser.parse_known_args()[0].program
    server = HTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        settings(folder, f"http://127.0.0.1:{server.server_port}")
        command = [program, "collect", "-c", "collector.toml"]
        subprocess.run([*command, "--read", CAPTURE], cwd=folder, check=True, capture_output=True, timeout=60)
        traces = check_traces(folder)
        with subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL) as collector:
            deadline = time.monotonic() + 30
            while not any(path == "/v1/metrics" for path, *_ in Receiver.bodies) and time.monotonic() < deadline:
                time.sleep(0.1)
            collector.terminate()
        print(f"otlp: {traces} traces and {check_metrics()} metrics are as the collector knows them")


if __name__ == "__main__":
    main()
