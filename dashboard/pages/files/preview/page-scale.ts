/** Pixels per CSS pixel of a page at its full width: sharp on dense screens. */
const SCALE = 2;
/** A page of A3 at `SCALE`. Documents choose the size of their pages, and the drawn pages stay in memory. */
const MAX_PAGE_PIXELS = 4_200_000;
/** Of one side: browsers draw nothing on larger canvases. */
const MAX_SIDE_PIXELS = 8_192;

export function pageScale({ width, height }: { width: number; height: number }): number {
  return Math.min(
    SCALE,
    Math.sqrt(MAX_PAGE_PIXELS / (width * height)),
    MAX_SIDE_PIXELS / Math.max(width, height),
  );
}
