// Small elements that look the same in every view.

import type { ComponentChildren } from "preact";
import { href } from "../address";
import { now } from "../api";
import { flowAddress } from "../flow";
import { type Flow, flowText } from "../kinds";
import { node } from "../names";
import { pulse, range } from "../range";
import { ago, exact, millis } from "../time";
import { UNKNOWN } from "../units";

const MARKS: Record<string, string> = { critical: "⬣", warning: "▲", info: "●", ok: "✓" };

/** Severity as shape, colour and word. */
export function Severity({ of }: { of: string }) {
  return (
    <span class={`severity ${of}`}>
      <span aria-hidden="true">{MARKS[of] ?? "●"}</span> {of}
    </span>
  );
}

/** A time, exact on hover; while the page is live, as an age. */
export function Time({ at }: { at: bigint | number | null | undefined }) {
  if (at === null || at === undefined) return <span>{UNKNOWN}</span>;
  const time = BigInt(at);
  const { isLive } = range();
  if (isLive) void pulse.value;
  return (
    <time title={exact(time)} dateTime={new Date(Number(time / 1_000_000n)).toISOString()}>
      {millis(time)}
      {isLive && <span class="muted"> ({ago(time, now())})</span>}
    </time>
  );
}

export function FlowLink({ flow, id, params }: { flow: Flow; id?: string; params?: Record<string, string | undefined> }) {
  return <a class="mono" href={href("/flow/" + (id ?? flowAddress(flow)), params)}>{flowText(flow)}</a>;
}

/** A link to the same view of the last day. */
export const LastDay = ({ of }: { of: string }) => <a href={href(of, { live: "1d" })}>Show the last day</a>;

/** What a view of the present says while another time is chosen. */
export function OnlyPresent({ what }: { what: string }) {
  return range().isLive ? null : <p class="notice">{what} of the present, not of the chosen time.</p>;
}

/** The nodes of a path, first hop first. */
export function Path({ hops }: { hops: { node_id: number }[] | null | undefined }) {
  if (!hops?.length) return <span title="no report of the whole path">{UNKNOWN}</span>;
  return (
    <span class="path">
      {hops.map((hop, at) => (
        <span key={at}>
          {at > 0 && <span aria-hidden="true"> → </span>}
          <a href={href("/map", { sel: String(hop.node_id) })}>{node(hop.node_id)}</a>
        </span>
      ))}
    </span>
  );
}

export function Facts({ facts }: { facts: [string, ComponentChildren][] }) {
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
