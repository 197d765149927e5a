/** The parts of PostgreSQL's protocol 3.0 that tell statements and their answers apart. */
const QUERY = 0x51;
const SYNC = 0x53;
const TERMINATE = 0x58;
export const PARSE = 0x50;
export const BIND = 0x42;
export const READY_FOR_QUERY = 0x5a;
export const NOTIFICATION = 0x41;
export const DATA_ROW = 0x44;
const TYPE_BYTES = 1;
const LENGTH_BYTES = 4;

/** What a client sends before it waits for ReadyForQuery. */
export type Unit = { kind: 'startup' | 'statement' | 'terminate'; text: string; bytes: Buffer };

/** Splits what a client writes into units. */
export function createUnitReader() {
  let buffer: Buffer = Buffer.alloc(0);
  let isStarted = false;
  let unit: Buffer[] = [];
  let text = '';

  function take(length: number): Buffer {
    const taken = buffer.subarray(0, length);
    buffer = buffer.subarray(length);
    return taken;
  }

  function next(): Unit | undefined {
    if (!isStarted) {
      if (buffer.length < LENGTH_BYTES || buffer.length < buffer.readInt32BE()) return undefined;
      isStarted = true;
      return { kind: 'startup', text: 'connect', bytes: take(buffer.readInt32BE()) };
    }
    while (buffer.length > TYPE_BYTES + LENGTH_BYTES - 1) {
      const length = TYPE_BYTES + buffer.readInt32BE(TYPE_BYTES);
      if (buffer.length < length) return undefined;
      const message = take(length);
      unit.push(message);
      const type = message[0];
      if (type === QUERY) text = textAt(message, 5);
      else if (type === PARSE) text = textAt(message, message.indexOf(0, 5) + 1) || textAt(message, 5);
      else if (type === BIND && text === '') text = `prepared: ${textAt(message, message.indexOf(0, 5) + 1)}`;
      if (type !== QUERY && type !== SYNC && type !== TERMINATE) continue;
      const whole: Unit = {
        kind: type === TERMINATE ? 'terminate' : 'statement',
        text: text.replace(/\s+/g, ' ').trim(),
        bytes: Buffer.concat(unit),
      };
      unit = [];
      text = '';
      return whole;
    }
    return undefined;
  }

  return {
    *read(chunk: Buffer): Generator<Unit> {
      buffer = buffer.length === 0 ? chunk : Buffer.concat([buffer, chunk]);
      for (let found = next(); found; found = next()) yield found;
    },
  };
}

function textAt(message: Buffer, from: number): string {
  return message.toString('utf8', from, message.indexOf(0, from));
}

export type Message = { type: number; bytes: Buffer };

/** Splits what a server sends into messages. */
export function createMessageReader() {
  let buffer: Buffer = Buffer.alloc(0);
  return {
    *read(chunk: Buffer): Generator<Message> {
      buffer = buffer.length === 0 ? chunk : Buffer.concat([buffer, chunk]);
      while (buffer.length >= TYPE_BYTES + LENGTH_BYTES) {
        const length = TYPE_BYTES + buffer.readInt32BE(TYPE_BYTES);
        if (buffer.length < length) return;
        const bytes = buffer.subarray(0, length);
        buffer = buffer.subarray(length);
        yield { type: bytes[0] as number, bytes };
      }
    },
  };
}

export function query(text: string): Buffer {
  return message('Q', Buffer.from(`${text}\0`));
}

/** The answer to a Parse. */
export const PARSE_COMPLETE = message('1', Buffer.alloc(0));

/** The messages of a unit. */
export function messagesOf(bytes: Buffer): Buffer[] {
  return [...createMessageReader().read(bytes)].map((each) => each.bytes);
}

type Position = 'first' | 'second';

/** Where one of the two texts is with which a Parse or Bind begins. */
function placeOf(bytes: Buffer, position: Position): [from: number, to: number] {
  const head = TYPE_BYTES + LENGTH_BYTES;
  const from = position === 'first' ? head : bytes.indexOf(0, head) + 1;
  return [from, bytes.indexOf(0, from)];
}

export function nameIn(bytes: Buffer, position: Position): string {
  return bytes.toString('utf8', ...placeOf(bytes, position));
}

export function renamed(bytes: Buffer, position: Position, name: string): Buffer {
  const [from, to] = placeOf(bytes, position);
  const head = bytes.subarray(TYPE_BYTES + LENGTH_BYTES, from);
  const body = Buffer.concat([head, Buffer.from(name), bytes.subarray(to)]);
  return message(String.fromCharCode(bytes[0] as number), body);
}

/** What the server sends after a login. */
export function loginAnswer(processId: number): Buffer {
  const key = Buffer.alloc(8);
  key.writeInt32BE(processId);
  return Buffer.concat([
    message('R', Buffer.alloc(4)),
    ...Object.entries({
      ...{ server_version: '18.0', client_encoding: 'UTF8', DateStyle: 'ISO, MDY', TimeZone: 'UTC' },
      ...{ integer_datetimes: 'on', standard_conforming_strings: 'on' },
    }).map(([name, value]) => message('S', Buffer.from(`${name}\0${value}\0`))),
    message('K', key),
    message('Z', Buffer.from('I')),
  ]);
}

/** A FATAL error, after which the server closes the connection. */
export function fatal(code: string, text: string): Buffer {
  return message('E', Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${text}\0\0`));
}

function message(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(TYPE_BYTES + LENGTH_BYTES);
  head.write(type, 0, 'latin1');
  head.writeInt32BE(LENGTH_BYTES + body.length, TYPE_BYTES);
  return Buffer.concat([head, body]);
}

/** Timeouts that a node sets for a transaction, by the real clock of the server. */
const TIMEOUTS = [
  ['statement_timeout = 2000', 'statement_timeout =    0'],
  ["lock_timeout = '2s'", "lock_timeout = '0s'"],
] as const;

/** A paused session would find its real time over when it is resumed. */
export function withoutTimeouts(bytes: Buffer): Buffer {
  for (const [set, unset] of TIMEOUTS) {
    const at = bytes.indexOf(set);
    if (at >= 0) bytes.write(unset, at);
  }
  return bytes;
}
