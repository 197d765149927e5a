import { chmod, link, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RandomBytes } from '../runtime/guid.ts';
import type { Secret } from '../runtime/secret.ts';
import { StartupError } from '../runtime/startup-error.ts';
import type { Config } from './config.ts';
import type { Parse } from './parsers.ts';
import { settings } from './settings.ts';

export type CompleteConfig = Omit<Config, 'masterKeys' | 'operatorToken'> & {
  readonly masterKeys: readonly Secret[];
  readonly operatorToken: Secret;
};

const SECRET_BYTES = 32;
const OWNER_ONLY = 0o600;

/** On an embedded installation, secrets that are not set are generated once and stored next to the database. */
export async function completeSecrets(config: Config, randomBytes: RandomBytes): Promise<CompleteConfig> {
  const { dataDir } = config;
  const masterKeys =
    config.masterKeys ??
    (await readOrGenerate(join(dataDir, 'master.key'), '', settings.masterKeys.parse, randomBytes));
  const operatorToken =
    config.operatorToken ??
    (await readOrGenerate(
      operatorTokenPath(dataDir),
      'portico_op_',
      settings.operatorToken.parse,
      randomBytes,
    ));
  return Object.freeze({ ...config, masterKeys, operatorToken });
}

export function operatorTokenPath(dataDir: string): string {
  return join(dataDir, 'operator.token');
}

/** Undefined without the file. An edited one has to meet the same rules as the variable. */
export async function readSecret<T>(path: string, parse: Parse<T>): Promise<T | undefined> {
  const content = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new StartupError(`The file ${path} cannot be read (${error.message}).`);
  });
  if (content === undefined) return undefined;
  try {
    return parse(content.trim());
  } catch (error) {
    throw new StartupError(`The file ${path} ${(error as Error).message}.`);
  }
}

async function readOrGenerate<T>(
  path: string,
  prefix: string,
  parse: Parse<T>,
  randomBytes: RandomBytes,
): Promise<T> {
  const existing = await readSecret(path, parse);
  if (existing !== undefined) return existing;
  await generate(path, `${prefix}${Buffer.from(randomBytes(SECRET_BYTES)).toString('hex')}\n`);
  // Of another process that was faster.
  return (await readSecret(path, parse)) as T;
}

/** Written to a temporary file and linked, so that the secret appears atomically and only once. */
async function generate(path: string, content: string): Promise<void> {
  const draft = `${path}.${process.pid}`;
  await writeFile(draft, content, { mode: OWNER_ONLY, flush: true });
  await chmod(draft, OWNER_ONLY);
  await link(draft, path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await rm(draft);
}
