// Single-letter shortcuts. They act outside of text fields only, and can be turned off.

import { computed, signal } from "@preact/signals";
import { go, href } from "./address";
import { lastFlow } from "./flow";
import { freeze, frozenAddress, step, zoom } from "./range";
import { isUtc } from "./time";

export const areKeysOn = signal(localStorage.getItem("inband-keys") !== "off");
areKeysOn.subscribe((on) => localStorage.setItem("inband-keys", on ? "on" : "off"));
export const isHelpOpen = signal(false);
/** The last action in words, for screen readers. */
export const said = signal("");

export type Theme = "system" | "light" | "dark";
export const theme = signal<Theme>((localStorage.getItem("inband-theme") as Theme) ?? "system");
theme.subscribe((theme) => {
  localStorage.setItem("inband-theme", theme);
  document.documentElement.dataset.theme = theme;
});

const outside = matchMedia("(prefers-color-scheme: dark)");
const isDarkOutside = signal(outside.matches);
outside.addEventListener("change", () => (isDarkOutside.value = outside.matches));

/** Whether the page is dark: canvases are painted again when it changes. */
export const isDark = computed(() => {
  return theme.value === "system" ? isDarkOutside.value : theme.value === "dark";
});

export function turnTheme() {
  theme.value = isDark.value ? "light" : "dark";
}

/** The text that `c` copies, provided by the current view. */
export const copied: { text: (() => string) | undefined } = { text: undefined };
/** Keys of the current view. */
export const viewKeys: Map<string, () => void> = new Map();

let saying = 0;

/** Says what was done, for four seconds; the pause lets the same text be spoken again. */
function say(text: string) {
  clearTimeout(saying);
  said.value = "";
  saying = window.setTimeout(() => {
    said.value = text;
    saying = window.setTimeout(() => (said.value = ""), 4_000);
  }, 50);
}

export async function copy(text: string, what: string) {
  // Only a page from this machine or over TLS has a clipboard.
  const isCopied = navigator.clipboard
    ? await navigator.clipboard.writeText(text).then(() => true, () => copyField(text))
    : copyField(text);
  say(isCopied ? `${what} copied` : "the browser does not allow copying");
}

/** Copies through a field, where the page may not use the clipboard; whether that was possible. */
function copyField(text: string): boolean {
  const before = document.activeElement as HTMLElement | null;
  const field = document.createElement("textarea");
  field.value = text;
  field.setAttribute("aria-hidden", "true");
  field.style.position = "fixed";
  field.style.opacity = "0";
  document.body.append(field);
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  before?.focus({ preventScroll: true });
  return isCopied;
}

export interface Key {
  keys: string;
  about: string;
}

export const KEYS: Key[] = [
  { keys: "g n", about: "Now" },
  { keys: "g m", about: "Map" },
  { keys: "g f", about: "Flows" },
  { keys: "g p", about: "Path of the last flow" },
  { keys: "g q", about: "Queues" },
  { keys: "g e", about: "Events" },
  { keys: "g r", about: "Reports" },
  { keys: "g s", about: "Query" },
  { keys: "/", about: "go to the filter" },
  { keys: "j k", about: "next and previous row" },
  { keys: "Enter", about: "open the row" },
  { keys: ".", about: "freeze or go live" },
  { keys: "[ ]", about: "one span back, forward" },
  { keys: "w s", about: "zoom in, out" },
  { keys: "v", about: "on a packet's path: compare with another packet" },
  { keys: "c", about: "copy the view as text" },
  { keys: "y", about: "copy the address, time frozen" },
  { keys: "t", about: "light or dark theme" },
  { keys: "z", about: "UTC or local time" },
  { keys: "?", about: "this list" },
  { keys: "Esc", about: "close, or leave the field" },
];

const VIEWS: Record<string, () => string | undefined> = {
  n: () => "/",
  m: () => "/map",
  f: () => "/flows",
  p: () => (lastFlow.value ? "/flow/" + lastFlow.value : undefined),
  q: () => "/queues",
  e: () => "/events",
  r: () => "/reports",
  s: () => "/query",
};

let wentG = 0;

export function onKey(event: KeyboardEvent) {
  const target = event.target as HTMLElement;
  const isField = target.matches("input, textarea, select, [contenteditable]") || target.shadowRoot !== null;
  if (event.key === "Escape") {
    if (isHelpOpen.value) isHelpOpen.value = false;
    else if (isField) target.blur();
    return;
  }
  if (isField || !areKeysOn.value || isHelpOpen.value || event.metaKey) return;
  // Some layouts have brackets behind AltGr, which may count as Ctrl and Alt.
  if ((event.ctrlKey || event.altKey) && !event.getModifierState("AltGraph")) return;
  const done = act(event.key, event);
  if (done) event.preventDefault();
}

function act(key: string, event: KeyboardEvent): boolean {
  if (Date.now() - wentG < 1_500) {
    wentG = 0;
    const to = VIEWS[key]?.();
    if (to) go(href(to));
    return to !== undefined;
  }
  const own = viewKeys.get(key);
  if (own && !(key.startsWith("Arrow") && canScroll(event.target as HTMLElement))) {
    own();
    return true;
  }
  const actions: Record<string, () => void> = {
    g: () => (wentG = Date.now()),
    "?": () => (isHelpOpen.value = true),
    ".": freeze,
    "[": () => step(-1),
    "]": () => step(1),
    w: () => zoom(2),
    s: () => zoom(0.5),
    t: turnTheme,
    z: () => (isUtc.value = !isUtc.value),
    y: () => void copy(frozenAddress(), "address"),
    c: () => copied.text && void copy(copied.text(), "view"),
    "/": () => document.querySelector<HTMLElement>("[data-filter]")?.focus(),
    j: () => move(1),
    k: () => move(-1),
  };
  const action = actions[key];
  if (!action || (event.shiftKey && !"?/".includes(key))) return false;
  action();
  return true;
}

/** Whether arrow keys scroll sideways there. */
function canScroll(target: HTMLElement): boolean {
  const around = target.closest(".scroll");
  return around !== null && around.scrollWidth > around.clientWidth;
}

/** Moves the focus from row to row. */
function move(by: number) {
  const rows = [...document.querySelectorAll<HTMLElement>("main [data-row]")];
  const at = rows.indexOf(document.activeElement as HTMLElement);
  rows[Math.max(0, Math.min(rows.length - 1, at < 0 ? 0 : at + by))]?.focus();
}
