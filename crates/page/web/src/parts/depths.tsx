// How many packets met which queue depth, over time: one row for each power of two.

import { set } from "../address";
import { around } from "../range";
import type { Sample, Samples } from "../samples";
import { exact, millis } from "../time";
import { plural } from "../units";
import { Heat } from "./heat";

const COLUMNS = 120;
const STEPS = [2, 5, 10, 20, 50, 100];

export function Depths({ found, write }: { found: Samples; write: (value: number) => string }) {
  const level = (depth: number) => (depth <= 0 ? 0 : Math.floor(Math.log2(depth)) + 1);
  const samples = found.samples.filter((one): one is Sample & { depth: number } => one.depth !== null);
  const levels = samples.map(({ depth }) => level(depth));
  const highest = levels.reduce((most, one) => Math.max(most, one), 0);
  const lowest = levels.reduce((least, one) => (one > 0 ? Math.min(least, one) : least), highest);
  // Depths below the least one observed, except 0, would be empty rows.
  const rows = highest === 0 ? 1 : highest - lowest + 2;
  const rowOf = (one: number) => (one === 0 ? rows - 1 : highest - one);
  const span = Number(found.to - found.from);
  const cells = new Uint32Array(rows * COLUMNS);
  samples.forEach(({ at }, index) => {
    cells[rowOf(levels[index]!) * COLUMNS + Math.min(COLUMNS - 1, Math.floor((at / span) * COLUMNS))]! += 1;
  });
  const bounds = (row: number) => (row === rows - 1 ? "empty" : `${write(2 ** (highest - row - 1))} to ${write(2 ** (highest - row))}`);
  const time = (column: number) => found.from + BigInt(Math.floor((column / COLUMNS) * span));
  const most = cells.reduce((all, one) => Math.max(all, one), 0);
  const step = (row: number, column: number) => {
    const packets = cells[row * COLUMNS + column]!;
    const above = STEPS.findIndex((bound) => packets < bound);
    return packets === 0 ? 0 : above < 0 ? 7 : above + 1;
  };
  return (
    <Heat
      name={`Queue depth met by packets: at most ${plural(most, "packet")} in a cell. Colours: from 1 packet to 100 or more.`}
      rows={rows}
      columns={COLUMNS}
      step={step}
      rowHeight={rows > 12 ? 14 : 20}
      labels={Array.from({ length: rows }, (_, row) => (row === rows - 1 ? "empty" : write(2 ** (highest - row - 1))))}
      told={(row, column) => `${exact(time(column))}: ${plural(cells[row * COLUMNS + column]!, "packet")}, ${bounds(row)}`}
      open={(_, column) => set(around(time(column) + BigInt(Math.floor(span / COLUMNS / 2)), BigInt(Math.max(1_000, Math.floor((4 * span) / COLUMNS)))))}
      ends={[millis(found.from), millis(found.to)]}
    />
  );
}
