import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { Transform } from 'node:stream';
import type { Secret } from '../../infrastructure/runtime/secret.ts';

/**
 * AES-256-GCM in blocks, under a key derived from the transfer key and the salt of the file. Layout: magic, salt, blocks of
 * header (4 bytes: length, highest bit set in the last block) · ciphertext · tag (16). The nonce is the number of the block
 * and the header is authenticated, so that a block that is changed, missing, added or moved is noticed.
 */
const MAGIC = Buffer.from('portico organization 1\n');
const SALT_BYTES = 32;
const BLOCK_BYTES = 64 * 1024;
const HEADER_BYTES = 4;
const TAG_BYTES = 16;
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const LAST = 0x8000_0000;

/** The message says what to do about it. */
export class UnreadableExport extends Error {}

export function seal(transferKey: Secret): Transform {
  const salt = randomBytes(SALT_BYTES);
  const key = keyOf(transferKey, salt);
  let waiting: Buffer[] = [];
  let size = 0;
  let block = 0;

  function sealed(plain: Buffer, isLast: boolean): Buffer {
    const header = Buffer.alloc(HEADER_BYTES);
    header.writeUInt32BE(isLast ? (plain.length | LAST) >>> 0 : plain.length);
    const cipher = createCipheriv('aes-256-gcm', key, nonceOf(block)).setAAD(header);
    block += 1;
    return Buffer.concat([header, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
  }

  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      waiting.push(chunk);
      size += chunk.length;
      if (size > BLOCK_BYTES) {
        const all = Buffer.concat(waiting);
        let start = 0;
        // The last block is sealed at the end, because only then it is known to be the last.
        for (; all.length - start > BLOCK_BYTES; start += BLOCK_BYTES)
          this.push(sealed(all.subarray(start, start + BLOCK_BYTES), false));
        waiting = [all.subarray(start)];
        size = all.length - start;
      }
      done();
    },
    flush(done) {
      this.push(sealed(Buffer.concat(waiting), true));
      done();
    },
  });
  stream.push(Buffer.concat([MAGIC, salt]));
  return stream;
}

export function unseal(transferKey: Secret): Transform {
  let waiting: Buffer = Buffer.alloc(0);
  let key: Buffer | undefined;
  let block = 0;
  let isComplete = false;

  /** Undefined until the whole block has arrived. */
  function nextBlock(): Buffer | undefined {
    if (waiting.length < HEADER_BYTES) return undefined;
    const header = waiting.subarray(0, HEADER_BYTES);
    const length = header.readUInt32BE() & ~LAST;
    if (length > BLOCK_BYTES || isComplete) throw changed();
    const end = HEADER_BYTES + length + TAG_BYTES;
    if (waiting.length < end) return undefined;
    const decipher = createDecipheriv('aes-256-gcm', key as Buffer, nonceOf(block)).setAAD(header);
    decipher.setAuthTag(waiting.subarray(end - TAG_BYTES, end));
    const plain = decipher.update(waiting.subarray(HEADER_BYTES, end - TAG_BYTES));
    try {
      decipher.final();
    } catch {
      throw block === 0 ? wrongKey() : changed();
    }
    isComplete = (header.readUInt32BE() & LAST) !== 0;
    block += 1;
    waiting = waiting.subarray(end);
    return plain;
  }

  function readSalt(): boolean {
    const prefix = MAGIC.length + SALT_BYTES;
    if (key || waiting.length < prefix) return key !== undefined;
    if (!waiting.subarray(0, MAGIC.length).equals(MAGIC))
      throw new UnreadableExport('The file must be an export of portico operator organizations export');
    key = keyOf(transferKey, waiting.subarray(MAGIC.length, prefix));
    waiting = waiting.subarray(prefix);
    return true;
  }

  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      try {
        waiting = waiting.length === 0 ? chunk : Buffer.concat([waiting, chunk]);
        if (readSalt())
          for (let plain = nextBlock(); plain !== undefined; plain = nextBlock()) this.push(plain);
        done();
      } catch (error) {
        done(error as Error);
      }
    },
    flush(done) {
      done(isComplete && waiting.length === 0 ? null : cutOff());
    },
  });
}

function keyOf(transferKey: Secret, salt: Buffer): Buffer {
  const purpose = 'portico:organization transfer';
  return Buffer.from(hkdfSync('sha256', transferKey.reveal(), salt, purpose, KEY_BYTES));
}

function nonceOf(block: number): Buffer {
  const nonce = Buffer.alloc(NONCE_BYTES);
  nonce.writeUInt32BE(block, NONCE_BYTES - 4);
  return nonce;
}

function wrongKey(): UnreadableExport {
  return new UnreadableExport('The transfer key must be that of the export, or the file was changed');
}

function changed(): UnreadableExport {
  return new UnreadableExport('The file was changed after the export; export again');
}

function cutOff(): UnreadableExport {
  return new UnreadableExport('The file is incomplete; copy it again or export again');
}
