// Details of a node, a link, an interface, and the colours, for the map in all its forms.

import { depthOf } from "../about";
import { href, param, set } from "../address";
import { ask } from "../api";
import { useAsk } from "../ask";
import { type By, BYS, type Fabric, type MapLink, type MapNode, type Port, by, step, written } from "../fabric";
import { queuePath } from "../kinds";
import { node } from "../names";
import { UNKNOWN, count, duration, plural, shown } from "../units";
import { Answer, Empty } from "./answer";
import { type Column, Table } from "./table";
import { Facts, FlowLink, Path } from "./words";

export const Nothing = () => <Empty>No node has reported in this time range. <a href={href("/reports")}>Received reports</a></Empty>;

export const columns = (): Column<Port>[] => [
  { name: "Interface", cell: (port) => <a href={href("/map", { ...kept(), sel: port.link?.id ?? String(port.node) })}>{portName(port)}</a> },
  { name: "Leads to", cell: (port) => <span class="path">{port.link ? `${node(port.link.to)} ${port.link.ingress ?? UNKNOWN}` : "edge, or unknown"}</span> },
  ...(Object.keys(BYS) as By[]).map((key) => ({ name: BYS[key].name, isNumber: true, cell: (port: Port) => <span class={`swatch s${step(key, port.values[key])}`}>{shownAt(key, port.node, port.values[key])}</span> })),
  { name: "Link latency p50", isNumber: true, cell: (port) => (port.link ? latencyOf(port.link) : UNKNOWN) },
  {
    name: "Queues",
    cell: ({ node, port }) => <a href={href(queuePath(node, port, undefined))}>queues</a>,
  },
];

/** A value of a node; depths have its unit. */
export const shownAt = (key: By, of: number, value: number | null) => (key === "depth" ? depthOf(of, value) : written(key, value));

export const portName = (port: Port) => `${node(port.node)} ${port.port ?? UNKNOWN}`;

/** The parameters that stay while another part of the map is selected. */
export const kept = () => ({ by: param("by"), form: param("form") });

export const linkName = (link: MapLink) => `${node(link.from)} ${link.egress ?? UNKNOWN} → ${node(link.to)} ${link.ingress ?? UNKNOWN}`;

const latencyOf = (link: MapLink) =>
  link.latency !== null && link.uncertainty !== null ? `${duration(link.latency)} ± ${duration(link.uncertainty)}` : UNKNOWN;

export function Legend() {
  const { steps, write, name } = BYS[by()];
  return (
    <p class="scale" aria-label={`Colours: ${name}`}>
      {[1, 2, 3, 4, 5, 6, 7].map((at) => (
        <span key={at}>
          <i class={`s${at}`} /> {at === 1 ? `under ${write(steps[0]!)}` : at === 7 ? `${write(steps[5]!)} or more ↑` : `from ${write(steps[at - 2]!)}`}
        </span>
      ))}
      <span>
        <i class="s0" /> unknown
      </span>
    </p>
  );
}

export function Selected({ found, selected }: { found: Fabric; selected: string }) {
  const one = found.nodes.find(({ id }) => String(id) === selected);
  if (one) return <NodePanel one={one} ports={found.ports} />;
  const link = found.links.find(({ id }) => id === selected);
  if (link) return <LinkPanel link={link} links={found.links} />;
  const clear = () => {
    // The button is removed with the selection.
    document.getElementById("main")?.focus({ preventScroll: true });
    set({ sel: undefined });
  };
  if (!selected) return null;
  return <Empty>“{shown(selected)}” is not on the map. <button onClick={clear}>Clear selection</button></Empty>;
}

function NodePanel({ one, ports }: { one: MapNode; ports: Port[] }) {
  const asked = useAsk<any[]>("node " + one.id, (signal) => ask(`nodes?node=${one.id}`, { signal }), 5_000);
  const known = one.reportsItself ? asked.data?.[0] : undefined;
  return (
    <section class="panel" aria-label={node(one.id)}>
      <h2>{node(one.id)}</h2>
      <Facts facts={[
        ["Node ID", String(one.id)],
        ["Reports", one.reportsItself ? count(known?.reports) : "sends none; seen only in other nodes' reports"],
        ["Lost reports", count(known?.lost)],
        ["Flows", <a href={href("/flows", { q: `node = ${one.id}` })}>flows through this node</a>],
      ]} />
      <Table caption="Egress interfaces" rows={ports.filter((port) => port.node === one.id)} keyOf={portName} columns={columns()} />
    </section>
  );
}

function LinkPanel({ link, links }: { link: MapLink; links: MapLink[] }) {
  const back = links.find((other) => other.from === link.to && other.to === link.from && other.egress === link.ingress);
  const flows = useAsk<any[]>("link " + link.id, (signal) => ask(`links/${link.id}/flows?limit=20`, { signal }), 5_000);
  return (
    <section class="panel" aria-label={linkName(link)}>
      <h2>{linkName(link)}</h2>
      <Table caption="Both directions" rows={back ? [link, back] : [link]} columns={[
        { name: "Direction", cell: (one) => linkName(one) },
        { name: "Link latency p50", isNumber: true, cell: latencyOf },
        ...(Object.keys(BYS) as By[]).map((key) => ({ name: BYS[key].name, isNumber: true, cell: (one: MapLink) => <span class={`swatch s${step(key, one.values[key])}`}>{shownAt(key, one.from, one.values[key])}</span> })),
      ]} />
      {!back && <p class="muted">No path in the other direction has been reported.</p>}
      <Answer asked={flows}>
        {(list) =>
          list.length ? (
            <Table
              caption={`${plural(list.length, "flow")} whose latest path uses this link`}
              rows={list}
              open={(flow) => href("/flow/" + flow.id)}
              columns={[
                { name: "Flow", cell: (flow) => <FlowLink flow={flow.flow} id={flow.id} /> },
                { name: "Path", cell: (flow) => <Path hops={flow.path} /> },
                { name: "Reports", isNumber: true, cell: (flow) => count(flow.reports) },
              ]}
            />
          ) : (
            <Empty>No flow uses this link now.</Empty>
          )
        }
      </Answer>
    </section>
  );
}
