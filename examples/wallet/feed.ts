import type { ServerResponse } from 'node:http';
import type { Transfer, WebhookEvent } from '../../sdk/src/index.ts';
import { SHOWN_TRANSFERS, type Wallet } from './wallet.ts';

/** A transfer, and when it reached each state. */
type Entry = { transfer: Transfer; times: Partial<Record<string, string>> };
type Received = Pick<WebhookEvent, 'guid' | 'event_type'> & { at: string };

const MAX_PAGES = 100;
const MAX_UNREAD_BYTES = 262_144;
const SHOWN_EVENTS = 12;
const HEARTBEAT_MS = 15_000;
const ENDED = new Set(['completed', 'failed']);

/** The state of the wallet, sent to every open page as server-sent events. */
export async function createFeed(wallet: Wallet) {
  let accounts = await wallet.accounts();
  let lastRead = 0;
  const entries = new Map<string, Entry>();
  const events: Received[] = [];
  const pages = new Set<ServerResponse>();
  setInterval(() => broadcast(':\n\n'), HEARTBEAT_MS).unref();

  function broadcast(text: string): void {
    // A page that does not read connects again later, and the first message has everything.
    for (const page of pages)
      if (page.writableLength > MAX_UNREAD_BYTES) page.destroy();
      else page.write(text);
  }

  /** Everything, so that a page that missed a message is right again with the next one. */
  function message(): string {
    const newest = [...entries.values()].sort((a, b) => (a.transfer.guid < b.transfer.guid ? 1 : -1));
    for (const { transfer } of newest.splice(SHOWN_TRANSFERS)) entries.delete(transfer.guid);
    return `data: ${JSON.stringify({ accounts, transfers: newest, events })}\n\n`;
  }

  function note(transfer: Transfer, reached: string = transfer.state): void {
    const { guid, state, created_at, updated_at } = transfer;
    const entry = entries.get(guid) ?? { transfer, times: { storing: created_at } };
    // Webhooks arrive in any order, and so do the answers about their objects.
    if (updated_at >= entry.transfer.updated_at) entry.transfer = transfer;
    entry.times[state] ??= updated_at;
    entry.times[reached] ??= new Date().toISOString();
    entries.set(guid, entry);
  }

  /** Of reads at the same time the last one counts: the answer of an earlier one may be older. */
  async function readAccounts(): Promise<void> {
    lastRead += 1;
    const own = lastRead;
    const found = await wallet.accounts();
    if (own === lastRead) accounts = found;
  }

  for (const transfer of await wallet.transfers()) note(transfer);

  return {
    connect(response: ServerResponse): void {
      if (pages.size >= MAX_PAGES) return void response.writeHead(503, { 'retry-after': '10' }).end();
      response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
      response.write(message());
      pages.add(response);
      response.once('close', () => pages.delete(response));
    },

    add(transfer: Transfer): void {
      note(transfer);
      broadcast(message());
    },

    /** An event says only what changed: the present state comes from the API. */
    async receive({ guid, event_type, object_guid, bank_guid }: WebhookEvent): Promise<void> {
      if (bank_guid !== wallet.bankGuid) return;
      const transfer = await wallet.transfer(object_guid);
      if (!transfer) return;
      note(transfer, event_type.split('.')[1]);
      events.unshift({ guid, event_type, at: new Date().toISOString() });
      events.splice(SHOWN_EVENTS);
      if (ENDED.has(transfer.state)) await readAccounts();
      broadcast(message());
    },
  };
}
