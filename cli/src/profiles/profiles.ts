import { join } from 'node:path';
import { CliError, EXIT, UsageError } from '../failure.ts';
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
  async function read(): Promise<Stored> {
    const stored = (await readJsonFile(path)) as Stored | null | undefined;
    if (stored === undefined) return { current: DEFAULT_PROFILE, profiles: {} };
    if (!stored?.profiles) throw new CliError(`${path} cannot be read: it has no profiles`);
    return stored;
  }
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
      // No other profile takes its place: the next command could reach production.
      await writeJsonFile(path, { current, profiles: others });
      return chosen;
    },
  };
}

function unknownProfile(name: string | undefined, names: readonly string[]): CliError {
  return new CliError(describeUnknown(name, names), EXIT.authentication);
}

function describeUnknown(name: string | undefined, names: readonly string[]): string {
  if (names.length === 0) return 'You are not logged in. Run portico login.';
  const known = `there are ${names.join(', ')}.`;
  if (name !== undefined) return `There is no profile ${name}; ${known}`;
  return `No profile is current; ${known} Choose one with portico profiles use, or run portico login.`;
}

/** Of these all are needed; the others are optional. */
const NEEDED = ['PORTICO_CLI_URL', 'PORTICO_CLI_CLIENT_ID', 'PORTICO_CLI_CLIENT_SECRET'] as const;
const OPTIONAL = ['PORTICO_CLI_AUTH_URL', 'PORTICO_CLI_ENVIRONMENT'] as const;

/** For continuous integration, where nothing is stored. With a part of the variables, a stored profile is not meant. */
function profileOfVariables(env: Io['env']): Profile | undefined {
  if (![...NEEDED, ...OPTIONAL].some((name) => env[name])) return undefined;
  const missing = NEEDED.find((name) => !env[name]);
  if (missing)
    throw new UsageError(`${missing} is not set. Set ${NEEDED.join(', ')}, or choose a profile: --profile.`);
  const [url = '', clientId = '', clientSecret = ''] = NEEDED.map((name) => env[name]);
  return {
    ...{ name: 'environment variables', url: withoutSlash(url), clientId, clientSecret },
    environment: environmentOf('PORTICO_CLI_ENVIRONMENT', env.PORTICO_CLI_ENVIRONMENT || undefined),
    authUrl: withoutSlash(env.PORTICO_CLI_AUTH_URL || url),
  };
}

/** Paths begin with a slash. */
export const withoutSlash = (url: string) => url.replace(/\/+$/, '');

export function environmentOf(source: string, given: string | undefined): Environment {
  if (given !== undefined && given !== 'sandbox' && given !== 'production')
    throw new UsageError(`${source} must be sandbox or production.`);
  return given ?? 'sandbox';
}
