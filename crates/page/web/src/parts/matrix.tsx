// A large fabric as a matrix: a bad leaf is a row, a bad spine a column, a bad link a cell.

import { useEffect, useRef, useState } from "preact/hooks";
import { go, href, param } from "../address";
import { type By, BYS, type Fabric, type MapLink, step, written } from "../fabric";
import { theme } from "../keys";
import { node } from "../names";

export function Matrix({ found, by, selected }: { found: Fabric; by: By; selected: string }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [at, setAt] = useState<[number, number]>([0, 0]);
  const { rows, columns, cells } = arrange(found, by);
  useEffect(() => paint(canvas.current!, rows, columns, cells, by), [found, by, theme.value]);
  const here = cells.get(`${rows[at[0]]} ${columns[at[1]]}`);
  const told = `${node(rows[at[0]]!)} and ${node(columns[at[1]]!)}: ${here ? written(by, here.values[by]) : "no link was seen"}`;
  const open = (link: MapLink | undefined) => link && go(href("/map", { by: param("by"), form: param("form"), sel: link.id }));
  const find = (event: MouseEvent): [number, number] => {
    const box = canvas.current!.getBoundingClientRect();
    const part = (value: number, size: number, many: number) => Math.max(0, Math.min(many - 1, Math.floor((value / size) * many)));
    return [part(event.clientY - box.top, box.height, rows.length), part(event.clientX - box.left, box.width, columns.length)];
  };
  const onKey = (event: KeyboardEvent) => {
    const by = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (event.key === "Enter") open(here);
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    const clamp = (value: number, many: number) => Math.max(0, Math.min(many - 1, value));
    setAt(([row, column]) => [clamp(row + by[0]!, rows.length), clamp(column + by[1]!, columns.length)]);
  };
  const worst = [...cells.values()].reduce<number | null>((most, link) => Math.max(most ?? 0, link.values[by] ?? 0), null);
  return (
    <figure class="matrix">
      <canvas
        ref={canvas}
        role="img"
        tabIndex={0}
        data-selected={selected || undefined}
        style={{ maxWidth: `${columns.length * 48}px`, maxHeight: `${rows.length * 28}px` }}
        aria-label={`${rows.length} nodes by ${columns.length}, worst link by ${BYS[by].name}: ${written(by, worst)}. Arrow keys move from cell to cell, Enter opens. The table below has the worst links.`}
        onMouseMove={(event) => setAt(find(event))}
        onClick={(event) => {
          const [row, column] = find(event);
          open(cells.get(`${rows[row]} ${columns[column]}`));
        }}
        onKeyDown={onKey}
      />
      <figcaption aria-live="polite">{told}</figcaption>
    </figure>
  );
}

/** Rows are nodes at the edge, columns those above; of the links between two nodes the worst counts. */
function arrange(found: Fabric, by: By) {
  const isUpper = new globalThis.Map(found.nodes.map(({ id, tier }) => [id, tier > 0]));
  const [rows, columns] = [false, true].map((upper) => found.nodes.filter(({ id }) => isUpper.get(id) === upper).map(({ id }) => id)) as [number[], number[]];
  const cells = new globalThis.Map<string, MapLink>();
  for (const link of found.links) {
    const [row, column] = isUpper.get(link.from) ? [link.to, link.from] : [link.from, link.to];
    const known = cells.get(`${row} ${column}`);
    if (!known || (link.values[by] ?? -1) > (known.values[by] ?? -1)) cells.set(`${row} ${column}`, link);
  }
  return { rows, columns: columns.length ? columns : rows, cells };
}

function paint(canvas: HTMLCanvasElement, rows: number[], columns: number[], cells: globalThis.Map<string, MapLink>, by: By) {
  canvas.width = Math.max(1, columns.length);
  canvas.height = Math.max(1, rows.length);
  const context = canvas.getContext("2d")!;
  const style = getComputedStyle(document.documentElement);
  const names = ["--hairline", "--scale1", "--scale2", "--scale3", "--scale4", "--scale5", "--scale6", "--scale7"];
  const colours = names.map((name) => rgb(style.getPropertyValue(name).trim()));
  const image = context.createImageData(canvas.width, canvas.height);
  rows.forEach((row, y) =>
    columns.forEach((column, x) => {
      const link = cells.get(`${row} ${column}`);
      if (link) image.data.set([...colours[step(by, link.values[by])]!, 255], 4 * (y * canvas.width + x));
    }),
  );
  context.putImageData(image, 0, 0);
}

const rgb = (hex: string) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
