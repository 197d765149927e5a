import { createList, type List } from './lists.ts';
import { segment } from './paths.ts';
import type { CreateOptions, QueryValue, RequestOptions, Transport, UpdateOptions } from './transport.ts';

/** A filter takes one value or several, and matches any of them. A time can be a `Date`. */
export type Filters<Query> = {
  [Name in Exclude<keyof Query, 'page' | 'after'>]?: Name extends `${string}_${'gte' | 'lt'}`
    ? string | Date | undefined
    : Query[Name] | readonly Exclude<Query[Name], undefined>[] | undefined;
};

/** Every operation; the generated types say which ones a resource has. */
type AnyResource = {
  create(body?: unknown, options?: CreateOptions): Promise<unknown>;
  list(filters?: object, options?: RequestOptions): List<unknown>;
  get(id: string, options?: RequestOptions & Record<string, QueryValue>): Promise<unknown>;
  update(id: string, changes: unknown, options?: UpdateOptions): Promise<unknown>;
  delete(id: string, options?: RequestOptions): Promise<unknown>;
};

export function createResource<Resource>(transport: Transport, name: string): Resource {
  const path = `/api/${name}`;
  const pathOf = (id: string) => `${path}/${segment(id)}`;
  const resource: AnyResource = {
    create: async (body, options) => (await transport.json({ ...options, method: 'POST', path, body })).data,
    list: (filters, options) => createList(transport, path, filters, options),
    get: async (id, { signal, timeoutMs, maxRetries, ...query } = {}) =>
      (await transport.json({ signal, timeoutMs, maxRetries, method: 'GET', path: pathOf(id), query })).data,
    update: async (id, body, options) =>
      (await transport.json({ ...options, method: 'PATCH', path: pathOf(id), body })).data,
    delete: async (id, options) =>
      (await transport.json({ ...options, method: 'DELETE', path: pathOf(id) })).data,
  };
  return resource as Resource;
}
