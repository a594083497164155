// Two paths of packets side by side: the common hops and links, and those of only one.

import { type Piece, linkKey } from "./packets";

/** One line of the comparison; `undefined` where that packet did not pass. */
export interface Beside {
  kind: "hop" | "link";
  now: Piece | undefined;
  then: Piece | undefined;
}

/** The pieces of both in packet order: between two common hops, first the old pieces, then the new ones. */
export function beside(now: Piece[], then: Piece[]): Beside[] {
  const lines: Beside[] = [];
  let [atNow, atThen] = [0, 0];
  for (const [nextNow, nextThen] of [...common(now, then), [now.length, then.length] as [number, number]]) {
    const [mine, theirs] = [now.slice(atNow, nextNow), then.slice(atThen, nextThen)];
    if (mine.length === 1 && theirs.length === 1 && keyOf(mine[0]!) === keyOf(theirs[0]!)) lines.push({ kind: "link", now: mine[0], then: theirs[0] });
    else {
      for (const piece of theirs) lines.push({ kind: piece.kind, now: undefined, then: piece });
      for (const piece of mine) lines.push({ kind: piece.kind, now: piece, then: undefined });
    }
    if (nextNow < now.length) lines.push({ kind: "hop", now: now[nextNow], then: then[nextThen] });
    [atNow, atThen] = [nextNow + 1, nextThen + 1];
  }
  return lines;
}

const keyOf = (piece: Piece) =>
  piece.kind === "link" ? linkKey(piece.from.node_id, piece.from.egress_interface, piece.to.node_id, piece.to.ingress_interface) : String(piece.hop.node_id);

/** The positions of the longest common sequence of hops. */
function common(now: Piece[], then: Piece[]): [number, number][] {
  const isSame = (a: Piece, b: Piece) => a.kind === "hop" && b.kind === "hop" && a.hop.node_id === b.hop.node_id;
  const longest = now.map(() => new Array<number>(then.length + 1).fill(0));
  longest.push(new Array<number>(then.length + 1).fill(0));
  for (let a = now.length - 1; a >= 0; a--) {
    for (let b = then.length - 1; b >= 0; b--) {
      longest[a]![b] = isSame(now[a]!, then[b]!) ? longest[a + 1]![b + 1]! + 1 : Math.max(longest[a + 1]![b]!, longest[a]![b + 1]!);
    }
  }
  const pairs: [number, number][] = [];
  for (let [a, b] = [0, 0]; a < now.length && b < then.length; ) {
    if (isSame(now[a]!, then[b]!)) pairs.push([a++, b++]);
    else if (longest[a + 1]![b]! >= longest[a]![b + 1]!) a++;
    else b++;
  }
  return pairs;
}
