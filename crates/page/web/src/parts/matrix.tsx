// A large fabric as a matrix: a bad leaf is a row, a bad spine a column, a bad link a cell.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type By, BYS, type Fabric, type MapLink, step, written } from "../fabric";
import { theme } from "../keys";

interface Props {
  found: Fabric;
  by: By;
  selected: string;
  /** What the rows and columns are called. */
  node: (id: number) => string;
  open: (link: MapLink) => void;
}

export function Matrix({ found, by, selected, node, open }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [at, setAt] = useState<[number, number]>([0, 0]);
  const { rows, columns, cells, fold } = useMemo(() => arrange(found, by), [found, by]);
  useEffect(() => paint(canvas.current!, rows.length, columns.length, cells, by), [cells, theme.value]);
  const cell = (row: number, column: number) => cells[row * columns.length + column];
  const here = cell(...at);
  const group = rows[at[0]] ?? [];
  const names = group.length > 1 ? `${node(group[0]!)} to ${node(group.at(-1)!)}` : group.length ? node(group[0]!) : "";
  const worstHere = here && `${group.length > 1 ? `worst ${node(here.from)} to ${node(here.to)}, ` : ""}${written(by, here.values[by])}`;
  const told = `${names} and ${columns.length ? node(columns[at[1]] ?? columns[0]!) : ""}: ${worstHere ?? "no link was seen"}`;
  const find = (event: MouseEvent): [number, number] => {
    const box = canvas.current!.getBoundingClientRect();
    const part = (value: number, size: number, many: number) => Math.max(0, Math.min(many - 1, Math.floor((value / size) * many)));
    return [part(event.clientY - box.top, box.height, rows.length), part(event.clientX - box.left, box.width, columns.length)];
  };
  const onKey = (event: KeyboardEvent) => {
    const by = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (event.key === "Enter" && here) open(here);
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    const clamp = (value: number, many: number) => Math.max(0, Math.min(many - 1, value));
    setAt(([row, column]) => [clamp(row + by[0]!, rows.length), clamp(column + by[1]!, columns.length)]);
  };
  const worst = cells.reduce<number | null>((most, link) => (link ? Math.max(most ?? 0, link.values[by] ?? 0) : most), null);
  return (
    <figure class="matrix">
      <canvas
        ref={canvas}
        role="img"
        tabIndex={0}
        data-selected={selected || undefined}
        style={{ maxWidth: `${columns.length * 48}px`, maxHeight: `${rows.length * 28}px` }}
        data-fold={fold}
        aria-label={`${rows.flat().length} nodes by ${columns.length}, worst link by ${BYS[by].name}: ${written(by, worst)}. Arrow keys move from cell to cell, Enter opens. The table below has the worst links.`}
        onMouseMove={(event) => setAt(find(event))}
        onClick={(event) => {
          const link = cell(...find(event));
          if (link) open(link);
        }}
        onKeyDown={onKey}
      />
      <figcaption aria-live="polite">
        {told}
        {fold > 1 && <span class="muted">. A row is {fold} nodes, each cell the worst of them.</span>}
      </figcaption>
    </figure>
  );
}

interface Arranged {
  /** Nodes that have others above them, those at the edge first; several in a row where there are more than the screen has lines. */
  rows: number[][];
  /** Nodes above the edge. */
  columns: number[];
  /** Row by row: of the links of a cell the worst. */
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
  // A line that is thinner than a pixel would not be drawn, and a fault on it not be seen.
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

function paint(canvas: HTMLCanvasElement, rows: number, columns: number, cells: (MapLink | undefined)[], by: By) {
  canvas.width = Math.max(1, columns);
  canvas.height = Math.max(1, rows);
  const context = canvas.getContext("2d")!;
  const style = getComputedStyle(document.documentElement);
  const names = ["--hairline", "--scale1", "--scale2", "--scale3", "--scale4", "--scale5", "--scale6", "--scale7"];
  const colours = names.map((name) => rgb(style.getPropertyValue(name).trim()));
  const image = context.createImageData(canvas.width, canvas.height);
  cells.forEach((link, at) => {
    if (link) image.data.set([...colours[step(by, link.values[by])]!, 255], 4 * at);
  });
  context.putImageData(image, 0, 0);
}

const rgb = (hex: string) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
