// Requests to the API.

import { signal } from "@preact/signals";
import { base } from "./address";
import { parse } from "./json";
import { plural } from "./units";

/** Why a request has no answer, in words. */
export class Refusal extends Error {
  constructor(
    readonly asked: string,
    message: string,
    readonly status: number,
  ) {
    super(message);
  }
}

/** The token of this tab; it is in no address, and is discarded with the tab. */
export const token = signal(sessionStorage.getItem("inband-token") ?? "");
export const isTokenWanted = signal(false);
/** By how much the collector's clock is ahead of this browser's, nanoseconds. */
export const ahead = signal(0n);

/** Longest wait for an answer, milliseconds: longer than the collector works on a query. */
export const patience = { ms: 15_000 };

export function giveToken(text: string) {
  sessionStorage.setItem("inband-token", text);
  token.value = text;
  isTokenWanted.value = false;
}

export function headers(): Record<string, string> {
  return token.value ? { authorization: "Bearer " + token.value } : {};
}

/** Queries of the history are serialized, because the collector answers two at a time. */
const turns: Promise<unknown>[] = [Promise.resolve(), Promise.resolve()];
let next = 0;

export function ask(path: string, init: RequestInit = {}): Promise<any> {
  if (!/^query$|^reports|[?&](from|to)=/.test(path)) return once(path, init);
  next = 1 - next;
  const answer = turns[next]!.then(() => patiently(path, init));
  turns[next] = answer.catch(() => undefined);
  return answer;
}

/** Repeats the request while the collector is busy with others. */
async function patiently(path: string, init: RequestInit): Promise<any> {
  for (let left = 20; ; left--) {
    try {
      return await once(path, init);
    } catch (error) {
      // Only the message tells a busy collector from other reasons for 503.
      const isBusy = error instanceof Refusal && error.status === 503 && error.message.startsWith("other questions");
      if (!isBusy || left === 0 || init.signal?.aborted) throw error;
      await new Promise((done) => setTimeout(done, 150));
    }
  }
}

async function once(path: string, init: RequestInit): Promise<any> {
  if (init.signal?.aborted) throw new Refusal(path, CANCELLED, 0);
  const asked = `${init.method ?? "GET"} /api/v1/${path}`;
  let answer: Response;
  let text: string;
  try {
    const signals = [AbortSignal.timeout(patience.ms), ...(init.signal ? [init.signal] : [])];
    answer = await fetch(`${base}/api/v1/${path}`, {
      ...init,
      headers: { ...headers(), ...(init.headers as Record<string, string>) },
      signal: AbortSignal.any(signals),
    });
    noteClock(answer);
    text = await answer.text();
  } catch (error) {
    const isLate = error instanceof DOMException && error.name === "TimeoutError";
    const why = isLate ? `no answer within ${patience.ms / 1_000} s` : init.signal?.aborted ? CANCELLED : AWAY;
    throw new Refusal(asked, why, 0);
  }
  if (answer.status === 401) isTokenWanted.value = true;
  return read(asked, answer, text);
}

const CANCELLED = "the request was cancelled";
const AWAY = "the collector cannot be reached";

/** Whether the collector did not get the request, so that asking again costs it nothing. */
export const isAway = ({ message, status }: Refusal) => (status === 0 && message === AWAY) || [502, 503, 504].includes(status);

/** The JSON of an answer; a truncated one, or a proxy's error page, is refused with its status. */
function read(asked: string, answer: Response, text: string): any {
  const status = `HTTP ${answer.status} ${answer.statusText}`.trim();
  let body: any;
  try {
    body = parse(text);
  } catch {
    throw new Refusal(asked, `incomplete or invalid answer (${status}, ${plural(text.length, "character")}, not JSON)`, answer.status);
  }
  if (!answer.ok) throw new Refusal(asked, String(body?.error ?? status), answer.status);
  return body;
}

/** An answer as a file. */
export async function file(path: string, init: RequestInit): Promise<Blob> {
  const answer = await fetch(`${base}/api/v1/${path}`, { ...init, headers: { ...headers(), ...(init.headers as Record<string, string>) }, signal: AbortSignal.timeout(Math.max(60_000, patience.ms)) });
  if (answer.status === 401) isTokenWanted.value = true;
  if (!answer.ok) read(`${init.method ?? "GET"} /api/v1/${path}`, answer, await answer.text());
  return answer.blob();
}

/** The rows of an SQL query, each an object by column. */
export async function sql(text: string, signal?: AbortSignal): Promise<Record<string, any>[]> {
  const body = JSON.stringify({ sql: text });
  const init = { method: "POST", body, headers: { "content-type": "application/json" }, signal: signal ?? null };
  const { columns, rows } = await ask("query", init);
  return rows.map((row: any[]) => Object.fromEntries(columns.map((name: string, at: number) => [name, row[at]])));
}

/** The collector's time, nanoseconds since 1970. */
export const now = () => BigInt(Date.now()) * 1_000_000n + ahead.value;

/** Smaller changes of the offset mean nothing: the header has whole seconds, and answers take time. */
const JITTER = 2_000_000_000n;

function noteClock(answer: Response) {
  const said = Date.parse(answer.headers.get("date") ?? "");
  if (Number.isNaN(said)) return;
  const off = BigInt(said - Date.now()) * 1_000_000n;
  const change = off - ahead.value;
  if (change > JITTER || change < -JITTER) ahead.value = off;
}
