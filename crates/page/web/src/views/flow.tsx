// Path: one packet of a flow, hop by hop, beside the usual values and the previous path.

import { useState } from "preact/hooks";
import { href, param, set } from "../address";
import { useAsk } from "../ask";
import { type FlowFound, type Taken, found, lastFlow, resolve } from "../flow";
import { flowText } from "../kinds";
import { node } from "../names";
import { type HopRow, type Packet, type Usual, hopsOf, lastOn, linksKnown, packetName, packetTime, packetsOf, pieces, usual } from "../packets";
import { Answer, Empty } from "../parts/answer";
import { useCopy, useKeys } from "../parts/copy";
import { Table } from "../parts/table";
import { Facts, Time } from "../parts/words";
import { Waterfall, waterfallText } from "../parts/waterfall";
import { around, range, timeAsked } from "../range";
import { MINUTE, exact } from "../time";
import { UNKNOWN, count, duration, plural, shown } from "../units";

export function Flow({ name }: { name: string }) {
  const named = useAsk(`flow ${name} ${timeAsked()[0]}`, () => resolve(name));
  return (
    <Answer asked={named}>
      {(id) =>
        id ? (
          <Known id={id} />
        ) : (
          <Empty>
            Unknown flow “{shown(name)}”: neither active nor in the history of this time range. <a href={href("/flows")}>All flows</a>
          </Empty>
        )
      }
    </Answer>
  );
}

function Known({ id }: { id: string }) {
  if (lastFlow.peek() !== id) lastFlow.value = id;
  // What has ended rarely changes.
  const [pause, setPause] = useState(2_000);
  const [when, every] = timeAsked(pause);
  const ask = async (signal: AbortSignal) => {
    const of = await found(id, signal);
    setPause(of.isActive ? 2_000 : 20_000);
    return of;
  };
  const asked = useAsk(`live ${id} ${when}`, ask, every);
  return (
    <Answer asked={asked}>
      {(of) => (
        <>
          <Head id={id} of={of} />
          <Packets id={id} of={of} />
        </>
      )}
    </Answer>
  );
}

function Head({ id, of: { flow, isActive } }: { id: string; of: FlowFound }) {
  if (!isActive) {
    return (
      <>
        <h1 class="mono">{flow ? flowText(flow.flow) : `Flow ${id}`}</h1>
        <Empty>No recent reports of this flow; its history is below.</Empty>
      </>
    );
  }
  // Counts are of the present.
  const missing = flow.hops_expected === null ? "expected number of hops unknown" : `${plural(flow.hops_expected, "hop")} expected`;
  return (
    <>
      <h1 class="mono">{flowText(flow.flow)}</h1>
      <Facts facts={[
        ["Hosts", flow.source_name || flow.destination_name ? [flow.source_name, flow.destination_name].map((name) => shown(name, 64)).join(" > ") : UNKNOWN],
        ["Source of path", flow.origin],
        ["Path", flow.complete ? `complete, ${plural(flow.path?.length ?? 0, "hop")}` : `incomplete: ${missing}`],
        ...(range().isLive ? [["Reports", count(flow.reports)], ["Last seen", <Time at={flow.last_seen} />]] as [string, any][] : []),
      ]} />
    </>
  );
}

/** Whether packets are searched in a part of the time range. */
const isPart = () => range().span > MINUTE;

/** The range in which packets are searched: at most a minute, so that the answer is fast. */
function window_() {
  const { from, to } = range();
  return { from: isPart() ? to - MINUTE : from, to };
}

function Packets({ id, of: { flow, paths } }: { id: string; of: FlowFound }) {
  const [when, every] = timeAsked();
  const order = param("order") === "time" ? "time" : "slowest";
  const find = (signal: AbortSignal) => packetsOf(id, window_().from, window_().to, order, signal);
  const list = useAsk(`packets ${id} ${order} ${when}`, find, every);
  return (
    <Answer asked={list}>
      {(packets) => {
        const named = packetTime(param("packet")) === undefined ? "" : param("packet");
        const taken = paths.length > 0 && <Paths paths={paths} />;
        if (!packets.length && !named) return <><None id={id} last={flow?.last_seen} />{taken}</>;
        const name = named || packetName(packets[0]!);
        return (
          <>
            <One id={id} name={name} time={packetTime(name)!} paths={paths} isCut={flow?.complete === false} isAsked={named !== ""} />
            {taken}
            <List id={id} packets={packets} order={order} chosen={name} />
          </>
        );
      }}
    </Answer>
  );
}

