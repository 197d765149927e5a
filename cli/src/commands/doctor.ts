import { lookup } from 'node:dns/promises';
import { BlockList } from 'node:net';
import type { Command, Context } from '../command.ts';
import { CliError, describeError, EXIT } from '../failure.ts';
import { beside, columnsOf } from '../output/layout.ts';
import { printable, printableJson, styleFor } from '../output/style.ts';
import { isUnencrypted } from '../profiles/unencrypted.ts';
import { claimsOf, type Session } from '../session.ts';

type Result = { check: string; ok: boolean; detail: string };
type Check = { name: string; run(signal: AbortSignal): Promise<string> };

/** Webhooks with an older or newer timestamp are usually refused after five minutes. */
const MAX_CLOCK_DIFFERENCE_MS = 30_000;

const CHECK_TIMEOUT_MS = 10_000;
const NAME_WIDTH = 11;
const MARK_WIDTH = 8;

const failed = (message: string) => new CliError(message, EXIT.unmet);

function checksOf({ io }: Context, { profile, withScopes }: Session): Check[] {
  const { url, authUrl, environment } = profile;
  let allowlist: readonly string[] | undefined;
  return [
    {
      name: 'DNS',
      async run() {
        const proxy = proxyOf(io.env);
        if (proxy) return `The proxy ${proxy} resolves names`;
        const hosts = [
          ...new Set([url, authUrl].map((each) => new URL(each).hostname.replace(/^\[|\]$/g, ''))),
        ];
        const found = await Promise.all(
          hosts.map(async (host) => {
            const { address } = await lookup(host).catch(() => {
              throw failed(`${host} cannot be resolved`);
            });
            return `${host} is ${address}`;
          }),
        );
        return found.join(', ');
      },
    },
    {
      name: 'Service',
      async run(signal) {
        const { status } = await fetch(`${url}/healthz`, { signal });
        if (status !== 200) throw failed(`${url}/healthz returned ${status}`);
        return `${url} answers${isUnencrypted(url) ? ', but the connection is not encrypted: use https' : ''}`;
      },
    },
    {
      name: 'Clock',
      async run(signal) {
        const { headers } = await fetch(`${url}/healthz`, { signal });
        const difference = io.now() - Date.parse(headers.get('date') ?? '');
        if (Number.isNaN(difference)) throw failed('The service sent no time');
        const seconds = Math.round(difference / 1_000);
        if (Math.abs(difference) > MAX_CLOCK_DIFFERENCE_MS)
          throw failed(
            `This clock is ${Math.abs(seconds)} s ${seconds > 0 ? 'ahead' : 'behind'}: synchronize it`,
          );
        return `${Math.abs(seconds)} s from the service`;
      },
    },
    {
      name: 'Token',
      async run(signal) {
        const { token_type, ip_allowlist = [] } = claimsOf(await withScopes().token({ signal }));
        allowlist = ip_allowlist;
        return `The key pair of this ${token_type} is valid in ${environment}`;
      },
    },
    {
      name: 'Allowlist',
      async run(signal) {
        const response = await fetch(`${authUrl}/oauth/source_address`, { signal });
        const { address } = (await response.json()) as { address?: string };
        if (!address) throw failed(`${authUrl} does not tell your address`);
        const seen = `The service sees you as ${address}`;
        if (allowlist === undefined) throw failed(`${seen}; the allowlist is unknown without a token`);
        if (allowlist.length === 0) return `${seen}; the allowlist is empty, every address is allowed`;
        if (!isListed(address, allowlist))
          throw failed(
            `${seen}, which is not in the allowlist (${allowlist.join(', ')}): add it to the key pair`,
          );
        return `${seen}, which is in the allowlist`;
      },
    },
  ];
}

/** The host of the proxy that Node.js uses, without its password. */
function proxyOf(env: Context['io']['env']): string | undefined {
  const address = env.https_proxy ?? env.HTTPS_PROXY ?? env.http_proxy ?? env.HTTP_PROXY ?? '';
  return env.NODE_USE_ENV_PROXY === '1' && URL.canParse(address) ? new URL(address).host : undefined;
}

/** The list has IPv4 addresses and networks. */
function isListed(address: string, allowlist: readonly string[]): boolean {
  const list = new BlockList();
  for (const entry of allowlist) {
    const [network = '', prefix = '32'] = entry.split('/');
    list.addSubnet(network, Number(prefix), 'ipv4');
  }
  return list.check(address, address.includes(':') ? 'ipv6' : 'ipv4');
}

async function attempt({ name, run }: Check, interruption: AbortSignal): Promise<Result> {
  const timeout = AbortSignal.timeout(CHECK_TIMEOUT_MS);
  try {
    return { check: name, ok: true, detail: await run(AbortSignal.any([interruption, timeout])) };
  } catch (error) {
    interruption.throwIfAborted();
    const detail = timeout.aborted ? `no answer within ${CHECK_TIMEOUT_MS / 1_000} s` : reasonOf(error);
    return { check: name, ok: false, detail };
  }
}

/** `fetch` says only "fetch failed"; the reason is the cause. */
function reasonOf(error: unknown): string {
  const { cause } = Object(error) as { cause?: unknown };
  return describeError(error instanceof TypeError && cause instanceof Error ? cause : error).message;
}

export const doctor: Command = {
  name: 'doctor',
  summary:
    'Check DNS, the service, your clock, the key pair, and whether the allowlist contains your address.',
  examples: ['portico doctor', 'portico doctor --profile live --json'],
  async run(context) {
    const { io, options } = context;
    const results: Result[] = [];
    const style = styleFor(io.stdout, io);
    for (const check of checksOf(context, await context.session())) {
      const result = await attempt(check, io.signal);
      results.push(result);
      if (options.flag('json')) continue;
      const mark = result.ok ? style.green('ok'.padEnd(MARK_WIDTH)) : style.red('FAILED'.padEnd(MARK_WIDTH));
      const first = check.name.padEnd(NAME_WIDTH) + mark;
      const columns = io.stdout.isTTY ? columnsOf(io.stdout) : Number.POSITIVE_INFINITY;
      io.stdout.write(`${beside(first, NAME_WIDTH + MARK_WIDTH, printable(result.detail), columns)}\n`);
    }
    if (options.flag('json')) io.stdout.write(`${printableJson(results, 2)}\n`);
    const count = results.filter(({ ok }) => !ok).length;
    if (count > 0) throw new CliError(`${count} of ${results.length} checks failed.`, EXIT.unmet);
  },
};
