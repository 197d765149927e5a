import type { Command } from '../command.ts';
import { UsageError } from '../failure.ts';
import { printObject, warn } from '../output/print.ts';
import { claimsOf } from '../session.ts';

export const whoami: Command = {
  name: 'whoami',
  summary: 'Show the profile in use, and the Organization or Bank of its key pair.',
  examples: ['portico whoami', 'portico whoami --profile live --json'],
  async run(context) {
    const { options } = context;
    const { profile, withScopes } = await context.session();
    const token = await withScopes().token({ signal: context.io.signal });
    const { token_type, organization_guid, bank_guid, ip_allowlist = [] } = claimsOf(token);
    printObject(context, {
      profile: profile.name,
      url: profile.url,
      environment: profile.environment,
      client_id: profile.clientId,
      key: token_type,
      ...{ organization_guid, bank_guid },
      ip_allowlist: options.flag('json') ? ip_allowlist : describeAllowlist(ip_allowlist),
    });
  },
};

function describeAllowlist(allowlist: readonly string[]): string {
  return allowlist.length === 0 ? 'empty: every address is allowed' : allowlist.join(', ');
}

export const token: Command = {
  name: 'token',
  summary: 'Print an access token with the given scopes.',
  options: {
    scope: {
      value: 'scopes',
      multiple: true,
      description: 'scopes, separated by spaces or commas (required)',
    },
  },
  examples: [
    'portico token --scope transfers:read',
    'curl "$API/api/transfers" -H "Authorization: Bearer $(portico token --scope transfers:read)"',
  ],
  async run(context) {
    const { io, options } = context;
    const scopes = options.texts('scope').flatMap((text) => text.split(/[\s,]+/).filter(Boolean));
    if (scopes.length === 0) throw new UsageError('--scope is required. See portico token --help.');
    const { withScopes } = await context.session();
    const value = await withScopes(...scopes).token({ signal: io.signal });
    const { scope = '', exp = 0 } = claimsOf(value);
    const dropped = scopes.filter((each) => !scope.split(' ').includes(each));
    if (dropped.length > 0)
      warn(context, `The token is without ${dropped.join(', ')}, which key pairs cannot hold.`);
    if (!options.flag('json')) return void io.stdout.write(`${value}\n`);
    const expires_at = new Date(exp * 1_000).toISOString();
    printObject(context, { access_token: value, token_type: 'Bearer', scope, expires_at });
  },
};
