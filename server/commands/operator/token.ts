import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../../infrastructure/config/config.ts';
import { Secret } from '../../infrastructure/runtime/secret.ts';
import { StartupError } from '../../infrastructure/runtime/startup-error.ts';

/** Characters allowed in a header; the HTTP client would print an invalid token in its error. */
const PRINTABLE = /^[\x21-\x7e]+$/;

/** The token of the settings, or else the generated one in the data directory. */
export async function operatorToken({ operatorToken: configured, dataDir }: Config): Promise<Secret> {
  const token = configured ?? (await generatedToken(join(dataDir, 'operator.token')));
  if (!PRINTABLE.test(token.reveal()))
    throw new StartupError('The operator token must consist of printable ASCII characters without spaces.');
  return token;
}

async function generatedToken(path: string): Promise<Secret> {
  try {
    return new Secret((await readFile(path, 'utf8')).trim());
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT') throw new StartupError(`The file ${path} cannot be read (${message}).`);
    throw new StartupError(
      `There is no operator token: set PORTICO_OPERATOR_TOKEN, or PORTICO_DATA_DIR to the folder with operator.token (${path} does not exist).`,
    );
  }
}
