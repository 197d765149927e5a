import { Alert, Button, Group, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { checkUrl } from '../../../server/webhooks/subscriptions/url.ts';
import type { Environment } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { FormActions } from '../../shared/forms/FormActions.tsx';
import { NameField, validateName } from '../../shared/forms/NameField.tsx';
import { Icon } from '../../shared/text/Icon.tsx';
import { useEndpointLimit } from './use-endpoint-limit.ts';

const MAX_URL_CHARACTERS = 1_024;

export function SubscriptionForm({
  pending,
  error,
  initialName = '',
  initialUrl = '',
  action = 'Create',
  cancel = 'Cancel',
  onSubmit,
  onCancel,
}: {
  pending: boolean;
  error: unknown;
  initialName?: string;
  initialUrl?: string;
  action?: string;
  cancel?: string;
  onSubmit: (input: { name: string; url: string }) => void;
  onCancel: () => void;
}) {
  const { environment } = useWorkspace();
  const limit = useEndpointLimit();
  const form = useForm({
    initialValues: { name: initialName, url: initialUrl },
    validate: { name: validateName, url: (url) => urlError(url.trim(), environment) },
    validateInputOnBlur: true,
  });
  // A pending request may itself use the last slot.
  if (limit && !pending)
    return (
      <Stack>
        <Alert
          color="yellow"
          variant="light"
          icon={<Icon name="info" />}
          title={`Endpoint limit reached (${limit.limit})`}
        >
          {limit.message}
        </Alert>
        <Group justify="flex-end">
          <Button variant="default" onClick={onCancel}>
            {cancel}
          </Button>
        </Group>
      </Stack>
    );
  return (
    <form onSubmit={form.onSubmit(({ name, url }) => onSubmit({ name: name.trim(), url: url.trim() }))}>
      <Stack>
        <NameField placeholder="Payments backend" {...form.getInputProps('name')} />
        <TextInput
          label="URL"
          description={
            environment === 'production' ? 'Must start with https://' : 'Must start with https:// or http://'
          }
          placeholder="https://api.example.com/portico/events"
          maxLength={MAX_URL_CHARACTERS}
          required
          spellCheck={false}
          {...form.getInputProps('url')}
        />
        <FormActions action={action} cancel={cancel} pending={pending} error={error} onCancel={onCancel} />
      </Stack>
    </form>
  );
}

function urlError(url: string, environment: Environment): string | null {
  const failure = checkUrl(url, environment);
  return failure ? failure.message.replace(/^url /, 'URL ') : null;
}
