/** Named, and not with a weight of zero (RFC 9110, section 12.5.3). */
export function acceptsEncoding(header: string, encoding: string): boolean {
  return (
    header
      .toLowerCase()
      .split(',')
      // Not by a pattern with spaces on both sides: that tries again at each of thousands of spaces.
      .map((part) => part.split(';').map((piece) => piece.trim()))
      .some(([name, ...parameters]) => name === encoding && !parameters.some((p) => /^q=0(\.0*)?$/.test(p)))
  );
}
