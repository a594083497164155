// A table with rows of one height that the keyboard walks and opens.

import type { ComponentChildren } from "preact";
import { go } from "../address";

export interface Column<T> {
  name: string;
  cell: (row: T) => ComponentChildren;
  isNumber?: boolean;
  /** Whether it has sentences, which need room. */
  isLong?: boolean;
}

interface Props<T> {
  caption: string;
  columns: Column<T>[];
  rows: T[];
  /** Identifies a row; otherwise its `id` does, or its place. */
  keyOf?: (row: T, at: number) => string;
  /** The address that Enter and a click on a row open. */
  open?: ((row: T) => string | undefined) | undefined;
  onFocus?: ((row: T) => void) | undefined;
  isChosen?: (row: T) => boolean;
}

export function Table<T>({ caption, columns, rows, keyOf, open, onFocus, isChosen }: Props<T>) {
  const enter = (row: T) => {
    const to = open?.(row);
    if (to) go(to);
  };
  return (
    <div class="scroll" role="region" aria-label={caption} tabIndex={0}>
      <table>
        <caption><span>{caption}</span></caption>
        <thead>
          <tr>
            {columns.map(({ name, isNumber }) => (
              <th key={name} scope="col" class={isNumber ? "number" : undefined}>{name}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr
              key={keyOf?.(row, at) ?? (row as any).id ?? at}
              data-row={open || onFocus ? "" : undefined}
              tabIndex={open || onFocus ? 0 : undefined}
              aria-selected={isChosen ? isChosen(row) : undefined}
              class={isChosen?.(row) ? "chosen" : undefined}
              onFocus={() => onFocus?.(row)}
              onClick={() => onFocus?.(row)}
              onDblClick={() => enter(row)}
              onKeyDown={(event) => event.key === "Enter" && event.target === event.currentTarget && enter(row)}
            >
              {columns.map(({ name, cell, isNumber, isLong }) => (
                <td key={name} class={isNumber ? "number" : isLong ? "long" : undefined}>{cell(row)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
