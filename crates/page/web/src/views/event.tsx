// One event: what happened, what to check, its evidence, and what else happened at that time.

import { useState } from "preact/hooks";
import { href } from "../address";
import { ask } from "../api";
import { useAsk } from "../ask";
import { check, flowsOf, queueOf, sentence } from "../kinds";
import { node } from "../names";
import { Answer, Empty } from "../parts/answer";
import { useCopy, useKeys } from "../parts/copy";
import { useFocus } from "../parts/focus";
import { Silence } from "../parts/silence";
import { Table } from "../parts/table";
import { Facts, FlowLink, Severity, Time } from "../parts/words";
import { around } from "../range";
import { MINUTE, SECOND, exact } from "../time";
import { UNKNOWN, bytes, count, duration, permille, plural, shown } from "../units";
import { eventAddress } from "./events";
import { reportAddress } from "./report";

/** The event, or `null` if there is none. */
const find = (id: string, signal: AbortSignal): Promise<any> =>
  ask("events/" + encodeURIComponent(id), { signal }).catch((error) => ([400, 404].includes(error.status) ? null : Promise.reject(error)));

export function Event({ id }: { id: string }) {
  const asked = useAsk("event " + id, (signal) => find(id, signal), 10_000);
  return (
    <Answer asked={asked}>
      {(event) =>
        event ? (
          <Known event={event} again={asked.again} />
        ) : (
          <Empty>
            No event with ID “{shown(id, 64)}”; it may have expired. <a href={href("/events", { live: "1d" })}>Events of the last day</a>
          </Empty>
        )
      }
    </Answer>
  );
}

function Known({ event, again }: { event: any; again: () => void }) {
  const { first, last, count: rests, confidence, phase, end_reason } = event;
  useCopy(() => [sentence(event), `from ${exact(BigInt(first))}`, `to   ${exact(BigInt(last))}`, `check: ${check(event)}`, location.href].join("\n"));
  return (
    <>
      <h1>
        <Severity of={event.severity} /> {sentence(event)}
      </h1>
      <p class="check">
        <strong>Check</strong> {check(event)}
      </p>
      <Leads event={event} />
      <Acknowledge event={event} again={again} />
      <Silence event={event} done={again} />
      <Facts facts={[
        ["Kind", event.event],
        ["Subject", shown(event.title ?? event.key)],
        ["First", <Time at={first} />],
        ["Last", <Time at={last} />],
        ["State", phase === "begin" ? "active" : phase === "once" ? "one-time" : `ended: ${end_reason ?? UNKNOWN}`],
        ["Evidence", `${plural(rests, "report")}; ${confidence}`],
        ...numbers(event),
      ]} />
      <Flows event={event} />
      <Evidence event={event} />
      <Related event={event} />
    </>
  );
}

/** Where to look next. */
function Leads({ event }: { event: any }) {
  const queue = queueOf(event);
  const { from, to, egress_interface, ingress_interface } = event.detail ?? {};
  const link = event.event === "silent-loss" ? `${from}.${egress_interface ?? "*"}-${to}.${ingress_interface ?? "*"}` : undefined;
  if (!queue && !link) return null;
  const span = BigInt(event.last) - BigInt(event.first);
  // The reports of an active event are still being written to the history.
  const time = event.phase === "begin" ? { live: "1m", at: undefined, span: undefined } : around(BigInt(event.first) + span / 2n, span < SECOND ? SECOND : span > 30n * SECOND ? 60n * SECOND : (2n * span) / 1_000_000n * 1_000_000n);
  return (
    <p>
      {queue && <a href={href(queue, time)}>The queue at that time</a>} {link && <a href={href("/map", { sel: link })}>The link on the map</a>}
    </p>
  );
}

const TIMES = /latency|residence|median|deviation|duration|silent_for|^old$|^new$|bound|window/;

/** The details that only this kind has. */
function numbers(event: any): [string, string][] {
  const skipped = /^(node_id|egress_interface|ingress_interface|queue_id|phase|check|peak_occupancy)$/;
  const facts: [string, string][] = Object.entries(event.detail ?? {})
    .filter(([name, value]) => !skipped.test(name) && (typeof value !== "object" || value === null))
    .map(([name, value]) => [title(name), write(name, value)]);
  const peak = event.detail?.peak_occupancy;
  if (peak !== undefined && peak !== null) facts.push(["Peak occupancy", event.peak_bytes === undefined ? `${count(peak)} ${event.queue_unit ?? "(unit unknown)"}` : bytes(event.peak_bytes)]);
  return facts;
}

const title = (name: string) => (name[0]!.toUpperCase() + name.slice(1)).replaceAll("_", " ").replace(/ permille$/, "");

