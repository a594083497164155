// The fabric: nodes in tiers by their distance from the edge, links, and one metric of each.

import { signal } from "@preact/signals";
import { permilleOf, permilleOfAll } from "./about";
import { ask } from "./api";
import { rowsOf } from "./columns";
import { param } from "./address";
import { range } from "./range";
import { UNKNOWN, count, duration, permille, rate } from "./units";

export interface MapNode {
  id: number;
  tier: number;
  /** Whether it has sent reports; otherwise it is known only from stacks. True in the past, which is unknown. */
  reportsItself: boolean;
  /** The worst of its interfaces, including those to hosts. */
  values: Values;
}

/** An interface, with the link it leads to if a path has shown one. */
export interface Port {
  node: number;
  port: number | null;
  link: MapLink | undefined;
  values: Values;
}

export interface MapLink {
  id: string;
  from: number;
  to: number;
  egress: number | null;
  ingress: number | null;
  certain: boolean;
  latency: number | null;
  uncertainty: number | null;
    values: Values;
}

/** The metrics of the interface a link leaves by; `null`: nothing was reported. */
export interface Values {
  p99: number | null;
  max: number | null;
  depth: number | null;
  reports: number | null;
  utilization: number | null;
  drops: number | null;
  /** Nanoseconds from the last reported path over its link to the end of the time range. */
  silence: number | null;
}

export type By = keyof Values;

export const BYS: Record<By, { name: string; write: (value: number | null) => string; steps: number[] }> = {
  p99: { name: "p99 hop latency", write: duration, steps: [1e4, 1e5, 1e6, 1e7, 1e8, 1e9] },
  max: { name: "longest hop latency", write: duration, steps: [1e4, 1e5, 1e6, 1e7, 1e8, 1e9] },
  depth: { name: "deepest queue", write: count, steps: [1e3, 1e4, 5e4, 1e5, 5e5, 1e6] },
  utilization: { name: "utilisation", write: permille, steps: [100, 200, 400, 600, 800, 900] },
  reports: { name: "reports per second", write: rate, steps: [1, 10, 100, 1e3, 1e4, 1e5] },
  drops: { name: "drop reports", write: count, steps: [1, 10, 100, 1e3, 1e4, 1e5] },
  silence: { name: "time since last path", write: (value) => (value !== null && value < 1e9 ? "under 1\u2009s" : duration(value)), steps: [2e9, 5e9, 1e10, 6e10, 6e11, 3.6e12] },
};

/** The chosen metric. */
export const by = (): By => (param("by") in BYS ? (param("by") as By) : "p99");

/** The number of nodes at the last request for all. */
export const counted = signal(0);

/** The step of the scale, 1 to 7, by fixed bounds, so that a colour keeps its meaning; 0 if unknown. */
export function step(by: By, value: number | null): number {
  if (value === null) return 0;
  const above = BYS[by].steps.findIndex((bound) => value < bound);
  return above < 0 ? 7 : above + 1;
}

export const written = (by: By, value: number | null) => (value === null ? UNKNOWN : BYS[by].write(value));

export interface Fabric {
  nodes: MapNode[];
  ports: Port[];
  links: MapLink[];
}

/** The whole fabric, or a node with its neighbours. */
export async function fabric(gone: AbortSignal, of?: number): Promise<Fabric> {
  const { from, to } = range();
  const question = `map?from=${from}&to=${to}${of === undefined ? "" : "&node=" + of}`;
  const [map] = await Promise.all([ask(question, { signal: gone }), tiersOf(0)]);
  const seconds = Number(BigInt(map.to) - BigInt(map.from)) / 1e9;
  const ids: number[] = map.nodes.node;
  if (of === undefined) counted.value = ids.length;
  const ports = new Map<string, Port>();
  for (const row of rowsOf<any>(map.interfaces)) {
    const { node, interface: port, p99, max, depth, drops } = row;
    // A sketch may return slightly more than the largest value.
    const values: Values = { ...nothing, p99: p99 === null ? null : Math.min(p99, max ?? p99), max, depth, drops, reports: row.reports / seconds, utilization: permilleOf(node, row.utilization) };
    ports.set(key(node, port), { node, port, link: undefined, values });
  }
  const links = rowsOf<any>(map.links).map((row): MapLink => {
    const [from, to] = [ids[row.from]!, ids[row.to]!];
    const { egress_interface: egress, ingress_interface: ingress, certain, latency_p50: latency, uncertainty } = row;
    const port = ports.get(key(from, egress)) ?? { node: from, port: egress, link: undefined, values: { ...nothing } };
    ports.set(key(from, egress), port);
    const silence = row.silent_seconds === null ? null : row.silent_seconds * 1e9;
    const id = `${key(from, egress)}-${key(to, ingress)}`;
    const values = { ...port.values, silence };
    const link = { id, from, to, egress, ingress, certain, latency, uncertainty, values };
    // Where a node in between is missing, another link leaves by the same interface.
    if (!port.link || certain) {
      port.link = link;
      port.values.silence = silence;
    }
    return link;
  });
  const byNode = new Map<number, Values[]>();
  for (const { node, values } of ports.values()) byNode.get(node)?.push(values) ?? byNode.set(node, [values]);
  const tiers = await tiersOf(counted.value);
  const nodes = rowsOf<any>(map.nodes).map((row): MapNode => {
    return { id: row.node, tier: tiers.get(row.node) ?? 0, reportsItself: row.reports_itself || !range().isLive, values: worst(byNode.get(row.node) ?? []) };
  });
  return { nodes, ports: [...ports.values()], links };
}

