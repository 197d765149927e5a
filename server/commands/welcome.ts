import { readFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { styleText } from 'node:util';
import { DEFAULT_DATA_DIR, DEFAULT_PORT } from '../infrastructure/config/config.ts';
import { type CompleteConfig, operatorTokenPath } from '../infrastructure/config/generated-secrets.ts';
import { version } from '../infrastructure/runtime/version.ts';
import type { Person } from '../people/members/people.ts';
import type { Demo } from './demo.ts';

const LABEL_WIDTH = 15;
/** Output of containers and services is usually collected in logs. */
const LOGGED_SECRETS =
  '  Standard output is not a terminal: if it is stored, remove these secrets from the log.';

type Show = (label: string, value: string) => string;

/**
 * The screen after a start: addresses, the demo's credentials when it was just created, or else how its Founder
 * gets a new password.
 */
export function writeWelcome(
  stream: NodeJS.WriteStream,
  config: CompleteConfig,
  { demo, founder }: { demo: Demo | undefined; founder: Person | undefined },
): void {
  const style = (format: Parameters<typeof styleText>[0], text: string) =>
    styleText(format, text, { stream });
  const show: Show = (label, value) => `  ${style('dim', label.padEnd(LABEL_WIDTH))}${value}`;

  const lines = [
    '',
    `  ${style('bold', `Portico ${version}`)} is ready.`,
    '',
    show('Dashboard', style('cyan', `${config.baseUrl}/login`)),
    show('API', style('cyan', config.baseUrl)),
    show('Reference', style('cyan', `${config.baseUrl}/docs`)),
    show('Guides', style('cyan', `${config.baseUrl}/guides`)),
    show('Operator', operatorLine(config)),
    '',
    ...(demo ? demoLines(config, demo, show, stream.isTTY === true) : []),
    ...(founder ? newPasswordLines(config, founder, show) : []),
    style('dim', '  Stop with Ctrl-C.'),
    '',
    '',
  ];
  stream.write(lines.join('\n'));
}

function operatorLine(config: CompleteConfig): string {
  const path = tokenFile(config);
  const where = path === undefined ? '' : `   (token in ${shortest(path)})`;
  return `${operatorCommand(config, '--help')}${where}`;
}

/** The command for a second terminal, which does not have the settings of this one. */
function operatorCommand(config: CompleteConfig, words: string): string {
  const { port, operatorPort, operatorUrl, dataDir } = config;
  const onMainPort = port === DEFAULT_PORT ? '' : `PORTICO_PORT=${port} `;
  const address = operatorPort === undefined ? onMainPort : `PORTICO_OPERATOR_URL=${operatorUrl} `;
  const isElsewhere = tokenFile(config) !== undefined && dataDir !== resolve(DEFAULT_DATA_DIR);
  const folder = isElsewhere ? `PORTICO_DATA_DIR=${quoted(shortest(dataDir))} ` : '';
  return `${address}${folder}npx portico operator ${words}`;
}

/** Undefined when the token comes from the settings: the file may have an earlier one. */
function tokenFile({ dataDir, operatorToken }: CompleteConfig): string | undefined {
  const path = operatorTokenPath(dataDir);
  try {
    return readFileSync(path, 'utf8').trim() === operatorToken.reveal() ? path : undefined;
  } catch {
    return undefined;
  }
}

/** Quotes for a POSIX shell. */
function quoted(word: string): string {
  return /^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function shortest(path: string): string {
  const fromHere = relative(process.cwd(), path);
  return fromHere.startsWith('..') ? path : fromHere;
}

function demoLines(
  config: CompleteConfig,
  { organization, bank, bankKey, organizationKey, founder }: Demo,
  show: Show,
  atTerminal: boolean,
): string[] {
  const { client_id: clientId } = bankKey.application;
  const keyLines = ({ application, secret }: Demo['bankKey']) => [
    '',
    show('client_id', application.client_id),
    show('client_secret', secret.reveal()),
    '',
  ];
  return [
    '  A demo to try it with. The secrets and the password are shown only once:',
    ...(atTerminal ? [] : [LOGGED_SECRETS]),
    '',
    show('Organization', `${organization.guid}  ${organization.name}`),
    show('Bank', `${bank.guid}  ${bank.name} (${bank.environment})`),
    '',
    '  Bank key, for calls of the API:',
    ...keyLines(bankKey),
    '  Organization key, for events (npx portico login):',
    ...keyLines(organizationKey),
    '  Log in to the dashboard with:',
    '',
    show('Founder', founder.email),
    show('password', founder.password.reveal()),
    '',
    `  curl ${config.sandboxAuthUrl}/oauth/token -u '${clientId}:${bankKey.secret.reveal()}' \\`,
    "    -d grant_type=client_credentials -d 'scope=customers:read customers:execute'",
    '',
  ];
}

/** Secrets are shown once; a command creates a link for a new password. */
function newPasswordLines(config: CompleteConfig, { guid, email }: Person, show: Show): string[] {
  const { databaseUrl, dataDir } = config;
  return [
    `  The demo's password was shown only once. To set a new one for ${email}:`,
    '',
    show('New password', operatorCommand(config, `members password-reset ${guid}`)),
    ...(databaseUrl === undefined ? [show('Start over', `stop, and delete ${shortest(dataDir)}`)] : []),
    '',
  ];
}
