import { CliError, EXIT } from '../failure.ts';

export type Message = { id: string | undefined; data: string | undefined };

/** A message of the service has at most a few hundred bytes. */
const MAX_MESSAGE_CHARACTERS = 1_048_576;

/** The server-sent events of a response (HTML standard, section 9.2). Ends or throws with the connection. */
export async function* readMessages(
  body: ReadableStream<Uint8Array>,
  nextChunk: <T>(reading: Promise<T>) => Promise<T>,
): AsyncGenerator<Message> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await nextChunk(reader.read());
      if (done) return;
      const blocks = (rest + decoder.decode(value, { stream: true })).split(/\r?\n\r?\n/);
      rest = blocks.pop() ?? '';
      if (rest.length > MAX_MESSAGE_CHARACTERS)
        throw new CliError('The service sent a message that is too large.', EXIT.unreachable);
      for (const block of blocks) yield readMessage(block);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function readMessage(block: string): Message {
  let id: string | undefined;
  const data: string[] = [];
  for (const line of block.split(/\r?\n/)) {
    const [, name, value = ''] = /^(\w+)(?:: ?(.*))?$/.exec(line) ?? [];
    if (name === 'id') id = value;
    if (name === 'data') data.push(value);
  }
  return { id, data: data.length === 0 ? undefined : data.join('\n') };
}
