// Queues: which were deep in this time, the deepest first.

import { href } from "../address";
import { ask, sql } from "../api";
import { useAsk } from "../ask";
import { node } from "../names";
import { Answer, Empty } from "../parts/answer";
import { useCopy } from "../parts/copy";
import { Table } from "../parts/table";
import { range } from "../range";
import { MINUTE } from "../time";
import { UNKNOWN, count, duration, occupancy } from "../units";

export interface QueueRow {
  node_id: number;
  egress_interface: number | null;
  queue_id: number | null;
  depth: number | null;
  longest: number | null;
  p99: number | null;
  reports: number;
}

const depth = (row: QueueRow, units: Map<number, any>) => {
  const unit = units.get(row.node_id)?.unit;
  return occupancy(row.depth, unit === "bytes" ? row.depth : null, unit);
};

export const queueAddress = (row: { node_id: number; egress_interface: number | null; queue_id: number | null }, params = {}) =>
  href(`/queue/${row.node_id}/${row.egress_interface ?? "-"}/${row.queue_id ?? "-"}`, params);

export function Queues() {
  const { isLive, from, to, span } = range();
  const asked = useAsk(`queues ${isLive ? span : `${from} ${to}`}`, async (signal) => {
    const { from, to } = range();
    const text =
      "SELECT node_id, egress_interface, queue_id, max(queue_occupancy_max) AS depth, max(latency_max) AS longest, max(latency_p99) AS p99, " +
      `sum(count) AS reports FROM minutes WHERE time >= ${from - MINUTE} AND time < ${to} GROUP BY 1, 2, 3 ORDER BY depth DESC, longest DESC LIMIT 500`;
    const [rows, live] = await Promise.all([sql(text, signal) as Promise<any[]>, ask("queues?limit=10000", { signal }) as Promise<any[]>]);
    return { rows: rows as QueueRow[], live };
  }, isLive ? 5_000 : undefined);
  return (
    <>
      <h1>Queues</h1>
      <Answer asked={asked}>{({ rows, live }) => <List rows={rows} live={live} />}</Answer>
    </>
  );
}

function List({ rows, live }: { rows: QueueRow[]; live: any[] }) {
  const units = new Map(live.map((queue) => [queue.node_id, queue]));
  const states = new Map(live.map((queue) => [`${queue.node_id} ${queue.egress_interface} ${queue.queue_id}`, queue]));
  const state = (row: QueueRow) => states.get(`${row.node_id} ${row.egress_interface} ${row.queue_id}`);
  useCopy(() => rows.map((row) => `${queueName(row)}  ${depth(row, units)}  ${duration(row.longest)}`).join("\n"));
  if (!rows.length) return <Empty>No queue was reported in this time. <a href={href("/queues", { live: "1d" })}>Look at a whole day</a></Empty>;
  const most = Math.max(1, ...rows.map((row) => row.depth ?? 0));
  return (
    <Table
      caption={`${count(rows.length)} queues, the deepest first, by whole minutes`}
      rows={rows}
      keyOf={(row) => `${row.node_id} ${row.egress_interface} ${row.queue_id}`}
      open={queueAddress}
      columns={[
        { name: "Queue", cell: (row) => <a href={queueAddress(row)}>{queueName(row)}</a> },
        {
          name: "Deepest",
          isNumber: true,
          cell: (row) => (
            <span class="barred">
              <meter aria-hidden="true" min={0} max={most} value={row.depth ?? 0} /> {depth(row, units)}
            </span>
          ),
        },
        { name: "Longest wait", isNumber: true, cell: (row) => duration(row.longest) },
        { name: "p99 of its worst minute", isNumber: true, cell: (row) => duration(row.p99 === null ? null : Math.min(row.p99, row.longest ?? row.p99)) },
        { name: "Now", cell: (row) => (state(row)?.congested ? <strong class="bad">congested</strong> : state(row) ? "calm" : UNKNOWN) },
        { name: "Hops reported", isNumber: true, cell: (row) => count(row.reports) },
      ]}
    />
  );
}

export const queueName = (row: { node_id: number; egress_interface: number | null; queue_id: number | null }) =>
  `${node(row.node_id)} interface ${row.egress_interface ?? UNKNOWN} queue ${row.queue_id ?? UNKNOWN}`;
