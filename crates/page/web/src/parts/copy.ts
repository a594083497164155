// The text that `c` copies in the current view, and the view's own keys.

import { useEffect } from "preact/hooks";
import { copied, viewKeys } from "../keys";

export function useCopy(text: () => string) {
  useEffect(() => {
    copied.text = text;
    return () => {
      if (copied.text === text) copied.text = undefined;
    };
  });
}

export function useKeys(keys: Record<string, () => void>) {
  useEffect(() => {
    for (const [key, action] of Object.entries(keys)) viewKeys.set(key, action);
    return () => Object.keys(keys).forEach((key) => viewKeys.delete(key));
  });
}
