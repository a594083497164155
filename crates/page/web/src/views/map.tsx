// Map: the fabric in tiers, or as a matrix where it is large, by one number for each link.

import { depthOf } from "../about";
import { href, param, set } from "../address";
import { ask } from "../api";
import { useAsk } from "../ask";
import { type By, BYS, type Fabric, type MapLink, type MapNode, type Port, fabric, step, written } from "../fabric";
import { node } from "../names";
import { Answer, Empty } from "../parts/answer";
import { useCopy, useKeys } from "../parts/copy";
import { Matrix } from "../parts/matrix";
import { type Column, Table } from "../parts/table";
import { Tiers } from "../parts/tiers";
import { Facts, FlowLink, Path } from "../parts/words";
import { range } from "../range";
import { UNKNOWN, count, duration, plural } from "../units";

const MATRIX_FROM = 200;

export const by = (): By => (param("by") in BYS ? (param("by") as By) : "p99");

export function Map() {
  const { isLive, from, to, span } = range();
  const asked = useAsk<Fabric>(`map ${isLive ? span : `${from} ${to}`}`, fabric, isLive ? 5_000 : undefined);
  const all = Object.keys(BYS) as By[];
  useKeys({ b: () => set({ by: all[(all.indexOf(by()) + 1) % all.length] }) });
  return (
    <>
      <h1>Map</h1>
      <div class="choices">
        <label>
          Colour by{" "}
          <select data-filter value={by()} onChange={(event) => set({ by: event.currentTarget.value })}>
            {all.map((key) => (
              <option key={key} value={key}>{BYS[key].name}</option>
            ))}
          </select>
        </label>
        <label>
          Form{" "}
          <select value={param("form")} onChange={(event) => set({ form: event.currentTarget.value || undefined })}>
            <option value="">by size</option>
            <option value="tiers">tiers</option>
            <option value="matrix">matrix</option>
          </select>
        </label>
      </div>
      <Answer asked={asked}>{(found) => <Shown found={found} />}</Answer>
    </>
  );
}

function Shown({ found }: { found: Fabric }) {
  const { nodes, links, ports } = found;
  const isMatrix = param("form") === "matrix" || (param("form") !== "tiers" && nodes.length > MATRIX_FROM);
  const sorted = [...ports].sort((a, b) => (b.values[by()] ?? -1) - (a.values[by()] ?? -1));
  useCopy(() => sorted.slice(0, 50).map((port) => `${portName(port)}  ${shownAt(by(), port.node, port.values[by()])}`).join("\n"));
  if (!nodes.length) return <Empty>No node has reported yet, so there is nothing to draw. <a href={href("/reports")}>What has been received</a></Empty>;
  const selected = param("sel");
  const silent = nodes.filter((one) => !one.reports).length;
  return (
    <>
      <Legend />
      <p class="muted">
        {plural(nodes.length, "node")}, {plural(links.length, "link")} that paths have shown. {silent > 0 && `${count(silent)} send no reports themselves and are known from stacks only.`}
      </p>
      {isMatrix ? <Matrix found={found} by={by()} selected={selected} /> : <Tiers found={found} by={by()} selected={selected} />}
      <Selected found={found} selected={selected} />
      <Table
        caption={`${count(Math.min(20, sorted.length))} of ${count(ports.length)} interfaces, by ${BYS[by()].name}`}
        rows={sorted.slice(0, 20)}
        keyOf={portName}
        isChosen={(port) => port.link?.id === selected}
        open={(port) => href("/map", { ...kept(), sel: port.link?.id ?? String(port.node) })}
        columns={columns()}
      />
    </>
  );
}

const columns = (): Column<Port>[] => [
  { name: "Interface", cell: (port) => <a href={href("/map", { ...kept(), sel: port.link?.id ?? String(port.node) })}>{portName(port)}</a> },
  { name: "Leads to", cell: (port) => (port.link ? `${node(port.link.to)} ${port.link.ingress ?? UNKNOWN}` : "edge or not seen") },
  ...(Object.keys(BYS) as By[]).map((key) => ({ name: BYS[key].name, isNumber: true, cell: (port: Port) => <span class={`swatch s${step(key, port.values[key])}`}>{shownAt(key, port.node, port.values[key])}</span> })),
  { name: "Link latency p50", isNumber: true, cell: (port) => (port.link ? latencyOf(port.link) : UNKNOWN) },
  { name: "Queue", cell: (port) => (port.port === null ? UNKNOWN : <a href={href(`/queue/${port.node}/${port.port}/0`)}>queue 0</a>) },
];

