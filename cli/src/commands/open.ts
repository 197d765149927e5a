import { spawn } from 'node:child_process';
import type { Command } from '../command.ts';
import { CliError } from '../failure.ts';
import { printObject, say } from '../output/print.ts';

const PAGES: Readonly<Record<string, string>> = { dashboard: '/', docs: '/docs' };
const OPENERS: Readonly<Record<string, readonly string[]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
};

export const open: Command = {
  name: 'open',
  summary: 'Open the dashboard, or with docs the API reference, in your browser.',
  positionals: ['[page]'],
  options: { print: { description: 'print the address instead' } },
  examples: ['portico open', 'portico open docs --print'],
  async run(context) {
    const { io, options, positionals } = context;
    const [page = 'dashboard'] = positionals;
    const path = PAGES[page];
    if (path === undefined)
      throw new CliError(`There is no page ${page}; there are ${Object.keys(PAGES).join(', ')}.`);
    const { profile } = await context.session();
    const url = `${profile.url}${path}`;
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
