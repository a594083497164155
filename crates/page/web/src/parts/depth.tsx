// The lane of one queue: depth over time, stacked by flow, with its episodes.

import { useState } from "preact/hooks";
import { set } from "../address";
import { around } from "../range";
import { type Samples, stack } from "../samples";
import { exact, isUtc } from "../time";
import { duration } from "../units";
import { FLOWS_SHOWN, openPacket } from "../views/queue";

const [WIDTH, HEIGHT, LEFT, BOTTOM, STEPS] = [1200, 260, 0, 4, 400];

/** A depth at which the queue starts or stops to count as congested, and why. */
export interface Level {
  name: string;
  depth: number;
  told: string;
}

export function Lane({ found, write, levels }: { found: Samples; write: (value: number) => string; levels: Level[] }) {
  void isUtc.value;
  const [cursor, setCursor] = useState<number | undefined>();
  const steps = stack(found, STEPS, FLOWS_SHOWN);
  const deepest = Math.max(0, ...steps.map(({ depth }) => depth));
  const most = Math.max(1, deepest);
  const [width, height] = [WIDTH - LEFT, HEIGHT - BOTTOM];
  const x = (step: number) => LEFT + (step / STEPS) * width;
  const y = (depth: number) => height - (depth / most) * (height - 8);
  const span = Number(found.to - found.from);
  const place = (nanos: number) => LEFT + (Math.max(0, Math.min(span, nanos)) / span) * width;
  const time = (step: number) => found.from + BigInt(Math.round((step / STEPS) * span));
  const told = cursor === undefined ? "" : `${exact(time(cursor))}: ${steps[cursor]!.depth < 0 ? "nothing reported" : write(steps[cursor]!.depth)}`;
  const open = (step: number) => {
    const at = (step / STEPS) * span;
    const near = found.samples.reduce((best, sample) => (Math.abs(sample.at - at) < Math.abs(best.at - at) ? sample : best));
    openPacket(near.row);
  };
  const onKey = (event: KeyboardEvent) => {
    const at = cursor ?? STEPS / 2;
    const zoomed = { w: 2, W: 2, s: 0.5, S: 0.5 }[event.key];
    if (event.key === "ArrowLeft" || event.key === "ArrowRight") setCursor(Math.max(0, Math.min(STEPS - 1, at + (event.key === "ArrowLeft" ? -1 : 1))));
    else if (event.key === "Enter") open(at);
    else if (zoomed) set(around(time(at), BigInt(Math.max(1_000, Math.round(span / zoomed)))));
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const find = (event: MouseEvent) => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    return Math.max(0, Math.min(STEPS - 1, Math.round((((event.clientX - box.left) / box.width) * WIDTH - LEFT) / width * STEPS)));
  };
  return (
    <figure class="depth">
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        tabindex={0}
        aria-label={`Depth over ${duration(span)}, at most ${write(deepest)}. Arrow keys move, W and S zoom, Enter opens the packet.`}
        onMouseMove={(event) => setCursor(find(event))}
        onMouseLeave={() => setCursor(undefined)}
        onClick={(event) => open(find(event))}
        onKeyDown={onKey}
      >
        <defs>
          <pattern id="cross" width="8" height="8" patternUnits="userSpaceOnUse">
            <path d="M0 0L8 8M8 0L0 8" class="hatch" />
          </pattern>
        </defs>
        {[0, 0.5, 1].map((part) => (
          <line key={part} x1={LEFT} x2={WIDTH} y1={y(most * part)} y2={y(most * part)} class="grid" />
        ))}
        {Array.from({ length: FLOWS_SHOWN + 1 }, (_, flow) => (
          <path key={flow} class={`area f${flow < FLOWS_SHOWN ? flow + 1 : 0}`} d={area(steps, flow, x, y)} />
        ))}
        {levels.filter((level) => level.depth <= most).map((level) => (
          <line key={level.name} class={"level " + level.name} x1={LEFT} x2={WIDTH} y1={y(level.depth)} y2={y(level.depth)} />
        ))}
        {found.episodes.map((episode) => (
          <g key={episode.id}>
            <path class="episode" d={`M${place(episode.from)} 8V2H${place(episode.to)}V8`} />
            {episode.isTruncated && <rect x={place(episode.to)} y="0" width={LEFT + width - place(episode.to)} height={height} fill="url(#cross)" />}
          </g>
        ))}
        {cursor !== undefined && <line class="cursor" x1={x(cursor)} x2={x(cursor)} y1="0" y2={height} />}
      </svg>
      <span class="mark top" aria-hidden="true">{write(deepest)}</span>
      {deepest >= 10 && <span class="mark half" aria-hidden="true">{write(Math.round(deepest / 2))}</span>}
      <div class="ends" aria-hidden="true">
        <span>{exact(found.from)}</span>
        <span>{duration(span)}, at most {write(deepest)}</span>
        <span>{exact(found.to)}</span>
      </div>
      {levels.length > 0 && (
        <p class="levels">
          {levels.map((level) => (
            <span key={level.name}><i class={"line " + level.name} aria-hidden="true" /> {level.told}{level.depth > most ? ", above the shown range" : ""}</span>
          ))}
        </p>
      )}
      <figcaption aria-live="polite">
        {told || "Reported depth; each moment is split by the flows whose reported packets left while its deepest packet waited. Brackets: congestion. Gaps: nothing reported."}
      </figcaption>
    </figure>
  );
}

/** One flow's part of the stack; steps without a report leave a gap. */
function area(steps: { depth: number; parts: number[] }[], flow: number, x: (step: number) => number, y: (depth: number) => number): string {
  let path = "";
  steps.forEach(({ depth, parts }, at) => {
    if (depth < 0 || !parts[flow]) return;
    const below = parts.slice(0, flow).reduce((sum, part) => sum + part, 0);
    path += `M${x(at).toFixed(1)} ${y(below).toFixed(1)}H${x(at + 1).toFixed(1)}V${y(below + parts[flow]!).toFixed(1)}H${x(at).toFixed(1)}Z`;
  });
  return path;
}
