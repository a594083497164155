// The states of an answer: pending, present, stale, refused, empty.

import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { signal } from "@preact/signals";
import type { Asked } from "../ask";
import { cutOffSince } from "../stream";
import { shown } from "../units";

/** Whether the current view has its data. */
export const isReady = signal(false);

interface Props<T> {
  asked: Asked<T>;
  children: (data: T) => ComponentChildren;
}

/** Shows an answer; while a newer one is pending, the old one has a dashed frame. */
export function Answer<T>({ asked, children }: Props<T>) {
  const { data, error, isStale, isSlow, again } = asked;
  const hasData = data !== undefined;
  useEffect(() => {
    if (hasData || error) isReady.value = true;
  }, [hasData, error]);
  const isOld = isStale || cutOffSince.value !== undefined;
  return (
    <>
      {isSlow && <div class="progress" role="progressbar" aria-label="Loading" />}
      {error && <Refused error={error} again={again} hasOld={hasData} />}
      {hasData && <div class={isOld ? "stale" : undefined}>{children(data)}</div>}
      {!hasData && !error && <p class="muted">Loading …</p>}
    </>
  );
}

function Refused({ error, again, hasOld }: { error: { asked: string; message: string; status: number }; again: () => void; hasOld: boolean }) {
  // A collector may be set up so.
  if (error.message.startsWith("no history is kept")) return <p class="notice">No history is kept ([store] path is empty): there are live data and events only.</p>;
  return (
    <div class="refused" role="alert">
      <strong>{error.status === 401 ? "A token is needed" : "Request failed"}</strong>
      <p>{shown(error.message, 600)}{hasOld && "; showing the last data"}</p>
      <p class="muted">request: <code>{shown(error.asked)}</code></p>
      <button onClick={again}>Retry</button>
    </div>
  );
}

/** Why nothing is shown, and the one step that helps. */
export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}
