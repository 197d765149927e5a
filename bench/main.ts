import { benchApi } from './api.ts';
import { benchFiles } from './files/main.ts';
import { benchHostile } from './hostile/main.ts';
import { benchTenants } from './tenants.ts';
import { benchTokens } from './tokens.ts';
import { benchWebhooks } from './webhooks/main.ts';
import { benchNeighbours } from './webhooks/neighbours.ts';

/** `npm run bench -- tokens`: prints each figure with its reference from the same run. */
const benches: Record<string, () => Promise<boolean>> = {
  tokens: benchTokens,
  api: benchApi,
  tenants: benchTenants,
  webhooks: benchWebhooks,
  neighbours: benchNeighbours,
  files: benchFiles,
  hostile: benchHostile,
};

const wanted = process.argv.slice(2);
const names = wanted.length === 0 ? Object.keys(benches) : wanted;
const unknown = names.find((name) => !Object.hasOwn(benches, name));
if (unknown !== undefined) {
  process.stderr.write(`Unknown benchmark ${unknown}; available: ${Object.keys(benches).join(', ')}.\n`);
  process.exit(1);
}

let reached = true;
for (const name of names) reached = (await benches[name]?.()) === true && reached;
process.exitCode = reached ? 0 : 1;
