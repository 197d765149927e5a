import { join } from 'node:path';
import { CliError, EXIT } from '../failure.ts';
import { configDir, type Io } from '../io.ts';
import { readJsonFile, writeJsonFile } from './files.ts';

export type Environment = 'sandbox' | 'production';

export type Profile = {
  name: string;
  url: string;
  authUrl: string;
  environment: Environment;
  clientId: string;
  clientSecret: string;
};

type Stored = { current: string; profiles: Record<string, Omit<Profile, 'name'>> };

export const DEFAULT_PROFILE = 'default';

export function createProfiles(io: Pick<Io, 'env'>) {
  const path = join(configDir(io), 'profiles.json');
  const read = async () =>
    ((await readJsonFile(path)) as Stored | undefined) ?? { current: DEFAULT_PROFILE, profiles: {} };
  const named = (name: string | undefined) => name ?? (io.env.PORTICO_CLI_PROFILE || undefined);

  return {
    path,

    /** The name of an option, or that of the environment variable. */
    named,

    /** The named one, that of the environment variables, or the current one. */
    async find(name: string | undefined): Promise<Profile> {
      const wanted = named(name);
      const fromVariables = wanted === undefined ? profileOfVariables(io.env) : undefined;
      if (fromVariables) return fromVariables;
      const { current, profiles } = await read();
      const chosen = wanted ?? current;
      const found = Object.hasOwn(profiles, chosen) && profiles[chosen];
      if (found) return { name: chosen, ...found };
      throw unknownProfile(wanted, Object.keys(profiles));
    },

    async list(): Promise<(Profile & { isCurrent: boolean })[]> {
      const { current, profiles } = await read();
      return Object.entries(profiles).map(([name, profile]) => ({
        name,
        ...profile,
        isCurrent: name === current,
      }));
    },

    /** The last one that was saved is the current one. */
    async save({ name, ...profile }: Profile): Promise<void> {
      const { profiles } = await read();
      await writeJsonFile(path, { current: name, profiles: { ...profiles, [name]: profile } });
    },

    async use(name: string): Promise<void> {
      const { profiles } = await read();
      if (!Object.hasOwn(profiles, name)) throw unknownProfile(name, Object.keys(profiles));
      await writeJsonFile(path, { current: name, profiles });
    },

    async remove(name: string | undefined): Promise<string> {
      const { current, profiles } = await read();
      const chosen = named(name) ?? current;
      if (!Object.hasOwn(profiles, chosen))
        throw new CliError(`There is no profile ${chosen}.`, EXIT.authentication);
      const { [chosen]: _, ...others } = profiles;
      const next = chosen === current ? (Object.keys(others)[0] ?? DEFAULT_PROFILE) : current;
      await writeJsonFile(path, { current: next, profiles: others });
      return chosen;
    },
  };
}

function unknownProfile(name: string | undefined, names: readonly string[]): CliError {
  const message =
    names.length === 0 || name === undefined
      ? 'You are not logged in. Run portico login.'
      : `There is no profile ${name}; there are ${names.join(', ')}.`;
  return new CliError(message, EXIT.authentication);
}

/** For continuous integration, where nothing is stored. */
function profileOfVariables(env: Io['env']): Profile | undefined {
  const { PORTICO_CLI_URL: url, PORTICO_CLI_CLIENT_ID: clientId } = env;
  const clientSecret = env.PORTICO_CLI_CLIENT_SECRET;
  if (!url || !clientId || !clientSecret) return undefined;
  const environment = env.PORTICO_CLI_ENVIRONMENT === 'production' ? 'production' : 'sandbox';
  return {
    ...{ name: 'environment variables', url, clientId, clientSecret, environment },
    authUrl: env.PORTICO_CLI_AUTH_URL ?? url,
  };
}
