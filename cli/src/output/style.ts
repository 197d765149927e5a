import type { Io, Output } from '../io.ts';

const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33 } as const;
export type Style = Record<keyof typeof CODES, (text: string) => string>;

/** Without a terminal, with NO_COLOR (no-color.org) or on a dumb terminal, text stays as it is. */
export function styleFor({ isTTY }: Output, { env }: Pick<Io, 'env'>): Style {
  const isOn = isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb';
  return Object.fromEntries(
    Object.entries(CODES).map(([name, code]) => [
      name,
      (text: string) => (isOn ? `\u001b[${code}m${text}\u001b[0m` : text),
    ]),
  ) as Style;
}

export function styleOfStatus(style: Style, status: number): (text: string) => string {
  if (status < 300) return style.green;
  return status < 500 ? style.yellow : style.red;
}

/** Control characters act on the terminal, and those of the writing direction reorder a line. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are removed
const ACTING = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** The service's texts may contain anything. */
export function printable(text: string): string {
  return text.replace(ACTING, ' ');
}

/** `JSON.stringify` escapes some control characters only. */
export function printableJson(value: unknown, indent?: number): string {
  const escaped = (character: string) =>
    character === '\n' ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value, null, indent).replace(ACTING, escaped);
}
