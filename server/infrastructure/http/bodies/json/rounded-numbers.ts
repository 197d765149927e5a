/** A number with an exponent or at least 15 digits and a point; others are exact, or too large for every field. */
const SUSPECT = /(?:^|[\s:,[])-?(?:[\d.]+[eE]|[\d.]{16})/;

/**
 * `JSON.parse` rounds `1050.00000000000000001` to 1050, which would be accepted as an integer. Such a number becomes NaN,
 * so that the schema of its field refuses it.
 */
export function withoutRoundedNumbers(text: string, parsed: unknown): unknown {
  return SUSPECT.test(text) ? JSON.parse(text.replace(/^\uFEFF/, ''), unlessRounded) : parsed;
}

function unlessRounded(_name: string, value: unknown, context?: { source?: string }): unknown {
  const source = context?.source;
  if (source === undefined || !Number.isSafeInteger(value)) return value;
  return decimalOf(source) === decimalOf(String(value)) ? value : Number.NaN;
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
