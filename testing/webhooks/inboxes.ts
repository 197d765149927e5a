import type { TestApp } from '../app/app.ts';
import { userToken } from '../app/tenant.ts';

type InboxBody = { guid: string; url: string };

/** The first of the Organization, or else a new one: for tests that would exceed the limit. */
export async function anyInbox(
  app: TestApp,
  { organizationGuid }: { organizationGuid: string },
): Promise<InboxBody> {
  const token = await userToken(app, organizationGuid);
  const call = async (method: 'GET' | 'POST', payload?: object) =>
    (await app.call({ method, url: '/api/inboxes', token, ...(payload && { payload }) })).body;
  const [existing] = (await call('GET')).objects as InboxBody[];
  return existing ?? ((await call('POST', { name: 'Inbox' })) as InboxBody);
}

/** The guid of a request that an inbox received. */
export async function anyInboxRequest(app: TestApp, owner: { organizationGuid: string }): Promise<string> {
  const { guid, url } = await anyInbox(app, owner);
  await app.call({ method: 'POST', url: new URL(url).pathname, payload: { event_type: 'a.b' } });
  const token = await userToken(app, owner.organizationGuid);
  const { body } = await app.call({ method: 'GET', url: `/api/inboxes/${guid}/requests`, token });
  const [newest] = body.objects as { guid: string }[];
  return newest?.guid as string;
}
