/** RFC 4180, with every cell quoted. */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map(quoted).join(',')}\r\n`;
}

/**
 * A spreadsheet takes a cell that begins with one of these for a formula, and runs it. Names and texts in the record
 * are other people's; an apostrophe in front makes them text (OWASP, CSV injection).
 */
const FORMULA = /^[\s]*[=+\-@\t\r\n|]/;

function quoted(cell: string): string {
  const text = FORMULA.test(cell) ? `'${cell}` : cell;
  return `"${text.replaceAll('"', '""')}"`;
}
