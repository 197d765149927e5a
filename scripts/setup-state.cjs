'use strict';

const { createHash } = require('node:crypto');
const fs = require('node:fs');
const path = require('node:path');

const RELEVANT = ['dependencies', 'devDependencies', 'optionalDependencies', 'overrides'];

/** Changes exactly when there is something to install again. */
function fingerprint(root) {
  const manifest = readJson(path.join(root, 'package.json'));
  return createHash('sha256')
    .update(fs.readFileSync(path.join(root, 'package-lock.json')))
    .update(JSON.stringify(RELEVANT.map((section) => manifest[section])))
    .update(`${process.platform}-${process.arch}`)
    .digest('hex');
}

/** Whether node_modules holds what package-lock.json asks for, by the record npm itself keeps there. */
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
 * An optional package of another platform, or one that only such packages need (it names no platform).
 * Which C library a package is for is left to npm to judge.
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

/** npm allows one name as well as a list, and `!name` for all but that. */
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
