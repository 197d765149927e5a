import { Group, Skeleton, Stack, Text, Timeline } from '@mantine/core';
import type { Event, SandboxObject } from '../../../api/types.ts';
import { useWorkspace } from '../../../session/workspace.ts';
import { ErrorAlert } from '../../../shared/feedback/ErrorAlert.tsx';
import { Panel } from '../../../shared/page/Panel.tsx';
import { useList } from '../../../shared/table/use-list.ts';
import { PageLink } from '../../../shared/text/PageLink.tsx';
import { StateBadge } from '../../../shared/text/StateBadge.tsx';
import { RelativeTime } from '../../../shared/time/RelativeTime.tsx';
import { hasEvents } from '../kind-events.ts';
import type { Kind } from '../object-kinds.ts';
import { type Change, changesOf } from './changes.ts';

const REFRESH_MS = 2_000;
const MAX_EVENTS = 100;

/** The states of an object from its events, and what else is known of types that have none. */
export function StateHistory({
  kind,
  object,
  state,
  use,
}: {
  kind: Kind;
  object: SandboxObject;
  state: string | undefined;
  /** The trade or transfer that used the quote. */
  use: SandboxObject | undefined;
}) {
  const { has, can } = useWorkspace();
  const withEvents = hasEvents(kind) && has('webhooks') && can('subscription_events:read');
  const { data, error, refetch } = useList<Event>(
    '/subscription_events',
    { object_guid: object.guid, per_page: MAX_EVENTS },
    { refetchInterval: REFRESH_MS, enabled: withEvents },
  );
  const events = data?.objects ?? [];
  return (
    <Panel
      title="History"
      hint={hasEvents(kind) ? undefined : 'Objects of this type have no events.'}
      actions={
        events.length > 0 ? (
          <PageLink to="/events" search={{ object: object.guid, banks: 'all' }} size="sm">
            View events
          </PageLink>
        ) : undefined
      }
    >
      <Stack pt="xs">
        {error ? <ErrorAlert error={error} onRetry={() => void refetch()} /> : null}
        {withEvents && !data && !error ? (
          <Skeleton height={90} />
        ) : (
          <Timeline bulletSize={12} lineWidth={2} aria-label="History">
            {changesOf(object, state, events, use).map((change) => (
              <Timeline.Item key={change.key}>
                <ChangeLine {...change} />
              </Timeline.Item>
            ))}
          </Timeline>
        )}
        {data && data.total > MAX_EVENTS ? (
          <Text size="sm" c="dimmed">
            The newest {MAX_EVENTS} events. View events lists all of them.
          </Text>
        ) : null}
      </Stack>
    </Panel>
  );
}

function ChangeLine({ at, state, event, text, link }: Change) {
  return (
    <Group gap="sm" justify="space-between" mt={-9} fz="sm">
      <Group gap="xs">
        {state === undefined ? null : <StateBadge state={state} />}
        {event ? (
          <PageLink to="/events/$guid" params={{ guid: event.guid }} size="sm">
            {event.event_type}
          </PageLink>
        ) : link ? (
          <PageLink to="/sandbox/$kind/$guid" params={link} size="sm">
            {text}
          </PageLink>
        ) : (
          <Text size="sm">{text}</Text>
        )}
      </Group>
      <RelativeTime at={at} />
    </Group>
  );
}
