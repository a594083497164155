// Flows: which there are, by which path, and which of them wait.

import { href, param, set } from "../address";
import { ask } from "../api";
import { useAsk } from "../ask";
import { type Filter, parseFilter } from "../filter";
import { flowText } from "../kinds";
import { Answer, Empty } from "../parts/answer";
import { useCopy } from "../parts/copy";
import { FilterField } from "../parts/filter";
import { type Column, Table } from "../parts/table";
import { FlowLink, Path, Time } from "../parts/words";
import { node } from "../names";
import { UNKNOWN, count, duration, shown } from "../units";

export interface FlowRow {
  id: string;
  flow: any;
  path: { node_id: number; egress_interface: number | null }[] | null;
  hop_latency: (number | null)[];
  complete: boolean;
  reports: number;
  last_seen: bigint;
  path_since: bigint | null;
  source_name: string | null;
  destination_name: string | null;
}

/** The sum of the hops, where every hop is known. */
export const total = (flow: FlowRow) =>
  flow.path && flow.hop_latency.length && flow.hop_latency.every((latency) => latency !== null)
    ? flow.hop_latency.reduce<number>((sum, latency) => sum + latency!, 0)
    : null;

const worst = (flow: FlowRow) => flow.hop_latency.reduce<number | null>((a, b) => (b !== null && (a === null || b > a) ? b : a), null);

const SORTS: Record<string, [string, (flow: FlowRow) => number]> = {
  worst: ["longest hop", (flow) => worst(flow) ?? -1],
  total: ["sum of hops", (flow) => total(flow) ?? -1],
  reports: ["reports", (flow) => flow.reports],
  changed: ["latest path change", (flow) => Number(flow.path_since ?? 0)],
};

export function Flows() {
  const flows = useAsk<FlowRow[]>("flows", (signal) => ask("flows?limit=10000", { signal }), 2_000);
  const text = param("q");
  const filter = parseFilter(text);
  return (
    <>
      <h1>Flows</h1>
      <FilterField text={text} filter={filter} examples={examples(flows.data ?? [])} />
      <label class="sort">
        Order by{" "}
        <select value={param("sort") || "worst"} onChange={(event) => set({ sort: event.currentTarget.value })}>
          {Object.entries(SORTS).map(([key, [name]]) => (
            <option key={key} value={key}>{name}</option>
          ))}
        </select>
      </label>
      <Answer asked={flows}>{(all) => <List all={all} filter={filter} />}</Answer>
    </>
  );
}

const examples = (flows: FlowRow[]) => {
  const [first] = flows;
  const hop = first?.path?.[1] ?? first?.path?.[0];
  return [first && `source = ${first.flow.source}`, hop && `node = ${hop.node_id}`, "latency > 1ms", "protocol = tcp"].filter(Boolean) as string[];
};

function List({ all, filter }: { all: FlowRow[]; filter: Filter }) {
  const [name, order] = SORTS[param("sort")] ?? SORTS.worst!;
  const rows = all.filter(filter.matches).sort((a, b) => order(b) - order(a) || (a.id < b.id ? -1 : 1));
  const shownRows = rows.slice(0, 300);
  const longest = Math.max(1, ...shownRows.map((flow) => worst(flow) ?? 0));
  useCopy(() => shownRows.map((flow) => `${flowText(flow.flow)}  ${(flow.path ?? []).map((hop) => node(hop.node_id)).join(" ")}  ${duration(total(flow))}`).join("\n"));
  if (!all.length) return <Empty>No report tells of a flow yet. Nodes have to watch some: see “watch” in node.toml.</Empty>;
  if (!rows.length) {
    return (
      <Empty>
        No flow of {count(all.length)} matches. <button onClick={() => set({ q: undefined })}>Show all</button>
      </Empty>
    );
  }
  return <Table caption={`${count(shownRows.length)} of ${count(all.length)} flows, by ${name}`} columns={columns(longest)} rows={shownRows} keyOf={(flow) => flow.id} open={(flow) => href("/flow/" + flow.id)} />;
}

function columns(longest: number): Column<FlowRow>[] {
  const named = (flow: FlowRow) => [flow.source_name, flow.destination_name].filter(Boolean).map((name) => shown(name, 40)).join(" > ");
  return [
    { name: "Flow", cell: (flow) => <FlowLink flow={flow.flow} id={flow.id} /> },
    { name: "Hosts", cell: (flow) => named(flow) || UNKNOWN },
    { name: "Path", cell: (flow) => <><Path hops={flow.path} />{flow.path && !flow.complete && <span class="muted" title="hops are missing"> …</span>}</> },
    { name: "Sum of hops", isNumber: true, cell: (flow) => duration(total(flow)) },
    {
      name: "Longest hop",
      isNumber: true,
      cell: (flow) => {
        const most = worst(flow);
        const hop = flow.path?.[flow.hop_latency.indexOf(most)];
        return (
          <span class="barred">
            <meter aria-hidden="true" min={0} max={longest} value={most ?? 0} />
            {duration(most)} {hop && most !== null ? `at ${node(hop.node_id)}` : ""}
          </span>
        );
      },
    },
    { name: "Path since", cell: (flow) => <Time at={flow.path_since} /> },
    { name: "Reports", isNumber: true, cell: (flow) => count(flow.reports) },
    { name: "Last seen", cell: (flow) => <Time at={flow.last_seen} /> },
  ];
}
