// Query: SQL over the history, with the result as a table or a file.

import { useRef, useState } from "preact/hooks";
import { tables } from "../about";
import { href, param, set } from "../address";
import { ask, file } from "../api";
import { useAsk } from "../ask";
import { csv, jsonl } from "../files";
import { Answer, Empty, isReady } from "../parts/answer";
import { useCopy } from "../parts/copy";
import { Table } from "../parts/table";
import { exact } from "../time";
import { UNKNOWN, count, plural, shown } from "../units";

const EXAMPLES: [string, string][] = [
  ["p99 by node and interface, worst first", "SELECT node_id, egress_interface, max(latency_p99) AS p99, max(latency_max) AS longest\nFROM minutes\nWHERE time > (unixepoch() - 900) * 1000000000\nGROUP BY 1, 2 ORDER BY p99 DESC"],
  ["latest path changes", "SELECT time, flow_id, source, destination, source_port, path\nFROM paths ORDER BY time DESC LIMIT 50"],
  ["events by kind", "SELECT kind, severity, count(*) AS events, max(time) AS latest\nFROM events GROUP BY 1, 2 ORDER BY events DESC"],
  ["flows in the queues of one node in the last ten seconds", "SELECT egress_interface, flow_id, source, destination, count(*) AS reports, max(queue_occupancy) AS deepest, max(hop_latency) AS longest\nFROM observations\nWHERE time > (unixepoch() - 10) * 1000000000 AND node_id = 1\nGROUP BY 1, 2 ORDER BY deepest DESC LIMIT 50"],
];

export function Query() {
  const text = param("sql");
  const [typed, setTyped] = useState(text || EXAMPLES[0]![1]);
  const [seen, setSeen] = useState(text);
  if (seen !== text) {
    setSeen(text);
    if (text) setTyped(text);
  }
  const [runs, setRuns] = useState(0);
  if (!text) isReady.value = true;
  const run = () => {
    set({ sql: typed.trim() || undefined });
    setRuns((old) => old + 1);
  };
  return (
    <>
      <h1>Query</h1>
      <label for="sql" class="muted">SQL over the history. Ctrl-Enter runs it.</label>
      <textarea
        id="sql"
        data-filter
        rows={Math.min(16, Math.max(5, typed.split("\n").length + 1))}
        spellcheck={false}
        value={typed}
        onInput={(event) => setTyped(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
            event.preventDefault();
            run();
          }
        }}
      />
      <p class="choices">
        <button onClick={run}>Run</button>
        <label>
          Examples{" "}
          <select value="" onChange={(event) => setTyped(EXAMPLES[Number(event.currentTarget.value)]![1])}>
            <option value="" disabled>choose one</option>
            {EXAMPLES.map(([name], at) => (
              <option key={name} value={at}>{name}</option>
            ))}
          </select>
        </label>
        <span class="muted">Tables: {tables.value.map(({ name, about, columns }, at) => <span key={name}>{at > 0 && ", "}<a title={`${about}: ${columns.join(", ")}`} href={href("/query", { sql: `SELECT * FROM ${name} ORDER BY time DESC LIMIT 20` })}>{name}</a></span>)}</span>
      </p>
      {text && <Result text={text} run={runs} />}
      {!text && <Empty>No query yet: run the example, or write your own.</Empty>}
    </>
  );
}

interface Rows {
  columns: string[];
  rows: any[][];
  damage: any[];
  took: number;
}

/** The result of the query; each `run` asks again. */
function Result({ text, run }: { text: string; run: number }) {
  const stop = useRef<AbortController>(null);
  const asked = useAsk<Rows>(`sql ${run} ${text}`, async (signal) => {
    const started = performance.now();
    const own = new AbortController();
    stop.current = own;
    const body = JSON.stringify({ sql: text });
    const found = await ask("query", { method: "POST", body, headers: { "content-type": "application/json" }, signal: AbortSignal.any([signal, own.signal]) });
    return { ...found, took: performance.now() - started };
  });
  return (
    <>
      {asked.isSlow && <p><button onClick={() => stop.current?.abort()}>Cancel</button></p>}
      {asked.error?.status === 422 && <p class="notice">The query hit a limit. Restrict the time (<code>WHERE time &gt; (unixepoch() - 600) * 1000000000</code>), select fewer columns, or query <code>minutes</code>.</p>}
      <Answer asked={asked}>{(found) => <Found found={found} />}</Answer>
    </>
  );
}

const isTime = (name: string) => /(^|_)(time|timestamp|latest|first|last)$/.test(name);
const MOST = 500;

function Found({ found: { columns, rows, damage, took } }: { found: Rows }) {
  useCopy(() => csv(columns, rows));
  const [refused, setRefused] = useState("");
  const parquet = () => {
    setRefused("");
    saveParquet(param("sql")).catch((error) => setRefused(String(error.message ?? error)));
  };
  const cell = (name: string, value: any) => {
    if (value === null) return UNKNOWN;
    if (name === "flow_id") return <a class="mono" href={href("/flow/" + value)}>{String(value)}</a>;
    if (isTime(name) && typeof value === "bigint") return <time title={String(value)}>{exact(value)}</time>;
    return shown(String(value));
  };
  if (!rows.length) return <Empty>The query returned no rows.</Empty>;
  return (
    <>
      <p class="choices">
        <button onClick={() => save("inband.csv", "text/csv", csv(columns, rows))}>Save as CSV</button>
        <button onClick={() => save("inband.jsonl", "application/jsonl", jsonl(columns, rows))}>Save as JSON Lines</button>
        <button onClick={parquet}>Save as Parquet</button>
        <span class="muted">{plural(rows.length, "row")} in {Math.round(took)} ms</span>
      </p>
      {refused && <p class="notice" role="alert">No Parquet file: {shown(refused, 600)}</p>}
      {damage.length > 0 && <p class="notice">{plural(damage.length, "part")} of the history could not be read: {shown(damage[0].file)}{damage.length > 1 && ", …"}</p>}
      <Table
        caption={`${count(Math.min(MOST, rows.length))} of ${plural(rows.length, "row")}`}
        rows={rows.slice(0, MOST)}
        onFocus={() => undefined}
        columns={columns.map((name, at) => ({ name, isNumber: typeof rows[0]![at] === "number", isLong: /^(?=.* ).{17}/.test(String(rows[0]![at])), cell: (row: any[]) => cell(name, row[at]) }))}
      />
    </>
  );
}

/** The collector runs the query again and writes the file itself. */
async function saveParquet(text: string) {
  const body = JSON.stringify({ sql: text, format: "parquet" });
  save("inband.parquet", "application/vnd.apache.parquet", await file("query", { method: "POST", body, headers: { "content-type": "application/json" } }));
}

function save(name: string, type: string, text: string | Blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
