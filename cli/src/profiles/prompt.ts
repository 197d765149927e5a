import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { CliError, EXIT, UsageError } from '../failure.ts';
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
  let answer = '';
  const output = new Writable({
    write(chunk: Buffer, _encoding, done) {
      if (!isMuted) io.stderr.write(chunk.toString());
      done();
    },
  });
  const terminal = createInterface({ input: io.stdin, output, terminal: true });
  // Ctrl-C and Ctrl-D close it; the question would never be answered.
  const closed = new Promise<never>((_, reject) => {
    terminal.once('close', () => {
      isMuted = true;
      reject(new CliError('Interrupted.', EXIT.interrupted));
    });
  });
  try {
    const asked = terminal.question(`${question}${byDefault ? ` [${byDefault}]` : ''}: `, {
      signal: io.signal,
    });
    isMuted = hidden;
    answer = (await Promise.race([asked, closed])).trim() || byDefault;
    if (hidden) io.stderr.write('\n');
  } catch (error) {
    // The cursor stands behind the question.
    io.stderr.write('\n');
    throw error;
  } finally {
    closed.catch(() => undefined);
    terminal.close();
  }
  if (answer === '') throw new UsageError(`${question} is missing.`);
  return answer;
}
