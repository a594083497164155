// The filter line: completion at the caret, and errors that point at the character.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { set } from "../address";
import { ask } from "../api";
import { useAsk } from "../ask";
import { shown } from "../units";

interface Completion {
  /** What it completes, and the character in front of which the caret stands. */
  text: string;
  caret: number;
  /** The character from which an option replaces the text. */
  from: number;
  options: { text: string; about: string }[];
}

export function FilterField({ text, wrong, examples }: { text: string; wrong: string; examples: string[] }) {
  const [typed, setTyped] = useState(text);
  const [isOpen, setOpen] = useState(false);
  const [chosen, setChosen] = useState(-1);
  const [seen, setSeen] = useState(text);
  const field = useRef<HTMLInputElement>(null);
  const [caret, setCaret] = useState([...text].length);
  /** Where the caret goes once the text is changed, in units of UTF-16. */
  const [wanted, setWanted] = useState<number>();
  useLayoutEffect(() => {
    if (wanted === undefined) return;
    field.current?.setSelectionRange(wanted, wanted);
    setWanted(undefined);
  }, [wanted]);
  if (seen !== text) {
    setSeen(text);
    setTyped(text);
  }
  const follow = ({ currentTarget: { value, selectionStart } }: { currentTarget: HTMLInputElement }) =>
    setCaret([...value.slice(0, selectionStart ?? value.length)].length);
  const question = `filter/complete?text=${encodeURIComponent(typed)}&caret=${caret}`;
  const { data } = useAsk<Completion | undefined>(isOpen ? question : "", async (signal) => (isOpen ? { ...(await ask(question, { signal })), text: typed, caret } : undefined));
  const [kept, rest] = data ? [[...data.text].slice(0, data.from).join(""), [...data.text].slice(data.caret).join("").trimStart()] : ["", ""];
  const offers = isOpen && data ? data.options.slice(0, MOST).map((option) => ({ ...option, upTo: `${kept}${option.text} ` })) : [];
  const take = (upTo: string) => {
    setTyped(upTo + rest);
    setCaret([...upTo].length);
    setWanted(upTo.length);
    setChosen(-1);
  };
  const apply = () => {
    setChosen(-1);
    setOpen(false);
    set({ q: typed.trim() || undefined });
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      setOpen(true);
      const by = event.key === "ArrowDown" ? 1 : -1;
      setChosen((old) => (offers.length ? (old + by + offers.length) % offers.length : -1));
    } else if (event.key === "Enter") {
      const offer = offers[chosen];
      offer ? take(offer.upTo) : apply();
    } else if (event.key === "Tab" && chosen >= 0 && offers[chosen]) {
      event.preventDefault();
      take(offers[chosen].upTo);
    } else if (event.key === "Escape" && isOpen) {
      event.stopPropagation();
      setOpen(false);
    }
  };
  return (
    <div class="filter">
      <label for="filter">Filter</label>
      <input
        id="filter"
        ref={field}
        data-filter
        role="combobox"
        aria-expanded={offers.length > 0}
        aria-controls="offers"
        aria-autocomplete="list"
        aria-activedescendant={chosen >= 0 ? `offer-${chosen}` : undefined}
        aria-invalid={wrong ? true : undefined}
        aria-describedby={wrong ? "filter-error" : undefined}
        autocomplete="off"
        spellcheck={false}
        placeholder={examples.join("   ")}
        value={typed}
        onInput={(event) => (setTyped(event.currentTarget.value), follow(event), setOpen(true), setChosen(-1))}
        onKeyUp={follow}
        onClick={follow}
        onFocus={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onKeyDown={onKey}
      />
      {offers.length > 0 && (
        <ul id="offers" role="listbox" aria-label="Suggestions">
          {offers.map((offer, at) => (
            <li key={offer.text} id={`offer-${at}`} role="option" aria-selected={at === chosen} onMouseDown={(event) => (event.preventDefault(), take(offer.upTo))}>
              <code>{shown(offer.text)}</code> <span class="muted">{shown(offer.about)}</span>
            </li>
          ))}
        </ul>
      )}
      {wrong && <p id="filter-error" class="bad">{shown(wrong, 600)}</p>}
    </div>
  );
}

/** Most options that are offered. */
const MOST = 20;
