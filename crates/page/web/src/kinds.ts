// Events as sentences, and what to check for each kind.

import { now } from "./api";
import { node } from "./names";
import { cutOffSince } from "./stream";
import { UNKNOWN, count, duration, occupancy, permille, plural, protocol, shown } from "./units";

export interface Flow {
  source: string;
  destination: string;
  protocol: number;
  source_port: number;
  destination_port: number;
}

export const flowText = (flow: Flow) =>
  `${protocol(flow.protocol)} ${ends(flow.source, flow.source_port)} > ${ends(flow.destination, flow.destination_port)}`;

const ends = (address: string, port: number) =>
  port ? `${address.includes(":") ? `[${address}]` : address}:${port}` : address;

const CHECKS: Record<string, string> = {
  "report-loss": "kernel drops and shed datagrams in the ledger; the path from node to collector",
  "sequence-reset": "whether the node restarted",
  "sequence-gap": "the links and queues of the flow's path",
  "new-flow": "nothing; silence it where flows come and go",
  "path-change": "links of the old path that are not on the new one",
  loop: "routes of the repeated nodes",
  "path-policy": "the hop named in the violation",
  "latency-change": "nothing by itself; it shows where to look",
  "latency-spike": "the queue of the interface at that time",
  "latency-objective": "latency spikes and congestion of the interface",
  "queue-congestion": "culprits of the same queue",
  microburst: "senders that burst; culprits of the same queue",
  "microburst-storm": "senders that burst; culprits of the same queue",
  culprits: "the named flows",
  drop: "what the drop reason means on that node",
  "silent-loss": "the link, and whether the node behind it reports at all",
  "egress-utilization": "the named flows; the rate of the link",
  "ecmp-imbalance": "the hash of the node; elephants among the flows",
  "negative-link-latency": "time synchronisation of both nodes",
  "clock-drift": "time synchronisation of both nodes",
  "duplicate-node-id": "node IDs of the devices at these addresses",
  "unknown-node": "the list of known nodes, and who sends from that address",
  "report-about-report": "the node's watchlist",
  "history-trouble": "the disk, and whether its directory was moved",
};

export const KINDS = Object.keys(CHECKS);

export function check(event: any): string {
  const own = event.event === "drop" ? event.detail?.check : "";
  return shown(own || CHECKS[event.event] || "its evidence");
}

const port = (detail: any, id = detail.node_id) =>
  node(id) + (detail.egress_interface === null || detail.egress_interface === undefined ? "" : ` interface ${detail.egress_interface}`);
const linkEnds = (link: any) => `${node(link.from)} and ${node(link.to)}`;
const way = (path: any[] | null | undefined) => (path ?? []).map((hop) => node(hop.node_id)).join(" → ") || "an unknown path";
const first = (flows: any[], word: string) => {
  const [largest] = flows ?? [];
  return largest ? `${permille(largest.share_permille)} ${word} ${flowText(largest.flow)}` : "no flow identified";
};

