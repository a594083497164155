// Results as files.

/** CSV as in RFC 4180; no cell begins with a character that a spreadsheet would run as a formula. */
export function csv(columns: string[], rows: unknown[][]): string {
  return [columns, ...rows].map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  const text = String(value);
  const safe = /^[=+\-@\t\r]/.test(text) ? "'" + text : text;
  return /[",\r\n]/.test(safe) || safe !== text ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** One JSON object per line, with all digits of large numbers. */
export function jsonl(columns: string[], rows: unknown[][]): string {
  const write = (value: unknown) => (typeof value === "bigint" ? String(value) : JSON.stringify(value));
  return rows.map((row) => `{${columns.map((name, at) => `${JSON.stringify(name)}:${write(row[at])}`).join(",")}}\n`).join("");
}
