// Requests of a view. The old data stays until the new data arrives, and is marked when it is stale.

import { useEffect, useRef, useState } from "preact/hooks";
import { Refusal, isAway, token } from "./api";

export interface Asked<T> {
  data: T | undefined;
  error: Refusal | undefined;
  /** Whether `data` answers an earlier request, or could not be updated. */
  isStale: boolean;
  /** Whether the answer is slow. */
  isSlow: boolean;
  again: () => void;
}

/** Pause before a collector that is away is asked again, milliseconds. */
const AWAY_PAUSE = 3_000;

/**
 * Sends a request whenever `key` or the token changes, while the collector is away, and every `every` milliseconds if that is given.
 * A change of `news` sends one as soon as none is pending; the data does not count as stale meanwhile.
 * At most one request is pending.
 */
export function useAsk<T>(key: string, question: (signal: AbortSignal) => Promise<T>, every?: number, news?: unknown): Asked<T> {
  const [state, setState] = useState<{ key: string; data?: T; error?: Refusal }>({ key: "" });
  const [isSlow, setSlow] = useState(false);
  const [round, setRound] = useState(0);
  const latest = useRef(question);
  latest.current = question;
  const hear = useRef(() => {});
  const given = token.value;
  useEffect(() => {
    const gone = new AbortController();
    let [timer, slow] = [0, 0];
    let [isAsking, isNew] = [false, false];
    const run = async () => {
      [isAsking, isNew] = [true, false];
      slow = window.setTimeout(() => setSlow(true), 300);
      let pause = every;
      try {
        const data = await latest.current(gone.signal);
        if (!gone.signal.aborted) setState({ key, data });
      } catch (error) {
        const refusal = error instanceof Refusal ? error : new Refusal("", String(error), 0);
        if (!gone.signal.aborted) setState((old) => ({ ...old, error: refusal }));
        if (isAway(refusal)) pause = Math.min(pause ?? AWAY_PAUSE, AWAY_PAUSE);
      }
      clearTimeout(slow);
      if (gone.signal.aborted) return;
      setSlow(false);
      isAsking = false;
      if (isNew) void run();
      else if (pause) timer = window.setTimeout(run, document.hidden ? pause * 5 : pause);
    };
    hear.current = () => {
      clearTimeout(timer);
      if (isAsking) isNew = true;
      else void run();
    };
    // A tab that comes back must not show its old data as live.
    const comeBack = () => {
      if (every && !document.hidden) hear.current();
    };
    document.addEventListener("visibilitychange", comeBack);
    void run();
    return () => {
      gone.abort();
      clearTimeout(timer);
      clearTimeout(slow);
      document.removeEventListener("visibilitychange", comeBack);
    };
  }, [key, round, every, given]);
  const heard = useRef(news);
  useEffect(() => {
    if (heard.current !== news) hear.current();
    heard.current = news;
  }, [news]);
  const isStale = state.data !== undefined && (state.key !== key || state.error !== undefined);
  return { data: state.data, error: state.error, isStale, isSlow, again: () => setRound((old) => old + 1) };
}
