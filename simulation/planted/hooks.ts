import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { PLANTED_BUGS } from './bugs.ts';

/** Loaded before a simulation: changes one file as it is loaded. `PLANTED_BUG` is the name of the bug. */
const bug = PLANTED_BUGS.find(({ name }) => name === process.env.PLANTED_BUG);
if (!bug) throw new Error(`no planted bug is called ${process.env.PLANTED_BUG}`);
const root = fileURLToPath(new URL('../../', import.meta.url));
const source = readFileSync(`${root}${bug.file}`, 'utf8');
if (source.split(bug.from).length !== 2) throw new Error(`${bug.file} does not contain once: ${bug.from}`);

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (!url.startsWith('file:') || fileURLToPath(url) !== `${root}${bug.file}`) return loaded;
    return { ...loaded, source: String(loaded.source).replace(bug.from, () => bug.to) };
  },
});
