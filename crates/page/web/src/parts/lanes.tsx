// Lanes over one time axis, drawn by uPlot, each with its main number in words.

import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { around } from "../range";
import { set } from "../address";
import { isUtc, mark, millis, zone } from "../time";
import { isDark } from "../keys";
import { UNKNOWN, count, plural } from "../units";
import { Table } from "./table";

export interface Lane {
  name: string;
  /** Its main number, in words. */
  summary: string;
  values: (number | null)[];
  write: (value: number) => string;
  colour: string;
  isStepped?: boolean;
}

interface Props {
  /** Seconds since 1970. */
  times: number[];
  lanes: Lane[];
  from: number;
  to: number;
  /** Lanes with the same axis follow, and carry the instructions. */
  isUpper?: boolean;
}

/** Large screens have room. */
const HEIGHT = innerWidth >= 2400 ? 220 : 110;
/** Distances of axis marks: whole numbers, because a fraction of a report or nanosecond means nothing. */
const WHOLE = Array.from({ length: 54 }, (_, at) => [1, 2, 5][at % 3]! * 10 ** Math.floor(at / 3));
/** Rows of the table beside the lanes. */
const MAX_ROWS = 30;

export function Lanes({ times, lanes, from, to, isUpper }: Props) {
  const caption = `Latest ${count(Math.min(MAX_ROWS, times.length))} of ${plural(times.length, "point")}`;
  const rows = times.map((_, at) => at).slice(-MAX_ROWS).reverse();
  return (
    <div class="lanes">
      {lanes.map((lane) => (
        <figure key={lane.name} class="lane">
          <figcaption>
            <strong>{lane.name}</strong> <span>{lane.summary}</span>
          </figcaption>
          <Plot times={times} lane={lane} from={from} to={to} />
        </figure>
      ))}
      <details>
        <summary>As a table</summary>
        <Table caption={caption} rows={rows} columns={[
          { name: "Time", cell: (at: number) => millis(BigInt(Math.round(times[at]! * 1e3)) * 1_000_000n) },
          ...lanes.map(({ name, values, write }) => ({ name, isNumber: true, cell: (at: number) => (values[at] === null || values[at] === undefined ? UNKNOWN : write(values[at]!)) })),
        ]} />
      </details>
      {!isUpper && <p class="muted small">Times in {zone()}. Drag over a lane to zoom in.</p>}
    </div>
  );
}

function Plot({ times, lane, from, to }: { times: number[]; lane: Lane; from: number; to: number }) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const kept = useRef({ from, to, lane });
  kept.current = { from, to, lane };
  useEffect(() => {
    const holder = place.current!;
    const made = new uPlot(options(holder, kept, lane.colour), [times, lane.values], holder);
    made.root.setAttribute("role", "img");
    plot.current = made;
    const watch = new ResizeObserver(() => made.setSize({ width: holder.clientWidth, height: HEIGHT }));
    watch.observe(holder);
    return () => {
      watch.disconnect();
      made.destroy();
    };
  }, [lane.name, isDark.value, isUtc.value]);
  useEffect(() => plot.current?.setData([times, lane.values]), [times, lane.values, from, to]);
  useEffect(() => plot.current?.root.setAttribute("aria-label", `${lane.name}: ${lane.summary}`));
  return <div ref={place} class="plot" />;
}

const timeMarks: uPlot.Axis.Values = (_plot, marks, _axis, _space, step) => marks.map((at) => mark(at, step));

function options(holder: HTMLElement, kept: { current: { from: number; to: number; lane: Lane } }, colour: string): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const token = (name: string) => style.getPropertyValue(name).trim();
  const axis = { stroke: token("--muted"), grid: { stroke: token("--hairline"), width: 1 }, ticks: { stroke: token("--hairline"), width: 1 }, font: "13px system-ui" };
  return {
    width: holder.clientWidth || 600,
    height: HEIGHT,
    legend: { show: false },
    cursor: { drag: { x: true, y: false, setScale: false }, sync: { key: "time" }, points: { size: 6 } },
    tzDate: (seconds) => (isUtc.value ? uPlot.tzDate(new Date(seconds * 1e3), "Etc/UTC") : new Date(seconds * 1e3)),
    scales: {
      x: { range: () => [kept.current.from, kept.current.to] },
      y: { range: (_plot, _low, high) => [0, Math.max(high || 0, 1) * 1.1] },
    },
    axes: [
      { ...axis, size: 26, space: 110, values: timeMarks },
      { ...axis, size: 84, space: 30, incrs: WHOLE, values: (_plot, marks) => marks.map((mark) => kept.current.lane.write(mark)) },
    ],
    series: [
      {},
      {
        stroke: token(colour),
        width: 1.5,
        fill: token(colour) + "30",
        points: { show: false },
        ...(kept.current.lane.isStepped ? { paths: uPlot.paths.stepped!({ align: 1 }) } : {}),
      },
    ],
    hooks: {
      setSelect: [
        (made) => {
          const { left, width } = made.select;
          if (width < 4) return;
          const [from, to] = [made.posToVal(left, "x"), made.posToVal(left + width, "x")];
          const nanos = (seconds: number) => BigInt(Math.round(seconds * 1e6)) * 1_000n;
          made.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
          set(around((nanos(from) + nanos(to)) / 2n, nanos(to - from)));
        },
      ],
    },
  };
}
