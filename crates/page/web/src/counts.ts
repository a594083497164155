// What the ledger counted and how high levels were in the time range, from the history and this tab's stream.

import { now, sql } from "./api";
import { useAsk } from "./ask";
import { range, timeAsked } from "./range";
import { history } from "./stream";
import { MINUTE, SECOND } from "./time";

/** The beginning of the history, once there is one. */
let begun: bigint | undefined;

async function oldest(signal: AbortSignal): Promise<bigint | undefined> {
  const [first] = await sql("SELECT min(time) AS t FROM ledger WHERE accepted > 0", signal);
  return first?.t ? BigInt(first.t) : undefined;
}

export interface Counts {
  when: string;
  isLive: boolean;
  from: bigint;
  /** The end at the time of the answer. */
  to: bigint;
  /** The beginning of the history. */
  begun: bigint | undefined;
  levels: any[];
  ledger: any[];
}

/** The levels and the ledger of the time range, from the history. */
export function useCounts() {
  const [when, every] = timeAsked(10_000);
  return useAsk<Counts>("counts " + when, async (signal) => {
    const { isLive, from: start, to } = range();
    begun ??= await oldest(signal);
    // Before the first report there is nothing to show.
    const first = begun ?? to - MINUTE;
    const from = first > start && first < to ? first : start;
    const between = `time >= ${from} AND time < ${to}`;
    const levels =
      to - from <= 2n * MINUTE
        ? `SELECT bucket(time, ${SECOND}) AS t, max(hop_latency) AS latency, max(queue_occupancy) AS depth, sum(dropped AND hop_index = 0) AS drops FROM observations WHERE ${between} GROUP BY 1 ORDER BY 1`
        : "SELECT time AS t, max(latency_max) AS latency, max(queue_occupancy_max) AS depth, " +
          `sum(dropped) AS drops FROM minutes WHERE time >= ${from - MINUTE} AND time < ${to} ` +
          "GROUP BY 1 ORDER BY 1";
    const ledger = `SELECT time AS t, accepted, lost FROM ledger WHERE node_id IS NULL AND time >= ${from - 20n * SECOND} AND time < ${to} ORDER BY time`;
    const [found, counted] = await Promise.all([sql(levels, signal), sql(ledger, signal)]);
    return { when, isLive, from, to, begun, levels: found, ledger: counted };
  }, every);
}

/** Whether anything of that time is stored; a live view shows what comes. */
export const isKept = ({ isLive, levels, ledger }: Counts) => isLive || levels.length > 0 || ledger.length > 0;

/** The end of the time range: live, it moves. */
export const endOf = ({ isLive, to }: Counts) => (isLive && now() > to ? now() : to);

export const seconds = (time: bigint | number) => Number(BigInt(time) / 1_000n) / 1e6;

/** What the ledger counted between two of its rows: in the history, and live what this tab has heard since. */
interface Step {
  at: number;
  /** Accepted per second. */
  rate: number;
  lost: number;
}

/** The totals of the ledger's rows, which stay the same between two answers. */
const totalsOf = new WeakMap<any[], { at: number; accepted: number; lost: number }[]>();

function pastOf(ledger: any[]) {
  const known = totalsOf.get(ledger);
  if (known) return known;
  const past = ledger.map((row) => ({ at: seconds(row.t), accepted: Number(row.accepted), lost: Number(row.lost) }));
  totalsOf.set(ledger, past);
  return past;
}

export function balance(counts: Counts): Step[] {
  const { isLive, from, ledger } = counts;
  const to = endOf(counts);
  const heard = isLive ? history.map((one) => ({ at: one.at, accepted: one.totals.accepted!, lost: one.totals.lost! })) : [];
  const fromLive = heard[0]?.at ?? Infinity;
  const past = pastOf(ledger).filter((row) => row.at < fromLive);
  const all = [...past, ...heard].filter((row) => row.at >= seconds(from) - 20 && row.at <= seconds(to));
  const steps = all.slice(1).map((row, at) => ({ ...row, before: all[at]! }));
  // Totals restart with the collector.
  const counted = steps.filter(({ at, accepted, before }) => accepted >= before.accepted && at > before.at);
  return counted.map(({ at, accepted, lost, before }) => ({ at, rate: (accepted - before.accepted) / (at - before.at), lost: Math.max(0, lost - before.lost) }));
}

/** Nanoseconds to the end without an accepted report; 0 if that is less than half a minute, or unknown. */
export function silence({ from }: Counts, steps: Step[]): number {
  const heard = steps.findLast((step) => step.rate)?.at ?? seconds(from);
  const silent = (steps.at(-1)?.at ?? 0) - heard;
  return silent > 30 ? silent * 1e9 : 0;
}

export const sum = (values: number[]) => values.reduce((a, b) => a + b, 0);
