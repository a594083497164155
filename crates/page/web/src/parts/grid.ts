// A grid of coloured cells on a canvas, one pixel per cell, with a cursor for pointer and arrow keys.

import { useEffect, useRef, useState } from "preact/hooks";
import { isDark } from "../keys";

type Cell = [row: number, column: number];

interface Grid {
  rows: number;
  columns: number;
  /** The step of the scale, 1 to 7; 0 if unknown, `undefined` where there is no cell. */
  step: (row: number, column: number) => number | undefined;
  /** The colour of 0. */
  nothing: "--panel" | "--hairline";
  /** The cell where the arrow keys start. */
  start: Cell;
  open?: ((row: number, column: number) => void) | undefined;
  /** A change of any of these repaints the grid. */
  painted: unknown[];
}

export function useGrid({ rows, columns, step, nothing, start, open, painted }: Grid) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [at, setAt] = useState<Cell | undefined>();
  useEffect(() => {
    canvas.current!.width = Math.max(1, columns);
    canvas.current!.height = Math.max(1, rows);
    const style = getComputedStyle(document.documentElement);
    const names = [nothing, ...[1, 2, 3, 4, 5, 6, 7].map((one) => `--scale${one}`)];
    const colours = names.map((name) => rgb(style.getPropertyValue(name).trim()));
    const context = canvas.current!.getContext("2d")!;
    const image = context.createImageData(canvas.current!.width, canvas.current!.height);
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++) {
        const one = step(row, column);
        if (one !== undefined) image.data.set([...colours[one]!, 255], 4 * (row * columns + column));
      }
    }
    context.putImageData(image, 0, 0);
  }, [rows, columns, ...painted, isDark.value]);
  const clamp = (value: number, many: number) => Math.max(0, Math.min(many - 1, value));
  const find = (event: MouseEvent): Cell => {
    const box = canvas.current!.getBoundingClientRect();
    return [clamp(Math.floor(((event.clientY - box.top) / box.height) * rows), rows), clamp(Math.floor(((event.clientX - box.left) / box.width) * columns), columns)];
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const by = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (event.key === "Enter") open?.(...(at ?? start));
    else if (by) setAt(([row, column] = start) => [clamp(row + by[0]!, rows), clamp(column + by[1]!, columns)]);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return {
    at: at && at[0] < rows && at[1] < columns ? at : undefined,
    drawn: {
      ref: canvas,
      role: "img" as const,
      tabIndex: 0,
      onMouseMove: (event: MouseEvent) => setAt(find(event)),
      onMouseLeave: () => setAt(undefined),
      onClick: (event: MouseEvent) => open?.(...find(event)),
      onKeyDown,
    },
  };
}

const rgb = (hex: string) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
