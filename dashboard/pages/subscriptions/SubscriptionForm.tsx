import { Alert, Button, Group, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useWorkspace } from '../../session/workspace.ts';
import { FormActions } from '../../shared/forms/FormActions.tsx';
import { NameField, validateName } from '../../shared/forms/NameField.tsx';
import { Icon } from '../../shared/text/Icon.tsx';
import { UrlField, urlError } from './endpoint/UrlField.tsx';
import { UseInbox } from './endpoint/UseInbox.tsx';
import { useEndpointLimit } from './use-endpoint-limit.ts';

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
        <UrlField {...form.getInputProps('url')} />
        {initialUrl === '' ? (
          <UseInbox
            onUse={({ name, url }) => form.setValues((typed) => ({ name: typed.name || name, url }))}
          />
        ) : null}
        <FormActions action={action} cancel={cancel} pending={pending} error={error} onCancel={onCancel} />
      </Stack>
    </form>
  );
}
