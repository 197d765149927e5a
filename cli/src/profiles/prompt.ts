import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { UsageError } from '../failure.ts';
import type { Io } from '../io.ts';

/** Asks on the terminal. The answer to a hidden question is not shown. */
export async function ask(
  io: Io,
  question: string,
  { hidden = false, byDefault = '' } = {},
): Promise<string> {
  if (!io.stdin.isTTY)
    throw new UsageError(
      `${question} is missing, and there is no terminal to ask on. See portico login --help.`,
    );
  let isMuted = false;
  const output = new Writable({
    write(chunk: Buffer, _encoding, done) {
      if (!isMuted) io.stderr.write(chunk.toString());
      done();
    },
  });
  const terminal = createInterface({ input: io.stdin, output, terminal: true });
  try {
    const asked = terminal.question(`${question}${byDefault ? ` [${byDefault}]` : ''}: `, {
      signal: io.signal,
    });
    isMuted = hidden;
    const answer = (await asked).trim();
    if (hidden) io.stderr.write('\n');
    return answer || byDefault;
  } finally {
    terminal.close();
  }
}
