import Type from 'typebox';
import type { LongText } from '../infrastructure/http/bodies/json/long-text.ts';
import { unwrap } from '../infrastructure/http/errors.ts';
import {
  createdAtFilters,
  environmentsFilter,
  guidsFilter,
  wordsFilter,
} from '../infrastructure/http/requests/filters.ts';
import { registerGet, registerList } from '../infrastructure/http/requests/resource-routes.ts';
import { answers, GuidParams, strictObject } from '../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../infrastructure/http/server.ts';
import { registerCreate } from '../infrastructure/idempotency/create-routes.ts';
import { actorOf, requires, withFeature } from '../tokens/access/access.ts';
import { holdsScope } from '../tokens/scopes.ts';
import type { Caller } from '../tokens/verifying/verifier.ts';
import { USE_UPLOAD_URL } from './creation.ts';
import { FileView, NewFile, viewFile } from './schema.ts';
import type { Files } from './service.ts';

/** The maximum `data`, the other fields, and a margin for encoders that escape slashes. */
const MAX_BODY_BYTES = 11 * 1024 ** 2;

function wholeText(text: string | undefined): LongText | undefined {
  return text === undefined ? undefined : { characters: text.length, pieces: () => [text] };
}

export function registerFiles(api: HttpServer, { files }: { files: Files }): void {
  const tags = ['Files'];
  const execute = withFeature('files', requires(['organization', 'bank', 'user'], 'files:execute'));
  const read = withFeature('files', requires(['organization', 'bank', 'user'], 'files:read'));

  registerCreate(api, '/files', {
    access: {
      config: { ...execute.config, longText: 'data', whenTooLarge: USE_UPLOAD_URL },
      documented: execute.documented,
    },
    bodyLimit: MAX_BODY_BYTES,
    operationId: 'createFile',
    summary: 'Create a file of a customer, with its content or an upload URL',
    tags,
    body: NewFile,
    item: FileView,
    view: viewFile,
    create: (request, recordAnswer) => {
      const { caller, call, body, longText } = request;
      // `longText` has no data when the field name was sent with JSON escapes; the value is then short.
      const data = body.data === '' && longText ? longText : wholeText(body.data);
      return files.create(actorOf(request), caller, { ...body, data }, recordAnswer, call?.runApart);
    },
  });

  registerList(api, '/files', {
    access: read,
    operationId: 'listFiles',
    summary: 'List the files that the token may access',
    tags,
    filters: {
      guid: guidsFilter,
      state: wordsFilter,
      type: wordsFilter,
      customer_guid: guidsFilter,
      bank_guid: guidsFilter,
      environment: environmentsFilter,
      ...createdAtFilters,
    },
    item: FileView,
    view: viewFile,
    list: ({ caller }, page, filters) =>
      files.list(caller, page, filters, { withUploadUrl: maySeeUploadUrl(caller) }),
  });

  registerGet(api, '/files/:guid', {
    access: read,
    operationId: 'getFile',
    summary: 'Get a file, optionally with a download URL',
    tags,
    querystring: strictObject({
      include_download_url: Type.Optional(
        Type.Boolean({ description: 'Adds download_url and download_expires_at to a completed file' }),
      ),
    }),
    item: FileView,
    view: viewFile,
    get: (request) => {
      const { caller, params, query } = request;
      const withDownloadUrl = query.include_download_url === true;
      const options = { withDownloadUrl, withUploadUrl: maySeeUploadUrl(caller) };
      return files.get(actorOf(request), caller, params.guid, options);
    },
  });

  api.delete(
    '/files/:guid',
    {
      config: execute.config,
      schema: {
        ...execute.documented,
        operationId: 'deleteFile',
        summary: 'Delete a file that no object refers to, and its content',
        tags,
        params: GuidParams,
        response: answers({ 204: { type: 'null' } }, 401, 403, 404, 409, 413, 415),
      },
    },
    async (request, reply) => {
      unwrap(await files.remove(actorOf(request), request.caller, request.params.guid));
      return reply.code(204).send();
    },
  );
}

/** The upload URL permits writing the content, so a token that only reads must not see it. */
function maySeeUploadUrl({ scopes }: Caller): boolean {
  return holdsScope(scopes, 'files:execute');
}
