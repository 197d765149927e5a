import { crc32, deflateSync } from 'node:zlib';

/** The smallest valid content of each type. */
export const jpeg = Buffer.from('ffd8ffe000104a46494600010100000100010000ffd9', 'hex');

export const pdf = Buffer.from(
  '%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Count 0/Kids[]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n',
);

export function pngChunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  checksum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, checksum]);
}

/** One grey pixel, with optional chunks between the header and the image. */
export function png(...chunks: Buffer[]): Buffer {
  const header = Buffer.from('00000001000000010800000000', 'hex');
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    pngChunk('IHDR', header),
    ...chunks,
    pngChunk('IDAT', deflateSync(Buffer.from([0, 128]))),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

/** A file type box and an empty media box. */
export function mp4(brand: string): Buffer {
  const type = Buffer.concat([
    Buffer.from('ftyp'),
    Buffer.from(brand, 'latin1'),
    Buffer.from('\0\0\x02\0isommp42'),
  ]);
  const size = Buffer.alloc(4);
  size.writeUInt32BE(type.length + 4);
  return Buffer.concat([size, type, Buffer.from('\0\0\0\x08mdat')]);
}
