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
    parsed(await keptIn(join(dataDir, 'master.key'), '', randomBytes), settings.masterKeys.parse);
  const operatorToken =
    config.operatorToken ??
    parsed(
      await keptIn(join(dataDir, 'operator.token'), 'portico_op_', randomBytes),
      settings.operatorToken.parse,
    );
  return Object.freeze({ ...config, masterKeys, operatorToken });
}

type Kept = { path: string; content: string };

async function keptIn(path: string, prefix: string, randomBytes: RandomBytes): Promise<Kept> {
  return { path, content: await readOrGenerate(path, prefix, randomBytes) };
}

/** An edited file has to meet the same rules as the variable. */
function parsed<T>({ path, content }: Kept, parse: Parse<T>): T {
  try {
    return parse(content);
  } catch (error) {
    throw new StartupError(`The file ${path} ${(error as Error).message}.`);
  }
}

/** Written to a temporary file and linked, so that the secret appears atomically and only once. */
async function readOrGenerate(path: string, prefix: string, randomBytes: RandomBytes): Promise<string> {
  const existing = await readIfThere(path);
  if (existing !== undefined) return existing;
  const draft = `${path}.${process.pid}`;
  await writeFile(draft, `${prefix}${Buffer.from(randomBytes(SECRET_BYTES)).toString('hex')}\n`, {
    mode: OWNER_ONLY,
    flush: true,
  });
  await chmod(draft, OWNER_ONLY);
  await link(draft, path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await rm(draft);
  return (await readFile(path, 'utf8')).trim();
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new StartupError(`The file ${path} cannot be read (${(error as Error).message}).`);
  }
}
