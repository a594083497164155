// The waterfall: one row per hop and link on an axis of nanoseconds, with the clocks' uncertainty.
// Another path is dashed.

import { depthOf, permilleOf } from "../about";
import { go, href } from "../address";
import { beside } from "../beside";
import { queuePath } from "../kinds";
import { node } from "../names";
import { type LinkKnown, type Piece, type Usual, hopKey, linkKey } from "../packets";
import { around, range } from "../range";
import { UNKNOWN, count, duration, permille, shown } from "../units";
import { Time } from "./words";

export interface Way {
  pieces: Piece[];
  /** `null`: no piece is known. */
  sum: number | null;
  /** Where the last piece ends on the axis. */
  end: number;
  isWhole: boolean;
}

interface Props {
  way: Way;
  /** The path that is drawn dashed beside it. */
  other: Way | undefined;
  arrived: bigint;
  usually: Map<string, Usual>;
  known: Map<string, LinkKnown>;
}

interface Drawn extends Props {
  share: (value: number) => string;
}

export function Waterfall(props: Props) {
  const { way, other } = props;
  // Whiskers may reach beyond the last piece, and are cut where they would leave no room for it.
  const ends = way.pieces.map((piece) => whiskersOf(piece)?.[1] ?? 0);
  const end = Math.max(1, way.end, other?.end ?? 0);
  const all = Math.max(end, Math.min(2 * end, Math.max(...ends)));
  const axis = way.sum === null && all === 1 ? null : all;
  const drawn = { ...props, share: (value: number) => `${(100 * Math.min(all, Math.max(0, value))) / all}%` };
  return (
    <div class="scroll" role="region" aria-label="Waterfall" tabIndex={0}>
      <table class="waterfall">
        <caption><span>Path of the packet: hops and links in order, on one axis of {duration(axis)}</span></caption>
        <thead>
          <tr>
            <th scope="col">Where</th>
            <th scope="col">In › queue › out</th>
            <th scope="col" class="axis">
              <span>0</span>
              <span>{duration(axis && axis / 2)}</span>
              <span>{duration(axis)}</span>
            </th>
            <th scope="col" class="number">Time</th>
            {other && <th scope="col" class="number">Other, dashed</th>}
            <th scope="col" class="number">Usual p50, p99</th>
            <th scope="col" class="number">Queue depth</th>
            <th scope="col" class="number">Utilisation</th>
          </tr>
        </thead>
        <tbody>
          {beside(way.pieces, other?.pieces ?? []).map(({ kind, now, then }, at) =>
            kind === "hop" ? <Hop key={at} now={now as HopPiece} then={then as HopPiece} {...drawn} /> : <Link key={at} now={now as LinkPiece} then={then as LinkPiece} {...drawn} />,
          )}
        </tbody>
        {other && (
          <tfoot>
            <tr>
              <th scope="row">Sum</th>
              <td colSpan={2} class="muted">{way.isWhole && other.isWhole ? "" : "known parts only"}</td>
              <td class="number">{duration(way.sum)}</td>
              <td class="number">{duration(other.sum)}</td>
              <td colSpan={3} class="muted">{way.sum !== null && other.sum !== null && change(way.sum, other.sum)}</td>
            </tr>
          </tfoot>
        )}
      </table>
      <p class="legend">
        <span class="bar base" /> minimum of this hop <span class="bar queued" /> wait above the minimum{" "}
        <span class="bar whole" /> both, minimum unknown <span class="bar link" /> link{" "}
        <span class="bar whisker" /> clock uncertainty{" "}
        <span class="bar unknown" /> unknown, without length {other && <><span class="bar other" /> the other packet</>}
      </p>
    </div>
  );
}

/** The times between which a link ends, by the uncertainty of its clocks; `undefined` if it is unknown. */
function whiskersOf(piece: Piece): [number, number] | undefined {
  if (piece.kind === "hop" || piece.length === null || piece.uncertainty === null) return undefined;
  const end = piece.start + piece.length;
  return [Math.max(0, end - piece.uncertainty), Math.max(0, end + piece.uncertainty)];
}

const change = (now: number, then: number) => (now === then ? "the same" : `${duration(Math.abs(now - then))} ${now > then ? "longer" : "shorter"} than the other`);

type HopPiece = Extract<Piece, { kind: "hop" }>;
type LinkPiece = Extract<Piece, { kind: "link" }>;

function Ghost({ piece, share }: { piece: Piece | undefined; share: Drawn["share"] }) {
  if (!piece) return null;
  const isUnknown = piece.length === null || (piece.kind === "link" && piece.uncertainty === null);
  return isUnknown ? <span class="bar unknown" style={{ left: share(piece.start) }} title="unknown" /> : <span class="bar other" style={{ left: share(piece.start), width: share(piece.length!) }} />;
}

