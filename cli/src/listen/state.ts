import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { configDir, type Io } from '../io.ts';
import { createJsonFile, readJsonFile, writeJsonFile } from '../profiles/files.ts';
import type { Profile } from '../profiles/profiles.ts';

const SIGNING_KEY_BYTES = 32;

/**
 * The id of the last forwarded event in the stream. Kept per profile, Organization, target and types, so that listeners do
 * not move each other's position. Not per key pair: a rotated one continues.
 */
export function createPosition(
  io: Pick<Io, 'env'>,
  { name, url, environment, clientId }: Profile,
  { organization, target, types }: { organization: string; target: string; types: readonly string[] },
) {
  const pathOf = (...parts: string[]) => join(configDir(io), 'listen', `${digest(parts.join('\n'))}.json`);
  const path = pathOf(name, url, environment, organization, target, ...types.toSorted());
  /** Of a version that kept it per key pair. */
  const formerPath = pathOf(url, environment, clientId, target, ...types);
  const readFrom = async (file: string) => (await readJsonFile(file)) as { lastEventId: string } | undefined;
  return {
    read: async () => ((await readFrom(path)) ?? (await readFrom(formerPath)))?.lastEventId,
    write: (lastEventId: string) => writeJsonFile(path, { lastEventId }),
  };
}

/** One per profile. It stays the same, so that the local endpoint has to be configured once. */
export async function localSigningKey(io: Pick<Io, 'env'>, { name }: Profile): Promise<string> {
  const path = join(configDir(io), 'listen', `signing-key-${digest(name)}.json`);
  const read = async () => (await readJsonFile(path)) as { key: string } | undefined;
  const known = await read();
  if (known) return known.key;
  const key = randomBytes(SIGNING_KEY_BYTES).toString('hex');
  // Of two listeners that start at once, both use the key of the first.
  const isFirst = await createJsonFile(path, { key });
  return isFirst ? key : ((await read())?.key ?? key);
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