function write(name: string, value: unknown): string {
  if (value === null) return UNKNOWN;
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value !== "number" && typeof value !== "bigint") return shown(String(value)) || UNKNOWN;
  if (name.endsWith("permille")) return permille(value);
  if (name.endsWith("bytes")) return bytes(value);
  return TIMES.test(name) ? duration(value) : count(value);
}

function Flows({ event }: { event: any }) {
  const flows = flowsOf(event);
  if (!flows.length) return null;
  const time = around(BigInt(event.last), 10n * SECOND);
  return (
    <Table caption="Flows of this event" rows={flows} columns={[
      { name: "Flow", cell: ({ flow }) => <FlowLink flow={flow} params={time} /> },
      { name: "Role", cell: ({ role }) => role },
      { name: "Share", isNumber: true, cell: ({ share }) => permille(share) },
      { name: "Bytes", isNumber: true, cell: ({ bytes: size }) => bytes(size) },
    ]} />
  );
}

function Evidence({ event }: { event: any }) {
  return (
    <>
    <Table caption="Evidence: a sample of the reports" rows={event.evidence} open={reportAddress} columns={[
      { name: "Report of", cell: (report) => <a href={reportAddress(report)}>{node(report.node_id)} {count(report.sequence)}</a> },
      { name: "hw_id", isNumber: true, cell: (report) => report.hw_id },
      { name: "Sequence", isNumber: true, cell: (report) => count(report.sequence) },
      { name: "Arrived", cell: (report) => exact(BigInt(report.received_at)) },
    ]} />
      <p><a href={href("/reports", { event: event.id })}>Stored raw reports of this event</a></p>
    </>
  );
}

/** Most past events beside an event. */
const MOST_NEAR = 200;

function Related({ event }: { event: any }) {
  const [from, to] = [BigInt(event.first) - 5n * SECOND, BigInt(event.last) + 5n * SECOND];
  const capped = to - from > 10n * MINUTE ? from + 10n * MINUTE : to;
  const question = `events?limit=${MOST_NEAR}&from=${from}&to=${capped}`;
  const every = event.phase === "begin" ? 10_000 : undefined;
  const near = useAsk<any[]>(`near ${event.id} ${event.first}`, (signal) => ask(question, { signal }), every);
  return (
    <Answer asked={near}>
      {(events) => {
        const others = events.filter((other) => other.id !== event.id).sort((a, b) => (BigInt(a.first) < BigInt(b.first) ? -1 : 1));
        if (!others.length) return <Empty>No other events within five seconds.</Empty>;
        const isCut = events.filter(({ phase }) => phase !== "begin").length >= MOST_NEAR;
        const caption = [
          "Other events at that time, or within five seconds",
          ...(capped < to ? ["in its first ten minutes"] : []),
          ...(isCut ? [`the latest ${MOST_NEAR}`] : []),
        ];
        return (
          <Table caption={caption.join("; ")} rows={others} open={eventAddress} columns={[
            { name: "Offset from start", isNumber: true, cell: (other) => duration(BigInt(other.first) - BigInt(event.first)) },
            { name: "Severity", cell: (other) => <Severity of={other.severity} /> },
            { name: "Kind", cell: (other) => other.event },
            { name: "What happened", isLong: true, cell: (other) => <a href={eventAddress(other)}>{sentence(other)}</a> },
          ]} />
        );
      }}
    </Answer>
  );
}

/** Acknowledges the event. */
function Acknowledge({ event, again }: { event: any; again: () => void }) {
  const [isOpen, setOpen] = useState(false);
  const [by, setBy] = useState("");
  const [problem, setProblem] = useState("");
  const focus = useFocus<any>(event.acknowledged ? "done" : isOpen ? "open" : "closed");
  useKeys({ a: () => setOpen(true) });
  if (event.acknowledged) {
    const { by, at, comment } = event.acknowledged;
    return (
      <p class="notice" ref={focus} tabIndex={-1}>
        Acknowledged by {shown(by)} at <Time at={at} />
        {comment ? `: ${shown(comment)}` : ""}
      </p>
    );
  }
  if (!isOpen) return <p><button ref={focus} onClick={() => setOpen(true)} title="a">Acknowledge</button></p>;
  const send = async (submitted: Event_) => {
    submitted.preventDefault();
    try {
      await ask(`events/${event.id}/acknowledge`, { method: "POST", body: JSON.stringify({ by }), headers: { "content-type": "application/json" } });
      setOpen(false);
      again();
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  return (
    <form onSubmit={send} class="acknowledge">
      <label>
        Acknowledged by{" "}
        <input ref={focus} required value={by} onInput={(typed) => setBy(typed.currentTarget.value)} />
      </label>{" "}
      <button>Acknowledge</button> {problem && <span class="bad" role="alert">{shown(problem)}</span>}
    </form>
  );
}

type Event_ = globalThis.Event;
