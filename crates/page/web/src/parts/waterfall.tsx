// The waterfall: a row a hop and a row a link on one axis of nanoseconds, with what the clocks leave open.

import { go, href } from "../address";
import { node } from "../names";
import { around } from "../range";
import { type NodeUnits, type Piece, type Usual, hopKey } from "../packets";
import { UNKNOWN, count, duration, occupancy, permille, shown } from "../units";

interface Way {
  pieces: Piece[];
  sum: number;
  isWhole: boolean;
}

export function Waterfall({ way, arrived, usually, counted }: { way: Way; arrived: bigint; usually: Map<string, Usual>; counted: Map<number, NodeUnits> }) {
  const share = (value: number) => `${(100 * Math.max(0, value)) / Math.max(1, way.sum)}%`;
  return (
    <div class="scroll" role="region" aria-label="Waterfall" tabIndex={0}>
      <table class="waterfall">
        <caption>The way of the packet: hops and links in order, on one axis of {duration(way.sum)}</caption>
        <thead>
          <tr>
            <th scope="col">Where</th>
            <th scope="col">In › queue › out</th>
            <th scope="col" class="axis">
              <span>0</span>
              <span>{duration(way.sum / 2)}</span>
              <span>{duration(way.sum)}</span>
            </th>
            <th scope="col" class="number">Time</th>
            <th scope="col" class="number">Usual p50, p99</th>
            <th scope="col" class="number">Queue depth</th>
            <th scope="col" class="number">Utilisation</th>
          </tr>
        </thead>
        <tbody>{way.pieces.map((piece, at) => (piece.kind === "hop" ? <Hop key={at} piece={piece} usual={usually.get(hopKey(piece.hop))} counted={counted.get(piece.hop.node_id)} arrived={arrived} share={share} sum={way.sum} /> : <Link key={at} piece={piece} share={share} />))}</tbody>
      </table>
      <p class="legend">
        <span class="bar base" /> least seen of this hop <span class="bar queued" /> waiting above it <span class="bar link" /> link <span class="bar whisker" /> clocks may be off by this much{" "}
        <span class="bar unknown" /> not known, no length
      </p>
    </div>
  );
}

type Hop = Extract<Piece, { kind: "hop" }>;
type Link = Extract<Piece, { kind: "link" }>;

function Hop({ piece, usual, counted, arrived, share, sum }: { piece: Hop; arrived: bigint; usual: Usual | undefined; counted: NodeUnits | undefined; share: (value: number) => string; sum: number }) {
  const { hop, start, length } = piece;
  const least = Math.min(usual?.least ?? 0, length ?? 0);
  const moment = hop.egress_timestamp ?? arrived;
  const queue = hop.egress_interface === null ? undefined : href(`/queue/${hop.node_id}/${hop.egress_interface}/${hop.queue_id ?? "-"}`, around(BigInt(moment), 200_000_000n));
  const part = length === null || sum === 0 ? "" : ` (${Math.round((100 * length) / sum)} %)`;
  return (
    <tr data-row tabIndex={0} onKeyDown={(event) => event.key === "Enter" && queue && go(queue)}>
      <th scope="row">{queue ? <a href={queue}>{node(hop.node_id)}</a> : node(hop.node_id)}</th>
      <td>
        {hop.ingress_interface ?? UNKNOWN} › {hop.queue_id ?? UNKNOWN} › {hop.egress_interface ?? UNKNOWN}
      </td>
      <td class="track">
        {length === null ? (
          <span class="bar unknown" style={{ left: share(start) }} title="the node did not report its latency" />
        ) : (
          <>
            <span class="bar base" style={{ left: share(start), width: share(least) }} />
            {length > least && <span class="bar queued" style={{ left: share(start + least), width: share(length - least) }} />}
          </>
        )}
      </td>
      <td class="number">
        {duration(length)}
        <span class="muted">{part}</span>
      </td>
      <td class="number">{usual ? `${duration(usual.p50)}, ${duration(usual.p99)}` : UNKNOWN}</td>
      <td class="number">{occupancy(hop.queue_occupancy, counted?.queue === "bytes" ? hop.queue_occupancy : null, counted?.queue)}</td>
      <td class="number">{utilization(hop.egress_utilization, counted?.utilizationFull)}</td>
    </tr>
  );
}

function Link({ piece, share }: { piece: Link; share: (value: number) => string }) {
  const { start, length, uncertainty } = piece;
  const isUnknown = length === null || uncertainty === null;
  const why = length === null ? "no timestamps of both ends" : "how far the clocks are apart is not known";
  return (
    <tr class="link">
      <th scope="row" class="muted">link</th>
      <td />
      <td class="track">
        {isUnknown ? (
          <span class="bar unknown" style={{ left: share(start) }} title={why} />
        ) : (
          <>
            <span class="bar link" style={{ left: share(start), width: share(length) }} />
            <span class="bar whisker" style={{ left: share(start + length - uncertainty), width: share(2 * uncertainty) }} />
          </>
        )}
      </td>
      <td class="number">{isUnknown ? <span title={why}>{UNKNOWN}</span> : `${duration(length)} ± ${duration(uncertainty)}`}</td>
      <td colSpan={3} class="muted">{isUnknown ? why : ""}</td>
    </tr>
  );
}

function utilization(value: number | null, full: number | null | undefined): string {
  if (value === null) return UNKNOWN;
  return full ? permille((1000 * value) / full) : `${count(value)} (unit not known)`;
}

/** The way as one would type it. */
export function waterfallText(time: string, way: Way): string {
  const lines = way.pieces.map((piece) => {
    if (piece.kind === "link") {
      const isKnown = piece.length !== null && piece.uncertainty !== null;
      return `     link  ${isKnown ? `${duration(piece.length)} +- ${duration(piece.uncertainty)}` : "not known"}`;
    }
    const { hop, length } = piece;
    return `${String(hop.hop_index + 1).padStart(3)}  ${shown(node(hop.node_id)).padEnd(16)} ${hop.ingress_interface ?? "-"} > ${hop.egress_interface ?? "-"}  ${duration(length)}  queue ${count(hop.queue_occupancy)}`;
  });
  return [`${time}, ${duration(way.sum)}${way.isWhole ? "" : " of what is known"}`, ...lines].join("\n").replaceAll("\u2009", " ");
}
