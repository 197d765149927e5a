import { inspect } from 'node:util';

const HIDDEN = '[secret]';

/**
 * A value that is not printed by accident: string conversion, JSON, console and log all show `[secret]`. Only
 * `reveal()` returns it.
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
