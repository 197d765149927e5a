import { unwrap } from '../infrastructure/http/errors.ts';
import { pascalCase } from '../infrastructure/http/openapi/names.ts';
import { registerGet, registerList, registerPatch } from '../infrastructure/http/requests/resource-routes.ts';
import { answers, GuidParams } from '../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../infrastructure/http/server.ts';
import { registerCreate } from '../infrastructure/idempotency/create-routes.ts';
import { actorOf, requires } from '../tokens/access/access.ts';
import type { TokenType } from '../tokens/claims.ts';
import { scopesFor } from '../tokens/scopes.ts';
import {
  type NewObject,
  newObjectSchema,
  type ObjectUpdate,
  objectFilters,
  objectUpdateSchema,
  objectViewSchema,
  viewObject,
} from './schema.ts';
import type { Objects } from './service.ts';
import { OBJECT_TYPES, type ObjectType, withArticle, wordsOf } from './types.ts';

/** Registers the same routes for every object type, and those for changes where it allows them. */
export function registerObjects(api: HttpServer, { objects }: { objects: Objects }): void {
  for (const type of OBJECT_TYPES) registerType(api, objects, type);
}

function registerType(api: HttpServer, objects: Objects, type: ObjectType): void {
  const { plural, activity = [] } = type;
  const tags = tagsOf(type);
  const create = requires(holdersOf(`${plural}:execute`), `${plural}:execute`);
  const read = requires(holdersOf(`${plural}:read`), `${plural}:read`);
  const view = objectViewSchema(type);
  const show = viewObject.bind(undefined, type);

  registerCreate(api, `/${plural}`, {
    access: create,
    operationId: `create${pascalCase(type.name)}`,
    summary: `Create ${withArticle(type.name)} (sandbox only)`,
    tags,
    body: newObjectSchema(type),
    item: view,
    view: show,
    create: (request, recordAnswer) =>
      objects.create(actorOf(request), request.caller, type, request.body as NewObject, recordAnswer),
  });

  registerList(api, `/${plural}`, {
    access: read,
    operationId: `list${pascalCase(plural)}`,
    summary: `List the ${wordsOf(plural)} that the token may access`,
    tags,
    filters: objectFilters(type),
    item: view,
    view: show,
    list: ({ caller }, page, filters) =>
      objects.list(caller, type, page, filters as Parameters<Objects['list']>[3]),
  });

  registerGet(api, `/${plural}/:guid`, {
    access: read,
    operationId: `get${pascalCase(type.name)}`,
    summary: `Get ${withArticle(type.name)}`,
    tags,
    item: view,
    view: show,
    activity,
    get: ({ caller, params }) => objects.get(caller, type.name, params.guid),
  });

  if (type.changeable) registerUpdate(api, objects, type);
  if (type.machine?.deletion) registerDeletion(api, objects, type);
}

function registerUpdate(api: HttpServer, objects: Objects, type: ObjectType): void {
  const { name, plural, changeable = [], activity = [] } = type;
  const write = requires(holdersOf(`${plural}:write`), `${plural}:write`);
  const what = changeable.includes('state') ? 'Refresh' : `Change the ${changeable.join(', ')} of`;
  registerPatch(api, `/${plural}/:guid`, {
    access: write,
    operationId: `update${pascalCase(name)}`,
    summary: `${what} ${withArticle(name)} (sandbox only)`,
    tags: tagsOf(type),
    body: objectUpdateSchema(type),
    item: objectViewSchema(type),
    view: viewObject.bind(undefined, type),
    activity,
    errors: [409, 422],
    change: (request, precondition) => {
      const { caller, params } = request;
      const update = request.body as ObjectUpdate;
      return objects.update(actorOf(request), caller, type, { guid: params.guid, update, precondition });
    },
  });
}

function registerDeletion(api: HttpServer, objects: Objects, type: ObjectType): void {
  const { name, plural } = type;
  const execute = requires(holdersOf(`${plural}:execute`), `${plural}:execute`);
  api.delete(
    `/${plural}/:guid`,
    {
      config: execute.config,
      schema: {
        ...execute.documented,
        operationId: `delete${pascalCase(name)}`,
        summary: `Delete ${withArticle(name)} (sandbox only)`,
        tags: tagsOf(type),
        params: GuidParams,
        response: answers({ 200: objectViewSchema(type) }, 401, 403, 404, 409, 413, 415, 422),
      },
    },
    async (request) => {
      const { caller, params } = request;
      return viewObject(type, unwrap(await objects.remove(actorOf(request), caller, type, params.guid)));
    },
  );
}

function tagsOf({ plural }: ObjectType): string[] {
  const words = wordsOf(plural);
  return [words.charAt(0).toUpperCase() + words.slice(1)];
}

/** Customer tokens only where they may hold the scope. */
function holdersOf(scope: string): TokenType[] {
  const ofCustomers = scopesFor('customer').includes(scope) ? ['customer' as const] : [];
  return ['organization', 'bank', ...ofCustomers, 'user'];
}
