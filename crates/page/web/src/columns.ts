// Columnar answers, read row by row.

export type Columns = Record<string, any[]>;

export function rowsOf<T>(columns: Columns): T[] {
  const rows: any[] = [];
  for (const [name, cells] of Object.entries(columns)) cells.forEach((cell, at) => ((rows[at] ??= {})[name] = cell));
  return rows;
}
