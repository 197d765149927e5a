import { Alert, Button, Code, Group, SegmentedControl, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { Inbox, InboxAnswer, Subscription } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { ConfirmByName } from '../../shared/forms/ConfirmByName.tsx';
import { NameDialog } from '../../shared/forms/NameDialog.tsx';
import { LabeledValue } from '../../shared/page/LabeledValue.tsx';
import { Panel } from '../../shared/page/Panel.tsx';
import { useList } from '../../shared/table/use-list.ts';
import { CopyButton } from '../../shared/text/CopyButton.tsx';
import { Icon } from '../../shared/text/Icon.tsx';
import { PageLink } from '../../shared/text/PageLink.tsx';
import { CreateSubscription } from '../subscriptions/CreateSubscription.tsx';
import { ANSWERS } from './answers.ts';
import { useInboxApi } from './use-inbox-api.ts';

export function InboxSettings({ inbox }: { inbox: Inbox }) {
  const { can } = useWorkspace();
  const { changeAnswer, rename, remove } = useInboxApi();
  const [dialog, setDialog] = useState<'rename' | 'delete'>();
  const { guid, name, url } = inbox;
  const mayChange = can('subscription_events:execute');
  const answer = changeAnswer.isPending ? changeAnswer.variables.answer : inbox.answer;
  return (
    <Panel
      title={name}
      actions={
        mayChange ? (
          <Group gap="xs">
            <Button variant="default" size="xs" onClick={() => setDialog('rename')}>
              Rename
            </Button>
            <Button variant="default" size="xs" c="red" onClick={() => setDialog('delete')}>
              Delete
            </Button>
          </Group>
        ) : undefined
      }
    >
      <Stack>
        <LabeledValue label="URL">
          <Group gap={4} wrap="nowrap">
            <Code style={{ overflowWrap: 'anywhere' }}>{url}</Code>
            <CopyButton value={url} label="Copy URL" />
          </Group>
        </LabeledValue>
        <LabeledValue label="Answer">
          <SegmentedControl
            aria-label="Answer"
            data={ANSWERS.map(({ value, label }) => ({ value, label }))}
            value={answer}
            disabled={!mayChange}
            onChange={(chosen) => changeAnswer.mutate({ guid, answer: chosen as InboxAnswer })}
          />
          <Text size="sm" c="dimmed" mt={4}>
            {ANSWERS.find(({ value }) => value === answer)?.effect}
          </Text>
        </LabeledValue>
        {can('subscriptions:read') ? <SubscriptionOf inbox={inbox} /> : null}
      </Stack>
      {dialog === 'rename' ? (
        <NameDialog
          title={`Rename ${name}`}
          action="Rename"
          initial={name}
          onSave={(changed) => rename(guid, changed)}
          onClose={() => setDialog(undefined)}
        />
      ) : null}
      {dialog === 'delete' ? (
        <ConfirmByName
          title={`Delete ${name}`}
          name={name}
          action="Delete"
          onConfirm={() => remove(guid)}
          onClose={() => setDialog(undefined)}
        >
          Its requests are deleted, and subscriptions with its URL get 404. This cannot be undone.
        </ConfirmByName>
      ) : null}
    </Panel>
  );
}

/** The subscription that delivers to the inbox, or the way to one. */
function SubscriptionOf({ inbox }: { inbox: Inbox }) {
  const { can } = useWorkspace();
  const [creating, setCreating] = useState(false);
  const list = useList<Subscription>('/subscriptions', { environment: 'sandbox' });
  const subscription = list.data?.objects.find(({ url }) => url === inbox.url);
  return (
    <>
      {subscription ? (
        <LabeledValue label="Subscription">
          <PageLink to="/subscriptions/$guid" params={{ guid: subscription.guid }} size="sm">
            {subscription.name}
          </PageLink>
        </LabeledValue>
      ) : list.data ? (
        <Alert
          color="blue"
          variant="light"
          icon={<Icon name="info" />}
          title="No subscription sends to this inbox"
        >
          <Stack gap="xs" align="flex-start">
            A subscription sends every event in the sandbox to its URL.
            {can('subscriptions:write') ? (
              <Button size="xs" onClick={() => setCreating(true)}>
                Create Webhook Subscription
              </Button>
            ) : null}
          </Stack>
        </Alert>
      ) : null}
      {creating ? (
        // Outside of the alert, which disappears while the signing key is shown.
        <CreateSubscription
          initialName={inbox.name}
          initialUrl={inbox.url}
          onClose={() => setCreating(false)}
        />
      ) : null}
    </>
  );
}
