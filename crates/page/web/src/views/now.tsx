// Now: the current state in one sentence, the incidents, and lanes over one time axis.

import { useMemo } from "preact/hooks";

import { go, href } from "../address";
import { depthOfAny } from "../about";
import { ask, now, sql } from "../api";
import { useAsk } from "../ask";
import { incidentOf, sentence } from "../kinds";
import { Answer, Empty } from "../parts/answer";
import { useCopy } from "../parts/copy";
import { type Lane, Lanes } from "../parts/lanes";
import { Severity, Time } from "../parts/words";
import { around, range, timeAsked } from "../range";
import { type Totals, eventsHeard, history, isBeginning, totals } from "../stream";
import { MINUTE, SECOND, ago, clock, exact } from "../time";
import { UNKNOWN, count, duration, plural, rate } from "../units";

interface Incident {
  key: string;
  events: any[];
  /** The most significant event. */
  main: any;
  severity: string;
}

/** Kinds that name a cause, before those that name its effects. */
const TELLING = ["silent-loss", "loop", "drop", "queue-congestion", "path-change", "report-loss", "egress-utilization"];

/** Kinds whose events may be mere information: asked for one by one, lest frequent kinds crowd them out. */
const ASKED = ["drop", "queue-congestion", "path-change", "microburst", "culprits", "sequence-reset"];

/** Kinds that last for hours and tell nothing of the traffic: a fault is told before them. */
const LASTING = ["negative-link-latency", "clock-drift", "duplicate-node-id", "unknown-node", "report-about-report", "ecmp-imbalance"];

const RANK: Record<string, number> = { critical: 3, warning: 2, info: 1 };

/** Events about the same queue, link or flow within seconds of each other, latest first. */
export function incidents(events: any[]): Incident[] {
  const groups: Incident[] = [];
  const sorted = [...events].sort((a, b) => (BigInt(b.last) > BigInt(a.last) ? 1 : -1));
  for (const event of sorted) {
    const key = incidentOf(event);
    const near = groups.find((group) => group.key === key && BigInt(group.events.at(-1).first) - BigInt(event.last) < 5n * SECOND);
    if (near) near.events.push(event);
    else groups.push({ key, events: [event], main: event, severity: event.severity });
  }
  const rank = (event: any) => RANK[event.severity] ?? 0;
  const weight = (event: any) => (TELLING.includes(event.event) ? 10 - TELLING.indexOf(event.event) : 0) + rank(event) / 10;
  for (const group of groups) {
    group.main = group.events.reduce((a, b) => (weight(b) > weight(a) ? b : a));
    group.severity = group.events.reduce((a, b) => (rank(b) > rank(a) ? b : a)).severity;
  }
  return groups;
}

/** The latest incident, in words; without one, how long there was none, as far as that is known. */
function headline(groups: Incident[], { isLive, from, end }: Found, counts: Counts | undefined): string {
  if (from >= end) return "This time range is in the future.";
  const steps = counts && balance(counts);
  const lost = steps?.length ? sum(steps.map((step) => step.lost)) : undefined;
  const total = lost ? `${plural(lost, "report")} lost` : "no reports lost";
  const losses = counts ? [lost === undefined ? "lost reports unknown" : total] : [];
  if (!groups.length) {
    if (isLive && totals.value?.received === 0 && !counts?.begun) return "No reports received yet.";
    if (counts && !isKept(counts)) return "No history of this time range.";
    const begin = counts?.begun && counts.begun > from ? counts.begun : from;
    // Without a history it is unknown since when.
    const quiet = counts ? `Quiet for ${duration(end - begin)}` : "No incidents in this time range";
    return [quiet, ...losses].join("; ") + ".";
  }
  const active = groups.filter((group) => group.events.some((event) => event.phase === "begin"));
  const isOne = (kind: string) => groups.filter((group) => group.events.some((event) => event.event === kind)).length;
  const isFault = (group: Incident) => group.severity !== "info" && !LASTING.includes(group.main.event);
  const told = active.find(isFault) ?? groups.find(isFault) ?? active[0] ?? groups.find((group) => group.severity !== "info") ?? groups[0]!;
  const subject = told.main;
  const last = BigInt(subject.last);
  const moved = isOne("path-change");
  const parts = [
    `${sentence(subject)}, ${subject.phase === "begin" ? "still active" : (subject.phase === "end" ? "ended " : "") + (isLive ? ago(last, now()) : "at " + clock(last))}`,
    ...(moved && subject.event !== "path-change" ? [plural(moved, "path") + " changed"] : []),
    ...losses,
  ];
  return parts.join("; ") + ".";
}

