import type { Executed } from './backend.ts';
import type { Connection } from './connection.ts';
import type { Unit } from './wire.ts';

/** A quarter of all statements: the beginning and the settings of a transaction, and the probe of a connection. */
const CHANGES_SESSION = /^(begin$|\/\* pipelined \*\/ select set_config\()/;
const PROBE = 'select 1';

/** Statements that cannot fail or wait, with an answer that is always the same. They cost no round trip to the server. */
export function createConstantAnswers() {
  const answers = new Map<string, Executed>();

  function keyOf({ status }: Connection, { text }: Unit): string | undefined {
    if (text === PROBE || CHANGES_SESSION.test(text)) return `${status} ${text}`;
    return undefined;
  }

  return {
    /** Undefined until `learn` has seen the answer. */
    answerTo(
      connection: Connection,
      unit: Unit,
    ): { executed: Executed; changesSession: boolean } | undefined {
      const key = keyOf(connection, unit);
      const executed = key === undefined ? undefined : answers.get(key);
      return executed && { executed, changesSession: unit.text !== PROBE };
    },
    learn(connection: Connection, unit: Unit, executed: Executed): void {
      const key = keyOf(connection, unit);
      if (key !== undefined) answers.set(key, executed);
    },
  };
}
