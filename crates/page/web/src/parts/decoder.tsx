// The fields of pasted bytes, or of a capture that is chosen or dropped.

import { useState } from "preact/hooks";
import { ask } from "../api";
import { node } from "../names";
import { exact } from "../time";
import { UNKNOWN, count, plural, shown } from "../units";
import { Bytes, type Decoded } from "./bytes";
import { Table } from "./table";

/** Size limit of a capture at the collector, bytes. */
const MAX_CAPTURE = 4 << 20;
/** Reports of a capture per request. */
const PAGE = 50;

interface Found {
  decoded?: Decoded;
  capture?: any;
  file?: Blob;
  /** What the answer omits. */
  note?: string;
}

export function Decoder() {
  const [hex, setHex] = useState("");
  const [start, setStart] = useState("report");
  const [found, setFound] = useState<Found>({});
  const [problem, setProblem] = useState("");
  const [isOver, setOver] = useState(false);
  const run = async (work: () => Promise<Found>) => {
    try {
      setFound(await work());
      setProblem("");
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  const decode = (submitted: Event) => {
    submitted.preventDefault();
    const init = { method: "POST", body: JSON.stringify({ hex, start }), headers: { "content-type": "application/json" } };
    void run(async () => ({ decoded: await ask("decode", init) }));
  };
  const read = (file: File | null | undefined) => {
    if (!file) return;
    const note = file.size > MAX_CAPTURE ? `the first 4 MiB of ${shown(file.name)}` : shown(file.name);
    void run(() => page(file.slice(0, MAX_CAPTURE), 1, note));
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    read(event.dataTransfer?.files[0]);
  };
  const drag = (event: DragEvent) => {
    event.preventDefault();
    setOver(true);
  };
  return (
    <section class={`decoder${isOver ? " over" : ""}`} aria-label="Decode" onDrop={drop} onDragOver={drag} onDragLeave={() => setOver(false)}>
      <h2>Decode bytes or a capture</h2>
      <form onSubmit={decode}>
        <label>
          Hexadecimal bytes, as any tool prints them
          <textarea rows={3} spellcheck={false} value={hex} onInput={(typed) => setHex(typed.currentTarget.value)} />
        </label>
        <p class="choices">
          <label>
            Starting with{" "}
            <select value={start} onChange={(chosen) => setStart(chosen.currentTarget.value)}>
              <option value="report">a report</option>
              <option value="ethernet">an Ethernet header</option>
              <option value="ip">an IP header</option>
            </select>
          </label>
          <button disabled={!hex.trim()}>Decode</button>
          <label>
            or choose or drop a capture (pcap, pcapng) <input type="file" onChange={(chosen) => read(chosen.currentTarget.files?.[0])} />
          </label>
        </p>
      </form>
      {problem && <p class="bad" role="alert">{shown(problem, 600)}</p>}
      {found.decoded && <Bytes decoded={found.decoded} />}
      {found.capture && <Capture found={found} more={(packet) => void run(() => page(found.file!, packet, found.note!))} />}
    </section>
  );
}

async function page(file: Blob, packet: number, note: string): Promise<Found> {
  const init = { method: "POST", body: file, headers: { "content-type": "application/vnd.tcpdump.pcap" } };
  return { capture: await ask(`decode?limit=${PAGE}&packet=${packet}`, init), file, note };
}

function Capture({ found: { capture, note }, more }: { found: Found; more: (packet: number) => void }) {
  const [chosen, choose] = useState(0);
  const reports: any[] = capture.reports;
  const report = reports[Math.min(chosen, reports.length - 1)];
  const caption = `${plural(reports.length, "datagram")}; the fields of the selected one are below`;
  const onFocus = (one: any) => choose(reports.indexOf(one));
  const isChosen = (one: any) => one === report;
  return (
    <>
      <p>
        {note}: {plural(capture.packets, "packet")}, {count(capture.datagrams)} to the report port, 32766. {capture.error && <span class="bad">{shown(capture.error, 600)}</span>}
      </p>
      {report && (
        <>
          <Table caption={caption} rows={reports} onFocus={onFocus} isChosen={isChosen} columns={[
            { name: "Packet", isNumber: true, cell: (one) => count(one.packet) },
            { name: "Time", cell: (one) => (one.time === "0" ? UNKNOWN : exact(BigInt(one.time))) },
            { name: "From", cell: (one) => <span class="mono">{one.source}</span> },
            { name: "To", cell: (one) => <span class="mono">{one.destination}</span> },
            { name: "Report of", cell: (one) => (one.hw_id === null ? "not a report" : one.node_id === null ? "no node ID" : node(one.node_id)) },
            { name: "hw_id", isNumber: true, cell: (one) => one.hw_id ?? UNKNOWN },
            { name: "Sequence", isNumber: true, cell: (one) => count(one.sequence) },
            { name: "Fault", cell: (one) => (one.decoded.error ? shown(one.decoded.error.error) : "none") },
          ]} />
          <p>
            {capture.next !== null && <button onClick={() => more(capture.next)}>Next {PAGE}</button>}
          </p>
          <Bytes decoded={report.decoded} />
        </>
      )}
    </>
  );
}
