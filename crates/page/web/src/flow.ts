// Names of flows in addresses: the id, or the five-tuple if only that is known.

import { signal } from "@preact/signals";
import { ask, sql } from "./api";
import type { Flow } from "./kinds";

/** The flow viewed last. */
export const lastFlow = signal(sessionStorage.getItem("inband-flow") ?? "");
lastFlow.subscribe((id) => sessionStorage.setItem("inband-flow", id));

export const flowAddress = (flow: Flow) =>
  [flow.protocol, flow.source, flow.source_port, flow.destination, flow.destination_port].map(encodeURIComponent).join("-");

/** The id of the flow that an address names; `undefined` if no such flow is known. */
export async function resolve(name: string): Promise<string | undefined> {
  if (/^\d{1,19}$/.test(name)) return name;
  const [protocol, source, sourcePort, destination, destinationPort] = name.split("-");
  const isTuple = [protocol, sourcePort, destinationPort].every((part) => /^\d{1,5}$/.test(part ?? ""));
  const isPlain = [source, destination].every((part) => /^[0-9a-fA-F.:]{2,45}$/.test(part ?? ""));
  if (!isTuple || !isPlain) return undefined;
  const filter = `source = ${source} and destination = ${destination} and protocol = ${protocol} and source_port = ${sourcePort} and destination_port = ${destinationPort}`;
  const live = await ask("flows/search?limit=1&filter=" + encodeURIComponent(filter));
  if (live.columns.id[0]) return live.columns.id[0];
  const [row] = await sql(
    `SELECT flow_id FROM paths WHERE source = '${source}' AND destination = '${destination}' AND protocol = ${protocol} ` +
      `AND source_port = ${sourcePort} AND destination_port = ${destinationPort} LIMIT 1`,
  );
  return row ? String(row.flow_id) : undefined;
}
