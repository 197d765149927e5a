import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { configDir, type Io } from '../io.ts';
import { readJsonFile, writeJsonFile } from '../profiles/files.ts';
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
  const path = join(configDir(io), 'listen', 'signing-keys.json');
  const keys = ((await readJsonFile(path)) ?? {}) as Record<string, string>;
  // An inherited property, such as `constructor`, would be a key that everyone knows.
  const known = Object.hasOwn(keys, name) && keys[name];
  if (known) return known;
  const key = randomBytes(SIGNING_KEY_BYTES).toString('hex');
  await writeJsonFile(path, { ...keys, [name]: key });
  return key;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
