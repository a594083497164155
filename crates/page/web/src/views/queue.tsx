// One queue, or all of an interface, on a fine time axis: depth, the flows in it, the packets that waited.

import { depthOf, depthThresholds, thresholds } from "../about";
import { go, href, set } from "../address";
import { useAsk } from "../ask";
import { packetName } from "../packets";
import { Answer, Empty } from "../parts/answer";
import { useCopy, useKeys } from "../parts/copy";
import { type Level, Lane } from "../parts/depth";
import { Depths } from "../parts/depths";
import { Table } from "../parts/table";
import { FlowLink, Time } from "../parts/words";
import { around, range, timeAsked } from "../range";
import { flowText } from "../kinds";
import { LATE, type QueueFlow, type Sample, type Samples, samples } from "../samples";
import { SECOND, exact, writeSpan } from "../time";
import { UNKNOWN, bytes, count, duration, permille, plural } from "../units";
import { queueName } from "./queues";
import { reportAddress } from "./report";

export const FLOWS_SHOWN = 6;

export function Queue({ node, port, queue }: { node: string; port: string; queue: string }) {
  const id = /^\d{1,10}$/.test(node) ? Number(node) : undefined;
  const { isLive } = range();
  const [when, every] = timeAsked(3_000);
  // Live, ten seconds are enough.
  const window = () => {
    const { isLive, from, to } = range();
    return isLive || to - from > 60n * SECOND ? { from: to - (isLive ? 10n : 60n) * SECOND, to } : { from, to };
  };
  const find = (signal: AbortSignal) => samples(id ?? 0, port, queue, window().from, window().to, signal);
  const asked = useAsk<Samples>(`queue ${node} ${port} ${queue} ${when}`, find, every);
  if (id === undefined) return <Empty>A queue has a node, an interface and a queue ID. <a href={href("/queues")}>All queues</a></Empty>;
  const number = (text: string) => (/^\d+$/.test(text) ? Number(text) : null);
  const called = { node_id: id, egress_interface: number(port), queue_id: queue ? number(queue) : undefined };
  return (
    <>
      <h1>{queueName(called)}</h1>
      <Answer asked={asked}>{(found) => <Shown node={id} found={found} isLive={isLive} />}</Answer>
    </>
  );
}

const NO_SAMPLE: Pick<Sample, "depth" | "latency" | "at"> = { depth: null, latency: null, at: 0 };

function Shown({ node, found, isLive }: { node: number; found: Samples; isLive: boolean }) {
  const { samples: all, flows, from, to } = found;
  const write = (value: number | null) => depthOf(node, value);
  const isKnown = all.some(({ depth }) => depth !== null);
  // Without depths, the longest wait tells the same moment.
  const height = (sample: typeof NO_SAMPLE) => sample[isKnown ? "depth" : "latency"] ?? -1;
  const deepest = all.reduce((most, one) => (height(one) > height(most) ? one : most), all[0] ?? NO_SAMPLE);
  const goDeepest = () => set(around(from + BigInt(Math.round(deepest.at)), 2n * 10n ** 8n));
  useKeys({ f: () => all.length && goDeepest() });
  useCopy(() =>
    [`${exact(from)} to ${exact(to)}, deepest ${write(deepest.depth)}`, ...flows.map((flow) => `${permille(flow.share)}  ${flow.flow ? flowText(flow.flow) : "unknown flow"}  longest wait ${duration(flow.longest)}`)].join("\n"),
  );
  if (!all.length) {
    return (
      <Empty>
        No reports of this queue between {exact(from)} and {exact(to)}. Only watched packets are reported; it may not have been empty.{" "}
        <a href={href("/events", { kind: "queue-congestion", live: "1d" })}>Congestion of the last day</a>
      </Empty>
    );
  }
  const isBusy = flows.some(({ longest }) => (longest ?? 0) > (thresholds.value?.trigger_latency ?? 1e6));
  // Reports of packets that left at the end arrive after it.
  const seen = isLive ? {} : around((from + to + LATE) / 2n, to - from + LATE);
  const toFlow = ({ id }: QueueFlow) => (id ? href("/flow/" + id, seen) : undefined);
  const keyOf = ({ row }: Sample) => packetName(row);
  const toPacket = ({ row }: Sample) => packetAddress(row);
  const waited = [...all].sort((a, b) => (b.latency ?? -1) - (a.latency ?? -1)).slice(0, 15);
  return (
    <>
      <p>
        Deepest <strong>{write(deepest.depth)}</strong>, longest wait <strong>{duration(waited[0]?.latency)}</strong>, of {plural(all.length, "reported packet")}.{" "}
        {found.isNodeClock ? "Times: the node's clock, aligned by the report with the least delay." : "Times: arrival at the collector, to about 1 ms; no node clock."}{" "}
        {isLive && `Shown: the last ${writeSpan((to - from) / SECOND * SECOND)}.`} {found.isCut && "Only the first 40,000 reports are shown; choose a shorter time range."}
      </p>
      {found.episodes.some(({ isTruncated }) => isTruncated) && (
        <p class="notice">The node used up its report quota during congestion. From then on (cross-hatched) reports are missing; the queue may still be congested.</p>
      )}
      <p class="leads">
        <button onClick={goDeepest} title="f">
          Go to the {isKnown ? "deepest moment" : "longest wait"}
        </button>{" "}
        {found.episodes.map((episode) => (
          <span key={episode.id}> <a href={href("/event/" + episode.id)}>congestion of {duration(episode.to - episode.from)}</a></span>
        ))}
      </p>
      {isKnown ? (
        <>
          <Lane found={found} write={write} levels={levelsOf(node, found, write)} />
          <Depths found={found} write={write} />
        </>
      ) : (
        <p class="notice">These reports contain no queue depth. The waits below are hop latencies.</p>
      )}
      <Announced found={found} />
      <Table caption="Flows in the queue, by reports" rows={flows.slice(0, 20)} open={toFlow} columns={[
        { name: "Colour", cell: (flow) => <Swatch at={flows.indexOf(flow)} /> },
        { name: "Flow", cell: (flow) => (flow.flow ? <FlowLink flow={flow.flow} id={flow.id} params={seen} /> : "unknown") },
        { name: "Share of reports", isNumber: true, cell: (flow) => permille(flow.share) },
        { name: "Reports", isNumber: true, cell: (flow) => count(flow.reports) },
        { name: "Median wait", isNumber: true, cell: (flow) => duration(flow.median) },
        { name: "Longest wait", isNumber: true, cell: (flow) => duration(flow.longest) },
        { name: "Role", cell: (flow) => (!isBusy ? UNKNOWN : flow.share < 100 && (flow.longest ?? 0) > 1e6 ? "waits, sends little" : flow.share >= 200 ? "fills the queue" : UNKNOWN) },
      ]} />
      <Table caption="Packets that waited longest" rows={waited} keyOf={keyOf} open={toPacket} columns={[
        { name: "Left at", cell: (sample) => <a href={toPacket(sample)}>{exact(from + BigInt(Math.round(sample.at)))}</a> },
        { name: "Waited", isNumber: true, cell: (sample) => duration(sample.latency) },
        { name: "Depth", isNumber: true, cell: (sample) => write(sample.depth) },
        { name: "Flow", cell: (sample) => (flows[sample.flow]?.flow ? flowText(flows[sample.flow]!.flow!) : "unknown") },
      ]} />
    </>
  );
}

