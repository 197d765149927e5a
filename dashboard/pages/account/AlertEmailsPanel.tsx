import { Alert, Checkbox, Skeleton, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ALERT_KINDS, type AlertType } from '../../../server/alerts/kinds.ts';
import type { AlertPreferences } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { ErrorAlert } from '../../shared/feedback/ErrorAlert.tsx';
import { notifyFailure } from '../../shared/feedback/notify.ts';
import { Panel } from '../../shared/page/Panel.tsx';
import { Icon } from '../../shared/text/Icon.tsx';
import { PageLink } from '../../shared/text/PageLink.tsx';

const PATH = '/alert_preferences';

/** The emails of the member about alerts of the selected Organization. */
export function AlertEmailsPanel() {
  const { api, organization } = useWorkspace();
  const queries = useQueryClient();
  const key = [api.key, PATH];
  const { data, error, refetch } = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => api.get<AlertPreferences>(PATH, { signal }),
  });
  // The choice is shown at once, and again as it was if saving fails.
  const [edited, setEdited] = useState<readonly string[]>();
  const save = useMutation({
    mutationKey: key,
    mutationFn: (emailTypes: readonly string[]) =>
      api.patch<AlertPreferences>(PATH, { email_types: emailTypes }),
    onSuccess: (preferences) => queries.setQueryData(key, preferences),
    onError: notifyFailure('Could not save your alert emails'),
    onSettled: () => {
      if (queries.isMutating({ mutationKey: key }) === 1) setEdited(undefined);
    },
  });
  const chosen = edited ?? data?.email_types ?? [];
  const choose = (types: readonly string[]) => {
    setEdited(types);
    save.mutate(types);
  };
  return (
    <Panel
      title="Alert emails"
      hint={
        <>
          About {organization.name}, at most one email an hour for each kind. The bell shows all alerts. For
          Slack, see{' '}
          <PageLink to="/alerts/settings" inherit underline="always">
            alert settings
          </PageLink>
          .
        </>
      }
    >
      {error && !data ? <ErrorAlert error={error} onRetry={() => void refetch()} /> : null}
      {!data && !error ? <Skeleton height={200} /> : null}
      {data?.email_available === false ? (
        <Alert color="blue" variant="light" icon={<Icon name="info" />} mb="md">
          This service has no mail server. Alerts appear in the bell and in the API only.
        </Alert>
      ) : null}
      {data?.available_types.length === 0 ? (
        <Text size="sm" c="dimmed">
          Your role gets no emails.
        </Text>
      ) : null}
      <Stack gap="sm">
        {data?.available_types.map((type) => {
          const { label, about } = ALERT_KINDS[type as AlertType];
          return (
            <Checkbox
              key={type}
              label={label}
              description={about}
              checked={chosen.includes(type)}
              onChange={({ currentTarget }) =>
                choose(currentTarget.checked ? [...chosen, type] : chosen.filter((other) => other !== type))
              }
            />
          );
        })}
      </Stack>
    </Panel>
  );
}
