import { createHash } from 'node:crypto';
import type { FilePlan } from '../agenda/part-actions.ts';
import type { ModelFile } from '../world/model.ts';
import type { World } from '../world/world.ts';
import { type Calls, isOk } from './calls.ts';
import type { createObjectCalls } from './objects.ts';

const JSON_TYPE = 'application/json';
const PNG_TYPE = 'image/png';
const MAX_PIECES = 4;

/** Files of partners, with their content. */
export function createFileCalls(
  world: World,
  { callAsFounder, nodeAt }: Calls,
  { sandboxAt, customerOf }: ReturnType<typeof createObjectCalls>,
) {
  const { model, scheduler } = world;
  const random = world.random.fork('files');
  const newContent = () =>
    Buffer.from(JSON.stringify({ text: random.bytes(random.integer(1, 400)).toString('hex') }));
  const hashOf = (content: Buffer) => createHash('sha256').update(content).digest('hex');

  function piecesOf(content: Buffer): Buffer[] {
    const size = Math.ceil(content.length / random.integer(1, MAX_PIECES));
    return Array.from({ length: Math.ceil(content.length / size) }, (_, index) =>
      content.subarray(index * size, (index + 1) * size),
    );
  }

  async function upload(file: ModelFile, url: string, node: number, isCut: boolean): Promise<void> {
    const content = newContent();
    const hash = hashOf(content);
    const pieces = piecesOf(content);
    const pauseMs = random.integer(1, random.pick([50, 1_500]));
    const cutAfter = isCut ? random.integer(1, Math.max(1, pieces.length - 1)) : undefined;
    // A connection that is cut after the last piece loses only the answer.
    if (cutAfter === undefined || cutAfter === pieces.length) file.sent.set(hash, false);
    const answer = await nodeAt(node).upload({
      ...{ url, contentType: JSON_TYPE, pieces, pauseMs, cutAfter },
    });
    world.trace.add(scheduler.now(), 'partner', `upload of ${file.guid} at ${nodeAt(node).name}: ${answer}`);
    model.check(answer !== 500, () => `500 of the upload of ${file.guid}`);
    if (answer === 200) file.sent.set(hash, true);
  }

  return {
    async create(plan: FilePlan, { tenant: index, node }: { tenant: number; node: number }): Promise<void> {
      const tenant = sandboxAt(index);
      const customer = await customerOf(tenant, node);
      if (customer === undefined) return;
      const isInline = plan === 'inline' || plan === 'mistyped' || plan === 'deleted';
      const content = newContent();
      const created = await callAsFounder(nodeAt(node), tenant.organizationGuid, {
        ...{ method: 'POST', url: '/api/files' },
        payload: {
          ...{ type: 'invoice', filename: 'invoice', customer_guid: customer },
          content_type: plan === 'mistyped' ? PNG_TYPE : JSON_TYPE,
          ...(isInline ? { data: content.toString('base64') } : {}),
        },
      });
      if (!isOk(created)) return;
      const sent = new Map(isInline ? [[hashOf(content), true]] : []);
      const file: ModelFile = {
        ...{ guid: String(created.body.guid), plan, createdAt: scheduler.now(), sent, deletion: 'none' },
      };
      model.files.push(file);
      const url = String(created.body.upload_url);
      if (plan === 'upload') await upload(file, url, node + 1, false);
      if (plan === 'cut') {
        await upload(file, url, node, true);
        await world.sleep(random.integer(100, 20_000));
        await upload(file, url, node + 1, false);
      }
      if (plan === 'race')
        await Promise.all([upload(file, url, node, false), upload(file, url, node + 1, false)]);
      if (plan === 'deleted') {
        await world.sleep(random.integer(0, 500));
        file.deletion = 'called';
        const options = { method: 'DELETE', url: `/api/files/${file.guid}` } as const;
        const deleted = await callAsFounder(nodeAt(node + 1), tenant.organizationGuid, options);
        if (isOk(deleted)) file.deletion = 'answered';
      }
    },
  };
}
