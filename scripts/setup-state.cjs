'use strict';

const { createHash } = require('node:crypto');
const fs = require('node:fs');
const path = require('node:path');

const RELEVANT = ['dependencies', 'devDependencies', 'optionalDependencies', 'overrides'];

/** Changes exactly when an installation is needed. */
function fingerprint(root) {
  const manifest = readJson(path.join(root, 'package.json'));
  return createHash('sha256')
    .update(fs.readFileSync(path.join(root, 'package-lock.json')))
    .update(JSON.stringify(RELEVANT.map((section) => manifest[section])))
    .update(`${process.platform}-${process.arch}`)
    .digest('hex');
}

/** Whether node_modules matches package-lock.json, by npm's own record in it. */
function isComplete(root, withTools) {
  try {
    const wanted = readJson(path.join(root, 'package-lock.json')).packages;
    const present = readJson(path.join(root, 'node_modules', '.package-lock.json')).packages;
    return Object.keys(wanted)
      .filter((location) => location.startsWith('node_modules/') && !wanted[location].link)
      .every((location) => {
        const entry = wanted[location];
        const found = present[location];
        if (found === undefined) return isForOthers(entry) || (isTool(entry) && !withTools);
        return (
          found.version === entry.version &&
          found.integrity === entry.integrity &&
          fs.existsSync(path.join(root, location, 'package.json'))
        );
      });
  } catch {
    return false;
  }
}

/**
 * An optional package of another platform, or a dependency of only such packages (it names no platform). The C library
 * is left to npm.
 */
function isForOthers(entry) {
  if (!entry.optional && !entry.devOptional) return false;
  const isForAnyone = entry.os === undefined && entry.cpu === undefined;
  return (
    isForAnyone ||
    Boolean(entry.libc) ||
    !matches(entry.os, process.platform) ||
    !matches(entry.cpu, process.arch)
  );
}

function isTool(entry) {
  return Boolean(entry.dev || entry.devOptional);
}

/** npm allows one name or a list, and `!name` for all others. */
function matches(given, value) {
  if (given === undefined) return true;
  const list = [given].flat();
  if (list.includes(`!${value}`)) return false;
  return list.includes(value) || list.every((item) => item.startsWith('!'));
}

function readJson(file) {
  return JSON.parse(fs.readFileSync(file, 'utf8'));
}

module.exports = { fingerprint, isComplete };
