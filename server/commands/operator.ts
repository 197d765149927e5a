import { text } from 'node:stream/consumers';
import type { Config } from '../infrastructure/config/config.ts';
import { UsageError } from '../infrastructure/runtime/startup-error.ts';
import { sortArguments } from './operator/arguments.ts';
import { type Call, kebab } from './operator/calls.ts';
import { fileIn, sendFile } from './operator/files.ts';
import { describeCall, listCalls } from './operator/help.ts';
import { requestOf } from './operator/request.ts';
import { fetchCalls, send } from './operator/service.ts';
import { operatorToken } from './operator/token.ts';

const HELP_FLAGS = ['--help', '-h'];

/** The operator API on the command line. The calls are read from the OpenAPI document of the running service. */
export async function operator(config: Config, args: readonly string[]): Promise<void> {
  const { operatorUrl } = config;
  const calls = await fetchCalls(operatorUrl);
  const helpWanted = args.length === 0 || args.some((arg) => HELP_FLAGS.includes(arg));
  const words = args.filter((arg) => !HELP_FLAGS.includes(arg)).map(kebab);

  const call = calls.find((candidate) => startsWith(words, candidate.words));
  if (helpWanted) {
    const listed = calls.filter((candidate) => startsWith(candidate.words, words));
    if (!call && listed.length === 0) throw noSuchCall(words, calls);
    process.stdout.write(call ? describeCall(call) : listCalls(listed, operatorUrl));
    return;
  }
  if (!call) throw noSuchCall(words, calls);

  const given = sortArguments(call, args.slice(call.words.length));
  const request = await requestOf(call, given, () => text(process.stdin));
  const token = await operatorToken(config);
  const answer = call.file
    ? await sendFile(config, token, { call, request, path: fileIn(call, given) })
    : await send(operatorUrl, token, request);
  if (!answer.ok) process.exitCode = 1;
  if (answer.body === undefined) return;
  // Standard output may be the file.
  const output = answer.ok && call.file !== 'written' ? process.stdout : process.stderr;
  output.write(`${JSON.stringify(answer.body, null, 2)}\n`);
  const { next } = answer.body as { next?: unknown };
  if (answer.ok && next !== undefined && call.query.some(({ name }) => name === 'after'))
    process.stderr.write(`More follow: repeat the call with --after ${next}\n`);
}

function startsWith(words: readonly string[], beginning: readonly string[]): boolean {
  return beginning.every((word, index) => words[index] === word);
}

function noSuchCall(typed: readonly string[], calls: readonly Call[]): UsageError {
  const [group = '', word] = typed;
  const siblings = calls
    .filter((call) => call.words[0] === group)
    .map((call) => call.words.slice(1).join(' '));
  return new UsageError(
    `${describeMiss(group, word, siblings)}\nUsage: portico operator <call> [arguments]; portico operator --help lists the calls.`,
  );
}

function describeMiss(group: string, word: string | undefined, siblings: readonly string[]): string {
  if (siblings.length === 0) return `There is no call ${group}.`;
  if (word === undefined) return `After ${group} comes one of ${siblings.join(', ')}.`;
  return `There is no call ${group} ${word}; ${group} has ${siblings.join(', ')}.`;
}
