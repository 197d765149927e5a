import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { styleText } from 'node:util';
import { DEFAULT_PORT } from '../config/config.ts';
import type { CompleteConfig } from '../config/generated-secrets.ts';
import { version } from '../version.ts';
import type { Demo } from './demo.ts';

const LABEL_WIDTH = 15;

/** A short screen that says where everything is; the demo's credentials only when they were just made. */
export function writeWelcome(
  stream: NodeJS.WriteStream,
  config: CompleteConfig,
  demo: Demo | undefined,
): void {
  const style = (format: Parameters<typeof styleText>[0], text: string) =>
    styleText(format, text, { stream });
  const show = (label: string, value: string) => `  ${style('dim', label.padEnd(LABEL_WIDTH))}${value}`;

  const lines = [
    '',
    `  ${style('bold', `Portico ${version}`)} is ready.`,
    '',
    show('API', style('cyan', config.baseUrl)),
    show('Reference', style('cyan', `${config.baseUrl}/docs`)),
    show('Operator', operatorLine(config)),
    '',
    ...(demo ? demoLines(config, demo, show) : []),
    style('dim', '  Stop with Ctrl-C.'),
    '',
    '',
  ];
  stream.write(lines.join('\n'));
}

/** As it has to be typed in a second terminal, which knows nothing of the settings of this one. */
function operatorLine({ port, dataDir }: CompleteConfig): string {
  const settings = port === DEFAULT_PORT ? '' : `PORTICO_PORT=${port} `;
  const path = join(dataDir, 'operator.token');
  const where = existsSync(path) ? `   (token in ${shortest(path)})` : '';
  return `${settings}npx portico operator --help${where}`;
}

function shortest(path: string): string {
  const fromHere = relative(process.cwd(), path);
  return fromHere.startsWith('..') ? path : fromHere;
}

function demoLines(
  config: CompleteConfig,
  { organization, bank, bankKey, founder }: Demo,
  show: (label: string, value: string) => string,
): string[] {
  const { client_id: clientId } = bankKey.application;
  return [
    '  A demo to try it with. The secret and the password are shown this once:',
    '',
    show('Organization', `${organization.guid}  ${organization.name}`),
    show('Bank', `${bank.guid}  ${bank.name} (${bank.environment})`),
    show('client_id', clientId),
    show('client_secret', bankKey.secret.reveal()),
    '',
    '  Log in to the dashboard with:',
    '',
    show('Dashboard', `${config.baseUrl}/login`),
    show('Founder', founder.email),
    show('password', founder.password.reveal()),
    '',
    `  curl ${config.sandboxAuthUrl}/oauth/token -u '${clientId}:${bankKey.secret.reveal()}' \\`,
    "    -d grant_type=client_credentials -d 'scope=customers:read customers:execute'",
    '',
  ];
}
