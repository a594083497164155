// Live events and the ledger. Read with `fetch`, because EventSource cannot send a token.

import { signal } from "@preact/signals";
import { base } from "./address";
import { headers, isTokenWanted, now, token } from "./api";
import { parse } from "./json";
import type { Nanos } from "./time";

export interface Totals {
  [name: string]: number;
}

/** Since when the stream is interrupted; `undefined` while it runs. */
export const cutOffSince = signal<Nanos | undefined>(undefined);
export const totals = signal<Totals | undefined>(undefined);
/** Rises when events arrive, at most every two seconds. */
export const eventsHeard = signal(0);
let [heardAt, hearing] = [0, 0];

function hear() {
  hearing ||= window.setTimeout(() => {
    [heardAt, hearing] = [Date.now(), 0];
    eventsHeard.value += 1;
  }, Math.max(0, heardAt + 2_000 - Date.now()));
}

/** The totals of the latest minutes, each with its time. */
export const history: { at: number; totals: Totals }[] = [];
/** Whether nothing has arrived yet. */
export const isBeginning = signal(true);

let lastId = "";

/** Follows the stream as long as the page is open. */
export async function follow() {
  for (let pause = 500; ; ) {
    const started = Date.now();
    try {
      await read();
    } catch {
      // Shown through `cutOffSince`.
    }
    cutOffSince.value ??= now();
    pause = Date.now() - started > 5_000 ? 500 : Math.min(pause * 1.5, 3_000);
    const given = token.value;
    for (let waited = 0; waited < pause && given === token.value; waited += 100) await sleep(100);
  }
}

async function read() {
  const gone = new AbortController();
  // The collector sends something every second; a connection that is silent for long is dead.
  const patiently = <T>(answer: Promise<T>): Promise<T> => {
    const silence = setTimeout(() => gone.abort(), 20_000);
    return answer.finally(() => clearTimeout(silence));
  };
  try {
    await listen(gone.signal, patiently);
  } finally {
    gone.abort();
  }
}

async function listen(signal: AbortSignal, patiently: <T>(answer: Promise<T>) => Promise<T>) {
  const more: Record<string, string> = lastId ? { "last-event-id": lastId } : {};
  const init = { headers: { ...headers(), ...more }, signal };
  const answer = await patiently(fetch(`${base}/api/v1/stream`, init));
  if (answer.status === 401) isTokenWanted.value = true;
  if (!answer.ok || !answer.body) throw new Error(answer.statusText);
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await patiently(reader.read());
    if (done) return;
    cutOffSince.value = undefined;
    const messages = (rest + value.replace(/\r/g, "")).split("\n\n");
    rest = messages.pop() ?? "";
    messages.forEach(take);
  }
}

function take(message: string) {
  const fields = message.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trimStart()]);
  const of = (name: string) => fields.filter(([key]) => key === name).map(([, value]) => value).join("\n");
  if (of("id")) lastId = of("id");
  const name = of("event");
  if (name === "event" || name === "missed") hear();
  if (name !== "ledger") return;
  const found: Totals = parse(of("data"));
  isBeginning.value = false;
  totals.value = found;
  history.push({ at: Number(now() / 1_000_000n) / 1_000, totals: found });
  if (history.length > 900) history.shift();
}

const sleep = (ms: number) => new Promise((done) => setTimeout(done, ms));
