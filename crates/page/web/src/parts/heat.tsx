// A heat map: rows by columns of time, the colour by fixed steps, with a cursor that speaks.

import { useEffect, useRef, useState } from "preact/hooks";
import { theme } from "../keys";

interface Props {
  /** What it shows, with its main number. */
  name: string;
  rows: number;
  columns: number;
  /** 0 where nothing is known, else 1 to 7. */
  step: (row: number, column: number) => number;
  told: (row: number, column: number) => string;
  open?: (row: number, column: number) => void;
  /** The height of a row on the screen, in pixels. */
  rowHeight: number;
  /** What stands beside rows and below the map. */
  labels?: string[];
  ends: [string, string];
}

export function Heat({ name, rows, columns, step, told, open, rowHeight, labels, ends }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [at, setAt] = useState<[number, number] | undefined>();
  useEffect(() => paint(canvas.current!, rows, columns, step), [rows, columns, step, theme.value]);
  const clamp = (value: number, many: number) => Math.max(0, Math.min(many - 1, value));
  const find = (event: MouseEvent): [number, number] => {
    const box = canvas.current!.getBoundingClientRect();
    return [clamp(Math.floor(((event.clientY - box.top) / box.height) * rows), rows), clamp(Math.floor(((event.clientX - box.left) / box.width) * columns), columns)];
  };
  const onKey = (event: KeyboardEvent) => {
    const by = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (event.key === "Enter" && at) open?.(...at);
    else if (by) setAt(([row, column] = [0, columns]) => [clamp(row + by[0]!, rows), clamp(column + by[1]!, columns)]);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <figure class="heat">
      <div class="heat-frame">
        {labels && (
          <div class="heat-labels" aria-hidden="true">
            {labels.map((label, row) => (
              <span key={row} style={{ height: `${rowHeight}px`, lineHeight: `${rowHeight}px` }}>{label}</span>
            ))}
          </div>
        )}
        <div class="heat-map">
          <canvas
            ref={canvas}
            role="img"
            tabIndex={0}
            style={{ height: `${rows * rowHeight}px` }}
            aria-label={`${name} Arrow keys move from cell to cell${open ? ", Enter opens" : ""}.`}
            onMouseMove={(event) => setAt(find(event))}
            onMouseLeave={() => setAt(undefined)}
            onClick={(event) => open?.(...find(event))}
            onKeyDown={onKey}
          />
          <div class="ends" aria-hidden="true">
            <span>{ends[0]}</span>
            <span>{ends[1]}</span>
          </div>
        </div>
      </div>
      <figcaption aria-live="polite">{at && at[0] < rows && at[1] < columns ? told(...at) : name}</figcaption>
    </figure>
  );
}

const NAMES = ["--panel", "--scale1", "--scale2", "--scale3", "--scale4", "--scale5", "--scale6", "--scale7"];

function paint(canvas: HTMLCanvasElement, rows: number, columns: number, step: (row: number, column: number) => number) {
  canvas.width = Math.max(1, columns);
  canvas.height = Math.max(1, rows);
  const style = getComputedStyle(document.documentElement);
  const colours = NAMES.map((name) => style.getPropertyValue(name).trim()).map((hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)));
  const context = canvas.getContext("2d")!;
  const image = context.createImageData(canvas.width, canvas.height);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) image.data.set([...colours[step(row, column)]!, 255], 4 * (row * columns + column));
  }
  context.putImageData(image, 0, 0);
}
