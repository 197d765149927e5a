import fc from 'fast-check';

const FIRST_SURROGATE = 0xd800;
const SURROGATES = 0x800;
const LAST = 0x10ffff;

/**
 * Any code point, as a unit of `fc.string`. The unit `binary` is the same, but looks every character up in a table of
 * all of them, which takes each process a second and 90 MB.
 */
export const ANY_CHARACTER = fc.nat({ max: LAST - SURROGATES }).map(
  (index) => String.fromCodePoint(index < FIRST_SURROGATE ? index : index + SURROGATES),
  (character) => {
    const point = typeof character === 'string' ? character.codePointAt(0) : undefined;
    if (point === undefined || character !== String.fromCodePoint(point))
      throw new Error('not one character');
    return point < FIRST_SURROGATE ? point : point - SURROGATES;
  },
);
