// The filter line: completion at the caret, and errors that point at the character.

import { useState } from "preact/hooks";
import { set } from "../address";
import { type Filter, complete } from "../filter";
import { shown } from "../units";

export function FilterField({ text, filter, examples }: { text: string; filter: Filter; examples: string[] }) {
  const [typed, setTyped] = useState(text);
  const [isOpen, setOpen] = useState(false);
  const [chosen, setChosen] = useState(-1);
  const [seen, setSeen] = useState(text);
  if (seen !== text) {
    setSeen(text);
    setTyped(text);
  }
  const offers = isOpen ? complete(typed) : [];
  const take = (value: string, isWhole: boolean) => {
    setTyped(value);
    setChosen(-1);
    if (isWhole) {
      setOpen(false);
      set({ q: value.trim() || undefined });
    }
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      setOpen(true);
      const by = event.key === "ArrowDown" ? 1 : -1;
      setChosen((old) => (offers.length ? (old + by + offers.length) % offers.length : -1));
    } else if (event.key === "Enter") {
      const offer = offers[chosen];
      offer ? take(offer.text, false) : take(typed, true);
    } else if (event.key === "Tab" && chosen >= 0 && offers[chosen]) {
      event.preventDefault();
      take(offers[chosen].text, false);
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
        data-filter
        role="combobox"
        aria-expanded={offers.length > 0}
        aria-controls="offers"
        aria-autocomplete="list"
        aria-activedescendant={chosen >= 0 ? `offer-${chosen}` : undefined}
        aria-invalid={filter.error ? true : undefined}
        aria-describedby={filter.error ? "filter-error" : undefined}
        autocomplete="off"
        spellcheck={false}
        placeholder={examples.join("   ")}
        value={typed}
        onInput={(event) => (setTyped(event.currentTarget.value), setOpen(true), setChosen(-1))}
        onFocus={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onKeyDown={onKey}
      />
      {offers.length > 0 && (
        <ul id="offers" role="listbox" aria-label="What may follow">
          {offers.map((offer, at) => (
            <li key={offer.text} id={`offer-${at}`} role="option" aria-selected={at === chosen} onMouseDown={(event) => (event.preventDefault(), take(offer.text, false))}>
              <code>{offer.text.trim()}</code> <span class="muted">{offer.about}</span>
            </li>
          ))}
        </ul>
      )}
      {filter.error && (
        <p id="filter-error" class="bad">
          at character {filter.error.at + 1}: {shown(filter.error.message)}
        </p>
      )}
    </div>
  );
}