/** A value of a node; depths have its unit. */
const shownAt = (key: By, of: number, value: number | null) => (key === "depth" ? depthOf(of, value) : written(key, value));

const portName = (port: Port) => `${node(port.node)} ${port.port ?? UNKNOWN}`;

const kept = () => ({ by: param("by"), form: param("form") });

export const linkName = (link: MapLink) => `${node(link.from)} ${link.egress ?? UNKNOWN} → ${node(link.to)} ${link.ingress ?? UNKNOWN}`;

const latencyOf = (link: MapLink) =>
  link.latency && link.uncertainty !== null ? `${duration(link.latency.p50)} ± ${duration(link.uncertainty)}` : UNKNOWN;

function Legend() {
  const { steps, write, name } = BYS[by()];
  return (
    <p class="scale" aria-label={`Colours: ${name}`}>
      {[1, 2, 3, 4, 5, 6, 7].map((at) => (
        <span key={at}>
          <i class={`s${at}`} /> {at === 1 ? `under ${write(steps[0]!)}` : at === 7 ? `${write(steps[5]!)} and more ↑` : `from ${write(steps[at - 2]!)}`}
        </span>
      ))}
      <span>
        <i class="s0" /> nothing reported
      </span>
    </p>
  );
}

function Selected({ found, selected }: { found: Fabric; selected: string }) {
  const one = found.nodes.find(({ id }) => String(id) === selected);
  if (one) return <NodePanel one={one} ports={found.ports} />;
  const link = found.links.find(({ id }) => id === selected);
  if (link) return <LinkPanel link={link} links={found.links} />;
  return selected ? <Empty>Nothing on the map is called “{selected}”. <button onClick={() => set({ sel: undefined })}>Forget it</button></Empty> : null;
}

function NodePanel({ one, ports }: { one: MapNode; ports: Port[] }) {
  return (
    <section class="panel" aria-label={node(one.id)}>
      <h2>{node(one.id)}</h2>
      <Facts
        facts={[
          ["Node ID", String(one.id)],
          ["Reports", one.reports ? count(one.reports) : "none of its own: known from stacks only"],
          ["Lost reports", one.reports ? count(one.lost) : UNKNOWN],
          ["Flows", <a href={href("/flows", { q: `node = ${one.id}` })}>flows over it</a>],
        ]}
      />
      <Table caption="Interfaces it sends by" rows={ports.filter((port) => port.node === one.id)} keyOf={portName} columns={columns()} />
    </section>
  );
}

function LinkPanel({ link, links }: { link: MapLink; links: MapLink[] }) {
  const back = links.find((other) => other.from === link.to && other.to === link.from && other.egress === link.ingress);
  const flows = useAsk<any[]>("link " + link.id, (signal) => ask(`links/${link.id}/flows?limit=20`, { signal }), 5_000);
  return (
    <section class="panel" aria-label={linkName(link)}>
      <h2>{linkName(link)}</h2>
      <Table
        caption="Both directions"
        rows={back ? [link, back] : [link]}
        keyOf={(one) => one.id}
        columns={[
          { name: "Direction", cell: (one) => linkName(one) },
          { name: "Link latency p50", isNumber: true, cell: latencyOf },
          ...(Object.keys(BYS) as By[]).map((key) => ({ name: BYS[key].name, isNumber: true, cell: (one: MapLink) => <span class={`swatch s${step(key, one.values[key])}`}>{shownAt(key, one.from, one.values[key])}</span> })),
        ]}
      />
      {!back && <p class="muted">The other direction was not seen.</p>}
      <Answer asked={flows}>
        {(list) =>
          list.length ? (
            <Table
              caption={`${plural(list.length, "flow")} whose latest path goes over it`}
              rows={list}
              keyOf={(flow) => flow.id}
              open={(flow) => href("/flow/" + flow.id)}
              columns={[
                { name: "Flow", cell: (flow) => <FlowLink flow={flow.flow} id={flow.id} /> },
                { name: "Path", cell: (flow) => <Path hops={flow.path} /> },
                { name: "Reports", isNumber: true, cell: (flow) => count(flow.reports) },
              ]}
            />
          ) : (
            <Empty>No flow goes over it now.</Empty>
          )
        }
      </Answer>
    </section>
  );
}
