import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { contentTypeOf } from '../../../sdk/src/files/source.ts';
import { fileFromPath } from '../../../sdk/src/node.ts';
import type { Command } from '../command.ts';
import { UsageError } from '../failure.ts';
import { printObject, say } from '../output/print.ts';
import { bytes, withProgress } from '../output/progress.ts';
import { guidOption } from '../values.ts';

export const uploadFile: Command = {
  name: 'files upload',
  summary: 'Upload a file, and wait until the service has checked it.',
  positionals: ['path'],
  options: {
    type: {
      value: 'type',
      description: 'what the file is, for example passport or bank_statement (required)',
    },
    customer: { value: 'guid', description: 'the customer that it belongs to (required)' },
    'content-type': { value: 'type', description: 'by default that of the extension' },
    'no-wait': { description: 'return after the upload' },
  },
  examples: ['portico files upload passport.jpg --type passport --customer 0199e5a4…'],
  async run(context) {
    const { io, options, positionals } = context;
    const [path = ''] = positionals;
    const type = options.text('type');
    const customer_guid = guidOption(context, 'customer');
    if (type === undefined || customer_guid === undefined)
      throw new UsageError('--type and --customer are required. See portico files upload --help.');
    const found = await stat(path).catch(() => undefined);
    if (!found?.isFile()) throw new UsageError(`${path} is not a file.`);
    const { withScopes } = await context.session();
    const { files } = withScopes('files:execute', 'files:read');
    const source = await fileFromPath(path);
    const contentType = options.text('content-type') ?? contentTypeOf(source);
    if (contentType === undefined)
      throw new UsageError(
        `The type of ${basename(path)} is not known. Name it, for example --content-type application/pdf.`,
      );
    const file = await withProgress(context, bytes, (show) =>
      files.upload(source, {
        type: type as 'other',
        customer_guid,
        content_type: contentType as 'image/png',
        onProgress: ({ sentBytes, totalBytes }) => show(sentBytes, totalBytes ?? found.size),
        signal: io.signal,
      }),
    );
    if (options.flag('no-wait')) return printObject(context, file);
    say(context, 'Uploaded. Waiting for the checks of the service …');
    printObject(context, await files.wait(file.guid, { signal: io.signal }));
  },
};
