import Type from 'typebox';
import type { LongText } from '../infrastructure/http/bodies/long-text.ts';
import { unwrap } from '../infrastructure/http/errors.ts';
import {
  createdAtFilters,
  environmentsFilter,
  guidsFilter,
  moment,
  values,
  wordsFilter,
} from '../infrastructure/http/requests/filters.ts';
import { envelope, listOf, listQuery, pageOf } from '../infrastructure/http/requests/paging.ts';
import { answers, GuidParams, strictObject } from '../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../infrastructure/http/server.ts';
import { actorOf, requires, withFeature } from '../tokens/access/access.ts';
import { holdsScope } from '../tokens/scopes.ts';
import type { Caller } from '../tokens/verifying/verifier.ts';
import { FileView, NewFile, viewFile } from './schema.ts';
import { type Files, USE_UPLOAD_URL } from './service.ts';

/** The most `data` there may be, the other fields, and room for encoders that escape slashes. */
const MAX_BODY_BYTES = 11 * 1024 ** 2;

function wholeText(text: string | undefined): LongText | undefined {
  return text === undefined ? undefined : { characters: text.length, pieces: () => [text] };
}

export function registerFiles(api: HttpServer, { files }: { files: Files }): void {
  const tags = ['Files'];
  const execute = withFeature('files', requires(['organization', 'bank', 'user'], 'files:execute'));
  const read = withFeature('files', requires(['organization', 'bank', 'user'], 'files:read'));

  api.post(
    '/files',
    {
      bodyLimit: MAX_BODY_BYTES,
      config: {
        ...execute.config,
        longText: 'data',
        whenTooLarge: `The request body is too large; ${USE_UPLOAD_URL}`,
      },
      schema: {
        ...execute.documented,
        operationId: 'files.create',
        summary: 'Create a file of a customer, with its data or to be uploaded',
        tags,
        body: NewFile,
        response: answers({ 201: FileView }, 400, 401, 403, 413, 415, 422, 503),
      },
    },
    async (request, reply) => {
      const { body, longText } = request;
      // A field whose name was written with escapes is not cut out of the body, and is then no longer than that.
      const data = body.data === '' && longText ? longText : wholeText(body.data);
      const created = unwrap(await files.create(actorOf(request), request.caller, { ...body, data }));
      return reply.code(201).send(viewFile(created));
    },
  );

  api.get(
    '/files',
    {
      config: read.config,
      schema: {
        ...read.documented,
        operationId: 'files.list',
        summary: 'List the files that the token may see',
        tags,
        querystring: listQuery({
          guid: guidsFilter,
          state: wordsFilter,
          type: wordsFilter,
          customer_guid: guidsFilter,
          bank_guid: guidsFilter,
          environment: environmentsFilter,
          ...createdAtFilters,
        }),
        response: answers({ 200: listOf(FileView) }, 400, 401, 403),
      },
    },
    async (request) => {
      const { caller, query } = request;
      const page = unwrap(pageOf(query));
      const filters = {
        guid: values(query.guid),
        state: values(query.state),
        type: values(query.type),
        customerGuid: values(query.customer_guid),
        bankGuid: values(query.bank_guid),
        environment: values(query.environment),
        createdAtGte: moment(query.created_at_gte),
        createdAtLt: moment(query.created_at_lt),
      };
      const found = await files.list(caller, page, filters, { withUploadUrl: maySeeUploadUrl(caller) });
      return envelope(page, unwrap(found), viewFile);
    },
  );

  api.get(
    '/files/:guid',
    {
      config: read.config,
      schema: {
        ...read.documented,
        operationId: 'files.get',
        summary: 'Get a file, and where to download it when asked for',
        tags,
        params: GuidParams,
        querystring: strictObject({
          include_download_url: Type.Optional(
            Type.Boolean({ description: 'adds download_url and download_expires_at to a completed file' }),
          ),
        }),
        response: answers({ 200: FileView }, 401, 403, 404),
      },
    },
    async ({ caller, params, query }) => {
      const withDownloadUrl = query.include_download_url === true;
      const withUploadUrl = maySeeUploadUrl(caller);
      return viewFile(unwrap(await files.get(caller, params.guid, { withDownloadUrl, withUploadUrl })));
    },
  );
}

/** Whoever has the link may write the content, which a token that only reads may not. */
function maySeeUploadUrl({ scopes }: Caller): boolean {
  return holdsScope(scopes, 'files:execute');
}
