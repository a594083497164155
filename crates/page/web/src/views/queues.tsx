// Queues of the time range, the largest reported depth first.

import { useMemo } from "preact/hooks";
import { depthOf } from "../about";
import { go, href, param, set } from "../address";
import { ask, sql } from "../api";
import { useAsk } from "../ask";
import { queuePath } from "../kinds";
import { node } from "../names";
import { Answer, Empty } from "../parts/answer";
import { useCopy } from "../parts/copy";
import { Heat } from "../parts/heat";
import { Table } from "../parts/table";
import { LastDay } from "../parts/words";
import { type DepthsOverTime, type QueueRow, depthStep, depthsOf } from "../depths";
import { around, range, timeAsked } from "../range";
import { MINUTE, clock } from "../time";
import { UNKNOWN, count, duration, plural } from "../units";

interface QueueName {
  node_id: number;
  egress_interface: number | null;
  /** `null`: it has no id; `undefined`: all of the interface. */
  queue_id: number | null | undefined;
}

export const queueAddress = (row: QueueName, params = {}) =>
  href(queuePath(row.node_id, row.egress_interface, row.queue_id), params);

/** Queues that are shown first, and after "Show 500". */
const [FEW, MANY] = [100, 500];

export function Queues() {
  const [when, every] = timeAsked();
  const asked = useAsk(`queues ${param("many")} ${when}`, async (signal) => {
    const { from, to } = range();
    const text =
      "SELECT node_id, egress_interface, queue_id, max(queue_occupancy_max) AS depth, max(latency_max) AS longest, max(latency_p99) AS p99, " +
      `sum(count) AS reports FROM minutes WHERE time >= ${from - MINUTE} AND time < ${to} GROUP BY 1, 2, 3 ORDER BY depth DESC, longest DESC LIMIT ${param("many") ? MANY : FEW}`;
    const [rows, congested] = await Promise.all([sql(text, signal) as Promise<any[]>, ask("events?active=true&kind=queue-congestion&limit=1000", { signal }) as Promise<any[]>]);
    return { rows: rows as QueueRow[], congested: new Set(congested.map(({ detail }) => key(detail))), depths: await depthsOf(rows, from, to, signal) };
  }, every);
  return (
    <>
      <h1>Queues</h1>
      <Answer asked={asked}>{(found) => <List {...found} />}</Answer>
      {asked.data?.rows.length === FEW && !param("many") && <p><button onClick={() => set({ many: "1" })}>Show {MANY}</button></p>}
    </>
  );
}

const key = (queue: QueueName) => `${queue.node_id} ${queue.egress_interface} ${queue.queue_id}`;

function List({ rows, congested, depths }: { rows: QueueRow[]; congested: Set<string>; depths: DepthsOverTime }) {
  useCopy(() => rows.map((row) => `${queueName(row)}  ${depthOf(row.node_id, row.depth)}  ${duration(row.longest)}`).join("\n"));
  if (!rows.length) return <Empty>No queues reported in this time range. <LastDay of="/queues" /></Empty>;
  const most = Math.max(1, ...rows.map((row) => Number(row.depth ?? 0)));
  const caption = `${plural(rows.length, "queue")}, largest reported depth first, in whole minutes`;
  return (
    <>
    {depths.queues.length > 0 && (
      <Over depths={depths} write={(queue, value) => depthOf(queue.node_id, value)} />
    )}
    <Table caption={caption} rows={rows} keyOf={key} open={queueAddress} columns={[
      { name: "Queue", cell: (row) => <a class="path" href={queueAddress(row)}>{queueName(row)}</a> },
      {
        name: "Deepest",
        isNumber: true,
        cell: (row) => (
          <span class="barred">
            <meter aria-hidden="true" min={0} max={most} value={Number(row.depth ?? 0)} /> {depthOf(row.node_id, row.depth)}
          </span>
        ),
      },
      { name: "Longest wait", isNumber: true, cell: (row) => duration(row.longest) },
      { name: "p99, worst minute", isNumber: true, cell: (row) => duration(row.p99 === null ? null : Math.min(Number(row.p99), Number(row.longest ?? row.p99))) },
      { name: range().isLive ? "Now" : "At present", cell: (row) => (congested.has(key(row)) ? <strong class="bad">congested</strong> : "not congested") },
      { name: "Reported hops", isNumber: true, cell: (row) => count(row.reports) },
    ]} />
    </>
  );
}

function Over({ depths, write }: { depths: DepthsOverTime; write: (queue: QueueRow, value: number) => string }) {
  const { queues, columns, step: width, begin, cells } = depths;
  const at = (row: number, column: number) => cells.get(`${row} ${column}`);
  const stepAt = useMemo(() => (row: number, column: number) => depthStep(at(row, column)), [depths]);
  const time = (column: number) => begin + BigInt(column) * width;
  return (
    <Heat
      name={`${plural(queues.length, "queue")} with the largest reported depths. A cell is ${duration(width)}.`}
      rows={queues.length}
      columns={columns}
      step={stepAt}
      rowHeight={queues.length > 16 ? 14 : 20}
      labels={queues.map((queue) => queueName(queue).replace(" interface ", " "))}
      told={(row, column) => {
        const value = at(row, column);
        return `${queueName(queues[row]!)}, ${clock(time(column))} to ${clock(time(column + 1))}: ${value === undefined ? "nothing reported" : `at most ${write(queues[row]!, value)}`}`;
      }}
      open={(row, column) => go(queueAddress(queues[row]!, around(time(column) + width / 2n, width > MINUTE ? MINUTE : width)))}
      ends={[clock(begin), clock(time(columns))]}
    />
  );
}

/** The name of a queue, or of all queues of an interface. */
export function queueName({ node_id, egress_interface, queue_id }: QueueName): string {
  const queue = queue_id === undefined ? ", all queues" : ` queue ${queue_id ?? UNKNOWN}`;
  return `${node(node_id)} interface ${egress_interface ?? UNKNOWN}${queue}`;
}
