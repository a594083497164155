// The list of flows, with their paths and latencies.

import { href, param, set } from "../address";
import { ask } from "../api";
import { useAsk } from "../ask";
import { type Columns, rowsOf } from "../columns";
import { type Flow, flowText } from "../kinds";
import { Answer, Empty, isReady } from "../parts/answer";
import { useCopy } from "../parts/copy";
import { FilterField } from "../parts/filter";
import { type Column, Table } from "../parts/table";
import { FlowLink, OnlyPresent, Path, Time } from "../parts/words";
import { range } from "../range";
import { node } from "../names";
import { totals } from "../stream";
import { UNKNOWN, count, duration, plural, shown } from "../units";

interface FlowRow extends Flow {
  id: string;
  path: number[];
  complete: boolean;
  /** The sum of the known hop latencies. */
  latency: number | null;
  /** The hop with the highest latency, and that latency. */
  worst: number | null;
  worst_latency: number | null;
  changes: number;
  reports: number;
  /** Relative to the base of the answer. */
  last_seen: number;
  source_name: string | null;
  destination_name: string | null;
}

interface Found {
  found: number;
  known: number;
  base: string;
  columns: Columns;
}

const SORTS: Record<string, string> = { worst: "longest hop", latency: "sum of hops", reports: "reports", changes: "path changes", "last-seen": "latest report", "first-seen": "latest start" };

/** The collector counts no more changes of a path. */
const MOST_CHANGES = 7;

/** Flows that are shown first, and after "Show 500". */
const [FEW, MANY] = [100, 500];

export function Flows() {
  const filter = param("q");
  const sort = param("sort") in SORTS ? param("sort") : "worst";
  const question = `flows/search?limit=${param("many") ? MANY : FEW}&sort=${sort}&filter=${encodeURIComponent(filter)}`;
  const flows = useAsk<Found>(question, (signal) => ask(question, { signal }), range().isLive ? 2_000 : undefined);
  // An error in the filter is shown below it.
  const wrong = flows.error?.status === 400 ? flows.error.message : "";
  if (wrong) isReady.value = true;
  const rows = flows.data ? rowsOf<FlowRow>(flows.data.columns) : [];
  return (
    <>
      <h1>Flows</h1>
      <OnlyPresent what="Flows" />
      <FilterField text={filter} wrong={wrong} examples={examples(rows)} />
      <label class="sort">
        Sort by{" "}
        <select value={sort} onChange={(event) => set({ sort: event.currentTarget.value })}>
          {Object.entries(SORTS).map(([key, name]) => (
            <option key={key} value={key}>{name}</option>
          ))}
        </select>
      </label>
      {(!wrong || flows.data) && <Answer asked={wrong ? { ...flows, error: undefined } : flows}>{(found) => <List found={found} rows={rows} sort={SORTS[sort]!} />}</Answer>}
      {rows.length < (flows.data?.found ?? 0) && !param("many") && <p><button onClick={() => set({ many: "1" })}>Show {MANY}</button></p>}
    </>
  );
}

const examples = ([first]: FlowRow[]) => {
  const hop = first?.path[1] ?? first?.path[0];
  return [first && `source = ${first.source}`, hop !== undefined && `node = ${hop}`, "latency > 1ms", "protocol = tcp"].filter(Boolean) as string[];
};

function List({ found: { found, known, base }, rows, sort }: { found: Found; rows: FlowRow[]; sort: string }) {
  useCopy(() => rows.map((flow) => `${flowText(flow)}  ${flow.path.map(node).join(" ")}  ${duration(flow.latency)}`).join("\n"));
  if (!known && totals.value?.received) return <Empty>No flow was reported lately. <a href={href("/reports")}>Received reports</a></Empty>;
  if (!known) return <Empty>No flows reported yet. Nodes report only watched flows: see “watch” in node.toml.</Empty>;
  if (!found) {
    return (
      <Empty>
        No match among {plural(known, "flow")}. <button onClick={() => set({ q: undefined })}>Show all</button>
      </Empty>
    );
  }
  const longest = Math.max(1, ...rows.map((flow) => flow.worst_latency ?? 0));
  const caption = `${count(rows.length)} of ${found < known ? `${plural(found, "matching flow")} (${count(known)} in total)` : plural(found, "flow")}, by ${sort}`;
  return <Table caption={caption} columns={columns(longest, BigInt(base)).filter(({ name }) => name !== "Hosts" || rows.some((flow) => flow.source_name || flow.destination_name))} rows={rows} open={(flow) => href("/flow/" + flow.id)} />;
}

function columns(longest: number, base: bigint): Column<FlowRow>[] {
  const named = (flow: FlowRow) => [flow.source_name, flow.destination_name].filter(Boolean).map((name) => shown(name, 40)).join(" > ");
  return [
    { name: "Flow", cell: (flow) => <FlowLink flow={flow} id={flow.id} /> },
    { name: "Hosts", cell: (flow) => named(flow) || UNKNOWN },
    { name: "Path", cell: (flow) => <><Path hops={flow.path.map((node_id) => ({ node_id }))} />{flow.path.length > 0 && !flow.complete && <span class="muted" title="hops are missing"> …</span>}</> },
    { name: "Sum of hops", isNumber: true, cell: (flow) => duration(flow.latency) },
    {
      name: "Longest hop",
      isNumber: true,
      cell: ({ path, worst, worst_latency: most }) => (
        <span class="barred">
          <meter aria-hidden="true" min={0} max={longest} value={most ?? 0} />
          {duration(most)} {worst !== null && path[worst] !== undefined && `at ${node(path[worst])}`}
        </span>
      ),
    },
    { name: "Path changes", isNumber: true, cell: (flow) => count(flow.changes) + (flow.changes < MOST_CHANGES ? "" : " or more") },
    { name: "Reports", isNumber: true, cell: (flow) => count(flow.reports) },
    { name: "Last seen", cell: (flow) => <Time at={base + BigInt(flow.last_seen)} /> },
  ];
}