/** An answer knows the time range it is of. */
interface Found {
  when: string;
  isLive: boolean;
  from: bigint;
  /** The end of the time range, or the time of the answer if that is earlier. */
  end: bigint;
  events: any[];
}

/** Warnings, and the latest events of each kind that names a cause. */
async function recent(when: string, signal: AbortSignal): Promise<Found> {
  const { isLive, from, to } = range();
  const end = to < now() ? to : now();
  const which = ["severity=warning&limit=200", ...ASKED.map((kind) => `kind=${kind}&limit=100`)];
  // Where one fails, the others are of no use.
  const all = new AbortController();
  signal.addEventListener("abort", () => all.abort(), { signal: all.signal });
  const asked = which.map((text) => ask(`events?${text}&from=${from}&to=${to}`, { signal: all.signal }));
  const found: any[][] = await Promise.all(asked).finally(() => all.abort());
  const events = [...new Map(found.flat().map((event) => [event.id, event])).values()];
  return { when, isLive, from, end, events };
}

export function Now() {
  const [when, every] = timeAsked();
  const asked = useAsk("events " + when, (signal) => recent(when, signal), every, every && eventsHeard.value);
  const found = asked.data;
  const groups = incidents(found?.events ?? []);
  const counts = useCounts();
  const heard = totals.value; // `history` grows with it.
  // Numbers of one time range, and no others, are in one sentence.
  const levels = counts.data?.when === found?.when ? counts.data : undefined;
  const text = found ? headline(groups, found, levels) : "";
  useCopy(() => [text, ...groups.map(({ main }) => `${exact(BigInt(main.first))}  ${sentence(main)}`)].join("\n"));
  return (
    <>
      {!found && <h1 class="headline">{isBeginning.value ? "No reports received yet." : "Now"}</h1>}
      <Answer asked={asked}>
        {(found) => (
          <>
            <h1 class="headline">{text}</h1>
            {groups.length ? <Incidents groups={groups} /> : <Quiet found={found} counts={levels} />}
          </>
        )}
      </Answer>
      <Answer asked={counts}>{(counts) => <Lines {...counts} heard={heard} />}</Answer>
    </>
  );
}

function Quiet({ found: { from, end }, counts }: { found: Found; counts: Counts | undefined }) {
  const begins = counts?.begun ? `History begins at ${exact(counts.begun)}.` : "No history is stored yet.";
  const isUnknown = counts && !isKept(counts);
  const quiet = isUnknown ? begins : "No event in this time range points to a fault.";
  return (
    <>
      <Empty>
        {from >= end ? "It has not begun." : quiet} <a href={href("/", { live: "1d" })}>Show the last day</a>
        {!totals.value?.received && (
          <>, or send reports to this collector: <code>inband demo --report-to ADDRESS:32766</code></>
        )}.
      </Empty>
      {from < end && !isUnknown && <NotListed />}
    </>
  );
}

const NotListed = () => (
  <p class="muted">
    Not listed: new flows and small changes of latency.{" "}
    <a href={href("/events")}>All events in this time range</a>
  </p>
);

function Incidents({ groups }: { groups: Incident[] }) {
  const shown = some(groups);
  const rest = groups.filter((group) => !shown.includes(group));
  return (
    <section aria-labelledby="incidents">
      <h2 id="incidents">{plural(groups.length, "incident")}</h2>
      <ul class="incidents">
        {shown.map(({ main, events, severity }) => {
          const to = href("/event/" + main.id, around(BigInt(main.first), 20n * SECOND));
          return (
            <li key={main.id} data-row tabIndex={0} onKeyDown={(press) => press.key === "Enter" && press.target === press.currentTarget && go(to)}>
              <Severity of={severity} />
              <a href={to}>{sentence(main)}</a>
              <span class="muted">
                {main.phase === "begin" && "active, "}
                <Time at={main.last} />
              </span>
              {events.length > 1 && <span class="muted">with {kindsOf(events.filter((event) => event !== main))}</span>}
            </li>
          );
        })}
      </ul>
      <NotListed />
      {groups.length > MOST && <p><a href={href("/events")}>All events in this time range</a>: {plural(groups.length - MOST, "more incident")}, of {kindsOf(rest.map(({ main }) => main))}</p>}
    </section>
  );
}

