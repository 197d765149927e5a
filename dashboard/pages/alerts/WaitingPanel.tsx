import { NumberInput, SimpleGrid, Skeleton } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { MAX_WAITING_THRESHOLD } from '../../../server/alerts/kinds.ts';
import type { AlertSettings, List, Subscription } from '../../api/types.ts';
import { useEnvironmentApi } from '../../session/use-environment-api.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { ErrorAlert } from '../../shared/feedback/ErrorAlert.tsx';
import { notifySuccess } from '../../shared/feedback/notify.ts';
import { changedFields } from '../../shared/forms/changed-fields.ts';
import { PanelForm } from '../../shared/forms/PanelForm.tsx';
import { Panel } from '../../shared/page/Panel.tsx';

const PATH = '/alert_settings';

/** How many deliveries may wait before an alert is raised. */
export function WaitingPanel() {
  const { api } = useWorkspace();
  const { data, error, refetch } = useQuery({
    queryKey: [api.key, PATH],
    queryFn: ({ signal }) => api.get<AlertSettings>(PATH, { signal }),
  });
  return (
    <Panel
      title="Waiting deliveries"
      hint="Raise an alert when more deliveries than this wait for an endpoint"
    >
      {error && !data ? <ErrorAlert error={error} onRetry={() => void refetch()} /> : null}
      {!data && !error ? <Skeleton height={120} /> : null}
      {data ? <WaitingForm settings={data} /> : null}
    </Panel>
  );
}

type Value = number | string;

/** Keeps only what the user has typed, so that a change in another tab neither discards that nor is undone. */
function WaitingForm({ settings }: { settings: AlertSettings }) {
  const { api, can } = useWorkspace();
  const queries = useQueryClient();
  const subscriptions = useAllSubscriptions();
  const [typedForAll, setTypedForAll] = useState<Value>();
  const [typed, setTyped] = useState<Record<string, Value>>({});
  const all = typedForAll ?? settings.waiting_threshold ?? '';
  const saved = settings.subscriptions.map((each) => [each.guid, each.waiting_threshold] as const);
  const own: Record<string, Value> = { ...Object.fromEntries(saved), ...typed };
  const canChange = can('organizations:write');
  const thresholds = Object.entries(own).map(([guid, value]) => ({ guid, waiting_threshold: Number(value) }));
  const changes = changedFields<Required<AlertSettings>>(
    { waiting_threshold: 0, ...settings },
    {
      waiting_threshold: Number(all) || 0,
      subscriptions: thresholds.filter(({ waiting_threshold: number }) => number > 0),
    },
  );
  const save = useMutation({
    mutationFn: () => api.patch<AlertSettings>(PATH, changes),
    onSuccess: (settingsNow) => {
      queries.setQueryData([api.key, PATH], settingsNow);
      setTypedForAll(undefined);
      setTyped({});
      notifySuccess('Alert settings saved.');
    },
  });
  const isChanged = Object.keys(changes).length > 0;
  const field = { min: 1, max: MAX_WAITING_THRESHOLD, allowDecimal: false, thousandSeparator: ',' };
  return (
    <PanelForm isChanged={isChanged} readOnly={!canChange} save={save}>
      <NumberInput
        label="Every endpoint"
        description={`1 to ${MAX_WAITING_THRESHOLD.toLocaleString('en-US')}. Leave empty for no alert.`}
        placeholder="No alert"
        maw={320}
        value={all}
        onChange={setTypedForAll}
        disabled={!canChange}
        {...field}
      />
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        {subscriptions.map(({ guid, name, environment }) => (
          <NumberInput
            key={guid}
            label={name}
            description={`Only this endpoint, in ${environment}`}
            placeholder={Number(all) > 0 ? Number(all).toLocaleString('en-US') : 'No alert'}
            value={own[guid] ?? ''}
            onChange={(value) => setTyped({ ...typed, [guid]: value })}
            disabled={!canChange}
            {...field}
          />
        ))}
      </SimpleGrid>
    </PanelForm>
  );
}

/** Of both environments; none if the role cannot read them. */
function useAllSubscriptions(): readonly Subscription[] {
  const { can, has, organization, session } = useWorkspace();
  const apiOf = useEnvironmentApi();
  const { data } = useQuery({
    queryKey: ['all subscriptions', organization.guid],
    queryFn: async ({ signal }) => {
      const lists = session.environments.map((environment) =>
        apiOf(environment).get<List<Subscription>>('/subscriptions', {
          query: { environment, per_page: 100 },
          signal,
        }),
      );
      return (await Promise.all(lists)).flatMap(({ objects }) => objects);
    },
    enabled: can('subscriptions:read') && has('webhooks'),
  });
  return data ?? [];
}
