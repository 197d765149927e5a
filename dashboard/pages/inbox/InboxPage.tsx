import { Button, Group, Select, Stack } from '@mantine/core';
import type { Inbox } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { EmptyState } from '../../shared/feedback/EmptyState.tsx';
import { ErrorAlert } from '../../shared/feedback/ErrorAlert.tsx';
import { PageLoading } from '../../shared/feedback/PageLoading.tsx';
import { useFilters } from '../../shared/filters/use-filters.ts';
import { PageHeader } from '../../shared/page/PageHeader.tsx';
import { Panel } from '../../shared/page/Panel.tsx';
import { useList } from '../../shared/table/use-list.ts';
import { Icon } from '../../shared/text/Icon.tsx';
import { InboxRequests } from './InboxRequests.tsx';
import { InboxSettings } from './InboxSettings.tsx';
import { MAX_INBOXES, newInboxName } from './new-inbox-name.ts';
import { useInboxApi } from './use-inbox-api.ts';

/** Endpoints hosted by the service, for partners who have none yet. */
export function InboxPage() {
  const { environment } = useWorkspace();
  const { filters, change } = useFilters();
  const list = useList<Inbox>('/inboxes', {}, { enabled: environment === 'sandbox' });
  const inboxes = environment === 'sandbox' ? (list.data?.objects ?? []) : [];
  const shown = inboxes.find(({ guid }) => guid === filters.inbox) ?? inboxes[0];
  return (
    <>
      <PageHeader
        title="Inbox"
        guide="webhooks#inbox"
        actions={
          <Group gap="xs">
            {inboxes.length > 1 ? (
              <Select
                aria-label="Inbox"
                allowDeselect={false}
                data={inboxes.map(({ guid, name }) => ({ value: guid, label: name }))}
                value={shown?.guid ?? null}
                onChange={(inbox) => change({ inbox: inbox ?? undefined })}
              />
            ) : null}
            {inboxes.length > 0 && inboxes.length < MAX_INBOXES ? <CreateInbox existing={inboxes} /> : null}
          </Group>
        }
      >
        An endpoint that Portico hosts in the sandbox, for partners who have none yet. It shows each request
        as it arrived.
        {inboxes.length < MAX_INBOXES
          ? ` ${inboxes.length} of ${MAX_INBOXES} inboxes used.`
          : ` ${MAX_INBOXES} of ${MAX_INBOXES} inboxes used. Delete one to create another.`}
      </PageHeader>
      {shown ? (
        <Stack gap="lg">
          <InboxSettings key={shown.guid} inbox={shown} />
          <InboxRequests inbox={shown} />
        </Stack>
      ) : environment === 'production' ? (
        <Panel>
          <EmptyState icon="inbox" title="Inboxes are in the sandbox only">
            Select a bank of the sandbox to see them. In production, use an endpoint of your own.
          </EmptyState>
        </Panel>
      ) : list.data ? (
        <Panel>
          <EmptyState icon="inbox" title="No inbox in sandbox yet" action={<CreateInbox existing={[]} />}>
            Create one to see webhooks arrive before you have an endpoint of your own.
          </EmptyState>
        </Panel>
      ) : list.error ? (
        <ErrorAlert error={list.error} onRetry={() => void list.refetch()} />
      ) : (
        <PageLoading />
      )}
    </>
  );
}

function CreateInbox({ existing }: { existing: readonly Inbox[] }) {
  const { can } = useWorkspace();
  const { create } = useInboxApi();
  const { change } = useFilters();
  if (!can('subscription_events:execute')) return null;
  const name = newInboxName(existing) ?? 'Inbox';
  return (
    <Button
      leftSection={<Icon name="plus" size={16} />}
      loading={create.isPending}
      onClick={() => create.mutate(name, { onSuccess: ({ guid }) => change({ inbox: guid }) })}
    >
      Create inbox
    </Button>
  );
}
