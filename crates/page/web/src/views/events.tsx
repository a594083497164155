// Events, grouped by kind and subject.

import { address, href, param, set } from "../address";
import { ask } from "../api";
import { useAsk } from "../ask";
import { KINDS, sentence } from "../kinds";
import { Answer, Empty } from "../parts/answer";
import { useCopy } from "../parts/copy";
import { Silences } from "../parts/silence";
import { Table } from "../parts/table";
import { LastDay, Severity, Time } from "../parts/words";
import { around, range, timeAsked } from "../range";
import { eventsHeard } from "../stream";
import { SECOND, exact } from "../time";
import { UNKNOWN, count, plural, shown } from "../units";

/** Most events that are shown. */
const MOST = 300;

export function Events() {
  const [when, every] = timeAsked();
  const [kind, severity] = [param("kind"), param("severity")];
  const chosen = `${KINDS.includes(kind) ? `&kind=${kind}` : ""}${["warning", "critical"].includes(severity) ? `&severity=${severity}` : ""}`;
  const events = useAsk<any[]>(`events ${when} ${chosen}`, (signal) => ask(`events?limit=${MOST + 1}&from=${range().from}&to=${range().to}${chosen}`, { signal }), every, every && eventsHeard.value);
  return (
    <>
      <h1>Events</h1>
      <Tabs />
      <div class="choices">
        <label>
          Kind{" "}
          <select data-filter value={kind} onChange={(event) => set({ kind: event.currentTarget.value || undefined })}>
            <option value="">all kinds</option>
            {KINDS.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <label>
          Severity{" "}
          <select value={severity} onChange={(event) => set({ severity: event.currentTarget.value || undefined })}>
            <option value="">all</option>
            <option value="warning">warning and critical</option>
            <option value="critical">critical</option>
          </select>
        </label>
      </div>
      <Silences />
      <Answer asked={events}>{(all) => <List all={all} isFiltered={chosen !== ""} />}</Answer>
    </>
  );
}

/** Tabs: events, or drops alone. */
export function Tabs() {
  const here = address.value.path[0];
  return (
    <nav aria-label="Events and drops" class="choices">
      {[["/events", "Events"], ["/drops", "Drops"]].map(([path, name]) => (
        <a key={path} href={href(path!)} aria-current={"/" + here === path ? "page" : undefined}>{name}</a>
      ))}
    </nav>
  );
}

function List({ all, isFiltered }: { all: any[]; isFiltered: boolean }) {
  useCopy(() => all.map((event) => `${exact(BigInt(event.first))}  ${event.severity}  ${sentence(event)}`).join("\n"));
  if (!all.length) {
    return (
      <Empty>
        {isFiltered ? "No events of this kind and severity in this time range. " : "No events in this time range. "}
        {isFiltered ? <button onClick={() => set({ kind: undefined, severity: undefined })}>Show all kinds</button> : <LastDay of="/events" />}
      </Empty>
    );
  }
  const active = all.filter((event) => event.phase === "begin").length;
  const sorted = [...all].sort((a, b) => Number(b.phase === "begin") - Number(a.phase === "begin") || (BigInt(b.last) > BigInt(a.last) ? 1 : -1));
  const caption =
    all.length > MOST ? `First ${MOST} events; choose a kind or a shorter time range to see the others` : `${plural(all.length, "event")}, ${count(active)} active`;
  return (
    <Table caption={caption} rows={sorted.slice(0, MOST)} open={eventAddress} columns={[
      { name: "Severity", cell: (event) => <Severity of={event.severity} /> },
      { name: "Kind", cell: (event) => <span class="path">{event.event}</span> },
      { name: "What happened", isLong: true, cell: (event) => <a href={eventAddress(event)}>{sentence(event)}</a> },
      { name: "First", cell: (event) => <Time at={event.first} /> },
      { name: "Last", cell: (event) => (event.phase === "begin" ? <>active, <Time at={event.last} /></> : <Time at={event.last} />) },
      { name: "Evidence", isNumber: true, cell: (event) => plural(event.count, "report") },
      { name: "Acknowledged by", cell: (event) => (event.acknowledged ? shown(event.acknowledged.by) : event.silenced ? "(silenced)" : UNKNOWN) },
    ]} />
  );
}

export const eventAddress = (event: any) => href("/event/" + event.id, around(BigInt(event.first), 20n * SECOND));
