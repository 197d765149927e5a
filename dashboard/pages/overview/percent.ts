/** 0% and 100% are exact: a rate near them is not rounded to them. */
export function percent(rate: number): string {
  if (rate === 0 || rate === 1) return `${rate * 100}%`;
  const shown = Math.min(Math.max(rate * 100, 0.1), 99.99);
  return `${shown.toFixed(shown > 99 ? 2 : 1)}%`;
}
