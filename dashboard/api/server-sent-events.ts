export type Message = { event: string; data: string };

/**
 * Server-sent events (HTML standard, section 9.2) from a `fetch` response: EventSource cannot send the Authorization
 * header.
 */
export async function* readMessages(response: Response): AsyncGenerator<Message> {
  if (!response.body) return;
  let rest = '';
  for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
    const blocks = (rest + text).split(/\r?\n\r?\n/);
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const message = parse(block);
      if (message) yield message;
    }
  }
}

function parse(block: string): Message | undefined {
  const lines = block.split(/\r?\n/);
  const valuesOf = (name: string) =>
    lines
      .filter((line) => line.startsWith(`${name}:`))
      .map((line) => line.slice(name.length + 1).trimStart());
  const data = valuesOf('data');
  return data.length === 0
    ? undefined
    : { event: valuesOf('event').at(-1) ?? 'message', data: data.join('\n') };
}
