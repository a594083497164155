// The map of a fabric that is too large to show each node: nodes with the same neighbours are grouped.

import { go, href, param } from "../address";
import { useAsk } from "../ask";
import { type By, BYS, type Fabric, type Group, by, counted, fabric, groups, step, written } from "../fabric";
import { node } from "../names";
import { Answer } from "../parts/answer";
import { Legend, Nothing, Selected, kept } from "../parts/fabric";
import { Matrix } from "../parts/matrix";
import { Table } from "../parts/table";
import { timeAsked } from "../range";
import { count, plural, shown } from "../units";

/** Most nodes of a group that are named. */
const MEMBERS = 200;

export function Grouped() {
  const [when, every] = timeAsked();
  // Groups have no silence of links.
  const shown = by() === "silence" ? "p99" : by();
  const asked = useAsk(`groups ${shown} ${when}`, (signal) => groups(shown, signal), every);
  const of = /^\d{1,10}/.exec(param("sel"))?.[0];
  const one = useAsk<Fabric | undefined>(`around ${of} ${when}`, (signal) => (of ? fabric(signal, Number(of)) : Promise.resolve(undefined)), every);
  return (
    <>
      <Answer asked={asked}>{(found) => <Shown {...found} by={shown} />}</Answer>
      {of && <Answer asked={one}>{(found) => found && <Selected found={found} selected={param("sel")} />}</Answer>}
    </>
  );
}

function Shown({ groups: all, fabric: found, by: key }: { groups: Group[]; fabric: Fabric; by: By }) {
  if (!all.length) return <Nothing />;
  const at = all[Number(param("group") || -1)];
  const name = (id: number) => (all[id]!.nodes.length > 1 ? shown(all[id]!.name, 64) : node(all[id]!.nodes[0]!));
  const sorted = all.map((group, id) => ({ ...group, id })).sort((a, b) => (b.value ?? -1) - (a.value ?? -1));
  const to = (group: number) => href("/map", { ...kept(), form: "groups", group: String(group) });
  const caption = `${plural(all.length, "group")}, by ${BYS[key].name}`;
  const isChosen = ({ id }: { id: number }) => String(id) === param("group");
  return (
    <>
      <Legend />
      <p class="muted">
        {plural(counted.value, "node")} in {plural(all.length, "group")}. The nodes of a group have the same
        neighbours. A group shows its worst value, and the sum of drops and reports.
      </p>
      <Matrix found={found} by={key} selected="" node={name} open={(link) => go(to((found.nodes[link.from]!.tier > found.nodes[link.to]!.tier ? link.to : link.from)))} />
      {at && (
        <section class="panel" aria-label={at.name}>
          <h2>{shown(at.name, 64)}</h2>
          <p class="members">{at.nodes.slice(0, MEMBERS).map((id) => <a key={id} href={href("/map", { ...kept(), form: "groups", group: param("group"), sel: String(id) })}>{node(id)}</a>)}{at.nodes.length > MEMBERS && `and ${count(at.nodes.length - MEMBERS)} more`}</p>
        </section>
      )}
      <Table caption={caption} rows={sorted} isChosen={isChosen} open={({ id }) => to(id)} columns={[
        { name: "Group", cell: (group) => <a href={to(group.id)}>{name(group.id)}</a> },
        { name: "Nodes", isNumber: true, cell: (group) => count(group.nodes.length) },
        { name: BYS[key].name, isNumber: true, cell: (group) => <span class={`swatch s${step(key, group.value)}`}>{written(key, group.value)}</span> },
        { name: "Reported hops", isNumber: true, cell: (group) => count(group.reports) },
      ]} />
    </>
  );
}

