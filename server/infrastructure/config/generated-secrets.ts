import { chmod, link, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { clusterExists } from '../database/embedded/cluster/cluster.ts';
import { fileProblem, isErrorCode } from '../database/embedded/data-dir/file-problem.ts';
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
  const masterKeys = config.masterKeys ?? (await readOrGenerateMasterKey(dataDir, randomBytes));
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

async function readOrGenerateMasterKey(
  dataDir: string,
  randomBytes: RandomBytes,
): Promise<readonly Secret[]> {
  const path = join(dataDir, 'master.key');
  const { parse } = settings.masterKeys;
  const existing = await readSecret(path, parse);
  if (existing) return existing;
  await requireNoDatabase(path, join(dataDir, 'postgres'));
  return await readOrGenerate(path, '', parse, randomBytes);
}

/** The key is generated before the database. A new one cannot decrypt what the database has. */
async function requireNoDatabase(path: string, clusterDir: string): Promise<void> {
  const found = await clusterExists(clusterDir).catch((error: unknown) => {
    throw fileProblem('read the database in', clusterDir, error);
  });
  if (found)
    throw new StartupError(
      `The master key of the database in ${clusterDir} is missing; restore ${path} or set PORTICO_MASTER_KEY.`,
    );
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
  try {
    await writeFile(draft, content, { mode: OWNER_ONLY, flush: true });
    await chmod(draft, OWNER_ONLY);
    await link(draft, path);
  } catch (error) {
    if (!isErrorCode(error, 'EEXIST')) throw fileProblem('write', path, error);
  } finally {
    await rm(draft, { force: true });
  }
}
