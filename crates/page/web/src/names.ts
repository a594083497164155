// Names of nodes, as the API tells them.

import { signal } from "@preact/signals";
import { ask } from "./api";
import { shown } from "./units";

export const nodes = signal<Map<number, string>>(new Map());
let askedAt = 0;

/** Learns the names again, at most every ten seconds. */
export async function learn() {
  if (Date.now() - askedAt < 10_000) return;
  askedAt = Date.now();
  try {
    const list: any[] = await ask("nodes");
    const named = list.filter((node) => node.name).map((node): [number, string] => [node.node_id, node.name]);
    nodes.value = new Map(named);
  } catch {
    // Numbers are shown meanwhile.
  }
}

export function node(id: number): string {
  const name = nodes.value.get(id);
  return name ? shown(name, 64) : `node ${id}`;
}
