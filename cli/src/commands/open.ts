import { spawn } from 'node:child_process';
import type { Command } from '../command.ts';
import { CliError, UsageError } from '../failure.ts';
import { printObject, say } from '../output/print.ts';

const PAGES: Readonly<Record<string, string>> = { dashboard: '/', docs: '/docs', guides: '/guides' };
const OPENERS: Readonly<Record<string, readonly string[]>> = {
  darwin: ['open'],
  // Not `cmd /c start`, which would run what follows a & in the address.
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Other schemes would start other programs. */
function addressOf(base: string, path: string): string {
  const url = URL.canParse(base) ? new URL(path, base) : undefined;
  if (!url || !['http:', 'https:'].includes(url.protocol))
    throw new CliError(`${base} is not an address of the service.`);
  return url.href;
}

export const open: Command = {
  name: 'open',
  summary: 'Open the dashboard in your browser; with docs the API reference, with guides the guides.',
  positionals: ['[page]'],
  values: Object.keys(PAGES),
  options: { print: { description: 'print the address instead' } },
  examples: ['portico open', 'portico open docs --print'],
  async run(context) {
    const { io, options, positionals } = context;
    const [page = 'dashboard'] = positionals;
    const path = Object.hasOwn(PAGES, page) ? PAGES[page] : undefined;
    if (path === undefined)
      throw new UsageError(`There is no page ${page}; there are ${Object.keys(PAGES).join(', ')}.`);
    const { profile } = await context.session();
    const url = addressOf(profile.url, path);
    if (options.flag('json')) return printObject(context, { url });
    if (options.flag('print')) return void io.stdout.write(`${url}\n`);
    const [program = 'xdg-open', ...args] = OPENERS[process.platform] ?? ['xdg-open'];
    const child = spawn(program, [...args, url], { stdio: 'ignore', detached: true });
    const isStarted = await new Promise<boolean>((resolve) => {
      child.once('spawn', () => resolve(true)).once('error', () => resolve(false));
    });
    child.unref();
    say(context, isStarted ? `Opened ${url}` : `Open ${url} in your browser.`);
  },
};
