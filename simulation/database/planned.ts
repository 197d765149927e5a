import { checksum } from '../machine/trace.ts';
import { BIND, messagesOf, nameIn, PARSE, PARSE_COMPLETE, renamed } from './wire.ts';

type Planned = {
  bytes: Buffer;
  /** The answer of the server, as the client expects it. */
  answerTo(answer: Buffer): Buffer;
};

/**
 * The statements that a session has prepared. Each text is parsed and planned once per session, under a name of the
 * simulation and for all connections that use the session: that was a third of the server's CPU.
 */
export function createPlanned() {
  const byText = new Map<string, string>();
  /** By the names that the client of the current connection uses, of which one is empty. */
  const byClientName = new Map<string, string>();

  function plan(bytes: Buffer): Planned {
    const messages = messagesOf(bytes);
    const [first, second, ...others] = messages;
    if (first?.[0] === BIND) {
      const name = byClientName.get(nameIn(first, 'second'));
      return {
        bytes: name ? Buffer.concat([renamed(first, 'second', name), ...messages.slice(1)]) : bytes,
        answerTo: (answer) => answer,
      };
    }
    if (first?.[0] !== PARSE || second?.[0] !== BIND) return { bytes, answerTo: (answer) => answer };
    const clientName = nameIn(first, 'first');
    const text = nameIn(first, 'second');
    const known = byText.get(text);
    const name = known ?? `statement_${byText.size}_${checksum(text)}`;
    const bound = [renamed(second, 'second', name), ...others];
    return {
      bytes: Buffer.concat(known ? bound : [renamed(first, 'first', name), ...bound]),
      answerTo(answer) {
        const isParsed = known !== undefined || answer.indexOf(PARSE_COMPLETE) === 0;
        if (isParsed) byText.set(text, name);
        if (isParsed) byClientName.set(clientName, name);
        return known === undefined ? answer : Buffer.concat([PARSE_COMPLETE, answer]);
      },
    };
  }

  return { plan, forgetClient: () => byClientName.clear() };
}
