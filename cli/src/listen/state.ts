import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { configDir, type Io } from '../io.ts';
import { createJsonFile, readJsonFile, writeJsonFile } from '../profiles/files.ts';
import type { Profile } from '../profiles/profiles.ts';

/** The position after the last forwarded event, and the time of that event. */
export type Place = { lastEventId: string; eventAt?: string | undefined };

const SIGNING_KEY_BYTES = 32;

/** Kept per profile, target and types, so that listeners do not move each other's position. */
export function createPlaces(
  io: Pick<Io, 'env'>,
  profile: Profile,
  target: string,
  types: readonly string[],
) {
  const name = digest([profile.url, profile.environment, profile.clientId, target, ...types].join('\n'));
  const path = join(configDir(io), 'listen', `${name}.json`);
  return {
    read: async () => (await readJsonFile(path)) as Place | undefined,
    write: (place: Place) => writeJsonFile(path, place),
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
