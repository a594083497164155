// A small fabric in tiers, the edge below. Links are curves, one per direction, wider the worse they are.

import { go, href, param } from "../address";
import { type By, BYS, type Fabric, type MapLink, type MapNode, step, worstOf, written } from "../fabric";
import { node } from "../names";
import { plural } from "../units";

const [WIDTH, TIER, BOX] = [1000, 130, 30];

export function Tiers({ found, by, selected }: { found: Fabric; by: By; selected: string }) {
  const places = layout(found.nodes);
  const height = (Math.max(...found.nodes.map(({ tier }) => tier)) + 1) * TIER;
  const worst = worstOf(by, found.links);
  const open = (sel: string) => go(href("/map", { by: param("by"), form: param("form"), sel }));
  return (
    <figure class="tiers">
      <svg viewBox={`0 0 ${WIDTH} ${height}`} role="img" aria-label={`${plural(found.nodes.length, "node")} in tiers; worst link by ${BYS[by].name}: ${written(by, worst)}. The tables below list the values.`}>
        {found.links.map((link) => (
          <path
            key={link.id}
            class={`link s${step(by, link.values[by])} ${link.id === selected ? "chosen" : ""}`}
            d={curve(link, places)}
            stroke-width={1 + step(by, link.values[by]) * 0.8}
            stroke-dasharray={link.certain ? undefined : "6 4"}
            onClick={() => open(link.id)}
          >
            <title>{`${node(link.from)} to ${node(link.to)}: ${written(by, link.values[by])}`}</title>
          </path>
        ))}
        {found.nodes.map((one) => {
          const place = places.get(one.id)!;
          return (
            <g key={one.id} class={`node ${String(one.id) === selected ? "chosen" : ""} ${one.reportsItself ? "" : "silent"}`} transform={`translate(${place.x} ${place.y})`} onClick={() => open(String(one.id))}>
              <rect x={-place.half} y={-BOX / 2} width={2 * place.half} height={BOX} rx="4" />
              <rect class={`mark s${step(by, one.values[by])}`} x={-place.half} y={BOX / 2} width={2 * place.half} height="6" />
              <text text-anchor="middle" dy="5">{cut(node(one.id), place.half)}</text>
              <title>{`${node(one.id)}, worst interface: ${written(by, one.values[by])}`}</title>
            </g>
          );
        })}
      </svg>
      <figcaption class="small muted">
        <span>
          Nodes:{" "}
          {found.nodes.map(({ id }, at) => (
            <span key={id}>
              {at > 0 && ", "}
              <a href={href("/map", { by: param("by"), form: param("form"), sel: String(id) })}>{node(id)}</a>
            </span>
          ))}
          . Bar below a node: its worst interface, including those to hosts. Dashed outline: the node sends no reports itself. Dashed link: a node in between may be missing.
        </span>
      </figcaption>
    </figure>
  );
}

interface Place {
  x: number;
  y: number;
  half: number;
}

function layout(nodes: MapNode[]): globalThis.Map<number, Place> {
  const top = Math.max(...nodes.map(({ tier }) => tier));
  const places = new globalThis.Map<number, Place>();
  for (let tier = 0; tier <= top; tier++) {
    const row = nodes.filter((one) => one.tier === tier).sort((a, b) => a.id - b.id);
    row.forEach((one, at) => {
      const room = WIDTH / row.length;
      places.set(one.id, { x: room * (at + 0.5), y: (top - tier + 0.5) * TIER, half: Math.min(60, room / 2 - 4) });
    });
  }
  return places;
}

/** As much of a name as its box has room for. */
function cut(name: string, half: number): string {
  const [letters, most] = [[...name], Math.floor(half / 4.6)];
  return letters.length <= most ? name : letters.slice(0, Math.max(0, most - 1)).join("") + "…";
}

/** The two directions of a link bend to different sides. */
function curve(link: MapLink, places: globalThis.Map<number, Place>): string {
  const [a, b] = [places.get(link.from), places.get(link.to)];
  if (!a || !b) return "";
  const bend = 14 + 4 * ((link.egress ?? 0) % 3);
  const [dx, dy] = [b.x - a.x, b.y - a.y];
  const length = Math.hypot(dx, dy) || 1;
  const side = a.y === b.y ? 60 : bend;
  return `M${a.x} ${a.y} Q${(a.x + b.x) / 2 - (dy / length) * side} ${(a.y + b.y) / 2 + (dx / length) * side} ${b.x} ${b.y}`;
}
