// Silences of events: created with a preview, listed and removed.

import type { RefObject } from "preact";
import { useState } from "preact/hooks";
import { ask, now } from "../api";
import { useAsk } from "../ask";
import { MINUTE, exact } from "../time";
import { count, plural, shown } from "../units";
import { Answer } from "./answer";
import { useKeys } from "./copy";
import { useFocus } from "./focus";
import { Table } from "./table";

const HOUR = 60n * MINUTE;
const ENDS: [string, bigint | undefined][] = [["1 hour", HOUR], ["8 hours", 8n * HOUR], ["1 day", 24n * HOUR], ["7 days", 168n * HOUR], ["unlimited time", undefined]];

/** Most past events in one answer of the collector. */
const MOST_PAST = 4_096;

const post = (silence: object) => ask("silences", { method: "POST", body: JSON.stringify(silence, (_, value) => (typeof value === "bigint" ? Number(value) : value)), headers: { "content-type": "application/json" } });

/** Creates a silence for events like this one. */
export function Silence({ event, done }: { event: any; done: () => void }) {
  const [isOpen, setOpen] = useState(false);
  const [said, setSaid] = useState("");
  const focus = useFocus<any>(said ? "done" : isOpen ? "open" : "closed");
  useKeys({ s: () => setOpen(true) });
  if (said) return <p class="notice" role="status" ref={focus} tabIndex={-1}>{said}</p>;
  if (!isOpen) return <button ref={focus} onClick={() => setOpen(true)} title="s">Silence</button>;
  const close = () => setOpen(false);
  return <Form event={event} first={focus} close={close} done={(text) => (setSaid(text), done())} />;
}

interface FormProps {
  event: any;
  /** Its first field. */
  first: RefObject<any>;
  close: () => void;
  done: (said: string) => void;
}

function Form({ event, first, close, done }: FormProps) {
  const [key, setKey] = useState<string>(event.key);
  const [isKind, setIsKind] = useState(true);
  const [end, setEnd] = useState(0);
  const [comment, setComment] = useState("");
  const [problem, setProblem] = useState("");
  const day = useAsk<any[]>(`silence ${event.id}`, (signal) => ask(`events?limit=10000&from=${now() - 24n * HOUR}&to=${now()}`, { signal }));
  const isHidden = (other: any) => (!isKind || other.event === event.event) && other.key.includes(key);
  const events = day.data ?? [];
  const isCut = events.filter(({ phase }) => phase !== "begin").length >= MOST_PAST;
  const all = plural(events.length, "event");
  const hidden = `Would have hidden ${count(events.filter(isHidden).length)} of `;
  const preview = hidden + (isCut ? `the latest ${all}.` : `${all} of the last day.`);
  const send = async (submitted: globalThis.Event) => {
    submitted.preventDefault();
    const length = ENDS[end]![1];
    // Whole seconds: exact as a JavaScript number, too, to a quarter of a microsecond.
    const until = length === undefined ? {} : { until: ((now() + length) / 1_000_000_000n) * 1_000_000_000n };
    try {
      await post({ ...(isKind ? { kind: event.event } : {}), key, ...until, ...(comment ? { comment } : {}) });
      done(`Silenced for ${ENDS[end]![0]}. Remove it in the list under Events.`);
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  return (
    <form class="silence" aria-label="Silence" onSubmit={send}>
      <label>
        <input
          ref={first}
          type="checkbox"
          checked={isKind}
          onChange={(changed) => setIsKind(changed.currentTarget.checked)}
        />{" "}
        only kind {event.event}
      </label>
      <label>
        whose key contains <input value={key} onInput={(typed) => setKey(typed.currentTarget.value)} />
      </label>
      <label>
        for{" "}
        <select value={String(end)} onChange={(changed) => setEnd(Number(changed.currentTarget.value))}>
          {ENDS.map(([name], at) => (
            <option key={name} value={String(at)}>{name}</option>
          ))}
        </select>
      </label>
      <label>
        reason <input value={comment} onInput={(typed) => setComment(typed.currentTarget.value)} />
      </label>
      <p role="status">
        {day.data ? preview : "Counting affected events …"}
      </p>
      <span>
        <button>Silence</button> <button type="button" onClick={close}>Cancel</button>
      </span>
      {problem && <span class="bad" role="alert">{shown(problem)}</span>}
    </form>
  );
}

/** The silences in force. */
export function Silences() {
  const asked = useAsk<any[]>("silences", (signal) => ask("silences", { signal }), 10_000);
  const [problem, setProblem] = useState("");
  const remove = async (number: number) => {
    try {
      await ask(`silences/${number}`, { method: "DELETE" });
      setProblem("");
    } catch (error) {
      setProblem((error as Error).message);
    }
    asked.again();
  };
  const caption = "Active silences (no notifications for these events)";
  const keyOf = ({ number }: any) => String(number);
  return (
    <Answer asked={asked}>
      {(all) => (
        <>
          {problem && <p class="bad" role="alert">{shown(problem)}</p>}
          {all.length > 0 && (
            <Table caption={caption} rows={all} keyOf={keyOf} columns={[
              { name: "Kind", cell: ({ silence }) => shown(silence.kind ?? "all kinds") },
              { name: "Key contains", cell: ({ silence }) => shown(silence.key ?? "any text") },
              { name: "Until", cell: ({ silence }) => (silence.until ? exact(BigInt(silence.until)) : "removed") },
              { name: "Reason", cell: ({ silence }) => shown(silence.comment ?? "none") },
              { name: "Remove", cell: ({ number, silence }) => <button onClick={() => void remove(number)} aria-label={`Remove the silence for ${shown(silence.kind ?? "all kinds")}`}>Remove</button> },
            ]} />
          )}
        </>
      )}
    </Answer>
  );
}