/** What happened, as a sentence. */
export function sentence(event: any): string {
  const detail = event.detail ?? {};
  const isActive = event.phase === "begin";
  const last = BigInt(event.last);
  // Nothing is known of what lasts while the collector is away.
  const until = cutOffSince.value ?? now();
  const lasted = duration((isActive && until > last ? until : last) - BigInt(event.first));
  const peak = (name: string, value: string) => (value === UNKNOWN ? "" : `, ${name} up to ${value}`);
  const depth = occupancy(detail.peak_occupancy, event.peak_bytes, event.queue_unit);
  const peaks = peak("latency", duration(detail.peak_latency)) + peak("depth", depth);
  switch (event.event) {
    case "queue-congestion": {
      const again = detail.episodes > 1 ? ` in ${plural(detail.episodes, "episode")}` : "";
      return `${port(detail)} ${isActive ? "is" : "was"} congested for ${lasted}${again}${peaks}`;
    }
    case "path-change":
      return `${flowText(detail.flow)} took another path (${detail.change}): ${way(detail.old)} became ${way(detail.new)}`;
    case "culprits":
      return `${port(detail)}: packets waited ${duration(detail.residence)} (${detail.pattern}), ${first(detail.culprits, "of the bytes ahead of them:")}`;
    case "latency-spike":
      return `${port(detail)} delayed packets by ${duration(detail.latency)}, median ${duration(detail.median)}`;
    case "latency-objective":
      return `${port(detail)}: ${count(detail.over)} of ${plural(detail.reports, "report")} above ${duration(detail.bound)}`;
    case "latency-change":
      return `${port(detail)}: latency of ${flowText(detail.flow)} went from ${duration(detail.old)} to ${duration(detail.new)}`;
    case "microburst":
      return `${port(detail)}: a burst${detail.duration ? " of " + duration(detail.duration) : ""}${peaks}`;
    case "microburst-storm":
      return `${port(detail)}: ${plural(detail.bursts, "microburst")} within a second`;
    case "drop": {
      // In older histories the detail is of one second, the count of all.
      const dropped = event.count > detail.packets ? `at least ${plural(event.count, "packet")}` : `${plural(detail.packets, "packet")} of ${plural(detail.flow_count, "flow")}`;
      return `${port(detail)} dropped ${dropped}: ${shown(detail.reason_name) || "reason unknown"} (${detail.class})`;
    }
    case "silent-loss":
      return `${node(detail.from)} → ${node(detail.to)}: ${plural(detail.flows?.length ?? 0, "flow")} not seen past the link for ${duration(detail.silent_for)} (possible silent loss)`;
    case "report-loss":
      return `${detail.lost ? `${count(detail.lost)} of ${plural(detail.lost + detail.accepted, "report")}` : "reports"} from ${node(detail.node_id)} lost`;
    case "sequence-reset":
      return `${node(detail.node_id)} restarted its report sequence: ${count(detail.sequence)} instead of ${count(detail.expected)}`;
    case "sequence-gap":
      return `${plural(detail.lost, "packet")} of ${flowText(detail.flow)} missing`;
    case "new-flow":
      return `${flowText(detail.flow)} is new, path ${way(detail.path)}`;
    case "loop":
      return `${flowText(detail.flow)} passed ${node(detail.node_id)} twice: ${way(detail.path)}`;
    case "path-policy":
      return `${flowText(detail.flow)} violates the rule ${shown(detail.rule)}: ${way(detail.path)}`;
    case "egress-utilization":
      return `${port(detail)} is ${permille(detail.utilization_permille)} utilised, ${first(detail.flows, "by")}`;
    case "ecmp-imbalance":
      return `${node(detail.node_id)} uses ${plural(detail.links?.length ?? 0, "parallel link")} unevenly: the busiest carries ${(detail.highest_to_mean_permille / 1000).toFixed(2)} times the mean`;
    case "negative-link-latency":
      return `Clocks of ${linkEnds(detail.link)} disagree by ${duration(Math.abs(detail.lowest_ns))} or more: packets arrive before they leave`;
    case "clock-drift":
      return `Clocks of ${linkEnds(detail.link)} drift apart by ${duration(Math.abs(detail.ns_per_second))} per second`;
    case "history-trouble":
      return `History is not being written: ${shown(detail.why)}`;
    default:
      return `${event.event}: ${shown(event.title ?? event.key)}`;
  }
}

/** The queue an event is about, or all queues of its interface. */
export function queueOf(event: any): string | undefined {
  const { node_id, egress_interface, queue_id } = event.detail ?? {};
  const isPort = node_id !== undefined && egress_interface !== undefined;
  const kinds = ["queue-congestion", "culprits", "latency-spike", "latency-objective", "microburst", "microburst-storm", "egress-utilization"];
  return isPort && kinds.includes(event.event) ? queuePath(node_id, egress_interface, queue_id) : undefined;
}

/** The path of a queue's view, without `queue` of all queues of the interface; `null`: it has no id. */
export const queuePath = (node: number, port: number | null, queue: number | null | undefined) =>
  [`/queue/${node}/${port ?? "-"}`, ...(queue === undefined ? [] : [queue ?? "-"])].join("/");

/** The flows an event names. */
export function flowsOf(event: any): { flow: Flow; role: string; share?: number; bytes?: number }[] {
  const { flow, flows, culprits, victims } = event.detail ?? {};
  const shares = (list: any[], role: string) =>
    list.map((one) => (one.flow ? { flow: one.flow, role, share: one.share_permille, bytes: one.bytes } : { flow: one, role }));
  return [
    ...(flow ? [{ flow, role: "flow" }] : []),
    ...shares(culprits ?? [], "culprit"),
    ...shares(victims ?? [], "victim"),
    ...shares(Array.isArray(flows) ? flows : [], "flow"),
  ];
}

/** The subject of an event, so that events with one cause are grouped. */
export function incidentOf(event: any): string {
  const { node_id, egress_interface, flow } = event.detail ?? {};
  if (node_id !== undefined && egress_interface !== undefined) return `${node_id}/${egress_interface}`;
  return flow ? flowText(flow) : event.key;
}
