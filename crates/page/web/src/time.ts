// Times: nanoseconds since 1970 as BigInt, and how they are written.

import { signal } from "@preact/signals";

export type Nanos = bigint;

export const SECOND = 1_000_000_000n;
export const MINUTE = 60n * SECOND;

/** Whether times are in UTC; otherwise in the browser's zone. */
export const isUtc = signal(localStorage.getItem("inband-zone") !== "local");
isUtc.subscribe((utc) => localStorage.setItem("inband-zone", utc ? "utc" : "local"));

export const zone = () => (isUtc.value ? "UTC" : Intl.DateTimeFormat().resolvedOptions().timeZone);

const formats = new Map<string, Intl.DateTimeFormat>();
function format(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const timeZone = isUtc.value ? "UTC" : undefined;
  const key = JSON.stringify([options, timeZone]);
  let known = formats.get(key);
  if (!known) formats.set(key, (known = new Intl.DateTimeFormat("en-GB", { ...options, timeZone, hourCycle: "h23" })));
  return known;
}

const date = (time: Nanos) => new Date(Number(time / 1_000_000n));
const CLOCK = { hour: "2-digit", minute: "2-digit", second: "2-digit" } as const;
const DATE = { day: "numeric", month: "short" } as const;
const DAY = { year: "numeric", month: "2-digit", day: "2-digit" } as const;

/** `12:03:44`; with the date unless it is today. */
export function clock(time: Nanos): string {
  const text = format(CLOCK).format(date(time));
  const day = calendar(time);
  return day === calendar(BigInt(Date.now()) * 1_000_000n) ? text : `${day} ${text}`;
}

/** A mark of an axis, in seconds, with neighbours at a distance of `step`: as much as tells it from them. */
export function mark(seconds: number, step: number): string {
  const time = BigInt(Math.round(seconds * 1e6)) * 1_000n;
  if (step >= 86_400) return format(DATE).format(date(time));
  if (step >= 10_800) return format({ ...DATE, hour: "2-digit", minute: "2-digit" }).format(date(time));
  const isWhole = (many: number) => Math.abs(many - Math.round(many)) < 1e-6;
  const digits = [0, 1, 2, 3, 4, 5].find((digits) => isWhole(step * 10 ** digits)) ?? 6;
  return format(CLOCK).format(date(time)) + (digits ? "." + fraction(time).slice(0, digits) : "");
}

/** `12:03:44.123`. */
export const millis = (time: Nanos) => clock(time) + "." + fraction(time).slice(0, 3);

/** `12:03:44.123 456 789 UTC`. */
export function exact(time: Nanos): string {
  const digits = fraction(time);
  const groups = [digits.slice(0, 3), digits.slice(3, 6), digits.slice(6)].join(" ");
  return `${clock(time)}.${groups} ${zone()}`;
}

/** `2026-11-22`. */
export function calendar(time: Nanos): string {
  const parts = Object.fromEntries(format(DAY).formatToParts(date(time)).map(({ type, value }) => [type, value]));
  return `${parts.year}-${parts.month}-${parts.day}`;
}

const fraction = (time: Nanos) => (time % SECOND).toString().padStart(9, "0");

const UNITS: [string, bigint][] = [
  ["ns", 1n],
  ["us", 1_000n],
  ["ms", 1_000_000n],
  ["s", SECOND],
  ["m", MINUTE],
  ["h", 60n * MINUTE],
  ["d", 24n * 60n * MINUTE],
];

/** A span such as `20ms`, `5m`, `1h`; `undefined` if the text is none. */
export function parseSpan(text: string): Nanos | undefined {
  const found = /^(\d{1,19})(ns|us|ms|s|m|h|d)$/.exec(text);
  const unit = UNITS.find(([name]) => name === found?.[2]);
  const span = found && unit ? BigInt(found[1]!) * unit[1] : 0n;
  return span > 0n ? span : undefined;
}

export function writeSpan(span: Nanos): string {
  const [name, unit] = UNITS.findLast(([, unit]) => span % unit === 0n) ?? UNITS[0]!;
  return span / unit + name;
}

/** `2 min ago`, for a time that has passed. */
export function ago(time: Nanos, now: Nanos): string {
  const seconds = Number((now - time) / 1_000_000n) / 1_000;
  if (seconds < 1) return "now";
  if (seconds < 100) return `${Math.round(seconds)} s ago`;
  if (seconds < 6_000) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 172_800) return `${Math.round(seconds / 3_600)} h ago`;
  return `${Math.round(seconds / 86_400)} d ago`;
}
