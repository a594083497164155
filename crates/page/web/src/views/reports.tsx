// Reports: what became of each, as a balance, and their streams.

import { useState } from "preact/hooks";
import { href, param, set } from "../address";
import { ask } from "../api";
import { useAsk } from "../ask";
import { node } from "../names";
import { Answer, Empty } from "../parts/answer";
import { useCopy } from "../parts/copy";
import { Decoder } from "../parts/decoder";
import { Table } from "../parts/table";
import { Facts, LastDay, OnlyPresent, Time } from "../parts/words";
import { range, timeAsked } from "../range";
import { totals } from "../stream";
import { bytes, count, permille, plural, shown } from "../units";

const PARTS: [string, string][] = [
  ["accepted", "parsed and counted"],
  ["duplicate", "already accepted earlier"],
  ["malformed", "not a valid telemetry report"],
  ["shed", "dropped by the collector: queue full"],
];

export function Reports() {
  const { isLive } = range();
  // A loss is shown at its stream as soon as the total includes it.
  const asked = useAsk<any>("ledger", (signal) => ask("ledger", { signal }), isLive ? 2_000 : undefined, isLive && totals.value?.lost);
  return (
    <>
      <h1>Reports</h1>
      <OnlyPresent what="Counts" />
      <Answer asked={asked}>{(ledger) => <Ledger ledger={ledger} />}</Answer>
      <Decoder />
      <Newest />
    </>
  );
}

function Ledger({ ledger: { total, streams, malformed, exports, refused_sources: refused } }: { ledger: any }) {
  const sum = PARTS.reduce((all, [name]) => all + total[name], 0);
  const isEven = sum === total.received;
  useCopy(() => [`${count(total.received)} received = ${PARTS.map(([name]) => `${count(total[name])} ${name}`).join(" + ")}`, `${count(total.lost)} lost`].join("\n"));
  return (
    <>
      <section class="balance-sheet" aria-label="Balance">
        <p>
          <strong>{count(total.received)}</strong> {total.received === 1 ? "datagram" : "datagrams"} received{" "}
          {PARTS.map(([name], at) => (
            <span key={name}>
              {at ? " + " : isEven ? " = " : " ≠ "}
              <strong>{count(total[name])}</strong> {name}
            </span>
          ))}
          {isEven ? "" : ` (sum ${count(sum)}: one datagram is still being counted)`}
        </p>
        <div class="balance-bar" aria-hidden="true">
          {PARTS.map(([name], at) => (total[name] ? <span key={name} class={`f${at + 1}`} style={{ flexGrow: Math.max(total[name] / total.received, 0.004) }} /> : null))}
        </div>
        <Facts facts={[
          ...PARTS.map(([name, about], at): [string, any] => [name, <><i class={`key f${at + 1}`} /> {count(total[name])}, {permille(total.received ? (1000 * total[name]) / total.received : null)}: {about}</>]),
          ["lost", <span class={total.lost ? "bad" : ""}>{count(total.lost)} sent but not received, and {plural(total.lost_unknown, "gap")} of unknown size</span>],
          ["kernel dropped", <span class={total.kernel_dropped ? "bad" : ""}>{count(total.kernel_dropped)} before the collector could read them</span>],
          ["individual reports", `${count(total.accepted_reports)} in accepted datagrams`],
          ["stored", `${plural(total.stored, "individual report")}, ${count(total.store_failed)} failed`],
          ["reordered, late", `${count(total.reordered)}, ${count(total.late)}`],
        ]} />
      </section>
      {streams.length ? <Streams streams={streams} /> : <Empty>No reports received yet. Nodes send them to the address in <code>[receive] listen</code>; <code>inband demo --report-to ADDRESS:32766</code> sends test reports.</Empty>}
      {malformed.length > 0 && (
        <Table caption="Malformed datagrams, by fault" rows={malformed as any[]} columns={[
          { name: "Header", cell: (fault) => shown(fault.header) },
          { name: "Fault", cell: (fault) => shown(fault.fault) },
          { name: "Datagrams", isNumber: true, cell: (fault) => count(fault.count) },
        ]} />
      )}
      {exports.length > 0 && (
        <Table caption="Outputs" rows={exports as any[]} columns={[
          { name: "Output", cell: (output) => shown(output.output) },
          { name: "Offered", isNumber: true, cell: (output) => count(output.offered) },
          { name: "Delivered", isNumber: true, cell: (output) => count(output.exported) },
          { name: "Failed", isNumber: true, cell: (output) => count(output.export_failed) },
          { name: "Waiting", isNumber: true, cell: (output) => count(output.waiting) },
          { name: "Problem", cell: (output) => shown(output.trouble ?? "none") },
        ]} />
      )}
      {refused.length > 0 && (
        <Table caption="Refused: addresses with too many node IDs" rows={refused as any[]} columns={[
          { name: "Address", cell: (source) => shown(source.address) },
          { name: "Latest node ID", isNumber: true, cell: (source) => source.node_id },
          { name: "Datagrams", isNumber: true, cell: (source) => count(source.datagrams) },
        ]} />
      )}
    </>
  );
}

