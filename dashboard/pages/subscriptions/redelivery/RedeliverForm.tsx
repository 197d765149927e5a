import { Select, SimpleGrid, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { RecoveryKind, Subscription } from '../../../api/types.ts';
import { useWorkspace } from '../../../session/workspace.ts';
import { useDeliveringSubscriptions } from '../../../shared/deliveries/use-delivering-subscriptions.ts';
import { useSubscriptionName } from '../../../shared/deliveries/use-subscriptions.ts';
import { ErrorAlert } from '../../../shared/feedback/ErrorAlert.tsx';
import { DateTimeFilter } from '../../../shared/filters/DateTimeFilter.tsx';
import { FormActions } from '../../../shared/forms/FormActions.tsx';
import { useNow } from '../../../shared/time/NowProvider.tsx';
import { KindChoice } from './KindChoice.tsx';
import { actionOf, defaultKindOf, sentBy } from './kinds.ts';
import { usePreview } from './use-preview.ts';

const DAY_MS = 86_400_000;

export type NamedSubscription = Pick<Subscription, 'guid' | 'name'>;

export type NewRedelivery = {
  subscription_guid: string;
  kind: RecoveryKind;
  since: string;
  until?: string | undefined;
};

/** Shows what each kind of redelivery would send before it is started. */
export function RedeliverForm({
  subscription,
  onSubmit,
  onCancel,
  pending,
  error,
}: {
  subscription: NamedSubscription | undefined;
  onSubmit: (input: NewRedelivery) => void;
  onCancel: () => void;
  pending: boolean;
  error: unknown;
}) {
  const { environment } = useWorkspace();
  const now = useNow();
  const delivering = useDeliveringSubscriptions();
  const nameOf = useSubscriptionName();
  const [subscriptionGuid, setSubscriptionGuid] = useState<string | undefined>(subscription?.guid);
  const [since, setSince] = useState<string | undefined>(() => new Date(now - DAY_MS).toISOString());
  const [until, setUntil] = useState<string>();
  const [chosen, setChosen] = useState<RecoveryKind>();
  const problem = problemOf(since, until, now);
  const preview = usePreview(problem ? undefined : subscriptionGuid, since, until);
  const kind = chosen ?? defaultKindOf(preview.data);
  const count = preview.data ? sentBy(kind, preview.data) : 0;
  return (
    <Stack>
      {subscription ? (
        <Text size="sm">
          Subscription: <strong>{subscription.name}</strong>
        </Text>
      ) : (
        <Select
          label="Subscription"
          description={
            delivering?.length === 0 ? `No subscription is delivering in ${environment}` : undefined
          }
          placeholder="Select a subscription"
          data={delivering?.map((guid) => ({ value: guid, label: nameOf(guid) ?? guid })) ?? []}
          value={subscriptionGuid ?? null}
          onChange={(guid) => setSubscriptionGuid(guid ?? undefined)}
          data-autofocus
        />
      )}
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <DateTimeFilter label="From" value={since} onChange={setSince} />
        <DateTimeFilter label="Until (now if empty)" value={until} onChange={setUntil} />
      </SimpleGrid>
      {problem ? (
        <Text size="sm" c="red" role="alert">
          {problem}
        </Text>
      ) : null}
      {preview.error ? <ErrorAlert error={preview.error} onRetry={() => void preview.refetch()} /> : null}
      {subscriptionGuid === undefined || problem || preview.error ? null : (
        <KindChoice preview={preview.data} value={kind} onChange={setChosen} />
      )}
      <FormActions
        action={actionOf(kind, count)}
        onAction={() =>
          subscriptionGuid && since && onSubmit({ subscription_guid: subscriptionGuid, kind, since, until })
        }
        disabled={problem !== undefined || count === 0}
        pending={pending}
        error={error}
        onCancel={onCancel}
      />
    </Stack>
  );
}

function problemOf(since: string | undefined, until: string | undefined, now: number): string | undefined {
  if (since === undefined) return 'Choose when the period begins.';
  if (Date.parse(since) >= now) return 'From must be in the past.';
  if (until !== undefined && Date.parse(until) <= Date.parse(since)) return 'Until must be later than From.';
}
