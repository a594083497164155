// The filter of flows: conditions joined by `and`, such as `source = 10.0.1.0/24 and latency > 1ms`.

import { nodes } from "./names";
import { parseSpan } from "./time";
import type { FlowRow } from "./views/flows";

export interface Filter {
  matches: (flow: FlowRow) => boolean;
  /** What is wrong with the text, and at which character. */
  error?: { message: string; at: number };
}

const PROTOCOLS: Record<string, number> = { icmp: 1, tcp: 6, udp: 17, sctp: 132 };

type Test = (flow: FlowRow, is: (value: number | bigint | null) => boolean, text: string) => boolean;

interface Field {
  about: string;
  /** Reads the value; `undefined` where it is none. */
  read: (text: string) => number | bigint | string | undefined;
  test: Test;
}

const integer = (text: string) => (/^\d{1,15}$/.test(text) ? Number(text) : undefined);
const host = (end: "source" | "destination"): Field => ({
  about: `address, prefix or name of the ${end}`,
  read: (text) => text,
  test: (flow, _is, text) => isWithin(flow.flow[end], text) || flow[`${end}_name`]?.toLowerCase() === text.toLowerCase(),
});
const latency: Field = {
  about: "longest hop, such as 1ms",
  read: (text) => parseSpan(text) ?? integer(text),
  test: (flow, is) => flow.hop_latency.some((value) => value !== null && is(value)),
};

export const FIELDS: Record<string, Field> = {
  source: host("source"),
  destination: host("destination"),
  host: {
    about: "address, prefix or name of either end",
    read: (text) => text,
    test: (flow, is, text) => host("source").test(flow, is, text) || host("destination").test(flow, is, text),
  },
  port: { about: "source or destination port", read: integer, test: (flow, is) => is(flow.flow.source_port) || is(flow.flow.destination_port) },
  protocol: { about: "tcp, udp or a number", read: (text) => PROTOCOLS[text.toLowerCase()] ?? integer(text), test: (flow, is) => is(flow.flow.protocol) },
  node: {
    about: "a node of the path, by name or id",
    read: (text) => [...nodes.value].find(([, name]) => name === text)?.[0] ?? integer(text),
    test: (flow, is) => flow.path?.some((hop) => is(hop.node_id)) ?? false,
  },
  latency,
  hops: { about: "length of the path", read: integer, test: (flow, is) => flow.path !== null && is(flow.path.length) },
  reports: { about: "individual reports", read: integer, test: (flow, is) => is(flow.reports) },
};

const OPERATORS = ["!=", ">=", "<=", "=", ">", "<"];

export function parseFilter(text: string): Filter {
  const tests: ((flow: FlowRow) => boolean)[] = [];
  let at = 0;
  for (const part of text.split(/\band\b/i)) {
    const lead = part.length - part.trimStart().length;
    const found = condition(part.trim());
    if (typeof found === "string") return { matches: () => true, error: { message: found, at: at + lead } };
    if (found) tests.push(found);
    at += part.length + 3;
  }
  return { matches: (flow) => tests.every((test) => test(flow)) };
}

function condition(text: string): ((flow: FlowRow) => boolean) | string | undefined {
  if (!text) return undefined;
  const found = /^([a-z]+)\s*(!=|>=|<=|=|>|<)\s*(\S+)$/i.exec(text);
  if (!found) return `“${text}” is no condition such as node = leaf1; fields are ${Object.keys(FIELDS).join(", ")}`;
  const [, name, operator, written] = found as unknown as [string, string, string, string];
  const field = FIELDS[name.toLowerCase()];
  if (!field) return `no field is called ${name}; there are ${Object.keys(FIELDS).join(", ")}`;
  const value = field.read(written);
  if (value === undefined) return `${written} is no ${field.about}`;
  if (operator === "!=") return (flow) => !field.test(flow, (other) => other !== null && Number(other) === Number(value), written);
  const compare = (other: number | bigint | null) => {
    if (other === null) return false;
    const [a, b] = [Number(other), Number(value)];
    return operator === "=" ? a === b : operator === ">" ? a > b : operator === "<" ? a < b : operator === ">=" ? a >= b : a <= b;
  };
  return (flow) => field.test(flow, compare, written);
}

/** What may follow the text up to the caret. */
export function complete(text: string): { text: string; about: string }[] {
  const part = text.split(/\band\b\s*/i).at(-1)!.trimStart();
  const done = text.slice(0, text.length - part.length);
  const spaced = done && !done.endsWith(" ") ? done + " " : done;
  if (/^[a-z]*$/i.test(part)) {
    return Object.entries(FIELDS).filter(([name]) => name.startsWith(part.toLowerCase())).map(([name, { about }]) => ({ text: `${spaced}${name} `, about }));
  }
  const field = /^([a-z]+)\s*(\S*)$/i.exec(part);
  if (field && OPERATORS.every((operator) => !part.includes(operator))) {
    return OPERATORS.map((operator) => ({ text: `${spaced}${field[1]} ${operator} `, about: "" }));
  }
  const value = /^(node|protocol)\s*(=|!=)\s*(\S*)$/i.exec(part);
  if (value) {
    const values = value[1]!.toLowerCase() === "node" ? [...nodes.value.values()] : Object.keys(PROTOCOLS);
    return values.filter((name) => name.startsWith(value[3]!)).slice(0, 12).map((name) => ({ text: `${spaced}${value[1]} ${value[2]} ${name} `, about: "" }));
  }
  return part.endsWith(" ") ? [{ text: text + "and ", about: "another condition" }] : [];
}

function isWithin(address: string, text: string): boolean {
  const [prefix = "", length] = text.split("/");
  if (length === undefined) return address === prefix;
  const [a, b] = [bits(address), bits(prefix)];
  const kept = Number(length);
  return a !== undefined && b !== undefined && a.length === b.length && a.slice(0, kept) === b.slice(0, kept);
}

/** An address as a text of its bits. */
function bits(address: string): string | undefined {
  const binary = (value: number, width: number) => value.toString(2).padStart(width, "0");
  if (/^\d+(\.\d+){3}$/.test(address)) return address.split(".").map((part) => binary(Number(part), 8)).join("");
  if (!address.includes(":")) return undefined;
  const [head = "", tail] = address.split("::");
  const groups = (part: string | undefined) => (part ? part.split(":") : []);
  const missing = 8 - groups(head).length - groups(tail).length;
  const all = [...groups(head), ...Array(tail === undefined ? 0 : Math.max(0, missing)).fill("0"), ...groups(tail)];
  return all.length === 8 ? all.map((group) => binary(parseInt(group || "0", 16), 16)).join("") : undefined;
}
