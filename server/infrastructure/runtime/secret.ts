import { inspect } from 'node:util';

const HIDDEN = '[secret]';

/**
 * A value that cannot be printed by accident: string conversion, JSON, console and log all show `[secret]`.
 * Only `reveal()` gives it back, and that word is easy to search for.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return HIDDEN;
  }

  toJSON(): string {
    return HIDDEN;
  }

  [inspect.custom](): string {
    return HIDDEN;
  }
}
