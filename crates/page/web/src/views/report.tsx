// One report, as history has it: every field of every hop, exact.

import { href, param } from "../address";
import { sql } from "../api";
import { useAsk } from "../ask";
import { node as name } from "../names";
import { Answer, Empty } from "../parts/answer";
import { useCopy } from "../parts/copy";
import { Table } from "../parts/table";
import { SECOND, exact } from "../time";
import { UNKNOWN, count, shown } from "../units";

const isNumber = (text: string) => /^\d{1,10}$/.test(text);

export function Report({ node, hw, sequence }: { node: string; hw: string; sequence: string }) {
  const at = /^\d{1,19}$/.test(param("at")) ? BigInt(param("at")) : undefined;
  const when = at ? `AND time >= ${at - SECOND} AND time <= ${at + SECOND}` : "";
  const isNamed = [node, hw, sequence].every(isNumber);
  const text = `SELECT * FROM observations WHERE reporter = ${node} AND hw_id = ${hw} AND sequence = ${sequence} ${when} ORDER BY time, report_index, hop_index LIMIT 500`;
  const asked = useAsk<Record<string, any>[]>(`report ${node} ${hw} ${sequence} ${when}`, (signal) => (isNamed ? sql(text, signal) : Promise.resolve([])));
  return (
    <>
      <h1>Report {shown(sequence)} of {isNumber(node) ? name(Number(node)) : shown(node)}, hw_id {shown(hw)}</h1>
      <Answer asked={asked}>{(rows) => (rows.length ? <Fields rows={rows} /> : <None at={at} />)}</Answer>
    </>
  );
}

const None = ({ at }: { at: bigint | undefined }) => (
  <Empty>
    History has no such report{at ? ` within a second of ${exact(at)}` : ""}. It may be older than what is kept, or it is of a kind that tells of no hop.{" "}
    <a href={href("/reports")}>Streams of reports</a>
  </Empty>
);

const TIMES = ["time", "ingress_timestamp", "egress_timestamp"];

function Fields({ rows }: { rows: Record<string, any>[] }) {
  const fields = Object.keys(rows[0]!);
  const write = (field: string, value: any) => {
    if (value === null) return UNKNOWN;
    if (TIMES.includes(field)) return exact(BigInt(value));
    return typeof value === "string" ? shown(value) : String(value);
  };
  useCopy(() => rows.map((row) => fields.map((field) => `${field} ${write(field, row[field])}`).join("\n")).join("\n\n"));
  const id = rows[0]!.flow_id;
  return (
    <>
      <p>
        {count(new Set(rows.map((row) => row.report_index)).size)} individual reports, {count(rows.length)} hops.{" "}
        {id !== null && <a href={href("/flow/" + id, { at: String(rows[0]!.time), span: "2s" })}>The packet's way</a>}{" "}
        <span class="muted">Bytes of reports are not kept; these are the fields as they were read. {UNKNOWN} means that the node said “not available”, or was not asked.</span>
      </p>
      <Table
        caption="Fields, a column for each hop"
        rows={fields}
        keyOf={(field) => field}
        columns={[
          { name: "Field", cell: (field) => <code>{field}</code> },
          ...rows.map((row, at) => ({ name: `${name(row.node_id)} (${row.report_index}.${row.hop_index})${rows.findIndex((other) => other.node_id === row.node_id && other.hop_index === row.hop_index && other.report_index === row.report_index) === at ? "" : ` ${at}`}`, cell: (field: string) => write(field, row[field]) })),
        ]}
      />
    </>
  );
}

export const reportAddress = (report: { node_id: number; hw_id: number; sequence: number; received_at: bigint | number }) =>
  href(`/report/${report.node_id}/${report.hw_id}/${report.sequence}`, { at: String(report.received_at), span: "2s" });
