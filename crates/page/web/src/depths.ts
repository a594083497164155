// Queue depths per minute, from the history.

import { sql } from "./api";
import { MINUTE, type Nanos } from "./time";

export interface QueueRow {
  node_id: number;
  egress_interface: number | null;
  queue_id: number | null;
  depth: number | null;
  longest: number | null;
  p99: number | null;
  reports: number;
}

/** The deepest queues of a time range, each with its depth by column. */
export interface DepthsOverTime {
  queues: QueueRow[];
  columns: number;
  /** The width of a column. */
  step: Nanos;
  begin: Nanos;
  /** By row and column; missing where nothing was reported. */
  cells: Map<string, number>;
}

const MAX_QUEUES = 24;
const MAX_COLUMNS = 120n;

export async function depthsOf(rows: QueueRow[], from: Nanos, to: Nanos, signal: AbortSignal): Promise<DepthsOverTime> {
  const queues = rows.filter((row) => row.depth !== null).slice(0, MAX_QUEUES);
  const minutes = (to - from) / MINUTE + 1n;
  const step = MINUTE * ((minutes + MAX_COLUMNS - 1n) / MAX_COLUMNS);
  const begin = from - (from % step);
  const columns = Number((to - begin + step - 1n) / step);
  const nodes = [...new Set(queues.map((row) => row.node_id))].join(", ");
  const is = (value: number | null) => (value === null ? "IS NULL" : `= ${value}`);
  const each = queues.map(({ node_id, egress_interface, queue_id }) => {
    return `(node_id = ${node_id} AND egress_interface ${is(egress_interface)} AND queue_id ${is(queue_id)})`;
  });
  const found = queues.length
    ? await sql(
        `SELECT (time - ${begin}) / ${step} AS at, node_id, egress_interface, queue_id, max(queue_occupancy_max) AS depth FROM minutes ` +
          `WHERE time >= ${begin} AND time < ${to} AND node_id IN (${nodes}) AND (${each.join(" OR ")}) ` +
          "AND queue_occupancy_max IS NOT NULL GROUP BY 1, 2, 3, 4 LIMIT 10000",
        signal,
      )
    : [];
  const key = (row: any) => `${row.node_id} ${row.egress_interface} ${row.queue_id}`;
  const numbers = new Map(queues.map((row, at) => [key(row), at]));
  const cells = new Map<string, number>();
  for (const row of found) {
    const at = numbers.get(key(row));
    if (at !== undefined) cells.set(`${at} ${Number(row.at)}`, Number(row.depth));
  }
  return { queues, columns, step, begin, cells };
}

const STEPS = [1e3, 1e4, 5e4, 1e5, 5e5, 1e6];

/** The step of the scale, by fixed bounds; 0 if nothing was reported. */
export function depthStep(value: number | undefined): number {
  if (value === undefined) return 0;
  const above = STEPS.findIndex((bound) => value < bound);
  return above < 0 ? 7 : above + 1;
}
