import { ConfigurationError, ConnectionError } from '../errors.ts';
import type { RequestOptions, Transport } from './transport.ts';

/** A page of a list, as the service returns it. */
export type Page<Item> = { total: number; page: number; per_page: number; objects: Item[]; next?: string };

/**
 * A list of any length, read page by page while you iterate: `for await (const transfer of portico.transfers.list())`.
 * Objects that are added meanwhile do not shift it.
 */
export type List<Item> = AsyncIterable<Item> & {
  /** The pages themselves, with `total`. */
  pages(): AsyncIterable<Page<Item>>;
  /** The first objects, at most `limit`. */
  toArray(options: { limit: number }): Promise<Item[]>;
};

const MAX_PER_PAGE = 100;

export function createList<Item>(
  transport: Transport,
  path: string,
  filters: object = {},
  options: RequestOptions = {},
): List<Item> {
  async function* pages(perPage = MAX_PER_PAGE): AsyncGenerator<Page<Item>> {
    let query: { after?: string } = { per_page: perPage, ...filters } as object;
    for (;;) {
      const { data } = await transport.json<Page<Item>>({ ...options, method: 'GET', path, query });
      yield data;
      if (data.next === undefined) return;
      // A page that follows itself would never end.
      if (data.next === query.after) throw new ConnectionError(`${path} returned the same page again`);
      query = { ...query, after: data.next };
    }
  }

  async function* items(perPage?: number): AsyncGenerator<Item> {
    for await (const page of pages(perPage)) yield* page.objects;
  }

  return {
    [Symbol.asyncIterator]: () => items(),
    pages: () => pages(),
    async toArray(options) {
      const { limit } = Object(options) as { limit?: unknown };
      if (typeof limit !== 'number' || Number.isNaN(limit))
        throw new ConfigurationError('limit is required: the number of objects to read at most');
      const found: Item[] = [];
      if (limit > 0)
        for await (const item of items(Math.min(limit, MAX_PER_PAGE))) if (found.push(item) >= limit) break;
      return found;
    },
  };
}
