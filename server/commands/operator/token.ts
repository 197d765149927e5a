import type { Config } from '../../infrastructure/config/config.ts';
import { operatorTokenPath, readSecret } from '../../infrastructure/config/generated-secrets.ts';
import { settings } from '../../infrastructure/config/settings.ts';
import type { Secret } from '../../infrastructure/runtime/secret.ts';
import { StartupError } from '../../infrastructure/runtime/startup-error.ts';

/** The token of the settings, or else the generated one in the data directory. */
export async function operatorToken({ operatorToken: configured, dataDir }: Config): Promise<Secret> {
  const path = operatorTokenPath(dataDir);
  const token = configured ?? (await readSecret(path, settings.operatorToken.parse));
  if (token) return token;
  throw new StartupError(
    `There is no operator token: set PORTICO_OPERATOR_TOKEN, or PORTICO_DATA_DIR to the folder with operator.token (${path} does not exist).`,
  );
}
