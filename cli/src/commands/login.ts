import { addAbortSignal } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Command, Context } from '../command.ts';
import { UsageError } from '../failure.ts';
import { printObject, say, warn } from '../output/print.ts';
import {
  createProfiles,
  DEFAULT_PROFILE,
  environmentOf,
  type Profile,
  withoutSlash,
} from '../profiles/profiles.ts';
import { ask } from '../profiles/prompt.ts';
import { isUnencrypted } from '../profiles/unencrypted.ts';
import { claimsOf, createSession } from '../session.ts';

const DEFAULT_URL = 'http://localhost:4000';

/** The local demo runs at another port if this variable is set. */
function demoUrl({ PORTICO_PORT: port }: Context['io']['env']): string {
  return port ? `http://localhost:${port}` : DEFAULT_URL;
}

async function readSecret({ io, options }: Context): Promise<string> {
  if (!options.flag('secret-stdin')) return ask(io, 'Client secret', { hidden: true });
  const secret = (await text(addAbortSignal(io.signal, io.stdin))).trim();
  if (secret === '') throw new UsageError('Client secret is missing: standard input is empty.');
  return secret;
}

async function readProfile(context: Context): Promise<Profile> {
  const { io, options } = context;
  const environment = environmentOf('--environment', options.text('environment'));
  const url = options.text('url') ?? (await ask(io, 'Address of the API', { byDefault: demoUrl(io.env) }));
  // The address of the issuer selects the environment, so only the sandbox has a default.
  const authUrl =
    options.text('auth-url') ??
    (environment === 'sandbox' ? url : await ask(io, 'Address of the token issuer of production'));
  // Before the secret is entered.
  for (const address of new Set([url, authUrl].filter(isUnencrypted)))
    warn(
      context,
      `${address} is not encrypted: others on the network can read the client secret. Use https.`,
    );
  const clientId = options.text('client-id') ?? (await ask(io, 'Client id'));
  const clientSecret = await readSecret(context);
  const name = createProfiles(io).named(options.text('profile')) ?? DEFAULT_PROFILE;
  return {
    name,
    url: withoutSlash(url),
    authUrl: withoutSlash(authUrl),
    environment,
    clientId,
    clientSecret,
  };
}

export const login: Command = {
  name: 'login',
  summary: 'Store a key pair of your Organization or Bank, after it was checked.',
  options: {
    url: { value: 'url', description: `address of the API (asked for; ${DEFAULT_URL} by default)` },
    'auth-url': { value: 'url', description: 'address of the token issuer; needed for production' },
    environment: {
      value: 'name',
      values: ['sandbox', 'production'],
      description: 'sandbox (default) or production',
    },
    'client-id': { value: 'id', description: 'client id of the key pair (asked for)' },
    'secret-stdin': { description: 'read the client secret from standard input instead of asking for it' },
  },
  examples: [
    'portico login',
    'portico login --profile live --environment production --auth-url https://auth.example.com',
    'portico login --url https://api.example.com --client-id 0199… --secret-stdin < secret.txt',
  ],
  async run(context) {
    const profile = await readProfile(context);
    const token = await createSession(profile).withScopes().token({ signal: context.io.signal });
    const profiles = createProfiles(context.io);
    await profiles.save(profile);
    const { token_type, organization_guid, bank_guid } = claimsOf(token);
    say(context, `Logged in. The key pair is stored in ${profiles.path}, readable by you only.`);
    printObject(context, {
      profile: profile.name,
      ...{ environment: profile.environment, key: token_type, organization_guid, bank_guid },
    });
  },
};

export const logout: Command = {
  name: 'logout',
  summary: 'Remove a stored key pair from this machine. The key pair itself stays valid.',
  examples: ['portico logout', 'portico logout --profile live'],
  async run(context) {
    const name = await createProfiles(context.io).remove(context.options.text('profile'));
    say(context, `Removed the profile ${name}.`);
    if (context.options.flag('json')) printObject(context, { removed: name });
  },
};