const nothing: Values = { p99: null, max: null, depth: null, reports: null, utilization: null, drops: null, silence: null };

/** Nodes with the same neighbours, grouped by the collector. */
export interface Group {
  name: string;
  nodes: number[];
  value: number | null;
  reports: number;
}

/** Groups, and a fabric of them whose ids are their positions. */
export async function groups(by: By, gone: AbortSignal): Promise<{ groups: Group[]; fabric: Fabric }> {
  const { from, to } = range();
  const question = `map?group=auto&by=${by}&from=${from}&to=${to}`;
  const [map] = await Promise.all([ask(question, { signal: gone }), tiersOf(0)]);
  const all = rowsOf<Group>(map.groups);
  counted.value = all.reduce((sum, { nodes }) => sum + nodes.length, 0);
  const seconds = Number(BigInt(map.to) - BigInt(map.from)) / 1e9;
  // The collector answers with what nodes report, and with sums.
  const convert = (value: number | null, { nodes }: Group) => {
    if (value === null || !["reports", "utilization"].includes(by)) return value;
    return by === "reports" ? value / seconds : permilleOfAll(nodes, value);
  };
  const converted = all.map((group) => ({ ...group, value: convert(group.value, group) }));
  const values = (value: number | null): Values => ({ ...nothing, [by]: value });
  const tiers = await tiersOf(counted.value);
  const nodes = converted.map(({ nodes, reports, value }, id): MapNode => {
    return { id, tier: tiers.get(nodes[0]!) ?? 0, reportsItself: reports > 0, values: values(value) };
  });
  const unknown = { egress: null, ingress: null, latency: null, uncertainty: null };
  const links = rowsOf<any>(map.bundles).map(({ from, to, value, uncertain }): MapLink => {
    const own = values(convert(value, all[from]!));
    return { id: `${from}-${to}`, from, to, ...unknown, certain: !uncertain, values: own };
  });
  return { groups: converted, fabric: { nodes, links, ports: [] } };
}

const key = (node: number, port: number | null) => `${node}.${port ?? "*"}`;

function worst(all: Values[]): Values {
  const own = all.map((values) => ({ values }));
  return Object.fromEntries((Object.keys(BYS) as By[]).map((by) => [by, worstOf(by, own)])) as any;
}

/** The highest known value. */
export function worstOf(by: By, all: { values: Values }[]): number | null {
  const known = all.map(({ values }) => values[by]).filter((value) => value !== null);
  return known.length ? known.reduce((a, b) => Math.max(a, b)) : null;
}

let known = new Map<number, number>();
let [askedAt, pause, seenNodes] = [0, 2_000, 0];
let failures = 0;
let asking: Promise<void> | undefined;

/** The usual distance of nodes from the edge, by flows' paths; fetched ever more rarely, but after growth. */
async function tiersOf(nodes: number): Promise<Map<number, number>> {
  if (nodes > seenNodes && seenNodes) pause = 2_000;
  seenNodes = Math.max(seenNodes, nodes);
  if (Date.now() - askedAt < pause) return known;
  // The answer is for all that wait for it, whether or not the first of them still does.
  asking ??= learnTiers().finally(() => (asking = undefined));
  await asking;
  return known;
}

async function learnTiers() {
  const answer = await ask("flows/search?limit=2000&sort=reports").catch((error) => {
    askedAt = Date.now();
    // The first time, the whole map is asked for again soon; after that, it is shown without tiers.
    if (!known.size && !failures++) throw error;
    pause = Math.min(60_000, 2 * pause);
  });
  if (!answer) return;
  failures = 0;
  const seen = new Map<number, Map<number, number>>();
  for (const { path, complete } of rowsOf<{ path: number[]; complete: boolean }>(answer.columns)) {
    path.forEach((node, at) => {
      // Incomplete paths, which end anywhere, count only for nodes that are on no other.
      const isCut = complete === false;
      const distance = isCut ? at : Math.min(at, path.length - 1 - at);
      const counts = seen.get(node) ?? new Map<number, number>();
      counts.set(distance, (counts.get(distance) ?? 0) + (isCut ? 1 : 2_000));
      seen.set(node, counts);
    });
  }
  known = new Map([...seen].map(([node, counts]) => [node, [...counts].sort((a, b) => b[1] - a[1])[0]![0]]));
  [askedAt, pause] = [Date.now(), Math.min(60_000, 2 * pause)];
}
