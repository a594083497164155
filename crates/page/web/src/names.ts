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
    // A name of blanks cannot be seen or pressed.
    const named = list.filter((node) => node.name?.trim()).map((node): [number, string] => [node.node_id, node.name]);
    nodes.value = new Map(named);
  } catch {
    // Until then numbers are shown.
  }
}

export function node(id: number): string {
  const name = nodes.value.get(id);
  return name ? shown(name, 64) : `node ${id}`;
}
