// One report: its bytes beside its fields, and its hops from the history.

import { href, param } from "../address";
import { type Refusal, ask, sql } from "../api";
import { useAsk } from "../ask";
import { node as name } from "../names";
import { Answer, Empty } from "../parts/answer";
import { Bytes } from "../parts/bytes";
import { Table } from "../parts/table";
import { Facts, Time } from "../parts/words";
import { SECOND, exact } from "../time";
import { UNKNOWN, bytes, plural, shown } from "../units";

const isNumber = (text: string) => /^\d{1,10}$/.test(text);
const isMissing = (error: Refusal) => [400, 404].includes(error.status);

export function Report({ node, hw, sequence }: { node: string; hw: string; sequence: string }) {
  const at = /^\d{1,19}$/.test(param("at")) ? BigInt(param("at")) : undefined;
  const when = at ? `AND time >= ${at - SECOND} AND time <= ${at + SECOND}` : "";
  const isNamed = [node, hw, sequence].every(isNumber);
  const text = `SELECT * FROM observations WHERE reporter = ${node} AND hw_id = ${hw} AND sequence = ${sequence} ${when} ORDER BY time, report_index, hop_index LIMIT 500`;
  const key = `${node} ${hw} ${sequence} ${when}`;
  const kept = useAsk<any>("report " + key, (signal) => {
    const asked = ask(`reports/${encodeURIComponent(node)}/${encodeURIComponent(hw)}/${encodeURIComponent(sequence)}${at ? "?at=" + at : ""}`, { signal });
    return asked.catch((error: Refusal) => (isMissing(error) ? null : Promise.reject(error)));
  });
  // Without a store only the bytes are available.
  const hops = useAsk<Record<string, any>[]>("hops of " + key, (signal) => (isNamed ? sql(text, signal).catch((error: Refusal) => (error.status === 503 ? [] : Promise.reject(error))) : Promise.resolve([])));
  return (
    <>
      <h1>Report {shown(sequence)} of {isNumber(node) ? name(Number(node)) : shown(node)}, hw_id {shown(hw)}</h1>
      <Answer asked={kept}>{(report) => (report ? <Kept report={report} /> : <p class="notice">The raw bytes of this report were not kept: it is neither recent nor evidence of an event.</p>)}</Answer>
      <Answer asked={hops}>{(rows) => (rows.length ? <Hops rows={rows} /> : <None at={at} />)}</Answer>
    </>
  );
}

function Kept({ report }: { report: any }) {
  const { received_at, source, session, length, recent, events, decoded } = report;
  return (
    <>
      <Facts facts={[
        ["Arrived", <Time at={BigInt(received_at)} />],
        ["From", <span class="mono">{source}</span>],
        ["To", <span class="mono">{session}</span>],
        ["Length", bytes(length)],
        ["Kept as", recent ? "recent datagram" : "evidence"],
        ["Evidence of", events.length ? events.map((id: string) => <a key={id} href={href("/event/" + id)}>{id} </a>) : "no stored event"],
      ]} />
      <Bytes decoded={decoded} length={Number(length)} />
    </>
  );
}

const None = ({ at }: { at: bigint | undefined }) => (
  <Empty>
    The history has no hops of this report{at ? ` within a second of ${exact(at)}` : ""}. It may have expired, not be written yet, or contain no hop.{" "}
    <a href={href("/reports")}>Report streams</a>
  </Empty>
);

const TIMES = ["time", "ingress_timestamp", "egress_timestamp"];

function Hops({ rows }: { rows: Record<string, any>[] }) {
  const fields = Object.keys(rows[0]!);
  const write = (field: string, value: any) => {
    if (value === null) return UNKNOWN;
    if (TIMES.includes(field)) return exact(BigInt(value));
    return typeof value === "string" ? shown(value) : String(value);
  };
  const id = rows[0]!.flow_id;
  return (
    <>
      <h2>In the history</h2>
      <p>
        {plural(new Set(rows.map((row) => row.report_index)).size, "individual report")}, {plural(rows.length, "hop")}.{" "}
        {id !== null && <a href={href("/flow/" + id, { at: String(rows[0]!.time), span: "2s" })}>The packet's path</a>}{" "}
        <span class="muted">{UNKNOWN} means that the value was not available at the node, or not requested.</span>
      </p>
      <Table caption="Fields, one column per hop" rows={fields} columns={[
        { name: "Field", cell: (field) => <code>{field}</code> },
        ...rows.map((row, at) => ({ name: `${name(row.node_id)} (${row.report_index}.${row.hop_index})${rows.findIndex((other) => other.node_id === row.node_id && other.hop_index === row.hop_index && other.report_index === row.report_index) === at ? "" : ` ${at}`}`, cell: (field: string) => write(field, row[field]) })),
      ]} />
    </>
  );
}

export const reportAddress = (report: { node_id: number; hw_id: number; sequence: number; received_at: bigint | number }) =>
  href(`/report/${report.node_id}/${report.hw_id}/${report.sequence}`, { at: String(report.received_at), span: "2s" });