function Hop({ now, then, usually, arrived, share, way, other }: Drawn & { now: HopPiece | undefined; then: HopPiece | undefined }) {
  const { hop, start, length } = (now ?? then)!;
  const usual = usually.get(hopKey(hop));
  const least = Math.min(usual?.least ?? 0, length ?? 0);
  const isSplit = usual !== undefined && usual.least !== null;
  const place = queuePath(hop.node_id, hop.egress_interface, hop.queue_id);
  const queue = href(place, around(arrived, 200_000_000n));
  const part = now && length !== null && way.sum ? ` (${permille((1000 * length) / way.sum)})` : "";
  const name = now ? node(hop.node_id) : <del>{node(hop.node_id)}</del>;
  return (
    <tr data-row tabIndex={0} class={now ? undefined : "left"} onKeyDown={(event) => event.key === "Enter" && go(queue)}>
      <th scope="row"><a href={queue}>{name}</a></th>
      <td>
        {hop.ingress_interface ?? UNKNOWN} › {hop.queue_id ?? UNKNOWN} › {hop.egress_interface ?? UNKNOWN}
      </td>
      <td class="track">
        <Ghost piece={then} share={share} />
        {now && length === null && <span class="bar unknown" style={{ left: share(start) }} title="the node did not report its latency" />}
        {now && length !== null && !isSplit && (
          <span class="bar whole" style={{ left: share(start), width: share(length) }} />
        )}
        {now && length !== null && isSplit && (
          <>
            <span class="bar base" style={{ left: share(start), width: share(least) }} />
            {length > least && <span class="bar queued" style={{ left: share(start + least), width: share(length - least) }} />}
          </>
        )}
      </td>
      <td class="number">
        {now ? duration(length) : <span class="muted">not taken</span>}
        <span class="muted">{part}</span>
      </td>
      {other && <td class="number">{then ? duration(then.length) : <span class="muted">not taken</span>}</td>}
      <td class="number">{usual ? `${duration(usual.p50)}, ${duration(usual.p99)}` : UNKNOWN}</td>
      <td class="number">{depthOf(hop.node_id, hop.queue_occupancy)}</td>
      <td class="number">{utilization(hop)}</td>
    </tr>
  );
}

const NO_TIMES = "no timestamp at one end";
const SHORT_TIMES = "no time since 1970 at one end";
const NO_CLOCKS = "clock offset unknown";

function Link({ now, then, share, known, other }: Drawn & { now: LinkPiece | undefined; then: LinkPiece | undefined }) {
  const { from, to, start, length, uncertainty } = (now ?? then)!;
  const isUnknown = length === null || uncertainty === null;
  const [left, right] = whiskersOf((now ?? then)!) ?? [0, 0];
  const isTimed = from.egress_timestamp !== null && to.ingress_timestamp !== null;
  const why = length !== null ? NO_CLOCKS : isTimed ? SHORT_TIMES : NO_TIMES;
  const last = now ? undefined : known.get(linkKey(from.node_id, from.egress_interface, to.node_id, to.ingress_interface))?.lastSeen;
  const name = `link to ${node(to.node_id)}`;
  const write = (piece: LinkPiece) => (piece.length === null || piece.uncertainty === null ? UNKNOWN : `${duration(piece.length)} ± ${duration(piece.uncertainty)}`);
  return (
    <tr class={now ? "link" : "link left"}>
      <th scope="row" class="muted">{now ? name : <del>{name}</del>}</th>
      <td />
      <td class="track">
        <Ghost piece={then} share={share} />
        {now && isUnknown && <span class="bar unknown" style={{ left: share(start) }} title={why} />}
        {now && !isUnknown && (
          <>
            <span class="bar link" style={{ left: share(start), width: share(length) }} />
            <span class="bar whisker" style={{ left: share(left), width: `calc(${share(right)} - ${share(left)})` }} />
          </>
        )}
      </td>
      <td class="number">{now ? write(now) : <span class="muted">not taken</span>}</td>
      {other && <td class="number">{then ? write(then) : <span class="muted">not taken</span>}</td>}
      <td colSpan={3} class="muted">{last !== undefined && range().isLive ? <>last used: <Time at={last} /></> : isUnknown ? why : ""}</td>
    </tr>
  );
}

function utilization({ node_id, egress_utilization: value }: HopPiece["hop"]): string {
  const share = permilleOf(node_id, value);
  return value === null || share !== null ? permille(share) : `${count(value)} (unit unknown)`;
}

/** The path as plain text. */
export function waterfallText(time: string, way: Way): string {
  const lines = way.pieces.map((piece) => {
    if (piece.kind === "link") {
      const isKnown = piece.length !== null && piece.uncertainty !== null;
      return `     link  ${isKnown ? `${duration(piece.length)} +- ${duration(piece.uncertainty)}` : "unknown"}`;
    }
    const { hop, length } = piece;
    return `${String(hop.hop_index + 1).padStart(3)}  ${shown(node(hop.node_id)).padEnd(16)} ${hop.ingress_interface ?? "-"} > ${hop.egress_interface ?? "-"}  ${duration(length)}  queue ${count(hop.queue_occupancy)}`;
  });
  return [`${time}, ${duration(way.sum)}${way.isWhole ? "" : " (known parts only)"}`, ...lines].join("\n").replaceAll("\u2009", " ");
}
