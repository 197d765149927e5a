import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after } from 'node:test';
import { promisify } from 'node:util';
import { rolldown } from 'rolldown';

export const run = promisify(execFile);
export const ROOT = join(import.meta.dirname, '..', '..');

/** An empty project into which the packed SDK is installed, as a partner does. */
export async function installSdk(): Promise<string> {
  const project = await mkdtemp(join(tmpdir(), 'portico-sdk-package-'));
  after(() => rm(project, { recursive: true, force: true }));
  const npm = (cwd: string, ...args: string[]) =>
    run('npm', [...args, '--loglevel=error'], { cwd, shell: process.platform === 'win32' });
  await npm(join(ROOT, 'sdk'), 'pack', '--pack-destination', project);
  await writeFile(join(project, 'package.json'), '{"private":true,"type":"module"}');
  const { version } = await import('../../sdk/package.json', { with: { type: 'json' } }).then(
    (json) => json.default,
  );
  await npm(project, 'install', `./portico-sdk-${version}.tgz`, '--offline', '--no-audit', '--no-fund');
  return project;
}

/** The path and version of the first program of this name and version on the PATH. */
export async function findProgram(name: string, version = ''): Promise<string | undefined> {
  for (const directory of (process.env.PATH ?? '').split(delimiter)) {
    const program = join(directory, name);
    const found = await run(program, ['--version']).catch(() => undefined);
    if (found?.stdout.startsWith(version)) return program;
  }
  return undefined;
}

/** One minified file of a program that imports the installed SDK, for browsers and edge runtimes. */
export async function bundle(project: string, source: string, format: 'es' | 'iife' = 'es'): Promise<string> {
  const entry = join(project, `entry-${crypto.randomUUID()}.js`);
  await writeFile(entry, source);
  const build = await rolldown({ input: entry, cwd: project, platform: 'browser', logLevel: 'silent' });
  const { output } = await build.generate({ format, minify: true, name: 'program' });
  await build.close();
  return output[0].code;
}
