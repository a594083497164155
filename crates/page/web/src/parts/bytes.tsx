// Bytes beside their fields: each highlights the other.

import { useEffect, useState } from "preact/hooks";
import { useCopy } from "./copy";
import { Table } from "./table";
import { UNKNOWN, count, plural, shown } from "../units";

/** The collector's decoding of some bytes: fields in columns. */
export interface Decoded {
  hex: string;
  fields: Record<string, any[]>;
  error: { at: number; error: string } | null;
  left_out: number;
}

interface Field {
  depth: number;
  name: string;
  value: string | null;
  meaning: string | null;
  /** Its first bit, counted from the first byte. */
  first: number;
  bits: number;
  requirement: string | null;
}

/** Most bytes that are drawn; all fields are listed. */
const MAX_SHOWN = 4_096;

function fieldsOf({ fields }: Decoded): Field[] {
  const all = (name: string) => fields[name] ?? [];
  return all("name").map((name, at) => ({
    depth: Number(all("depth")[at]),
    name,
    value: all("value")[at],
    meaning: all("meaning")[at],
    first: Number(all("at")[at]) * 8 + Number(all("bit")[at]),
    bits: Number(all("bits")[at]),
    requirement: all("requirement")[at],
  }));
}

const bytesOf = ({ first, bits }: Field): [number, number] => [Math.floor(first / 8), Math.ceil((first + bits) / 8)];

/** `4`, `4 to 7`, or `11, bits 2 to 3`. */
function place(field: Field): string {
  const [from, end] = bytesOf(field);
  if (field.bits === 0) return String(from);
  if (field.first % 8 === 0 && field.bits % 8 === 0) return end - from === 1 ? String(from) : `${from} to ${end - 1}`;
  const bit = field.first % 8;
  return `${from}, ${field.bits === 1 ? `bit ${bit}` : `bits ${bit} to ${bit + field.bits - 1}`}`;
}

const line = ({ depth, name, value, meaning }: Field) => `${"  ".repeat(depth)}${name}${value === null ? "" : " " + value}${meaning === null ? "" : ` (${shown(meaning, 600)})`}`;

/** Bytes and fields; `length` is the datagram's, of which `decoded` may hold only the beginning. */
export function Bytes({ decoded, length }: { decoded: Decoded; length?: number }) {
  const fields = fieldsOf(decoded);
  const [chosen, choose] = useState(-1);
  useEffect(() => choose(-1), [decoded.hex]);
  const kept = decoded.hex.length / 2;
  const { error } = decoded;
  useCopy(() => [...(chosen < 0 ? fields : [fields[chosen]!]).map(line), ...(error ? [`byte ${error.at}: ${error.error}`] : []), decoded.hex].join("\n"));
  const focus = (at: number) => document.querySelectorAll<HTMLElement>(".bytes tr[data-row]")[at]?.focus();
  const onKey = (event: KeyboardEvent) => {
    const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (!by) return;
    event.preventDefault();
    focus(Math.max(0, Math.min(fields.length - 1, chosen + by)));
  };
  // The innermost field with the byte.
  const find = (byte: number) => focus(fields.findLastIndex((field) => bytesOf(field)[0] <= byte && byte < bytesOf(field)[1]));
  const more = decoded.left_out ? `, ${count(decoded.left_out)} more not shown` : "";
  const caption = `${plural(fields.length, "field")}${more}; arrow keys move between them`;
  const onFocus = (field: Field) => choose(fields.indexOf(field));
  const isChosen = (field: Field) => fields[chosen] === field;
  return (
    <>
      {error && (
        <p class="notice" role="note">
          <span class="bad">Byte {count(error.at)}: {shown(error.error, 600)}.</span> {fields.length ? "The fields before it are below." : "No field before it could be read."}
        </p>
      )}
      {length !== undefined && length > kept && <p class="muted">Only the first {count(kept)} of {plural(length, "byte")} are kept as evidence.</p>}
      <div class="bytes" onKeyDown={onKey}>
        <Table caption={caption} rows={fields} onFocus={onFocus} isChosen={isChosen} columns={[
          { name: "Field", cell: (field) => <span class={`deep${Math.min(field.depth, 4)}`}>{shown(field.name)}</span> },
          { name: "Value", cell: (field) => <span class="mono">{field.value ?? (field.depth ? UNKNOWN : "")}</span> },
          { name: "Meaning", cell: (field) => (field.meaning === null ? "" : shown(field.meaning, 600)) },
          { name: "Byte", cell: place },
          { name: "Requirement", cell: (field) => (field.requirement ? <code>{field.requirement}</code> : "") },
        ]} />
        <Grid hex={decoded.hex} chosen={fields[chosen]} fault={error?.at} find={find} />
      </div>
    </>
  );
}

/** The bytes, 16 per row. */
function Grid({ hex, chosen, fault, find }: { hex: string; chosen: Field | undefined; fault: number | undefined; find: (byte: number) => void }) {
  const [from, end] = chosen ? bytesOf(chosen) : [0, 0];
  const size = Math.min(hex.length / 2, MAX_SHOWN);
  const rows = Array.from({ length: Math.ceil(size / 16) }, (_, row) => row * 16);
  const onClick = (event: MouseEvent) => {
    const byte = (event.target as HTMLElement).dataset?.byte;
    if (byte) find(Number(byte));
  };
  return (
    <div class="scroll hex" role="region" aria-label={`${plural(hex.length / 2, "byte")} in hexadecimal`} tabIndex={0} onClick={onClick}>
      {rows.map((start) => (
        <div key={start}>
          <span class="muted">{start.toString(16).padStart(4, "0")}</span>
          {Array.from({ length: Math.min(16, size - start) }, (_, at) => start + at).map((at) => (
            <span key={at} data-byte={at} class={at >= from && at < end ? "on" : at === fault ? "fault" : undefined}>
              {" " + hex.slice(2 * at, 2 * at + 2)}
            </span>
          ))}
        </div>
      ))}
      {hex.length / 2 > size && <div class="muted">and {plural(hex.length / 2 - size, "more byte")}</div>}
    </div>
  );
}
