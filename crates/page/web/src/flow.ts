// Names of flows in addresses: the id, or the five-tuple if only that is known.

import { signal } from "@preact/signals";
import { ask, sql } from "./api";
import type { Flow } from "./kinds";
import { within } from "./packets";
import { range } from "./range";

/** The flow viewed last. */
export const lastFlow = signal(sessionStorage.getItem("inband-flow") ?? "");
lastFlow.subscribe((id) => sessionStorage.setItem("inband-flow", id));

export const flowAddress = (flow: Flow) =>
  [flow.protocol, flow.source, flow.source_port, flow.destination, flow.destination_port].map(encodeURIComponent).join("-");

/** The id of the flow that an address names; `null` if no such flow is known. */
export async function resolve(name: string): Promise<string | null> {
  if (/^\d{1,19}$/.test(name)) return name;
  const [protocol, source, sourcePort, destination, destinationPort] = name.split("-");
  const isTuple = [protocol, sourcePort, destinationPort].every((part) => /^\d{1,5}$/.test(part ?? ""));
  const isPlain = [source, destination].every((part) => /^[0-9a-fA-F.:]{2,45}$/.test(part ?? ""));
  if (!isTuple || !isPlain) return null;
  const is = (quote: string) =>
    `source = ${quote + source + quote} and destination = ${quote + destination + quote} ` +
    `and protocol = ${protocol} and source_port = ${sourcePort} and destination_port = ${destinationPort}`;
  const live = await ask("flows/search?limit=1&filter=" + encodeURIComponent(is("")));
  if (live.columns.id[0]) return live.columns.id[0];
  const { from, to } = range();
  // Reports of drops and queues alone show no path.
  const [row] = await sql(
    `SELECT flow_id FROM paths WHERE ${is("'")} UNION ALL ` +
      `SELECT flow_id FROM observations WHERE time >= ${from} AND time < ${to} AND ${is("'")} LIMIT 1`,
  );
  return row ? String(row.flow_id) : null;
}

/** A path of a flow. */
export interface Taken {
  id: string;
  path: { node_id: number }[];
  since: bigint;
  /** `null`: unknown. */
  until: bigint | null;
  current: boolean;
}

/** A flow and its latest paths. */
export interface FlowFound {
  /** `null`: not in the history either. */
  flow: any;
  isActive: boolean;
  paths: Taken[];
}

/** A flow of the present; one that is not active, and paths of the past, from the history. */
export async function found(id: string, signal: AbortSignal): Promise<FlowFound> {
  const live = await ask("flows/" + id, { signal }).catch((error) => {
    if (error.status !== 404) throw error;
  });
  const { from, to, isLive } = range();
  if (live && isLive) return { ...live, isActive: true };
  const read = (what: string) =>
    sql(`SELECT * FROM ${what} ORDER BY time DESC LIMIT 8`, signal).catch(() => []);
  const asked = [`paths WHERE flow_id = ${id} AND time < ${to}`, `observations WHERE ${within(id, from, to)}`];
  const [rows, [last]] = (await Promise.all(asked.map(read))) as [any[], any[]];
  const flow = last ?? rows[0];
  const hop = (text: string) => ({ node_id: Number(text.split(":").at(-2) ?? text) });
  // A row that repeats the one before continues its path.
  const first = rows.filter(({ path_id }, at) => path_id !== rows[at + 1]?.path_id);
  const paths = first.map(({ time: since, path_id: id, path }, at): Taken => {
    const until = first[at - 1]?.time ?? null;
    return { id, path: path.split(" > ").map(hop), since, until, current: false };
  });
  return { flow: live?.flow ?? (flow && { flow, last_seen: last?.time }), isActive: !!live, paths };
}
