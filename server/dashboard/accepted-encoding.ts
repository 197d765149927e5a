/** Whether the header names the encoding without `q=0` (RFC 9110, section 12.5.3). */
export function acceptsEncoding(header: string, encoding: string): boolean {
  return (
    header
      .toLowerCase()
      .split(',')
      // Split and trim, because a pattern with spaces on both sides takes quadratic time on thousands of spaces.
      .map((part) => part.split(';').map((piece) => piece.trim()))
      .some(([name, ...parameters]) => name === encoding && !parameters.some((p) => /^q=0(\.0*)?$/.test(p)))
  );
}
