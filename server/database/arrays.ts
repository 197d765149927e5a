/**
 * Many rows as a few array parameters (`unnest`). For values that PostgreSQL reads without quotes (guids, numbers,
 * moments, names from a fixed list) joining them is several times faster than the driver's quoting of each.
 */
export function plainArray(values: readonly (string | number | Date | null)[]): string {
  let text = '{';
  let last = Number.NaN;
  let moment = '';
  for (const [index, value] of values.entries()) {
    if (index > 0) text += ',';
    if (!(value instanceof Date)) text += value ?? 'NULL';
    else {
      // The moments of a batch are mostly the same few, and spelling one out is the dearest part of a row.
      if (value.getTime() !== last) moment = value.toISOString();
      last = value.getTime();
      text += moment;
    }
  }
  return `${text}}`;
}
