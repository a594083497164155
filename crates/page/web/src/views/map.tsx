// Map: the fabric in tiers, or as a matrix if it is large, coloured by one metric of each link.

import { go, href, param, set } from "../address";
import { useAsk } from "../ask";
import { type By, BYS, type Fabric, by, counted, fabric } from "../fabric";
import { node } from "../names";
import { Answer } from "../parts/answer";
import { useCopy, useKeys } from "../parts/copy";
import { Legend, Nothing, Selected, columns, kept, portName, shownAt } from "../parts/fabric";
import { Matrix } from "../parts/matrix";
import { Table } from "../parts/table";
import { Tiers } from "../parts/tiers";
import { OnlyPresent } from "../parts/words";
import { timeAsked } from "../range";
import { count, plural } from "../units";
import { Grouped } from "./groups";

/** Up to this many nodes are drawn in tiers, more as a matrix, and many more as groups. */
const MATRIX_FROM = 200;
const GROUPS_FROM = 5_000;

export function Map() {
  const all = Object.keys(BYS) as By[];
  useKeys({ b: () => set({ by: all[(all.indexOf(by()) + 1) % all.length] }) });
  const isGrouped = param("form") === "groups" || (!param("form") && counted.value > GROUPS_FROM);
  return (
    <>
      <h1>Map</h1>
      <OnlyPresent what="Links, their latencies and flows, and the counts of a node" />
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
          Layout{" "}
          <select value={param("form")} onChange={(event) => set({ form: event.currentTarget.value || undefined })}>
            <option value="">automatic</option>
            <option>tiers</option>
            <option>matrix</option>
            <option>groups</option>
          </select>
        </label>
      </div>
      {isGrouped ? <Grouped /> : <Whole />}
    </>
  );
}

function Whole() {
  const [when, every] = timeAsked();
  const asked = useAsk<Fabric>("map " + when, fabric, every);
  return <Answer asked={asked}>{(found) => <Shown found={found} />}</Answer>;
}

function Shown({ found }: { found: Fabric }) {
  const { nodes, links, ports } = found;
  const isMatrix = param("form") === "matrix" || (param("form") !== "tiers" && nodes.length > MATRIX_FROM);
  const sorted = [...ports].sort((a, b) => (b.values[by()] ?? -1) - (a.values[by()] ?? -1));
  useCopy(() => sorted.slice(0, 50).map((port) => `${portName(port)}  ${shownAt(by(), port.node, port.values[by()])}`).join("\n"));
  if (!nodes.length) return <Nothing />;
  const selected = param("sel");
  const silent = nodes.filter((one) => !one.reportsItself).length;
  return (
    <>
      <Legend />
      <p class="muted">
        {plural(nodes.length, "node")}, {plural(links.length, "link")} seen in paths. {silent > 0 && `Nodes seen only in other nodes' reports: ${count(silent)}.`}
      </p>
      {isMatrix ? <Matrix found={found} by={by()} selected={selected} node={node} open={(link) => go(href("/map", { ...kept(), sel: link.id }))} /> : <Tiers found={found} by={by()} selected={selected} />}
      <Selected found={found} selected={selected} />
      <Table
        caption={`${count(Math.min(20, sorted.length))} of ${plural(ports.length, "interface")}, by ${BYS[by()].name}`}
        rows={sorted.slice(0, 20)}
        keyOf={portName}
        isChosen={(port) => port.link?.id === selected}
        open={(port) => href("/map", { ...kept(), sel: port.link?.id ?? String(port.node) })}
        columns={columns()}
      />
    </>
  );
}
