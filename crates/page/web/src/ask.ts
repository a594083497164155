// Requests of a view. The old data stays until the new data arrives, and is marked when it is stale.

import { useEffect, useRef, useState } from "preact/hooks";
import { Refusal } from "./api";

export interface Asked<T> {
  data: T | undefined;
  error: Refusal | undefined;
  /** Whether `data` answers an earlier request, or could not be updated. */
  isStale: boolean;
  /** Whether the answer is slow. */
  isSlow: boolean;
  again: () => void;
}

/**
 * Sends a request whenever `key` changes, and every `every` milliseconds if that is given.
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
  useEffect(() => {
    const gone = new AbortController();
    let timer = 0;
    let [isAsking, isNew] = [false, false];
    const run = async () => {
      [isAsking, isNew] = [true, false];
      const slow = setTimeout(() => setSlow(true), 300);
      try {
        const data = await latest.current(gone.signal);
        if (!gone.signal.aborted) setState({ key, data });
      } catch (error) {
        const refusal = error instanceof Refusal ? error : new Refusal("", String(error), 0);
        if (!gone.signal.aborted) setState((old) => ({ ...old, error: refusal }));
      }
      clearTimeout(slow);
      if (gone.signal.aborted) return;
      setSlow(false);
      isAsking = false;
      if (isNew) void run();
      else if (every) timer = window.setTimeout(run, document.hidden ? every * 5 : every);
    };
    hear.current = () => {
      clearTimeout(timer);
      if (isAsking) isNew = true;
      else void run();
    };
    void run();
    return () => {
      gone.abort();
      clearTimeout(timer);
    };
  }, [key, round, every]);
  const heard = useRef(news);
  useEffect(() => {
    if (heard.current !== news) hear.current();
    heard.current = news;
  }, [news]);
  const isStale = state.data !== undefined && (state.key !== key || state.error !== undefined);
  return { data: state.data, error: state.error, isStale, isSlow, again: () => setRound((old) => old + 1) };
}