const None = ({ id, last }: { id: string; last: number | bigint | undefined }) => (
  <Empty>
    No packets of this flow in the history for {isPart() && "the last minute of "}this time range.
    {last && <> <a href={href("/flow/" + id, around(BigInt(last), MINUTE))}>Its latest packets</a></>}
  </Empty>
);

const NOTHING_USUAL: Map<string, Usual> = new Map();

interface OneProps {
  id: string;
  name: string;
  time: bigint;
  paths: Taken[];
  /** Whether hops of the flow's path are missing; reports do not say so of each packet. */
  isCut: boolean;
  isAsked: boolean;
}

function One({ id, name, time, paths, isCut, isAsked }: OneProps) {
  const compared = packetTime(param("cmp")) === undefined ? "" : param("cmp");
  const [previous, current] = before(paths, time);
  const other = compared && compared !== name ? compared : previous ? `until ${previous.until}` : "";
  const asked = useAsk(`hops ${id} ${name}`, async (signal) => {
    const hops = await hopsOf(id, name, signal);
    const past = previous?.path.map(({ node_id }) => node_id) ?? [];
    return { hops, known: await linksKnown([...hops.map(({ node_id }) => node_id), ...past], signal) };
  });
  // What is shown beside the packet loads after it; each part is shown without waiting for the other.
  const ghosts = useAsk<HopRow[]>(`beside ${id} ${name} ${other}`, async (signal) =>
    compared && compared !== name ? hopsOf(id, compared, signal) : previous ? lastOn(id, previous.path, BigInt(previous.until!), signal) : [],
  );
  const values = useAsk(`usual ${id} ${name}`, (signal) => usual(id, time - MINUTE / 2n, time + MINUTE / 2n, signal));
  const then = (!ghosts.isStale && ghosts.data) || [];
  const usually = (!values.isStale && values.data) || NOTHING_USUAL;
  const toggle = () => set({ cmp: compared ? undefined : name, packet: name }, true);
  useKeys({ v: toggle });
  return (
    <Answer asked={asked}>
      {({ hops, known }) => {
        if (!hops.length) return <Empty>This report is no longer in the history.</Empty>;
        const way = pieces(hops, known);
        const isSame = !compared && then.every((hop, at) => hop.node_id === hops[at]?.node_id) && then.length === hops.length;
        const ghost = then.length && !isSame ? pieces(then, known) : undefined;
        return (
          <section aria-labelledby="packet">
            <h2 id="packet">
              {isAsked ? "Packet" : param("order") === "time" ? "Latest packet" : "Slowest packet"} at <time>{exact(time)}</time>: {duration(way.sum)}
              {(isCut || !way.isWhole) && " (known parts only)"}
            </h2>
            <p>
              <button onClick={toggle} aria-pressed={compared !== ""} title="v">{compared ? "End comparison" : "Compare with another packet"}</button>{" "}
              {compared === name && "Choose a packet below, or with the arrow keys."}
              {compared && compared !== name && <>Dashed: the packet at {exact(packetTime(compared)!)}.</>}
            </p>
            <Waterfall way={way} other={ghost} arrived={time} usually={usually} known={known} />
            <Missing hops={hops} />
            {previous && !compared && <Before previous={previous} current={current!} isDrawn={ghost !== undefined} isAsked={ghosts.data !== undefined && !ghosts.isStale} />}
            <p class="muted">
              <a href={href(`/report/${name.split("-").slice(0, 3).join("/")}`, { at: String(time), span: "2s" })}>Report {name.split("-")[2]} of {node(Number(name.split("-")[0]))}</a>. Usual values: from reports of this flow within 30 s of this packet.
            </p>
            <Copier text={() => waterfallText(exact(time), way) + (ghost ? `\n\ncompared with: ${waterfallText(then[0]!.time ? exact(BigInt(then[0]!.time)) : "", ghost)}` : "")} />
          </section>
        );
      }}
    </Answer>
  );
}

/** The path of the flow before the one in use at `time`, and that one. */
function before(paths: Taken[], time: bigint): Taken[] {
  const sorted = [...paths].sort((a, b) => (BigInt(a.since) < BigInt(b.since) ? -1 : 1));
  const at = sorted.findLastIndex((path) => BigInt(path.since) <= time);
  return at > 0 ? sorted.slice(at - 1, at + 1) : [];
}

