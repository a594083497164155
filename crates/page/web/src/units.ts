// Numbers with their units. An unknown value is a dash, never 0.

export const UNKNOWN = "–";
const THIN = "\u2009";

type Number_ = number | bigint | null | undefined;

const significant = (value: number) => (value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2));
const trimmed = (text: string) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);

/** Nanoseconds for people: `41.2 ms`. */
export function duration(nanos: Number_): string {
  if (nanos === null || nanos === undefined) return UNKNOWN;
  const value = Number(nanos);
  const size = Math.abs(value);
  const sign = value < 0 ? "−" : "";
  const scaled = (unit: number, name: string) => sign + trimmed(significant(size / unit)) + THIN + name;
  if (size < 1e3) return `${sign}${Math.round(size)}${THIN}ns`;
  if (size < 999.5e3) return scaled(1e3, "µs");
  if (size < 999.5e6) return scaled(1e6, "ms");
  if (size < 600e9) return scaled(1e9, "s");
  if (size < 7_200e9) return scaled(60e9, "min");
  return size < 172_800e9 ? scaled(3_600e9, "h") : scaled(86_400e9, "d");
}

/** `58,427`. */
export function count(value: Number_): string {
  if (value === null || value === undefined) return UNKNOWN;
  return value.toString().replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

/** Bytes for people: `511 KiB`. */
export function bytes(value: Number_): string {
  if (value === null || value === undefined) return UNKNOWN;
  const size = Number(value);
  if (size < 1024) return `${count(size)}${THIN}B`;
  const names = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
  const power = Math.min(names.length, Math.floor(Math.log2(size) / 10));
  return trimmed(significant(size / 1024 ** power)) + THIN + names[power - 1];
}

/** The depth of a queue, in the unit that is known. */
export function occupancy(value: Number_, inBytes: Number_, unit: string | null | undefined): string {
  if (value === null || value === undefined) return UNKNOWN;
  if (inBytes !== null && inBytes !== undefined) return bytes(inBytes);
  return `${count(value)}${THIN}${unit ?? "(unit unknown)"}`;
}

export const rate = (value: Number_) =>
  value === null || value === undefined ? UNKNOWN : (Math.abs(Number(value)) < 10 ? String(Number(Number(value).toPrecision(2))) : count(Math.round(Number(value)))) + "/s";

/** Thousandths as `97.3 %`; what is little is not nothing. */
export function permille(value: Number_): string {
  if (value === null || value === undefined) return UNKNOWN;
  const text = (Number(value) / 10).toFixed(1);
  return (Number(value) > 0 && text === "0.0" ? "under 0.1" : trimmed(text)) + THIN + "%";
}

/** `1 path`, `2 paths`. */
export const plural = (value: number | bigint, one: string, many = one + "s") =>
  `${count(value)} ${Number(value) === 1 ? one : many}`;

const PROTOCOLS: Record<number, string> = { 1: "icmp", 6: "tcp", 17: "udp", 47: "gre", 58: "icmp6", 132: "sctp" };
export const protocol = (number: number) => PROTOCOLS[number] ?? `protocol ${number}`;

/** External text with control and bidirectional characters made visible, cut if it is very long. */
export function shown(text: string | null | undefined, longest = 256): string {
  if (text === null || text === undefined) return UNKNOWN;
  const visible = text.replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, (mark) => {
    return "⟨U+" + mark.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0") + "⟩";
  });
  const cut = visible.length > longest ? visible.slice(0, longest) + "…" : visible;
  // What is written from right to left would turn around what is beside it, such as the arrows of a path.
  return RIGHT_TO_LEFT.test(cut) ? `\u2068${cut}\u2069` : cut;
}

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
