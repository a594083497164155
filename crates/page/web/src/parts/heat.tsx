// A heat map: rows by columns of time, coloured in fixed steps, with a cursor that is announced.

import { useGrid } from "./grid";

interface Props {
  /** Its title, with its main number. */
  name: string;
  rows: number;
  columns: number;
  /** 0 if unknown, else 1 to 7. */
  step: (row: number, column: number) => number;
  told: (row: number, column: number) => string;
  open?: (row: number, column: number) => void;
  /** The height of a row on the screen, in pixels. */
  rowHeight: number;
  /** The text beside rows and below the map. */
  labels?: string[];
  ends: [string, string];
}

export function Heat({ name, rows, columns, step, told, open, rowHeight, labels, ends }: Props) {
  const { at, drawn } = useGrid({ rows, columns, step, nothing: "--panel", start: [0, columns - 1], open, painted: [step] });
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
            {...drawn}
            style={{ height: `${rows * rowHeight}px` }}
            aria-label={`${name} Arrow keys move from cell to cell${open ? ", Enter opens" : ""}.`}
          />
          <div class="ends" aria-hidden="true">
            <span>{ends[0]}</span>
            <span>{ends[1]}</span>
          </div>
        </div>
      </div>
      <figcaption aria-live="polite">{at ? told(...at) : name}</figcaption>
    </figure>
  );
}