/** Most incidents on the first page. */
const MOST = 10;

/** The latest incidents; where there are too many, as many of each kind, lest one kind crowds out the others. */
function some(groups: Incident[]): Incident[] {
  const seen: Record<string, number> = {};
  const ranked = groups.map((group, at) => ({ group, at, round: (seen[group.main.event] = (seen[group.main.event] ?? 0) + 1) }));
  const kept = ranked.sort((a, b) => a.round - b.round || a.at - b.at).slice(0, MOST);
  return kept.sort((a, b) => a.at - b.at).map(({ group }) => group);
}

const kindsOf = (events: any[]) => [...new Set(events.map((event) => event.event))].join(", ");

/** The beginning of the history, once there is one. */
let begun: bigint | undefined;

async function oldest(signal: AbortSignal): Promise<bigint | undefined> {
  const [first] = await sql("SELECT min(time) AS t FROM minutes", signal);
  return first?.t ? BigInt(first.t) : undefined;
}

interface Counts {
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
function useCounts() {
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
const isKept = ({ isLive, levels, ledger }: Counts) => isLive || levels.length > 0 || ledger.length > 0;

/** The end of the time range: live, it moves. */
const endOf = ({ isLive, to }: Counts) => (isLive && now() > to ? now() : to);

const seconds = (time: bigint | number) => Number(BigInt(time) / 1_000n) / 1e6;

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

function balance(counts: Counts): Step[] {
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

const sum = (values: number[]) => values.reduce((a, b) => a + b, 0);

/** The lanes; `history` grows with `heard`. */
function Lines(counts: Counts & { heard: Totals | undefined }) {
  const { isLive, from, levels } = counts;
  const to = endOf(counts);
  const steps = balance(counts);
  const [times, rates, losses] = [steps.map((step) => step.at), steps.map((step) => step.rate), steps.map((step) => step.lost)];
  const [latency, depth, drops] = useMemo(
    () => ["latency", "depth", "drops"].map((name) => levels.map((row) => (row[name] === null ? null : Number(row[name])))),
    [levels],
  );
  const moments = useMemo(() => levels.map((row) => seconds(row.t)), [levels]);
  const highest = (values: (number | null)[]) => values.reduce<number | null>((a, b) => (b !== null && (a === null || b > a) ? b : a), null);
  const lost = sum(losses);
  const level = (name: string, values: (number | null)[], write: (value: number) => string, colour: string): Lane => {
    const most = highest(values);
    return { name, values, write, colour, isStepped: true, summary: most === null ? `${UNKNOWN} nothing reported` : `at most ${write(most)}` };
  };
  const reports: Lane = { name: "Reports", values: rates, write: rate, colour: "--flow1", summary: rates.length ? `${isLive ? "now" : "at the end"} ${rate(rates.at(-1))}, ${count(lost)} lost` : UNKNOWN };
  const upper: Lane[] = lost ? [reports, { name: "Lost reports", values: losses, write: count, colour: "--flow2", summary: count(lost) }] : [reports];
  const lower = [
    level("Longest hop", latency!, duration, "--flow4"),
    { ...level("Deepest queue", depth!, depthOfAny, "--flow3"), isBinary: true },
    ...(highest(drops!) ? [level("Reported drops", drops!, count, "--flow2")] : []),
  ];
  const window = { from: seconds(from), to: seconds(to) };
  return (
    <section aria-label="Over time">
      <Lanes times={times} lanes={upper} {...window} isUpper={levels.length > 0} />
      {levels.length > 0 && <Lanes times={moments} lanes={lower} {...window} />}
    </section>
  );
}
