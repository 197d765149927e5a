import { unwrap } from '../infrastructure/http/errors.ts';
import { moment, values } from '../infrastructure/http/requests/filters.ts';
import { envelope, listOf, pageOf } from '../infrastructure/http/requests/paging.ts';
import { answers, GuidParams } from '../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../infrastructure/http/server.ts';
import { actorOf, requires } from '../tokens/access/access.ts';
import type { TokenType } from '../tokens/claims.ts';
import { scopesFor } from '../tokens/scopes.ts';
import {
  type NewObject,
  newObjectSchema,
  objectQuerySchema,
  objectViewSchema,
  viewObject,
} from './schema.ts';
import type { Objects } from './service.ts';
import { OBJECT_TYPES, type ObjectType, wordsOf } from './types.ts';

/** Registers the same three routes for every object type. */
export function registerObjects(api: HttpServer, { objects }: { objects: Objects }): void {
  for (const type of OBJECT_TYPES) registerType(api, objects, type);
}

function registerType(api: HttpServer, objects: Objects, type: ObjectType): void {
  const { plural } = type;
  const name = wordsOf(type.name);
  const tags = [capitalised(wordsOf(plural))];
  const create = requires(holdersOf(`${plural}:execute`), `${plural}:execute`);
  const read = requires(holdersOf(`${plural}:read`), `${plural}:read`);
  const view = objectViewSchema(type);

  api.post(
    `/${plural}`,
    {
      config: create.config,
      schema: {
        ...create.documented,
        operationId: `${plural}.create`,
        summary: `Create ${article(name)} ${name} (sandbox only)`,
        tags,
        body: newObjectSchema(type),
        response: answers({ 201: view }, 400, 401, 403, 413, 415, 422),
      },
    },
    async (request, reply) => {
      const input = request.body as NewObject;
      const object = unwrap(await objects.create(actorOf(request), request.caller, type, input));
      return reply.code(201).send(viewObject(type, object));
    },
  );

  api.get(
    `/${plural}`,
    {
      config: read.config,
      schema: {
        ...read.documented,
        operationId: `${plural}.list`,
        summary: `List the ${wordsOf(plural)} that the token may see`,
        tags,
        querystring: objectQuerySchema(type),
        response: answers({ 200: listOf(view) }, 400, 401, 403),
      },
    },
    async (request) => {
      const page = unwrap(pageOf(request.query));
      const query = request.query as Record<string, string | undefined>;
      const found = await objects.list(request.caller, type, page, {
        guid: values(query.guid),
        state: values(query.state),
        type: values(query.type),
        bankGuid: values(query.bank_guid),
        customerGuid: values(query.customer_guid),
        environment: values(query.environment),
        createdAtGte: moment(query.created_at_gte),
        createdAtLt: moment(query.created_at_lt),
      });
      return envelope(page, unwrap(found), (object) => viewObject(type, object));
    },
  );

  api.get(
    `/${plural}/:guid`,
    {
      config: read.config,
      schema: {
        ...read.documented,
        operationId: `${plural}.get`,
        summary: `Get ${article(name)} ${name}`,
        tags,
        params: GuidParams,
        response: answers({ 200: view }, 401, 403, 404),
      },
    },
    async (request) => {
      const object = await objects.get(request.caller, type.name, request.params.guid);
      return viewObject(type, unwrap(object));
    },
  );
}

/** Customer tokens only where they may hold the scope. */
function holdersOf(scope: string): TokenType[] {
  const ofCustomers = scopesFor('customer').includes(scope) ? ['customer' as const] : [];
  return ['organization', 'bank', ...ofCustomers, 'user'];
}

function capitalised(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function article(word: string): string {
  return /^[aei]/.test(word) ? 'an' : 'a';
}