/** The trigger and reset levels: configured depths, or depths at which packets waited the configured time. */
function levelsOf(node: number, { samples: all }: Samples, write: (depth: number) => string): Level[] {
  const [depths, waits] = [depthThresholds(node), thresholds.value];
  if (!waits) return [];
  const depthsOf = (is: (latency: number) => boolean) =>
    all.flatMap(({ depth, latency }) => (depth !== null && latency !== null && is(latency) ? [depth] : []));
  const over = depthsOf((latency) => latency > waits.trigger_latency);
  const under = depthsOf((latency) => latency < waits.reset_latency).filter((depth) => depth > 0);
  const least = over.length ? over.reduce((a, b) => Math.min(a, b)) : null;
  const most = under.length ? under.reduce((a, b) => Math.max(a, b)) : null;
  // Where nothing waited, any depth is one of calm.
  const level = (name: string, set: number | null, seen: number | null, why: string): Level[] => {
    if (set !== null && (seen === null || set <= seen)) return [{ name, depth: set, told: `${name}: ${write(Math.round(set))}, as configured` }];
    return seen === null ? [] : [{ name, depth: seen, told: `${name}: ${write(seen)}, ${why}` }];
  };
  return [
    ...level("trigger", depths.trigger, least, `the lowest depth at which packets waited more than ${duration(waits.trigger_latency)}`),
    ...level("reset", depths.reset, over.length ? most : null, `the highest depth at which packets waited less than ${duration(waits.reset_latency)}`),
  ];
}

interface Named {
  event: any;
  role: string;
  flow: any;
  bytes: number | null;
  share: number | null;
}

/** Announced culprits and victims, with their bytes. */
function Announced({ found: { culprits } }: { found: Samples }) {
  const named = culprits.flatMap((event): Named[] => [
    ...event.detail.culprits.map((one: any) => ({ event, role: "culprit", flow: one.flow, bytes: one.bytes, share: one.share_permille })),
    ...event.detail.victims.map((one: any) => ({ event, role: "victim", flow: one.flow ?? one, bytes: one.bytes ?? null, share: one.share_permille ?? null })),
  ]);
  if (!named.length) return null;
  const caption = "Culprits and victims, from events: whose bytes were ahead of the waiting packet";
  const to = ({ event }: Named) => href("/event/" + event.id);
  return (
    <Table caption={caption} rows={named.slice(0, 30)} open={to} columns={[
      { name: "Event", cell: ({ event }) => <a href={href("/event/" + event.id)}><Time at={event.last} /></a> },
      { name: "Pattern", cell: ({ event }) => `${event.detail.pattern}, waited ${duration(event.detail.residence)}` },
      { name: "Role", cell: ({ role }) => (role === "culprit" ? <strong>culprit</strong> : "victim") },
      { name: "Flow", cell: ({ flow, event }) => <FlowLink flow={flow} params={around(BigInt(event.last), 10n * SECOND)} /> },
      { name: "Bytes", isNumber: true, cell: ({ bytes: size }) => bytes(size) },
      { name: "Share", isNumber: true, cell: ({ share }) => permille(share) },
      { name: "Coverage", isNumber: true, cell: ({ event }) => (event.detail.coverage_permille === null ? UNKNOWN : permille(event.detail.coverage_permille)) },
    ]} />
  );
}

export const openPacket = (row: any) => go(packetAddress(row));
/** The path of a packet, or its report if its flow is unknown. */
const packetAddress = (row: any) =>
  row.flow_id === null
    ? reportAddress({ ...row, node_id: row.reporter, received_at: row.time })
    : href("/flow/" + row.flow_id, { ...around(BigInt(row.time), 2n * SECOND), packet: packetName(row) });

function Swatch({ at }: { at: number }) {
  return at < FLOWS_SHOWN ? <span class={`flow f${at + 1}`}>{at + 1}</span> : <span class="flow f0">others</span>;
}
