import { setTimeout as delay } from 'node:timers/promises';
import type { Site } from '../shared/site.ts';

export type Partner = Awaited<ReturnType<typeof createPartner>>;
type File = Record<string, unknown> & { guid: string; upload_url: string; state: string };

const POLL_MS = 50;

/** A bank with a customer, and a token that may upload files. */
export async function createPartner(site: Site) {
  const input = { name: 'Bench', features: ['files'] };
  const organization = await site.operate('POST', '/organizations', input);
  const bank = await site.operate('POST', `/organizations/${organization.guid}/banks`, {
    name: 'Bench',
    environment: 'sandbox',
  });
  const key = await site.operate('POST', `/banks/${bank.guid}/applications`, { name: 'Bench' });
  const issued = await site.call('POST', '/oauth/token', undefined, {
    grant_type: 'client_credentials',
    client_id: key.client_id,
    client_secret: key.client_secret,
    scope: 'customers:execute files:read files:execute',
  });
  const token = String(issued.access_token);
  const customer = await site.call('POST', '/api/customers', token, { type: 'individual' });

  return {
    /** Returns the upload URL. */
    async createFile(): Promise<File> {
      const created = await site.call('POST', '/api/files', token, {
        type: 'other',
        filename: 'bench.pdf',
        content_type: 'application/pdf',
        customer_guid: customer.guid,
      });
      const link = String(created.upload_url).replace(/^https?:\/\/[^/]+/, site.url);
      return { ...created, upload_url: link } as File;
    },

    /** Waits until the file is processed. */
    async ended(guid: string): Promise<File> {
      for (;;) {
        const file = (await site.call('GET', `/api/files/${guid}`, token)) as File;
        if (file.state !== 'storing') return file;
        await delay(POLL_MS);
      }
    },
  };
}
