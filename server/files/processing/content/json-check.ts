/**
 * Checks that a stream is JSON text (RFC 8259). JSON.parse needs the whole text, up to a gigabyte, in memory, and
 * blocks the event loop while 8 MB of brackets become hundreds of megabytes of objects. This check holds one byte
 * per nesting level, and accepts what JSON.parse accepts up to MAX_DEPTH.
 */
export type JsonCheck = {
  write(chunk: Uint8Array): void;
  /** Whether the content was exactly one JSON value in valid UTF-8. */
  end(): boolean;
};

export const MAX_DEPTH = 1_000;

type State = (byte: number) => State | undefined;

export function createJsonCheck(): JsonCheck {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  /** The closing byte of each open level. */
  const closers = new Uint8Array(MAX_DEPTH);
  let depth = 0;
  let state: State | undefined = value;

  function open(closer: number, next: State): State | undefined {
    if (depth === MAX_DEPTH) return undefined;
    closers[depth++] = closer;
    return next;
  }

  function close(byte: number): State | undefined {
    if (depth === 0 || closers[depth - 1] !== byte) return undefined;
    depth -= 1;
    return afterValue;
  }

  function value(byte: number): State | undefined {
    if (isSpace(byte)) return value;
    if (byte === QUOTE) return string;
    if (byte === OPEN_OBJECT) return open(CLOSE_OBJECT, firstKey);
    if (byte === OPEN_ARRAY) return open(CLOSE_ARRAY, firstItem);
    if (byte === MINUS) return firstDigit;
    if (isDigit(byte)) return firstDigit(byte);
    return LITERALS.has(byte) ? literal(LITERALS.get(byte) as string, 1) : undefined;
  }

  function firstItem(byte: number): State | undefined {
    if (isSpace(byte)) return firstItem;
    return byte === CLOSE_ARRAY ? close(byte) : value(byte);
  }

  function firstKey(byte: number): State | undefined {
    if (isSpace(byte)) return firstKey;
    return byte === CLOSE_OBJECT ? close(byte) : key(byte);
  }

  function key(byte: number): State | undefined {
    if (isSpace(byte)) return key;
    return byte === QUOTE ? keyText : undefined;
  }

  function afterKey(byte: number): State | undefined {
    if (isSpace(byte)) return afterKey;
    return byte === COLON ? value : undefined;
  }

  function afterValue(byte: number): State | undefined {
    if (isSpace(byte)) return afterValue;
    if (byte !== COMMA) return close(byte);
    if (depth === 0) return undefined;
    return closers[depth - 1] === CLOSE_OBJECT ? key : value;
  }

  const string = textState(() => afterValue);
  const keyText = textState(() => afterKey);

  function literal(word: string, position: number): State {
    return (byte) => {
      if (byte !== word.charCodeAt(position)) return undefined;
      return position + 1 === word.length ? afterValue : literal(word, position + 1);
    };
  }

  // A number ends at the first byte that is not part of it, so its final states pass that byte on.
  function firstDigit(byte: number): State | undefined {
    if (byte === ZERO) return afterInteger;
    return isDigit(byte) ? integer : undefined;
  }
  function integer(byte: number): State | undefined {
    return isDigit(byte) ? integer : afterInteger(byte);
  }
  function afterInteger(byte: number): State | undefined {
    return byte === POINT ? firstDecimal : afterDecimals(byte);
  }
  function firstDecimal(byte: number): State | undefined {
    return isDigit(byte) ? decimals : undefined;
  }
  function decimals(byte: number): State | undefined {
    return isDigit(byte) ? decimals : afterDecimals(byte);
  }
  function afterDecimals(byte: number): State | undefined {
    return byte === LOWER_E || byte === UPPER_E ? exponentSign : afterValue(byte);
  }
  function exponentSign(byte: number): State | undefined {
    return byte === PLUS || byte === MINUS ? firstExponent : firstExponent(byte);
  }
  function firstExponent(byte: number): State | undefined {
    return isDigit(byte) ? exponent : undefined;
  }
  function exponent(byte: number): State | undefined {
    return isDigit(byte) ? exponent : afterValue(byte);
  }

  /** States in which the text may end: a number at the top level has no terminating byte. */
  const complete = new Set<State>([afterValue, integer, afterInteger, decimals, exponent]);

  return {
    write(chunk) {
      if (!state) return;
      try {
        decoder.decode(chunk, { stream: true });
      } catch {
        state = undefined;
      }
      for (let at = 0; at < chunk.length && state; at++) state = state(chunk[at] as number);
    },
    end: () => depth === 0 && state !== undefined && complete.has(state),
  };
}

function textState(next: () => State): State {
  const text: State = (byte) => {
    if (byte === QUOTE) return next();
    if (byte === BACKSLASH) return escaped;
    return byte < FIRST_PRINTABLE ? undefined : text;
  };
  const escaped: State = (byte) => (byte === LOWER_U ? hex[0] : ESCAPES.has(byte) ? text : undefined);
  const hex: State[] = [0, 1, 2, 3].map(
    (index) => (byte) => (isHex(byte) ? (hex[index + 1] ?? text) : undefined),
  );
  return text;
}

const byteOf = (character: string) => character.charCodeAt(0);
const [QUOTE, BACKSLASH, COLON, COMMA] = ['"', '\\', ':', ','].map(byteOf) as [
  number,
  number,
  number,
  number,
];
const [OPEN_OBJECT, CLOSE_OBJECT] = ['{', '}'].map(byteOf) as [number, number];
const [OPEN_ARRAY, CLOSE_ARRAY] = ['[', ']'].map(byteOf) as [number, number];
const [PLUS, MINUS, POINT, ZERO] = ['+', '-', '.', '0'].map(byteOf) as [number, number, number, number];
const [LOWER_E, UPPER_E, LOWER_U] = ['e', 'E', 'u'].map(byteOf) as [number, number, number];
const FIRST_PRINTABLE = 0x20;
const ESCAPES = new Set([...'"\\/bfnrt'].map(byteOf));
const LITERALS = new Map(['true', 'false', 'null'].map((word) => [byteOf(word), word]));

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

function isHex(byte: number): boolean {
  return isDigit(byte) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66);
}