/** Reports whose bytes are kept: the newest, and the evidence of events. */
function Newest() {
  const [when, every] = timeAsked();
  const [of, event, most] = [param("node"), param("event"), param("many") ? 200 : 20];
  const wanted = `${/^\d{1,10}$/.test(of) ? `&node=${of}` : ""}${event ? `&event=${encodeURIComponent(event)}` : ""}`;
  const time = () => (event ? "" : `&from=${range().from}&to=${range().to}`);
  const asked = useAsk<any>(`newest ${when} ${wanted} ${most}`, (signal) => ask(`reports?limit=${most}${wanted}${time()}`, { signal }), every);
  return (
    <>
      <h2>Stored raw reports</h2>
      <p class="choices">
        <label>
          Node <Field size={10} inputMode="numeric" value={of} take={(node) => set({ node })} />
        </label>
        <label>
          Evidence of event <Field size={18} value={event} take={(event) => set({ event })} />
        </label>
      </p>
      <Answer asked={asked}>{(list) => <Kept list={list} />}</Answer>
      {asked.data?.next && !param("many") && <p><button onClick={() => set({ many: "1" })}>Show 200</button></p>}
    </>
  );
}

interface FieldProps {
  value: string;
  size: number;
  inputMode?: "numeric";
  take: (typed: string) => void;
}

/** A field whose text is taken with Enter, or when it loses the focus. */
function Field({ value, take, ...rest }: FieldProps) {
  const [typed, setTyped] = useState(value);
  const [seen, setSeen] = useState(value);
  if (seen !== value) {
    setSeen(value);
    setTyped(value);
  }
  return (
    <input
      {...rest}
      placeholder="any"
      value={typed}
      onInput={(event) => setTyped(event.currentTarget.value)}
      onChange={(event) => take(event.currentTarget.value.trim())}
    />
  );
}

function Kept({ list }: { list: any }) {
  const columns = list.reports;
  const rows = (columns.time as any[]).map((time, at) => {
    const of = (name: string) => columns[name][at];
    return { time: BigInt(list.base) + BigInt(time), node: of("node"), hw_id: of("hw_id"), sequence: of("sequence"), version: of("version"), length: of("length"), source: of("source"), events: of("events"), hex: of("hex") };
  });
  const to = (row: any) => (row.node === null ? undefined : href(`/report/${row.node}/${row.hw_id}/${row.sequence}`, { at: String(row.time), span: "2s" }));
  if (!rows.length) {
    return (
      <Empty>
        No raw reports stored for this time range. Kept are the newest datagrams{list.recent_from ? <> (since <Time at={BigInt(list.recent_from)} />)</> : ""} and those that are evidence of an event. <LastDay of="/reports" />
      </Empty>
    );
  }
  const caption = `${plural(rows.length, "datagram")}${list.next ? " (there are more)" : ""}, latest first`;
  const keyOf = (row: any) => `${row.time} ${row.node} ${row.hw_id} ${row.sequence}`;
  return (
    <Table caption={caption} rows={rows} keyOf={keyOf} open={to} columns={[
      { name: "Arrived", cell: (row) => <Time at={row.time} /> },
      { name: "Report of", cell: (row) => (row.node === null ? <code title="not a report">{shown(row.hex, 48)}</code> : <a href={to(row)}>{row.node === 4294967295 ? "no node ID" : node(row.node)} {count(row.sequence)}</a>) },
      { name: "hw_id", isNumber: true, cell: (row) => (row.node === null ? "–" : row.hw_id) },
      { name: "Version", cell: (row) => (row.node === null ? "not a report" : row.version) },
      { name: "Length", isNumber: true, cell: (row) => bytes(row.length) },
      { name: "From", cell: (row) => <span class="mono">{row.source}</span> },
      { name: "Evidence of", cell: (row) => (row.events as string[]).map((id) => <a key={id} href={href("/event/" + id)}>{id} </a>) },
    ]} />
  );
}

function Streams({ streams }: { streams: any[] }) {
  const sorted = [...streams].sort((a, b) => b.lost - a.lost || a.node_id - b.node_id || a.hw_id - b.hw_id).slice(0, 200);
  const most = sorted.length < streams.length ? count(sorted.length) + " of " : "";
  const caption = `${most}${plural(streams.length, "stream")}, most lost first`;
  const keyOf = (stream: any) => `${stream.node_id} ${stream.hw_id} ${stream.session} ${stream.source ?? ""}`;
  const to = (stream: any) => href("/map", { sel: String(stream.node_id) });
  return (
    <Table caption={caption} rows={sorted} keyOf={keyOf} open={to} columns={[
      { name: "Node", cell: (stream) => <a href={to(stream)}>{stream.node_id === 4294967295 ? `no node ID, from ${shown(stream.source)}` : node(stream.node_id)}</a> },
      { name: "hw_id", isNumber: true, cell: (stream) => stream.hw_id },
      { name: "Sent to", cell: (stream) => <span class="mono">{stream.session}</span> },
      { name: "Version", cell: (stream) => stream.version },
      { name: "Accepted", isNumber: true, cell: (stream) => count(stream.accepted) },
      { name: "Lost", isNumber: true, cell: (stream) => <span class={stream.lost ? "bad" : ""}>{count(stream.lost)}</span> },
      { name: "Loss", isNumber: true, cell: (stream) => permille(stream.accepted + stream.lost ? (1000 * stream.lost) / (stream.accepted + stream.lost) : null) },
      { name: "Duplicate", isNumber: true, cell: (stream) => count(stream.duplicate) },
      { name: "Reordered", isNumber: true, cell: (stream) => count(stream.reordered) },
      { name: "Late", isNumber: true, cell: (stream) => count(stream.late) },
    ]} />
  );
}
