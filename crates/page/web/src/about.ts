// The collector's description of itself: the nodes' units, and when queues count as congested.

import { signal } from "@preact/signals";
import { ask, patience } from "./api";
import { nameSilent, nodes } from "./names";
import { count, occupancy } from "./units";

interface Unit {
  queue_unit: string | null;
  cell_bytes: number | null;
  /** The utilisation of a full link. */
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

/** A table of the history. */
interface HistoryTable {
  name: string;
  about: string;
  columns: string[];
}

export const tables = signal<HistoryTable[]>([]);
const units = signal<Map<number, Unit>>(new Map());
export const thresholds = signal<Thresholds | undefined>(undefined);
let askedAt = 0;

/** Fetches it again, at most once a minute. */
export async function learnAbout() {
  if (Date.now() - askedAt < 60_000) return;
  askedAt = Date.now();
  try {
    const about = await ask("about");
    units.value = new Map(about.nodes.map((node: any) => [node.node, node]));
    nameSilent(about.nodes.map(({ node, name }: any) => [node, name]));
    thresholds.value = about.congestion;
    tables.value = about.tables;
    patience.ms = Math.max(15_000, (about.limits.query_seconds + 5) * 1_000);
  } catch {
    // Until then numbers have no unit.
    askedAt = 0;
  }
}

/** The depth of a node's queue, with its unit where that is known. */
export function depthOf(node: number, value: number | null): string {
  const unit = units.value.get(node);
  return occupancy(value, bytesOf(unit, value), unit?.queue_unit);
}

/** The depth of any node's queue, with a unit if it is that of all nodes. */
export function depthOfAny(value: number | null): string {
  const all = new Set([...nodes.value.keys()].map((node) => depthOf(node, value)));
  return all.size === 1 ? [...all][0]! : count(value);
}

/** The utilisation of a link out of a node, in thousandths; `null` if the node's unit is unknown. */
export function permilleOf(node: number, value: number | null): number | null {
  const full = units.value.get(node)?.utilization_full;
  return full && value !== null ? (1000 * value) / full : null;
}

/** The utilisation of a link out of one of these nodes; `null` also if their units differ. */
export function permilleOfAll(nodes: number[], value: number): number | null {
  const all = new Set(nodes.map((node) => permilleOf(node, value)));
  return all.size === 1 ? [...all][0]! : null;
}

/** The depths that start and end congestion of a node's queue, in the node's unit. */
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
