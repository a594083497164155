// The fabric: nodes in tiers by their distance from the edge, links, and what one number says of each.

import { ask, sql } from "./api";
import { range } from "./range";
import { MINUTE } from "./time";
import { UNKNOWN, count, duration, permille, rate } from "./units";

export interface MapNode {
  id: number;
  name: string | null;
  tier: number;
  reports: number;
  lost: number;
  /** The worst of its interfaces, those to hosts included. */
  values: Values;
}

/** An interface, with the link it leads to where paths have shown one. */
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
  latency: any;
  uncertainty: number | null;
  values: Values;
}

/** What is known of the interface a link leaves by; `null`: nothing was reported. */
export interface Values {
  p99: number | null;
  max: number | null;
  depth: number | null;
  reports: number | null;
  utilization: number | null;
}

export type By = keyof Values;

export const BYS: Record<By, { name: string; write: (value: number | null) => string; steps: number[] }> = {
  p99: { name: "p99 of hop latency", write: duration, steps: [1e4, 1e5, 1e6, 1e7, 1e8, 1e9] },
  max: { name: "longest hop latency", write: duration, steps: [1e4, 1e5, 1e6, 1e7, 1e8, 1e9] },
  depth: { name: "deepest queue", write: count, steps: [1e3, 1e4, 5e4, 1e5, 5e5, 1e6] },
  utilization: { name: "utilisation, latest", write: permille, steps: [100, 200, 400, 600, 800, 900] },
  reports: { name: "reports a second", write: rate, steps: [1, 10, 100, 1e3, 1e4, 1e5] },
};

/** The step of the scale, 1 to 7, by fixed bounds, so that a colour means the same tomorrow; 0 where nothing is known. */
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

export async function fabric(signal: AbortSignal): Promise<Fabric> {
  const { from, to } = range();
  const seconds = Math.max(60, Number(to - from) / 1e9);
  const levels =
    "SELECT node_id, egress_interface, max(latency_p99) AS p99, max(latency_max) AS longest, max(queue_occupancy_max) AS depth, " +
    `sum(count) AS reports FROM minutes WHERE time >= ${from - MINUTE} AND time < ${to} GROUP BY 1, 2`;
  const [topology, interfaces, flows, rows] = await Promise.all([
    ask("topology", { signal }),
    ask("interfaces", { signal }) as Promise<any[]>,
    ask("flows?limit=2000", { signal }) as Promise<any[]>,
    sql(levels, signal).catch(() => []),
  ]);
  const key = (node: number, port: number | null) => `${node}.${port ?? "*"}`;
  const known = new Map(rows.map((row) => [key(row.node_id, row.egress_interface), row]));
  const latest = new Map(interfaces.map((port) => [key(port.node_id, port.egress_interface), port]));
  const number = (value: unknown) => (value === null || value === undefined ? null : Number(value));
  const valuesOf = (at: string): Values => {
    const [row, port] = [known.get(at), latest.get(at)];
    return {
      // A sketch may say a little more than the largest value was.
      p99: row?.p99 === undefined || row.p99 === null ? null : Math.min(Number(row.p99), Number(row.longest ?? row.p99)),
      max: number(row?.longest),
      depth: number(row?.depth),
      reports: row ? Number(row.reports) / seconds : null,
      utilization: number(port?.utilization_permille),
    };
  };
  const links: MapLink[] = topology.links.map((link: any): MapLink => {
    const { id, from, to, certain, latency, clock_uncertainty: uncertainty } = link;
    const values = valuesOf(key(link.from, link.egress_interface));
    return { id, from, to, egress: link.egress_interface, ingress: link.ingress_interface, certain, latency, uncertainty, values };
  });
  const tiers = tiersOf(flows.filter(({ path, complete }) => path && complete).map(({ path }) => path.map((hop: any) => hop.node_id)));
  const byPort = new Map(links.map((link) => [key(link.from, link.egress), link]));
  const ports = [...latest].map(([at, { node_id, egress_interface }]): Port => ({ node: node_id, port: egress_interface, link: byPort.get(at), values: valuesOf(at) }));
  const byNode = new Map<number, Values[]>();
  for (const { node, values } of ports) byNode.get(node)?.push(values) ?? byNode.set(node, [values]);
  const nodes = topology.nodes.map((node: any): MapNode => {
    const values = worst(byNode.get(node.node_id) ?? []);
    return { id: node.node_id, name: node.name, tier: tiers.get(node.node_id) ?? 0, reports: node.reports, lost: node.lost, values };
  });
  return { nodes, ports, links };
}

function worst(all: Values[]): Values {
  const most = (by: By) => all.reduce<number | null>((most, values) => (values[by] !== null && (most === null || values[by]! > most) ? values[by] : most), null);
  return { p99: most("p99"), max: most("max"), depth: most("depth"), reports: most("reports"), utilization: most("utilization") };
}

/** How far from the edge a node mostly is on the paths of flows. */
function tiersOf(paths: number[][]): Map<number, number> {
  const seen = new Map<number, Map<number, number>>();
  for (const path of paths) {
    path.forEach((node, at) => {
      const distance = Math.min(at, path.length - 1 - at);
      const counts = seen.get(node) ?? new Map<number, number>();
      counts.set(distance, (counts.get(distance) ?? 0) + 1);
      seen.set(node, counts);
    });
  }
  return new Map([...seen].map(([node, counts]) => [node, [...counts].sort((a, b) => b[1] - a[1])[0]![0]]));
}
