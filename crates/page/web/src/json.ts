// JSON whose integers past 2^53 stay exact: they become BigInt, as do all times.

interface Source {
  source: string;
}

type Reviver = (key: string, value: unknown, context: Source) => unknown;

const revive: Reviver = (_key, value, context) => {
  if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
  return /^-?\d+$/.test(context.source) ? BigInt(context.source) : value;
};

export function parse(text: string): any {
  // Without such a long number, large answers need no reviver; digits in a string do not match.
  if (!/[[:,]\s*-?\d{16}/.test(text)) return JSON.parse(text);
  return JSON.parse(text, revive as Parameters<typeof JSON.parse>[1]);
}

/** Whether this browser passes a number's text to revivers; without it large numbers would be wrong. */
export function isExact(): boolean {
  return parse("[9007199254740993]")[0] === 9007199254740993n;
}
