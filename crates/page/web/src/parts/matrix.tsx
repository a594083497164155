// A large fabric as a matrix: a bad leaf is a row, a bad spine a column, a bad link a cell.

import { useMemo } from "preact/hooks";
import { type By, BYS, type Fabric, type MapLink, step, worstOf, written } from "../fabric";
import { plural } from "../units";
import { useGrid } from "./grid";

interface Props {
  found: Fabric;
  by: By;
  selected: string;
  /** The name of a row or column. */
  node: (id: number) => string;
  open: (link: MapLink) => void;
}

export function Matrix({ found, by, selected, node, open }: Props) {
  const { rows, columns, cells, fold } = useMemo(() => arrange(found, by), [found, by]);
  const cell = (row: number, column: number) => cells[row * columns.length + column];
  const { at, drawn } = useGrid({
    rows: rows.length,
    columns: columns.length,
    step: (row, column) => {
      const link = cell(row, column);
      return link && step(by, link.values[by]);
    },
    nothing: "--hairline",
    start: [0, 0],
    open: (row, column) => {
      const link = cell(row, column);
      if (link) open(link);
    },
    painted: [cells],
  });
  const [row, column] = at ?? [0, 0];
  const here = cell(row, column);
  const group = rows[row] ?? [];
  const names = group.length > 1 ? `${node(group[0]!)} to ${node(group.at(-1)!)}` : group.length ? node(group[0]!) : "";
  const worstHere = here && `${group.length > 1 ? `worst ${node(here.from)} to ${node(here.to)}, ` : ""}${written(by, here.values[by])}`;
  const told = `${names} and ${columns.length ? node(columns[column]!) : ""}: ${worstHere ?? "no link seen"}`;
  const worst = worstOf(by, cells.filter((link) => link !== undefined));
  return (
    <figure class="matrix">
      <canvas
        {...drawn}
        data-selected={selected || undefined}
        style={{ maxWidth: `${columns.length * 48}px`, maxHeight: `${rows.length * 28}px` }}
        data-fold={fold}
        aria-label={`${plural(rows.flat().length, "node")} by ${columns.length}, worst link by ${BYS[by].name}: ${written(by, worst)}. Arrow keys move from cell to cell, Enter opens. The table below lists the worst links.`}
      />
      <figcaption aria-live="polite">
        {told}
        {fold > 1 && <span class="muted">. A row stands for {fold} nodes; a cell shows the worst of them.</span>}
      </figcaption>
    </figure>
  );
}

interface Arranged {
  /** Nodes with others above them, the edge first; several per row if the screen has too few lines. */
  rows: number[][];
  /** Nodes above the edge. */
  columns: number[];
  /** Row by row: the worst link of each cell. */
  cells: (MapLink | undefined)[];
  fold: number;
}

function arrange(found: Fabric, by: By): Arranged {
  const tierOf = new globalThis.Map(found.nodes.map(({ id, tier }) => [id, tier]));
  const top = Math.max(1, ...found.nodes.map(({ tier }) => tier));
  const ordered = [...found.nodes].sort((a, b) => a.tier - b.tier || a.id - b.id);
  const isFlat = found.links.some(({ from, to }) => tierOf.get(from) === top && tierOf.get(to) === top);
  const lower = ordered.filter(({ tier }) => tier < top || isFlat).map(({ id }) => id);
  const upper = ordered.filter(({ tier }) => tier > 0).map(({ id }) => id);
  const columns = upper.length ? upper : lower;
  // A row thinner than a pixel would not be drawn, and would hide a fault.
  const fold = Math.max(1, Math.ceil(lower.length / Math.max(100, Math.floor(innerHeight * 0.6))));
  const rows = Array.from({ length: Math.ceil(lower.length / fold) }, (_, row) => lower.slice(row * fold, (row + 1) * fold));
  const rowOf = new globalThis.Map(lower.map((id, at) => [id, Math.floor(at / fold)]));
  const columnOf = new globalThis.Map(columns.map((id, at) => [id, at]));
  const cells = new Array<MapLink | undefined>(rows.length * columns.length).fill(undefined);
  for (const link of found.links) {
    const isUp = (tierOf.get(link.from) ?? 0) <= (tierOf.get(link.to) ?? 0);
    const [low, high] = isUp ? [link.from, link.to] : [link.to, link.from];
    const [row, column] = [rowOf.get(low), columnOf.get(high)];
    if (row === undefined || column === undefined) continue;
    const at = row * columns.length + column;
    if (!cells[at] || (link.values[by] ?? -1) > (cells[at].values[by] ?? -1)) cells[at] = link;
  }
  return { rows, columns, cells, fold };
}
