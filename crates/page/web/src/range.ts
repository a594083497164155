// The displayed time range: `live=5m`, or `at=NS&span=20ms`, never both.

import { computed, signal } from "@preact/signals";
import { address, set } from "./address";
import { ahead, now } from "./api";
import { MINUTE, type Nanos, SECOND, parseSpan, writeSpan } from "./time";

export interface Range {
  isLive: boolean;
  from: Nanos;
  to: Nanos;
  span: Nanos;
}

const DEFAULT_SPAN = 15n * MINUTE;
/** The spans of time that can be shown, nanoseconds. */
const [LEAST_SPAN, MOST_SPAN] = [1_000n, 366n * 24n * 60n * MINUTE];

const inLimits = (span: Nanos) => (span < LEAST_SPAN ? LEAST_SPAN : span > MOST_SPAN ? MOST_SPAN : span);

/** Rises once a second, so that live data is fetched again. */
export const tick = signal(0);
setInterval(() => {
  if (!document.hidden) tick.value += 1;
}, 1_000);

/** Rises every five seconds, so that ages grow. */
export const pulse = computed(() => Math.floor(tick.value / 5));

export function range(): Range {
  const { params } = address.value;
  const at = params.get("at");
  if (at && /^\d{1,19}$/.test(at)) {
    const span = inLimits(parseSpan(params.get("span") ?? "") ?? MINUTE);
    const middle = BigInt(at);
    return { isLive: false, from: middle - span / 2n, to: middle + span / 2n, span };
  }
  const span = inLimits(parseSpan(params.get("live") ?? "") ?? DEFAULT_SPAN);
  const to = now();
  return { isLive: true, from: to - span, to, span };
}

/** Reports of a time may still arrive and be stored until this long after it. */
const SETTLING = 10n * SECOND;

/**
 * The time range as the key of a request, and the interval of requests in milliseconds while its answer can change.
 * An answer for another time, because the collector's was not known yet, is of another key.
 */
export function timeAsked(every = 5_000): [string, number | undefined] {
  const { isLive, from, to, span } = range();
  return isLive ? [`live ${span} ${ahead.value}`, every] : [`${from} ${to}`, to + SETTLING > now() ? every : undefined];
}

/** The parameters of an address with this time range. */
export const around = (at: Nanos, span: Nanos) => ({ at: at.toString(), span: writeSpan(span), live: undefined });

export function freeze() {
  const { isLive, to, span } = range();
  isLive ? set(around(to - span / 2n, span)) : set({ live: writeSpan(span), at: undefined, span: undefined });
}

/** The address with the time frozen, so that it shows the same tomorrow. */
export function frozenAddress(): string {
  const { isLive, to, span } = range();
  const url = new URL(location.href);
  if (isLive) {
    url.searchParams.delete("live");
    url.searchParams.set("at", (to - span / 2n).toString());
    url.searchParams.set("span", writeSpan(span));
  }
  return url.href;
}

/** Whether the next time range would be in the future. */
export const isLatest = () => range().isLive || range().to >= now();

/** Moves by `spans` spans, not into the future; freezes a live view. */
export function step(spans: number) {
  if (spans > 0 && isLatest()) return;
  const { from, to, span } = range();
  set(around((from + to) / 2n + BigInt(spans) * span, span));
}

/** Shows `span`; a live view keeps its end. */
export function show(span: Nanos) {
  const { isLive, from, to } = range();
  set(isLive ? { live: writeSpan(span) } : around((from + to) / 2n, span));
}

/** Zooms around the middle: above 1 in, below 1 out. */
export function zoom(by: number) {
  const { from, to, span } = range();
  set(around((from + to) / 2n, inLimits(BigInt(Math.round(Number(span) / by)))));
}

export const SPANS = ["1m", "5m", "15m", "1h", "6h", "1d", "7d"];
