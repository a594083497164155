// Drops: the packets that nodes reported as dropped, the reasons, and what to check.

import { href } from "../address";
import { ask } from "../api";
import { useAsk } from "../ask";
import { type Flow } from "../kinds";
import { node } from "../names";
import { Answer, Empty } from "../parts/answer";
import { useCopy } from "../parts/copy";
import { Table } from "../parts/table";
import { FlowLink, LastDay, Time } from "../parts/words";
import { range, timeAsked } from "../range";
import { eventsHeard } from "../stream";
import { UNKNOWN, count, plural, shown } from "../units";
import { Tabs } from "./events";

interface Group {
  reason: string;
  class: string;
  check: string;
  node: number;
  port: number | null;
  packets: number;
  reports: number;
  flows: Flow[];
  last: bigint;
  events: any[];
}

export function Drops() {
  const [when, every] = timeAsked();
  const asked = useAsk<any[]>("drops " + when, (signal) => ask(`events?kind=drop&limit=4000&from=${range().from}&to=${range().to}`, { signal }), every, every && eventsHeard.value);
  return (
    <>
      <h1>Drops</h1>
      <Tabs />
      <Answer asked={asked}>{(events) => <List groups={groups(events)} />}</Answer>
    </>
  );
}

function groups(events: any[]): Group[] {
  const found = new Map<string, Group>();
  for (const event of events) {
    const { reason_name, class: kind, check, node_id, egress_interface, packets, reports, flows } = event.detail;
    const key = [node_id, egress_interface, reason_name, kind].join(" ");
    const group: Group = found.get(key) ?? { reason: reason_name, class: kind, check, node: node_id, port: egress_interface, packets: 0, reports: 0, flows, last: 0n, events: [] };
    group.packets += Number(packets);
    group.reports += Number(reports);
    group.last = BigInt(event.last) > group.last ? BigInt(event.last) : group.last;
    group.events.push(event);
    found.set(key, group);
  }
  return [...found.values()].sort((a, b) => b.packets - a.packets);
}

function List({ groups }: { groups: Group[] }) {
  useCopy(() => groups.map((group) => `${count(group.packets)}  ${shown(group.reason)}  ${node(group.node)} ${group.port ?? ""}  check: ${shown(group.check)}`).join("\n"));
  if (!groups.length) {
    return (
      <Empty>
        No drops reported in this time range. Nodes report drops only if asked to.{" "}
        <LastDay of="/drops" />
      </Empty>
    );
  }
  const caption = `${plural(groups.length, "cause")}, most packets first. Nodes report a flow's drops at intervals, so counts are minimums.`;
  const keyOf = (group: Group) => [group.node, group.port, group.reason, group.class].join(" ");
  const to = (group: Group) => href("/event/" + group.events[0].id);
  return (
    <Table caption={caption} rows={groups} keyOf={keyOf} open={to} columns={[
      { name: "Reason", cell: (group) => <a href={to(group)}>{shown(group.reason) || "unknown"}</a> },
      { name: "Class", cell: (group) => group.class },
      { name: "Where", cell: (group) => <a href={href("/map", { sel: String(group.node) })}>{node(group.node)} {group.port ?? UNKNOWN}</a> },
      { name: "Packets, at least", isNumber: true, cell: (group) => count(group.packets) },
      { name: "Reports", isNumber: true, cell: (group) => count(group.reports) },
      { name: "Check", isLong: true, cell: (group) => shown(group.check) },
      { name: "Example flow", cell: (group) => (group.flows[0] ? <FlowLink flow={group.flows[0]} /> : UNKNOWN) },
      { name: "Last", cell: (group) => <Time at={group.last} /> },
    ]} />
  );
}
