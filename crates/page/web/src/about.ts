// What the collector says of itself: units of nodes, and when queues count as congested.

import { signal } from "@preact/signals";
import { ask } from "./api";
import { bytes, count, occupancy } from "./units";

interface Unit {
  queue_unit: string | null;
  cell_bytes: number | null;
  /** The utilisation that is a full link. */
  utilization_full: number | null;
}

export interface Thresholds {
  trigger_latency: number;
  reset_latency: number;
  trigger_occupancy: number | null;
  reset_occupancy: number | null;
  trigger_bytes: number | null;
  reset_bytes: number | null;
}

/** A table of history. */
interface HistoryTable {
  name: string;
  about: string;
  columns: string[];
}

export const tables = signal<HistoryTable[]>([]);
const units = signal<Map<number, Unit>>(new Map());
export const thresholds = signal<Thresholds | undefined>(undefined);
let askedAt = 0;

/** Learns it again, at most once a minute. */
export async function learnAbout() {
  if (Date.now() - askedAt < 60_000) return;
  askedAt = Date.now();
  try {
    const about = await ask("about");
    units.value = new Map(about.nodes.map((node: any) => [node.node, node]));
    thresholds.value = about.congestion;
    tables.value = about.tables;
  } catch {
    // Numbers have no unit meanwhile.
    askedAt = 0;
  }
}

/** How deep a queue of a node is, with its unit where that is known. */
export function depthOf(node: number, value: number | null): string {
  const unit = units.value.get(node);
  return occupancy(value, bytesOf(unit, value), unit?.queue_unit);
}

/** How full a link out of a node is, in thousandths; `null` where the node's unit is not known. */
export function permilleOf(node: number, value: number | null): number | null {
  const full = units.value.get(node)?.utilization_full;
  return full && value !== null ? (1000 * value) / full : null;
}

/** How deep a queue of any node is: in bytes where all nodes whose unit is known count bytes. */
export function depthOfAny(value: number | null): string {
  const known = [...units.value.values()].map((unit) => unit.queue_unit);
  return known.length > 0 && known.every((unit) => unit === "bytes") ? bytes(value) : count(value);
}

/** From how deep on a queue of a node is congested, and below which depth it is calm, in the node's unit; by depth alone. */
export function depthThresholds(node: number): { trigger: number | null; reset: number | null } {
  const [unit, set] = [units.value.get(node), thresholds.value];
  const size = unit?.queue_unit === "bytes" ? 1 : unit?.queue_unit === "cells" ? unit.cell_bytes : null;
  const least = (depth: number | null | undefined, inBytes: number | null | undefined) => {
    const all = [depth ?? null, inBytes !== null && inBytes !== undefined && size ? inBytes / size : null].filter((one) => one !== null);
    return all.length ? Math.min(...all) : null;
  };
  return { trigger: least(set?.trigger_occupancy, set?.trigger_bytes), reset: least(set?.reset_occupancy, set?.reset_bytes) };
}

const bytesOf = (unit: Unit | undefined, value: number | null) =>
  value === null || !unit ? null : unit.queue_unit === "bytes" ? value : unit.queue_unit === "cells" && unit.cell_bytes ? value * unit.cell_bytes : null;
