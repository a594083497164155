// The samples of one queue in a time range: depth by the node's clock, and the flows whose packets left it.

import { ask, sql } from "./api";
import type { Flow } from "./kinds";
import { KEY, isTime } from "./packets";
import type { Nanos } from "./time";

export interface Sample {
  /** By the selected clock, nanoseconds from the start of the range. */
  at: number;
  /** `null`: the node does not report it. */
  depth: number | null;
  latency: number | null;
  flow: number;
  row: any;
}

export interface QueueFlow {
  id: string;
  flow: Flow | null;
  reports: number;
  share: number;
  longest: number | null;
  median: number | null;
}

export interface Samples {
  from: Nanos;
  to: Nanos;
  isNodeClock: boolean;
  isCut: boolean;
  samples: Sample[];
  flows: QueueFlow[];
  episodes: { from: number; to: number; isTruncated: boolean; id: string }[];
  /** The announced culprits and victims. */
  culprits: any[];
}

const MOST = 40_000;
/** Longest delay from a packet's departure to the arrival of its report. */
export const LATE = 500_000_000n;

/** Without `queue` the samples of all queues of the interface; `-` is a queue without an id. */
export async function samples(node: number, port: string, queue: string, from: Nanos, to: Nanos, signal: AbortSignal): Promise<Samples> {
  const is = (column: string, value: string) => (/^\d{1,5}$/.test(value) ? `${column} = ${value}` : `${column} IS NULL`);
  const one = queue ? `AND ${is("queue_id", queue)}` : "";
  const text =
    `SELECT ${KEY}, egress_timestamp, queue_id, queue_occupancy, hop_latency, flow_id, source, destination, protocol, source_port, destination_port ` +
    `FROM observations WHERE time >= ${from} AND time < ${to + LATE} AND node_id = ${node} ` +
    // Reports of dropped packets may show neither.
    `AND ${is("egress_interface", port)} ${one} AND (queue_occupancy IS NOT NULL OR hop_latency IS NOT NULL) ` +
    `ORDER BY time LIMIT ${MOST}`;
  const [rows, events, culprits] = await Promise.all([
    sql(text, signal),
    ask(`events?limit=200&kind=queue-congestion&node=${node}&from=${from}&to=${to}`, { signal }) as Promise<any[]>,
    ask(`events?limit=50&kind=culprits&node=${node}&from=${from}&to=${to}`, { signal }) as Promise<any[]>,
  ]);
  const isNodeClock = rows.length > 0 && rows.every((row) => isTime(row.egress_timestamp));
  // The report with the least delay gives the offset of the node's clock.
  const ahead = isNodeClock ? rows.map(delay).reduce((a, b) => (b < a ? b : a)) : 0n;
  const clock = (row: any) => (isNodeClock ? BigInt(row.egress_timestamp) + ahead : BigInt(row.time));
  const span = Number(to - from);
  const placed = rows.map((row) => ({ at: Number(clock(row) - from), row }));
  const inside = placed.filter(({ at }) => at >= 0 && at < span).sort((a, b) => a.at - b.at);
  const ids = new Map<string, any[]>();
  for (const { row } of inside) {
    const id = row.flow_id === null ? "" : String(row.flow_id);
    const list = ids.get(id) ?? [];
    list.push(row);
    ids.set(id, list);
  }
  const flows = [...ids].sort((a, b) => b[1].length - a[1].length).map(([id, list]) => summary(id, list, inside.length));
  const number = new Map(flows.map(({ id }, at) => [id, at]));
  const found = inside.map(({ at, row }): Sample => ({
    at,
    depth: row.queue_occupancy,
    latency: row.hop_latency,
    flow: number.get(row.flow_id === null ? "" : String(row.flow_id))!,
    row,
  }));
  const mine = ({ detail: { egress_interface, queue_id } }: any) =>
    String(egress_interface ?? "-") === port && (!queue || String(queue_id ?? "-") === queue);
  // Events have the arrival times of reports; the sample of such a report has its place on the axis.
  const byArrival = found.map(({ at, row }) => [BigInt(row.time), at] as const).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  const placeOf = (time: bigint, isEnd: boolean) => {
    const near = isEnd ? byArrival.findLast(([arrived]) => arrived <= time) : byArrival.find(([arrived]) => arrived >= time);
    return near && byArrival[0]![0] <= time ? near[1] : Number(time - from);
  };
  const episodes = events.filter(mine).map((event) => ({
    from: placeOf(BigInt(event.first), false),
    to: placeOf(BigInt(event.last), true),
    isTruncated: Boolean(event.detail.truncated),
    id: event.id,
  }));
  return { from, to, isNodeClock, isCut: rows.length >= MOST, samples: found, flows, episodes, culprits: culprits.filter(mine) };
}

const delay = (row: any) => BigInt(row.time) - BigInt(row.egress_timestamp);

function summary(id: string, rows: any[], all: number): QueueFlow {
  const { source, destination, protocol, source_port, destination_port } = rows[0];
  const waits = rows.map((row) => row.hop_latency).filter((wait) => wait !== null).sort((a, b) => a - b);
  return {
    id,
    flow: source === null ? null : { source, destination, protocol, source_port, destination_port },
    reports: rows.length,
    share: (1000 * rows.length) / all,
    longest: waits.at(-1) ?? null,
    median: waits[Math.floor(waits.length / 2)] ?? null,
  };
}

/**
 * Depth in `many` steps, each split by the flows whose packets left while its deepest packet waited.
 * Steps without a known depth have -1.
 */
export function stack(found: Samples, many: number, kept: number): { depth: number; parts: number[] }[] {
  const span = Number(found.to - found.from);
  const steps: { deepest: number; parts: number[] }[] = Array.from({ length: many }, () => ({ deepest: -1, parts: [] }));
  found.samples.forEach((sample, at) => {
    const step = steps[Math.min(many - 1, Math.floor((sample.at / span) * many))]!;
    if (sample.depth === null) return;
    if (step.deepest < 0 || sample.depth > found.samples[step.deepest]!.depth!) step.deepest = at;
  });
  return steps.map(({ deepest }) => {
    const parts = Array(kept + 1).fill(0);
    if (deepest < 0) return { depth: -1, parts };
    const sample = found.samples[deepest]!;
    let counted = 0;
    for (let at = deepest; at >= 0 && found.samples[at]!.at >= sample.at - (sample.latency ?? 0); at--) {
      // Packets of other queues did not make it wait.
      if (found.samples[at]!.row.queue_id !== sample.row.queue_id) continue;
      parts[Math.min(kept, found.samples[at]!.flow)] += 1;
      counted += 1;
    }
    const depth = sample.depth!;
    return { depth, parts: parts.map((part) => (part / counted) * depth) };
  });
}
