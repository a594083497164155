// The frame around every view: ledger strip, rail, time bar, list of keys.

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { address, href, set } from "../address";
import { giveToken, isTokenWanted } from "../api";
import { KEYS, areKeysOn, isHelpOpen, said, theme, turnTheme } from "../keys";
import { SPANS, freeze, isLatest, range, show, step, tick } from "../range";
import { cutOffSince, history, totals } from "../stream";
import { clock, isUtc, parseSpan, writeSpan, zone } from "../time";
import { count, rate } from "../units";

/** The counts of all reports, from received to lost, always on top. */
export function Strip() {
  const now = totals.value;
  const since = cutOffSince.value;
  const shown = ["accepted", "malformed", "duplicate", "shed"] as const;
  // `lost` has what the kernel dropped, once the next number of its stream arrives.
  const isLossy = Boolean(now && (now.lost || now.kernel_dropped));
  return (
    <header class={since ? "strip cut" : "strip"} aria-label="Ledger">
      <a class="brand" href={href("/")}>inband</a>
      {since ? <strong>disconnected since {clock(since)} {zone()}</strong> : <span class={speed() ? "live" : "live none"}>{rate(speed())}</span>}
      <a class="balance" href={href("/reports")} title="Datagrams. Received = accepted + malformed + duplicate + shed.">
        <span>{count(now?.received)} received</span>
        {shown.map((name, at) => (
          <span key={name} class={name !== "accepted" && now?.[name] ? "bad" : "wide"}>
            {at ? "+" : "="} {count(now?.[name])} {name}
          </span>
        ))}
        <span class={isLossy ? "bad" : ""}>{count(now?.lost)} lost</span>
      </a>
    </header>
  );
}

/** Reports per second, over the latest five seconds; unknown where totals restarted with the collector. */
function speed(): number | undefined {
  const [latest, earlier] = [history.at(-1), history.at(-6) ?? history[0]];
  if (!latest || !earlier || latest.at === earlier.at) return undefined;
  const more = (latest.totals.accepted ?? 0) - (earlier.totals.accepted ?? 0);
  return more < 0 ? undefined : more / (latest.at - earlier.at);
}

export interface Entry {
  path: string;
  name: string;
  key: string;
  isHere: (first: string) => boolean;
}

export function Rail({ entries }: { entries: Entry[] }) {
  const first = address.value.path[0] ?? "";
  return (
    <nav class="rail" aria-label="Views">
      {entries.map(({ path, name, key, isHere }) => (
        <a key={path} href={href(path)} aria-current={isHere(first) ? "page" : undefined} title={`g ${key}`}>
          <kbd aria-hidden="true">{key}</kbd>
          {name}
        </a>
      ))}
    </nav>
  );
}

export function TimeBar() {
  tick.value;
  const { isLive, from, to, span } = range();
  const isOther = !SPANS.some((name) => parseSpan(name) === span);
  return (
    <div class="time" role="region" aria-label="Time">
      <button onClick={() => step(-1)} aria-label="One span back" title="[">◀</button>
      <select aria-label="Span" value={writeSpan(span)} onChange={(event) => show(parseSpan(event.currentTarget.value)!)}>
        {isOther && <option>{writeSpan(span)}</option>}
        {SPANS.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
      <button onClick={() => step(1)} aria-label="One span forward" title="]" aria-disabled={isLatest()}>▶</button>
      <button onClick={freeze} aria-pressed={!isLive} title=".: freeze or go live">
        {isLive ? "Freeze" : "Go live"}
      </button>
      <span class={isLive ? "mode" : "mode frozen"}>{isLive ? "live" : "frozen"}</span>
      <span class="interval">
        {clock(from)} to {clock(to)}
      </span>
      <button onClick={() => (isUtc.value = !isUtc.value)} title="z: UTC or local time">{zone()}</button>
      <button onClick={turnTheme} title="t: light or dark theme">{theme.value === "system" ? "Theme" : theme.value === "dark" ? "Dark" : "Light"}</button>
      <button onClick={() => (isHelpOpen.value = true)} aria-haspopup="dialog" title="?: all keys">Keys</button>
    </div>
  );
}

/** A dialog that traps the focus and restores it. */
export function Dialog({ name, close, children }: { name: string; close: () => void; children: ComponentChildren }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    const shown = dialog.current;
    shown?.showModal();
    return () => {
      // The page behind an open dialog takes no focus.
      shown?.close();
      before?.focus?.();
    };
  }, []);
  return (
    <dialog ref={dialog} aria-label={name} onClose={close}>
      <h2>{name}</h2>
      {children}
    </dialog>
  );
}

export function Help() {
  if (!isHelpOpen.value) return null;
  return (
    <Dialog name="Keys" close={() => (isHelpOpen.value = false)}>
      <dl class="keys">
        {KEYS.map(({ keys, about }) => (
          <div key={keys}>
            <dt>{keys.split(" ").map((key) => <kbd key={key}>{key}</kbd>)}</dt>
            <dd>{about}</dd>
          </div>
        ))}
      </dl>
      <label>
        <input type="checkbox" checked={areKeysOn.value} onChange={(event) => (areKeysOn.value = event.currentTarget.checked)} />{" "}
        single-letter shortcuts
      </label>
      <form method="dialog">
        <button>Close</button>
      </form>
    </Dialog>
  );
}

/** Asks for the token if the API requires one. */
export function TokenWanted() {
  const field = useRef<HTMLInputElement>(null);
  if (!isTokenWanted.value) return null;
  return (
    <form
      class="token"
      onSubmit={(event) => {
        event.preventDefault();
        giveToken(field.current?.value.trim() ?? "");
        set({}, true);
      }}
    >
      <label for="token">The collector requires a token. It is kept until this tab closes.</label>
      <input id="token" ref={field} type="password" autocomplete="off" required />
      <button>Use token</button>
    </form>
  );
}

/** Announces the last action to screen readers. */
export function Said() {
  return (
    <div class="said" role="status" aria-live="polite">
      {said.value}
    </div>
  );
}
