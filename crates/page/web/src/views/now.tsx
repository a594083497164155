// Now: the current state in one sentence, the incidents, and lanes over one time axis.

import { useMemo } from "preact/hooks";

import { go, href } from "../address";
import { depthOfAny } from "../about";
import { ask, now } from "../api";
import { useAsk } from "../ask";
import { type Counts, balance, endOf, isKept, seconds, silence, sum, useCounts } from "../counts";
import { incidentOf, sentence } from "../kinds";
import { Answer, Empty } from "../parts/answer";
import { useCopy } from "../parts/copy";
import { type Lane, Lanes } from "../parts/lanes";
import { LastDay, Severity, Time } from "../parts/words";
import { around, range, timeAsked } from "../range";
import { type Totals, eventsHeard, isBeginning, totals } from "../stream";
import { SECOND, ago, clock, exact } from "../time";
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
const LASTING = [
  "negative-link-latency", "clock-drift", "duplicate-node-id", "unknown-node", "report-about-report", "ecmp-imbalance", "report-loss",
];

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

/** The worst incident, in words; without one, how long there was none, as far as that is known. */
function headline(groups: Incident[], { isLive, from, end }: Found, counts: Counts | undefined): string {
  if (from >= end) return "This time range is in the future.";
  const steps = counts && balance(counts);
  const lost = steps?.length ? sum(steps.map((step) => step.lost)) : undefined;
  const total = lost ? `${plural(lost, "report")} lost` : "no reports lost";
  const silent = steps && silence(counts, steps);
  // What is lost in silence shows with the next report.
  const losses = !counts || (silent && !lost) ? [] : [lost === undefined ? "lost reports unknown" : total];
  // Without reports, neither quiet nor an incident tells how the network is.
  const ofRange = isLive ? "" : " of this time range";
  const silences = silent ? [`No reports accepted in the last ${duration(silent)}${ofRange}`] : [];
  if (!groups.length) {
    if (isLive && totals.value?.received === 0 && !counts?.begun) return "No reports received yet.";
    if (counts && !isKept(counts)) return "No history of this time range.";
    const begun = counts?.begun;
    // Without a history it is unknown since when.
    const quiet = begun ? `Quiet for ${duration(end - (begun > from ? begun : from))}` : "No incidents in this time range";
    return [silences[0] ?? quiet, ...losses].join("; ") + ".";
  }
  // The latest of the worst.
  const ranked = [...groups].sort((a, b) => RANK[b.severity]! - RANK[a.severity]!);
  const active = ranked.filter((group) => group.events.some((event) => event.phase === "begin"));
  const isFault = (group: Incident) => group.severity !== "info" && !LASTING.includes(group.main.event);
  const told = active.find(isFault) ?? ranked.find(isFault) ?? active[0] ?? ranked[0]!;
  const subject = told.main;
  const last = BigInt(subject.last);
  const moved = groups.filter((group) => group.events.some(({ event }) => event === "path-change")).length;
  const parts = [
    ...silences,
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
  const quiet = isUnknown ? begins : counts && silence(counts, balance(counts)) ? SILENT : "No event in this time range points to a fault.";
  return (
    <>
      <Empty>
        {from >= end ? "It has not begun." : quiet} <LastDay of="/" />
        {!totals.value?.received && (
          <>, or send reports to this collector: <code>inband demo --report-to ADDRESS:32766</code></>
        )}.
      </Empty>
      {from < end && !isUnknown && <NotListed />}
    </>
  );
}

const SILENT = "Check the nodes and the way to the collector.";

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
      {groups.length > MOST && <p><a href={href("/events")}>All events in this time range</a>: {plural(groups.length - MOST, "more incident")}, of {[...new Set(rest.map(({ main }) => main.event))].join(", ")}</p>}
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

/** The kinds of events, and how many of each. */
function kindsOf(events: any[]): string {
  const kinds = events.map(({ event }) => event);
  const write = (kind: string) => {
    const many = kinds.filter((other) => other === kind).length;
    return many > 1 ? `${count(many)} ${kind}` : kind;
  };
  return [...new Set(kinds)].map(write).join(", ");
}

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
