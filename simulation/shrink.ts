import { createRandom } from './machine/random.ts';
import type { SeedReport } from './seed.ts';
import { runTasks, type Task } from './workers.ts';
import { createPlan, describe } from './world/agenda.ts';

/** Removes faults from a failing seed while the failure stays: halves first, then one by one. */
export async function shrink(
  task: Task,
  write: (text: string) => void,
  signal: AbortSignal,
): Promise<string> {
  const { entries } = createPlan(createRandom(String(task.seed)).fork('agenda'), task.days);
  const faults = entries.filter(({ isFault }) => isFault);
  const messageOf = ({ failure }: SeedReport) => failure?.split('\n')[0];
  const run = async (without: readonly number[]) => {
    let message: string | undefined;
    await runTasks([{ ...task, without }], {
      processes: 1,
      signal,
      onReport(report) {
        message = messageOf(report);
        return undefined;
      },
    });
    return message;
  };

  const failure = await run(task.without);
  if (failure === undefined) return `Seed ${task.seed} passes.\n`;
  let without = new Set(task.without);
  for (let size = Math.ceil(faults.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    const left = faults
      .keys()
      .filter((index) => !without.has(index))
      .toArray();
    for (let from = 0; from < left.length; from += size) {
      const tried = without.union(new Set(left.slice(from, from + size)));
      const fails = (await run([...tried])) !== undefined;
      if (fails) without = tried;
      write(`${faults.length - tried.size} faults: ${fails ? 'still fails' : 'passes'}\n`);
    }
  }
  const kept = faults.filter((_, index) => !without.has(index));
  const list = [...without].sort((one, other) => one - other).join(',');
  return [
    `Needed: ${kept.length} of ${faults.length} faults`,
    ...kept.map(({ at, action }) => `  after ${(at / 1_000).toFixed(1)} s: ${describe(action)}`),
    (await run([...without])) ?? '',
    `Repeat with: npm run simulate -- --seed ${task.seed} --without ${list} --trace`,
    '',
  ].join('\n');
}
