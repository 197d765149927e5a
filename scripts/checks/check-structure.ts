import { join } from 'node:path';
import { readSources, violationsIn } from './structure.ts';

/** Part of `npm run check`. */
const violations = violationsIn(readSources(join(import.meta.dirname, '..', '..')));
for (const { file, rule, fix } of violations) process.stderr.write(`${file}: ${rule}; to fix it, ${fix}\n`);
if (violations.length > 0) process.exitCode = 1;
