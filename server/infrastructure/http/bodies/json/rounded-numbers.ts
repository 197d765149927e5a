/** Strings and numbers. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.]*(?:[eE][+-]?\d+)?/g;
/** No schema of a request accepts it. */
const FRACTION = '0.5';

/**
 * `JSON.parse` rounds `1050.00000000000000001` to 1050, which would be accepted as an integer. Returns JSON text with a
 * fraction for each such number, so that the schema of its field refuses it.
 */
export function withoutRoundedNumbers(text: string): string {
  return text.replace(TOKENS, (token) => (!token.startsWith('"') && isRounded(token) ? FRACTION : token));
}

function isRounded(number: string): boolean {
  const value = Number(number);
  return Number.isSafeInteger(value) && decimalOf(number) !== decimalOf(String(value));
}

/** The significant digits and their exponent: one form for each value. */
function decimalOf(number: string): string {
  const [mantissa = '', exponent = '0'] = number.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  let length = digits.length;
  while (digits[length - 1] === '0') length -= 1;
  if (length === 0) return '0';
  return `${digits.slice(0, length)}e${Number(exponent) - fraction.length + digits.length - length}`;
}
