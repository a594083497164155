// Answers in columns, read row by row.

export type Columns = Record<string, any[]>;

export function rowsOf<T>(columns: Columns): T[] {
  const names = Object.keys(columns);
  return (columns[names[0]!] ?? []).map((_, at) => Object.fromEntries(names.map((name) => [name, columns[name]![at] ?? null])) as T);
}
