/** RFC 4180, with every cell quoted. */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map(quoted).join(',')}\r\n`;
}

/**
 * Spreadsheets run a cell that begins with one of these as a formula. The record contains text of other people; a
 * leading apostrophe makes it plain text (OWASP, CSV injection). Spreadsheets in East Asian languages read the wide forms
 * alike.
 */
const FORMULA = /^[\s]*[=+\-@\t\r\n|＝＋－＠]/;

function quoted(cell: string): string {
  const text = FORMULA.test(cell) ? `'${cell}` : cell;
  return `"${text.replaceAll('"', '""')}"`;
}
