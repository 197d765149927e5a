import type { FastifyContextConfig, FastifyRequest } from 'fastify';
import type { Static, TObject, TProperties, TSchema } from 'typebox';
import type { Page, PageOf } from '../../database/paging/paging.ts';
import type { Failure } from '../../runtime/failure.ts';
import { unwrap } from '../errors.ts';
import type { HttpServer } from '../server.ts';
import { createFilterReader, type FilterValues } from './filters.ts';
import { envelope, listOf, listQuery, type PageQuery, pageOf, shortListQuery } from './paging.ts';
import { answers, type ErrorStatus, GuidParams } from './schemas.ts';

/** What a list and a single object of a resource declare alike. */
type Route<Item extends TSchema, Row> = {
  /** Enforced by `config`, shown in the document by `documented`. */
  access: { config?: FastifyContextConfig; documented: object };
  operationId: string;
  summary: string;
  tags: string[];
  item: Item;
  view(row: Row): Static<Item>;
  /** Error statuses beyond those of every such route. */
  errors?: readonly ErrorStatus[];
};

type Request<Params extends TObject, Query> = FastifyRequest<{ Params: Static<Params>; Querystring: Query }>;

/** `GET /banks`: a page of objects, with filters in the query. */
export function registerList<
  Item extends TSchema,
  Row,
  Filters extends TProperties,
  Params extends TObject = TObject,
>(
  scope: HttpServer,
  path: string,
  route: Route<Item, Row> & {
    filters: Filters;
    params?: Params;
    list(
      request: Request<Params, unknown>,
      page: Page,
      filters: FilterValues<Filters>,
    ): Promise<PageOf<Row> | Failure>;
  },
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
        querystring: listQuery(route.filters),
        response: answers({ 200: listOf(item) }, 400, 401, 403, ...errors),
      },
    },
    async (request) => {
      const page = unwrap(pageOf(request.query));
      const found = await route.list(request as Request<Params, unknown>, page, readFilters(request.query));
      return envelope(page, unwrap(found), route.view);
    },
  );
}

/** `GET /symbols`: a page of a list that is always short, in an order of its own. */
export function registerShortList<Item extends TSchema, Row, Filters extends TProperties>(
  scope: HttpServer,
  path: string,
  route: Route<Item, Row> & {
    filters: Filters;
    list(request: FastifyRequest, filters: FilterValues<Filters>): Promise<readonly Row[] | Failure>;
  },
): void {
  const readFilters = createFilterReader(route.filters);
  scope.get<{ Querystring: PageQuery & Record<string, string> }>(
    path,
    {
      ...configOf(route),
      schema: {
        ...descriptionOf(route),
        querystring: shortListQuery(route.filters),
        response: answers({ 200: listOf(route.item) }, 400, 401, 403),
      },
    },
    async (request) => {
      const page = unwrap(pageOf(request.query));
      const rows = unwrap(await route.list(request as FastifyRequest, readFilters(request.query)));
      const shown = rows.slice(page.offset, page.offset + page.perPage);
      return envelope(page, { rows: shown, total: rows.length, next: undefined }, route.view);
    },
  );
}

/** `GET /banks/:guid`: one object. */
export function registerGet<
  Item extends TSchema,
  Row,
  Params extends TObject = typeof GuidParams,
  Query extends TObject = TObject,
>(
  scope: HttpServer,
  path: string,
  route: Route<Item, Row> & {
    params?: Params;
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
        ...(querystring && { querystring }),
        response: answers({ 200: item }, 401, 403, 404, ...errors),
      },
    },
    async (request) => route.view(unwrap(await route.get(request as Request<Params, Static<Query>>))),
  );
}

function configOf({ access: { config } }: { access: Route<TSchema, unknown>['access'] }) {
  return config === undefined ? {} : { config };
}

function descriptionOf({ access, operationId, summary, tags }: Omit<Route<TSchema, never>, 'item' | 'view'>) {
  return { ...access.documented, operationId, summary, tags };
}
