// The focus, where a form opens and closes in place.

import { useLayoutEffect, useRef } from "preact/hooks";

/**
 * A reference to one element of each state: its form's first field, or what stands there otherwise.
 * A form that opens takes the focus, and leaves it to what follows.
 */
export function useFocus<T extends HTMLElement>(state: "closed" | "open" | "done") {
  const place = useRef<T>(null);
  const before = useRef(state);
  const wasHeld = document.activeElement !== document.body;
  useLayoutEffect(() => {
    // The focused element is removed with its form.
    const isLost = wasHeld && document.activeElement === document.body;
    if (before.current !== state && (state === "open" || isLost)) place.current?.focus();
    before.current = state;
  }, [state]);
  return place;
}
