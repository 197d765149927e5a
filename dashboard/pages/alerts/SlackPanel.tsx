import { Alert, Button, Code, Group, Skeleton, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { AlertSlack, AlertSlackTest } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { ErrorAlert } from '../../shared/feedback/ErrorAlert.tsx';
import { PanelForm } from '../../shared/forms/PanelForm.tsx';
import { Panel } from '../../shared/page/Panel.tsx';
import { Icon } from '../../shared/text/Icon.tsx';
import { RelativeTime } from '../../shared/time/RelativeTime.tsx';

const PATH = '/alert_slack';

/** The incoming webhook URL that receives every alert of the Organization. */
export function SlackPanel() {
  const { api, can } = useWorkspace();
  const { data, error, refetch } = useQuery({
    queryKey: [api.key, PATH],
    queryFn: ({ signal }) => api.get<AlertSlack>(PATH, { signal }),
  });
  const canChange = can('organizations:write');
  return (
    <Panel
      title="Slack"
      hint="Post every alert to a Slack-compatible incoming webhook, also Mattermost and Discord"
    >
      {error && !data ? <ErrorAlert error={error} onRetry={() => void refetch()} /> : null}
      {!data && !error ? <Skeleton height={90} /> : null}
      {data?.url === undefined ? null : <CurrentUrl slack={data} canChange={canChange} />}
      {data && data.url === undefined && !canChange ? (
        <Text size="sm" c="dimmed">
          No URL is set.
        </Text>
      ) : null}
      {data && data.url === undefined && canChange ? <UrlForm /> : null}
    </Panel>
  );
}

function UrlForm() {
  const { api } = useWorkspace();
  const queries = useQueryClient();
  const [url, setUrl] = useState('');
  const save = useMutation({
    mutationFn: () => api.patch<AlertSlack>(PATH, { url }),
    onSuccess: (slack) => queries.setQueryData([api.key, PATH], slack),
  });
  return (
    <PanelForm isChanged={url !== ''} save={save}>
      <TextInput
        label="Incoming webhook URL"
        description="It is a secret: it is stored encrypted and shown masked."
        placeholder="https://hooks.slack.com/services/…"
        value={url}
        onChange={({ currentTarget }) => setUrl(currentTarget.value)}
        autoComplete="off"
        required
      />
    </PanelForm>
  );
}

function CurrentUrl({ slack, canChange }: { slack: AlertSlack; canChange: boolean }) {
  const { api } = useWorkspace();
  const queries = useQueryClient();
  const refresh = () => queries.invalidateQueries({ queryKey: [api.key, PATH] });
  const test = useMutation({
    mutationFn: () => api.post<AlertSlackTest>(`${PATH}/test`),
    onSuccess: refresh,
  });
  const remove = useMutation({ mutationFn: () => api.remove(PATH), onSuccess: refresh });
  const { url, posted_at: postedAt, failure } = slack;
  return (
    <Stack>
      <div>
        <Code fz="sm" style={{ overflowWrap: 'anywhere' }}>
          {url}
        </Code>
        <Text size="sm" c="dimmed" mt="xs" component="div">
          {postedAt === undefined ? (
            'Nothing posted yet.'
          ) : (
            <>
              Last message <RelativeTime at={postedAt} />: {failure ?? 'delivered'}
            </>
          )}
        </Text>
      </div>
      {test.data ? (
        <Alert
          color={test.data.posted ? 'teal' : 'red'}
          variant="light"
          icon={<Icon name={test.data.posted ? 'check' : 'warning'} />}
          role="status"
        >
          {test.data.posted ? 'Test message delivered.' : `Test message failed: ${test.data.failure}.`}
        </Alert>
      ) : null}
      {test.error ? <ErrorAlert error={test.error} /> : null}
      {remove.error ? <ErrorAlert error={remove.error} /> : null}
      {canChange ? (
        <Group justify="flex-end" gap="xs">
          <Button variant="default" color="red" loading={remove.isPending} onClick={() => remove.mutate()}>
            Remove
          </Button>
          <Button
            variant="light"
            leftSection={<Icon name="send" size={16} />}
            loading={test.isPending}
            onClick={() => test.mutate()}
          >
            Send test message
          </Button>
        </Group>
      ) : null}
    </Stack>
  );
}
