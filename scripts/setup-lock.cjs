'use strict';

const fs = require('node:fs');

const POLL_EVERY_MS = 200;
const GIVE_UP_AFTER_MS = 10 * 60_000;
/** Removing a stale lock takes milliseconds, so an older guard was left by a crashed process. */
const GUARD_IS_STALE_AFTER_MS = 5_000;

/**
 * For `npm start` and `npm test` at once on a fresh clone: one installs, the other waits. Next to node_modules, not
 * inside, because npm may remove that. Returns the function that releases the lock.
 */
async function acquireLock(file, say) {
  const giveUpAt = Date.now() + GIVE_UP_AFTER_MS;
  let announced = false;
  while (!place(file)) {
    const text = read(file);
    if (text === undefined) continue;
    if (!holders(text).some(isAlive)) removeStale(file, text);
    else {
      if (Date.now() > giveUpAt)
        throw new Error(`another installation does not finish; remove ${file} if none is running`);
      if (!announced) say('Waiting for another installation of the dependencies to finish …\n');
      announced = true;
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_EVERY_MS));
  }
  const release = () => fs.rmSync(file, { force: true });
  // An npm that outlives this process still writes to node_modules.
  release.alsoHeldBy = (pid) => replace(file, [describe(process.pid), describe(pid)]);
  return release;
}

/** Linked atomically, and only if there is none. */
function place(file) {
  const aside = `${file}.${process.pid}`;
  fs.writeFileSync(aside, JSON.stringify([describe(process.pid)]));
  try {
    fs.linkSync(aside, file);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  } finally {
    fs.rmSync(aside, { force: true });
  }
}

function replace(file, processes) {
  const aside = `${file}.${process.pid}`;
  fs.writeFileSync(aside, JSON.stringify(processes));
  fs.renameSync(aside, file);
}

/**
 * One at a time, and only the stale lock that was read: otherwise the slower process would remove the new lock of the
 * faster one.
 */
function removeStale(file, staleText) {
  const guard = `${file}.stale`;
  try {
    fs.mkdirSync(guard);
  } catch {
    const age = Date.now() - (fs.statSync(guard, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > GUARD_IS_STALE_AFTER_MS) fs.rmSync(guard, { recursive: true, force: true });
    return;
  }
  try {
    if (read(file) === staleText) fs.rmSync(file, { force: true });
  } finally {
    fs.rmSync(guard, { recursive: true, force: true });
  }
}

function read(file) {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function holders(text) {
  try {
    return JSON.parse(text);
  } catch {
    return [];
  }
}

function describe(pid) {
  return { pid, startedAt: startTime(pid) };
}

/** A process id that was reused, as in a restarted container, does not hold the lock. */
function isAlive({ pid, startedAt }) {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (error.code !== 'EPERM') return false;
  }
  return startTime(pid) === startedAt;
}

/** Known on Linux; elsewhere the process id has to suffice. `null` for a zombie, which holds nothing. */
function startTime(pid) {
  if (process.platform !== 'linux') return 'unknown';
  const stat = read(`/proc/${pid}/stat`) || '';
  const [state, ...others] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return state === 'Z' ? null : others[18];
}

module.exports = { acquireLock };
