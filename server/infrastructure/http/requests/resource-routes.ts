import type { FastifyContextConfig, FastifyRequest } from 'fastify';
import type { Static, TObject, TProperties, TSchema } from 'typebox';
import type { Page, PageOf } from '../../database/paging/paging.ts';
import type { Failure, Precondition } from '../../runtime/failure.ts';
import { unwrap } from '../errors.ts';
import { entityTagOf } from '../preconditions/entity-tag.ts';
import {
  IfMatchHeaders,
  IfNoneMatchHeaders,
  readIfMatch,
  readIfNoneMatch,
} from '../preconditions/preconditions.ts';
import type { HttpServer } from '../server.ts';
import { createFilterReader, type FilterValues } from './filters.ts';
import { envelope, listOf, listQuery, type PageQuery, pageOf, shortListQuery } from './paging.ts';
import { answers, type ErrorStatus, GuidParams } from './schemas.ts';

/** Declared by all routes of a resource. */
export type Route<Item extends TSchema, Row> = {
  /** Enforced by `config`, shown in the document by `documented`. */
  access: { config?: FastifyContextConfig; documented: object };
  operationId: string;
  summary: string;
  tags: readonly string[];
  item: Item;
  view(row: Row): Static<Item>;
  /** Error statuses beyond those of every such route. */
  errors?: readonly ErrorStatus[];
};

/** Declared by the routes of a single object besides. */
type SingleRoute<Item extends TSchema, Row, Params> = Route<Item, Row> & {
  params?: Params;
  /** Fields that change whenever the object is used; `If-Match` does not compare them. */
  activity?: readonly (keyof Static<Item> & string)[];
};

type Request<Params extends TObject, Query, Body = unknown> = FastifyRequest<{
  Params: Static<Params>;
  Querystring: Query;
  Body: Body;
}>;

type ListRoute<Item extends TSchema, Row, Filters extends TProperties, Params extends TObject> = Route<
  Item,
  Row
> & { filters: Filters; params?: Params };

type ReadPage<Row, Filters extends TProperties, Params extends TObject> = (
  request: Request<Params, unknown>,
  page: Page,
  filters: FilterValues<Filters>,
) => Promise<PageOf<Row> | Failure>;

/** `GET /banks`: a page of objects, with filters in the query. */
export function registerList<
  Item extends TSchema,
  Row,
  Filters extends TProperties,
  Params extends TObject = TObject,
>(
  scope: HttpServer,
  path: string,
  route: ListRoute<Item, Row, Filters, Params> & { list: ReadPage<Row, Filters, Params> },
): void {
  registerPages(scope, path, route, listQuery(route.filters), route.list);
}

/** `GET /symbols`: a page of a list that is always short, in an order of its own. */
export function registerShortList<
  Item extends TSchema,
  Row,
  Filters extends TProperties,
  Params extends TObject = TObject,
>(
  scope: HttpServer,
  path: string,
  route: ListRoute<Item, Row, Filters, Params> & {
    list(
      request: Request<Params, unknown>,
      filters: FilterValues<Filters>,
    ): Promise<readonly Row[] | Failure>;
  },
): void {
  const { list } = route;
  registerPages(scope, path, route, shortListQuery(route.filters), async (request, page, filters) => {
    const rows = unwrap(await list(request, filters));
    const shown = rows.slice(page.offset, page.offset + page.perPage);
    return { rows: shown, total: rows.length, next: undefined };
  });
}

function registerPages<Item extends TSchema, Row, Filters extends TProperties, Params extends TObject>(
  scope: HttpServer,
  path: string,
  route: ListRoute<Item, Row, Filters, Params>,
  querystring: TSchema,
  read: ReadPage<Row, Filters, Params>,
): void {
  const readFilters = createFilterReader(route.filters);
  const { item, params, errors = [] } = route;
  scope.get<{ Querystring: PageQuery & Record<string, string>; Params: Static<Params> }>(
    path,
    {
      ...configOf(route),
      schema: {
        ...descriptionOf(route),
        ...(params && { params }),
        querystring,
        response: answers({ 200: listOf(item) }, 400, 401, 403, ...errors),
      },
    },
    async (request) => {
      const page = unwrap(pageOf(request.query));
      const found = await read(request as Request<Params, unknown>, page, readFilters(request.query));
      return envelope(page, unwrap(found), route.view);
    },
  );
}

/** `GET /banks/:guid`: one object, with its `ETag`. */
export function registerGet<
  Item extends TSchema,
  Row,
  Params extends TObject = typeof GuidParams,
  Query extends TObject = TObject,
>(
  scope: HttpServer,
  path: string,
  route: SingleRoute<Item, Row, Params> & {
    querystring?: Query;
    get(request: Request<Params, Static<Query>>): Promise<Row | Failure>;
  },
): void {
  const { item, params = GuidParams, querystring, errors = [] } = route;
  scope.get<{ Params: Static<Params>; Querystring: Static<Query> }>(
    path,
    {
      ...configOf(route),
      schema: {
        ...descriptionOf(route),
        params,
        headers: IfNoneMatchHeaders,
        ...(querystring && { querystring }),
        response: answers({ 200: item, 304: { type: 'null' } }, 401, 403, 404, ...errors),
      },
    },
    async (request, reply) => {
      const isKnown = readIfNoneMatch(request);
      const view = route.view(unwrap(await route.get(request as Request<Params, Static<Query>>)));
      const tag = entityTagOf(view as object, route.activity);
      reply.header('etag', tag);
      return isKnown(tag) ? reply.code(304).send() : view;
    },
  );
}

/** `PATCH /banks/:guid`: changes one object, if it still has the `ETag` of `If-Match`. */
export function registerPatch<
  Item extends TSchema,
  Row,
  Body extends TObject,
  Params extends TObject = typeof GuidParams,
>(
  scope: HttpServer,
  path: string,
  route: SingleRoute<Item, Row, Params> & {
    body: Body;
    /** Checks the precondition on the locked row, in the transaction of the change. */
    change(
      request: Request<Params, unknown, Static<Body>>,
      precondition: Precondition<Row> | undefined,
    ): Promise<Row | Failure>;
  },
): void {
  const { item, params = GuidParams, body, errors = [] } = route;
  const tagOf = (view: Static<Item>) => entityTagOf(view as object, route.activity);
  scope.patch<{ Params: Static<Params>; Body: Static<Body> }>(
    path,
    {
      ...configOf(route),
      schema: {
        ...descriptionOf(route),
        params,
        headers: IfMatchHeaders,
        body,
        response: answers({ 200: item }, 401, 403, 404, 412, 413, 415, ...errors),
      },
    },
    async (request, reply) => {
      const precondition = readIfMatch<Row>(request, (row) => tagOf(route.view(row)));
      const changed = await route.change(request as Request<Params, unknown, Static<Body>>, precondition);
      const view = route.view(unwrap(changed));
      reply.header('etag', tagOf(view));
      return view;
    },
  );
}

export function configOf({ access: { config } }: { access: Route<TSchema, unknown>['access'] }) {
  return config === undefined ? {} : { config };
}

export function descriptionOf({
  access,
  operationId,
  summary,
  tags,
}: Omit<Route<TSchema, never>, 'item' | 'view'>) {
  return { ...access.documented, operationId, summary, tags };
}
