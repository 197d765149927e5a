import { READ_ONLY_PROBE as PROBE } from '../../server/infrastructure/database/connections/read-only.ts';
import type { Executed } from './backend.ts';
import type { Connection } from './connection.ts';
import type { Unit } from './wire.ts';

/** A quarter of all statements: the beginning and the settings of a transaction, and the probe of a connection. */
const CHANGES_SESSION = /^(begin$|\/\* pipelined \*\/ select set_config\()/;

/** Statements that cannot fail or wait, with an answer that is always the same. They cost no round trip to the server. */
export function createConstantAnswers() {
  const answers = new Map<string, Executed>();

  function keyOf({ status }: Connection, { text }: Unit): string | undefined {
    if (text === PROBE || CHANGES_SESSION.test(text)) return `${status} ${text}`;
    return undefined;
  }

  return {
    /** Undefined until `learn` has seen the answer. What changes the session is sent with the next statement. */
    answerTo(connection: Connection, unit: Unit): Executed | undefined {
      const key = keyOf(connection, unit);
      const executed = key === undefined ? undefined : answers.get(key);
      if (executed && unit.text !== PROBE) connection.backend?.hold(unit.bytes);
      return executed;
    },
    learn(connection: Connection, unit: Unit, executed: Executed): void {
      const key = keyOf(connection, unit);
      if (key !== undefined) answers.set(key, executed);
    },
  };
}
