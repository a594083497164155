// The packets of a flow, hop by hop, from the history.

import { ask, sql } from "./api";
import type { Nanos } from "./time";

/** The columns that tell reports on packets apart. */
export const KEY = "time, reporter, hw_id, sequence, report_index";

/** One report on a packet: its identity and its totals. */
export interface Packet {
  time: Nanos;
  reporter: number;
  hw_id: number;
  sequence: number;
  report_index: number;
  hops: number;
  hop_count: number;
  total: number | null;
  longest: number | null;
  dropped: number;
}

/** One hop in a report. */
export interface HopRow {
  time: bigint | number;
  hop_index: number;
  hop_count: number;
  node_id: number;
  ingress_interface: number | null;
  egress_interface: number | null;
  hop_latency: number | null;
  queue_id: number | null;
  queue_occupancy: number | null;
  ingress_timestamp: bigint | number | null;
  egress_timestamp: bigint | number | null;
  egress_utilization: number | null;
  dropped: number;
  intermediate: number;
  drop_reason: number | null;
  origin: string;
}

/** The time in a packet's name; `undefined` if the name has another form. */
export const packetTime = (name: string) => (/^(\d{1,10}-){4}\d{1,19}$/.test(name) ? BigInt(name.slice(name.lastIndexOf("-") + 1)) : undefined);

/** The usual values of a hop of a flow. */
export interface Usual {
  /** `null`: no report has its latency. */
  least: number | null;
  p50: number | null;
  p99: number | null;
  reports: number;
}

export const packetName = (packet: Packet) =>
  [packet.reporter, packet.hw_id, packet.sequence, packet.report_index, packet.time].join("-");

export const within = (id: string, from: Nanos, to: Nanos) =>
  `flow_id = ${id} AND time >= ${from} AND time < ${to}`;

/** The packets of a time range, the slowest or the latest first. */
export function packetsOf(id: string, from: Nanos, to: Nanos, order: string, signal: AbortSignal): Promise<Packet[]> {
  const by = order === "time" ? "time DESC" : "total DESC, time DESC";
  return sql(
    `SELECT ${KEY}, count(*) AS hops, max(hop_count) AS hop_count, sum(hop_latency) AS total, ` +
      `max(hop_latency) AS longest, max(dropped) AS dropped FROM observations WHERE ${within(id, from, to)} ` +
      `GROUP BY ${KEY} ORDER BY ${by} LIMIT 60`,
    signal,
  ) as Promise<any>;
}

export function hopsOf(id: string, name: string, signal: AbortSignal): Promise<HopRow[]> {
  const [reporter, hw, sequence, index, time] = name.split("-").map((part) => (/^\d{1,19}$/.test(part) ? part : "0"));
  return sql(
    `SELECT * FROM observations WHERE flow_id = ${id} AND time = ${time} AND reporter = ${reporter} AND hw_id = ${hw} ` +
      `AND sequence = ${sequence} AND report_index = ${index} ORDER BY hop_index`,
    signal,
  ) as Promise<any>;
}

export async function usual(id: string, from: Nanos, to: Nanos, signal: AbortSignal): Promise<Map<string, Usual>> {
  const rows = await sql(
    `SELECT node_id, egress_interface, min(hop_latency) AS least, quantile(hop_latency, 0.5) AS p50, quantile(hop_latency, 0.99) AS p99, ` +
      `count(hop_latency) AS reports FROM observations WHERE ${within(id, from, to)} GROUP BY 1, 2`,
    signal,
  );
  return new Map(rows.map((row: any) => [hopKey(row), row]));
}

export const hopKey = (hop: { node_id: number; egress_interface: number | null }) => `${hop.node_id}.${hop.egress_interface ?? "*"}`;

/** Facts about a link, independent of the flow. */
export interface LinkKnown {
  /** Largest error of its latency; `null`: unknown. */
  uncertainty: number | null;
  lastSeen: bigint | number;
}

/** The links of these nodes. */
export async function linksKnown(nodes: number[], signal: AbortSignal): Promise<Map<string, LinkKnown>> {
  const links: any[][] = await Promise.all([...new Set(nodes)].map((node) => ask(`links?limit=1000&node=${node}`, { signal })));
  return new Map(
    links.flat().map((link) => [
      linkKey(link.from, link.egress_interface, link.to, link.ingress_interface),
      { uncertainty: link.clock_uncertainty, lastSeen: link.last_seen },
    ]),
  );
}

/** The hops of the latest packet before `until` on `path`; empty if the history has none. */
export async function lastOn(id: string, path: { node_id: number }[], until: Nanos, signal: AbortSignal): Promise<HopRow[]> {
  const rows: any[] = await sql(
    `SELECT * FROM observations WHERE ${within(id, until - 2_000_000_000n, until + 1n)} ORDER BY time DESC, reporter, hw_id, sequence, report_index, hop_index LIMIT 400`,
    signal,
  );
  const packets = new Map<string, any[]>();
  for (const row of rows) packets.set(packetName(row), [...(packets.get(packetName(row)) ?? []), row]);
  const went = (hops: HopRow[]) => hops.length === path.length && hops.every((hop, at) => hop.node_id === path[at]!.node_id);
  return [...packets.values()].find(went) ?? [];
}

export const linkKey = (from: number, egress: number | null, to: number, ingress: number | null) =>
  `${from}.${egress ?? "*"}-${to}.${ingress ?? "*"}`;

/** One piece of a packet's path: a hop, or the link after it. */
export type Piece =
  | { kind: "hop"; hop: HopRow; start: number; length: number | null }
  | { kind: "link"; from: HopRow; to: HopRow; start: number; length: number | null; uncertainty: number | null };

/** Whether a timestamp counts from 1970; a shorter one wraps around, so its distance to another node's means nothing. */
export const isTime = (stamp: bigint | number | null) => stamp !== null && BigInt(stamp) > 0xffff_ffffn;

/** The pieces in the order of the packet, each with its start; unknown ones have no length. A link is known only with its clocks' uncertainty. */
export function pieces(
  hops: HopRow[],
  known: Map<string, LinkKnown>,
): { pieces: Piece[]; sum: number | null; end: number; isWhole: boolean } {
  const all: Piece[] = [];
  let at = 0;
  let sum: number | null = null;
  // Other reports tell of one hop of several.
  let isWhole = hops[0]?.origin === "md-stack" && hops[0].hop_count <= hops.length;
  const take = (length: number | null) => {
    isWhole &&= length !== null;
    at += Math.max(0, length ?? 0);
    // Clocks that differ can make a link shorter than nothing.
    if (length !== null) sum = (sum ?? 0) + length;
  };
  hops.forEach((hop, index) => {
    all.push({ kind: "hop", hop, start: at, length: hop.hop_latency });
    take(hop.hop_latency);
    const next = hops[index + 1];
    if (!next) return;
    const [sent, came] = [hop.egress_timestamp, next.ingress_timestamp];
    const length = isTime(sent) && isTime(came) ? Number(BigInt(came!) - BigInt(sent!)) : null;
    const key = linkKey(hop.node_id, hop.egress_interface, next.node_id, next.ingress_interface);
    const uncertainty = known.get(key)?.uncertainty ?? null;
    all.push({ kind: "link", from: hop, to: next, start: at, length, uncertainty });
    take(uncertainty === null ? null : length);
  });
  return { pieces: all, sum, end: at, isWhole };
}
