// The address of the page: it contains every choice, so that a link shows the same to everyone.

import { signal } from "@preact/signals";

/** The path below which a proxy serves the page: empty, or such as `/inband`. */
export const base = new URL(import.meta.url).pathname.replace(/\/page\/[^/]*$/, "");

export interface Address {
  /** The parts of the path, decoded. */
  path: string[];
  params: URLSearchParams;
}

function read(): Address {
  const { pathname, search } = location;
  const path = pathname.startsWith(base) ? pathname.slice(base.length) : pathname;
  const decode = (part: string) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  };
  return { path: path.split("/").filter(Boolean).map(decode), params: new URLSearchParams(search) };
}

export const address = signal<Address>(read());
addEventListener("popstate", () => (address.value = read()));

/** The parameters that another view keeps: the time, and nothing else. */
const KEPT = ["live", "at", "span"];

/** Writes an address; empty `params` are omitted, the time is kept unless it is given. */
export function href(path: string, params: Record<string, string | undefined> = {}): string {
  const query = new URLSearchParams();
  const isTime = KEPT.some((name) => name in params);
  for (const name of isTime ? [] : KEPT) {
    const value = address.value.params.get(name);
    if (value) query.set(name, value);
  }
  for (const [name, value] of Object.entries(params)) if (value) query.set(name, value);
  const text = query.toString();
  return base + path + (text ? "?" + text : "");
}

export function go(to: string, replace = false) {
  if (to !== location.pathname + location.search) {
    replace ? history.replaceState(null, "", to) : history.pushState(null, "", to);
  }
  address.value = read();
}

/** Changes parameters of the address in place; `undefined` removes one. */
export function set(params: Record<string, string | undefined>, replace = false) {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(params)) value ? query.set(name, value) : query.delete(name);
  const text = query.toString();
  go(location.pathname + (text ? "?" + text : ""), replace);
}

export const param = (name: string) => address.value.params.get(name) ?? "";

/** Makes links inside the page change the view without reloading it. */
export function catchLinks(event: MouseEvent) {
  const link = (event.target as Element).closest?.("a[href]") as HTMLAnchorElement | null;
  const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  if (!link || !isPlain || event.defaultPrevented || link.target || link.hasAttribute("download")) return;
  const url = new URL(link.href);
  if (url.origin !== location.origin || url.pathname.startsWith(base + "/api/") || url.hash) return;
  event.preventDefault();
  go(url.pathname + url.search);
  scrollTo(0, 0);
}
