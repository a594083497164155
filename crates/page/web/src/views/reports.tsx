// Reports: what became of each, as a balance, and their streams.

import { href, param, set } from "../address";
import { ask } from "../api";
import { useAsk } from "../ask";
import { node } from "../names";
import { Answer, Empty } from "../parts/answer";
import { useCopy } from "../parts/copy";
import { Decoder } from "../parts/decoder";
import { Table } from "../parts/table";
import { Facts, Time } from "../parts/words";
import { range, timeAsked } from "../range";
import { totals } from "../stream";
import { bytes, count, permille, plural, shown } from "../units";

const PARTS: [string, string][] = [
  ["accepted", "understood and counted once"],
  ["duplicate", "had been accepted before"],
  ["malformed", "no telemetry report"],
  ["shed", "dropped here, as a queue was full"],
];

export function Reports() {
  // A loss is shown at its stream as soon as the total includes it.
  const asked = useAsk<any>("ledger", (signal) => ask("ledger", { signal }), 2_000, totals.value?.lost);
  return (
    <>
      <h1>Reports</h1>
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
          {isEven ? "" : ` (${count(sum)}: a datagram is between two counts)`}
        </p>
        <div class="balance-bar" aria-hidden="true">
          {PARTS.map(([name], at) => (total[name] ? <span key={name} class={`f${at + 1}`} style={{ flexGrow: Math.max(total[name] / total.received, 0.004) }} /> : null))}
        </div>
        <Facts
          facts={[
            ...PARTS.map(([name, about], at): [string, any] => [name, <><i class={`key f${at + 1}`} /> {count(total[name])}, {permille(total.received ? (1000 * total[name]) / total.received : null)}: {about}</>]),
            ["lost", <span class={total.lost ? "bad" : ""}>{count(total.lost)} sent but not received, and {plural(total.lost_unknown, "gap")} of unknown size</span>],
            ["kernel dropped", <span class={total.kernel_dropped ? "bad" : ""}>{count(total.kernel_dropped)} before this program saw them</span>],
            ["individual reports", `${count(total.accepted_reports)} in accepted datagrams`],
            ["stored", `${plural(total.stored, "individual report")}, ${count(total.store_failed)} failed`],
            ["reordered, late", `${count(total.reordered)}, ${count(total.late)}`],
          ]}
        />
      </section>
      {streams.length ? <Streams streams={streams} /> : <Empty>No report has come yet. Nodes send them to the address under <code>[receive] listen</code>; <code>inband demo --report-to ADDRESS:32766</code> sends some.</Empty>}
      {malformed.length > 0 && (
        <Table
          caption="What was wrong with datagrams that are no report"
          rows={malformed as any[]}
          keyOf={(fault) => fault.header + fault.fault}
          columns={[
            { name: "Header", cell: (fault) => shown(fault.header) },
            { name: "Fault", cell: (fault) => shown(fault.fault) },
            { name: "Datagrams", isNumber: true, cell: (fault) => count(fault.count) },
          ]}
        />
      )}
      {exports.length > 0 && (
        <Table
          caption="Outputs"
          rows={exports as any[]}
          keyOf={(output) => output.output}
          columns={[
            { name: "Output", cell: (output) => shown(output.output) },
            { name: "Offered", isNumber: true, cell: (output) => count(output.offered) },
            { name: "Delivered", isNumber: true, cell: (output) => count(output.exported) },
            { name: "Given up", isNumber: true, cell: (output) => count(output.export_failed) },
            { name: "Waiting", isNumber: true, cell: (output) => count(output.waiting) },
            { name: "Trouble", cell: (output) => shown(output.trouble ?? "none") },
          ]}
        />
      )}
      {refused.length > 0 && (
        <Table
          caption="Addresses with more node ids than one may have"
          rows={refused as any[]}
          keyOf={(source) => source.address}
          columns={[
            { name: "Address", cell: (source) => shown(source.address) },
            { name: "Latest node id", isNumber: true, cell: (source) => source.node_id },
            { name: "Datagrams", isNumber: true, cell: (source) => count(source.datagrams) },
          ]}
        />
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
      <h2>Reports whose bytes are kept</h2>
      <p class="choices">
        <label>
          Of node <input size={10} inputMode="numeric" placeholder="any" value={of} onChange={(typed) => set({ node: typed.currentTarget.value.trim() })} />
        </label>
        <label>
          Evidence of event <input size={18} placeholder="any" value={event} onChange={(typed) => set({ event: typed.currentTarget.value.trim() })} />
        </label>
      </p>
      <Answer asked={asked}>{(list) => <Kept list={list} />}</Answer>
      {asked.data?.next && !param("many") && <p><button onClick={() => set({ many: "1" })}>Show 200</button></p>}
    </>
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
        No report of this time is kept with its bytes. The newest datagrams are{list.recent_from ? <>, since <Time at={BigInt(list.recent_from)} /></> : ""}, and those that events rest on. <a href={href("/reports", { live: "1d" })}>Look at a whole day</a>
      </Empty>
    );
  }
  return (
    <Table
      caption={`${list.next ? "The latest " : ""}${plural(rows.length, "datagram")}, the latest first`}
      rows={rows}
      keyOf={(row) => `${row.time} ${row.node} ${row.hw_id} ${row.sequence}`}
      open={to}
      columns={[
        { name: "Arrived", cell: (row) => <Time at={row.time} /> },
        { name: "Report of", cell: (row) => (row.node === null ? <code title="no report">{shown(row.hex, 48)}</code> : <a href={to(row)}>{row.node === 4294967295 ? "not named" : node(row.node)} {count(row.sequence)}</a>) },
        { name: "hw_id", isNumber: true, cell: (row) => (row.node === null ? "–" : row.hw_id) },
        { name: "Version", cell: (row) => (row.node === null ? "no report" : row.version) },
        { name: "Length", isNumber: true, cell: (row) => bytes(row.length) },
        { name: "From", cell: (row) => <span class="mono">{row.source}</span> },
        { name: "Evidence of", cell: (row) => (row.events as string[]).map((id) => <a key={id} href={href("/event/" + id)}>{id} </a>) },
      ]}
    />
  );
}

function Streams({ streams }: { streams: any[] }) {
  const sorted = [...streams].sort((a, b) => b.lost - a.lost || a.node_id - b.node_id || a.hw_id - b.hw_id).slice(0, 200);
  return (
    <Table
      caption={`${sorted.length < streams.length ? count(sorted.length) + " of " : ""}${plural(streams.length, "stream")}, those that lost most first`}
      rows={sorted}
      keyOf={(stream) => `${stream.node_id} ${stream.hw_id} ${stream.session} ${stream.source ?? ""}`}
      open={(stream) => href("/map", { sel: String(stream.node_id) })}
      columns={[
        { name: "Node", cell: (stream) => <a href={href("/map", { sel: String(stream.node_id) })}>{stream.node_id === 4294967295 ? `not named, from ${shown(stream.source)}` : node(stream.node_id)}</a> },
        { name: "hw_id", isNumber: true, cell: (stream) => stream.hw_id },
        { name: "Sent to", cell: (stream) => <span class="mono">{stream.session}</span> },
        { name: "Version", cell: (stream) => stream.version },
        { name: "Accepted", isNumber: true, cell: (stream) => count(stream.accepted) },
        { name: "Lost", isNumber: true, cell: (stream) => <span class={stream.lost ? "bad" : ""}>{count(stream.lost)}</span> },
        { name: "Loss", isNumber: true, cell: (stream) => permille(stream.accepted + stream.lost ? (1000 * stream.lost) / (stream.accepted + stream.lost) : null) },
        { name: "Duplicate", isNumber: true, cell: (stream) => count(stream.duplicate) },
        { name: "Reordered", isNumber: true, cell: (stream) => count(stream.reordered) },
        { name: "Late", isNumber: true, cell: (stream) => count(stream.late) },
      ]}
    />
  );
}
