// Names of nodes, from the API.

import { signal } from "@preact/signals";
import { ask } from "./api";
import { shown } from "./units";

export const nodes = signal<Map<number, string>>(new Map());
let [askedAt, pause] = [0, 0];

/** Fetches the names again, at most every ten seconds, in a large network at most every two minutes. */
export async function learn() {
  if (Date.now() - askedAt < pause) return;
  askedAt = Date.now();
  try {
    const list: any[] = await ask("nodes");
    pause = list.length > 500 ? 120_000 : 10_000;
    nodes.value = new Map([...nodes.value, ...named(list.map(({ node_id, name }) => [node_id, name]))]);
  } catch {
    // Until then numbers are shown.
  }
}

/** The names of nodes, empty without one; one of blanks cannot be seen or pressed. */
const named = (all: [number, string | null][]) =>
  all.map(([id, name]): [number, string] => [id, name?.trim() && name || ""]);

/** Takes names from the names file, for nodes that have not reported. */
export function nameSilent(all: [number, string | null][]) {
  nodes.value = new Map([...named(all), ...nodes.value]);
}

export function node(id: number): string {
  const name = nodes.value.get(id);
  return name ? shown(name, 64) : `node ${id}`;
}
