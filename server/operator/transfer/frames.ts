/**
 * The plain content of an export: frames of a JSON line and the bytes that it announces. A frame is small, so that neither
 * side holds more than a few of them in memory.
 */
export type Head =
  | { kind: 'header'; header: Header }
  /** The payload is a JSON array of rows. `from` and `to` are the least and the greatest partition key. */
  | { kind: 'rows'; table: string; count: number; from?: string; to?: string }
  | { kind: 'file'; guid: string; contentType: string; size: number }
  /** Content of the file before it. */
  | { kind: 'content' }
  | { kind: 'file end' }
  | { kind: 'end' };

export type Header = {
  organizationGuid: string;
  /** The names of the migrations. */
  schema: readonly string[];
  baseUrl: string;
};

export type Frame = { head: Head; payload: Buffer };

const MAX_HEAD_BYTES = 64 * 1024;
const MAX_PAYLOAD_BYTES = 64 * 1024 * 1024;
const NEWLINE = 0x0a;

export function frameOf(head: Head, payload: Buffer | string = ''): Buffer {
  const bytes = Buffer.from(payload);
  return Buffer.concat([Buffer.from(`${JSON.stringify({ ...head, bytes: bytes.length })}\n`), bytes]);
}

export class InvalidFrame extends Error {}

export async function* readFrames(source: AsyncIterable<Buffer>): AsyncGenerator<Frame, void> {
  const waiting = createBuffer(source);
  for (;;) {
    const line = await waiting.takeLine();
    if (line === undefined) return;
    const { bytes, ...head } = JSON.parse(line) as Head & { bytes: number };
    if (!Number.isInteger(bytes) || bytes < 0 || bytes > MAX_PAYLOAD_BYTES)
      throw new InvalidFrame('a frame is too large');
    yield { head: head as Head, payload: await waiting.take(bytes) };
  }
}

/** Takes lines and byte counts from chunks of any size, copying each byte once. */
function createBuffer(source: AsyncIterable<Buffer>) {
  const chunks = source[Symbol.asyncIterator]();
  let pieces: Buffer[] = [];
  let size = 0;

  async function fill(): Promise<boolean> {
    const { value, done } = await chunks.next();
    if (done) return false;
    pieces.push(value);
    size += value.length;
    return true;
  }

  async function take(bytes: number): Promise<Buffer> {
    while (size < bytes) if (!(await fill())) throw new InvalidFrame('the file ends within a frame');
    const joined = pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
    pieces = [joined.subarray(bytes)];
    size = joined.length - bytes;
    return joined.subarray(0, bytes);
  }

  return {
    take,

    async takeLine(): Promise<string | undefined> {
      for (;;) {
        const joined = Buffer.concat(pieces);
        pieces = [joined];
        const end = joined.indexOf(NEWLINE);
        if (end >= 0) return (await take(end + 1)).toString('utf8');
        if (size > MAX_HEAD_BYTES) throw new InvalidFrame('a frame has no head');
        if (await fill()) continue;
        if (size === 0) return undefined;
        throw new InvalidFrame('the file ends within a frame');
      }
    },
  };
}