function Copier({ text }: { text: () => string }) {
  useCopy(text);
  return null;
}

/** Hops that are missing in the report, and possible reasons. */
function Missing({ hops }: { hops: HopRow[] }) {
  const [first] = hops;
  const missing = (first?.hop_count ?? 0) - hops.length;
  const dropped = first?.dropped ? "Dropped here. " : "";
  if (first?.origin !== "md-stack") {
    return <p class="notice">{dropped}This report covers one hop ({first?.origin}). The other nodes send their own reports.</p>;
  }
  if (missing <= 0) return dropped ? <p class="notice">{dropped}</p> : null;
  return <p class="notice">{dropped}{plural(missing, "hop")} missing: hop limit reached (E bit), MTU reached (M bit), or suppressed by a node's filter.</p>;
}

interface BeforeProps {
  previous: Taken;
  current: Taken;
  isDrawn: boolean;
  isAsked: boolean;
}

/** The previous path; nodes that are not on the one after it are struck out. */
function Before({ previous, current, isDrawn, isAsked }: BeforeProps) {
  const [then, now] = [previous, current].map(({ path }) => path.map(({ node_id }) => node_id));
  if (String(then) === String(now)) return null;
  return (
    <p class="ghost">
      Until <Time at={previous.until} /> the path was{" "}
      {then!.map((id, at) => (
        <span key={at}>
          {at > 0 && " → "}
          {now!.includes(id) ? node(id) : <del>{node(id)}</del>}
        </span>
      ))}
      {isDrawn ? "; its last packet is dashed above." : isAsked ? "; no stored report of that time shows all of it." : "."}
    </p>
  );
}

function List({ id, packets, order, chosen }: { id: string; packets: Packet[]; order: string; chosen: string }) {
  const choose = (packet: Packet | undefined) => packet && set({ packet: packetName(packet) }, true);
  const address = (packet: Packet) => href("/flow/" + id, { packet: packetName(packet), order: param("order"), cmp: param("cmp") });
  const at = packets.findIndex((packet) => packetName(packet) === chosen);
  useKeys({ ArrowLeft: () => choose(packets[at - 1]), ArrowRight: () => choose(packets[at + 1]) });
  if (!packets.length) return null;
  return (
    <section>
      <h2>Packets</h2>
      <p>
        <button aria-pressed={order === "slowest"} onClick={() => set({ order: undefined, packet: undefined })}>Slowest first</button>{" "}
        <button aria-pressed={order === "time"} onClick={() => set({ order: "time", packet: undefined })}>Latest first</button>
      </p>
      <Table
        caption={`${plural(packets.length, "reported packet")}, from one minute at most`}
        rows={packets}
        keyOf={packetName}
        isChosen={(packet) => packetName(packet) === chosen}
        open={address}
        columns={[
          { name: "Arrived", cell: (packet) => <a href={address(packet)}>{exact(BigInt(packet.time))}</a> },
          { name: "Sum of hops", isNumber: true, cell: (packet) => duration(packet.total) },
          { name: "Longest hop", isNumber: true, cell: (packet) => duration(packet.longest) },
          { name: "Hops", isNumber: true, cell: (packet) => (packet.hops === packet.hop_count ? count(packet.hops) : `${packet.hops} of ${packet.hop_count}`) },
          { name: "Report", cell: (packet) => `${node(packet.reporter)} ${packet.hw_id} ${count(packet.sequence)}` },
          { name: "Dropped", cell: (packet) => (packet.dropped ? "yes" : "no") },
        ]}
      />
    </section>
  );
}

function Paths({ paths }: { paths: Taken[] }) {
  const sorted = [...paths].sort((a, b) => (BigInt(a.since) < BigInt(b.since) ? 1 : -1));
  return (
    <Table caption="Latest paths of this flow" rows={sorted} keyOf={(path, at) => path.id + at} columns={[
      { name: "Path", cell: (path) => path.path.map((hop) => node(hop.node_id)).join(" → ") || UNKNOWN },
      { name: "Since", cell: (path) => <Time at={path.since} /> },
      { name: "Until", cell: (path) => (path.current ? "now" : <Time at={path.until} />) },
    ]} />
  );
}
