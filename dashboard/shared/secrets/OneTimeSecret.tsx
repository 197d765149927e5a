import { Alert, Button, Checkbox, Group, Stack, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useFreeze } from '../../session/freeze.ts';
import { useNavigationGuard } from '../forms/use-navigation-guard.ts';
import { CopyButton } from '../text/CopyButton.tsx';
import { Icon } from '../text/Icon.tsx';
import { downloadBlob } from './download-blob.ts';
import styles from './OneTimeSecret.module.css';

/** The values live only in this component: never in the URL, storage or a query cache. */
export function OneTimeSecret({
  warning,
  values,
  filename,
  onStored,
  doneLabel = 'Done',
  children,
}: {
  warning: string;
  values: readonly { name: string; value: string }[];
  filename: string;
  onStored: () => void;
  doneLabel?: string;
  /** Stands between the values and the confirmation. */
  children?: ReactNode;
}) {
  const [stored, setStored] = useState(false);
  useNavigationGuard(!stored, 'This secret is shown only once. Store it and confirm before you leave.');
  useFreeze(true);
  return (
    <Stack gap="md">
      <Alert
        color="yellow"
        variant="light"
        icon={<Icon name="warning" />}
        title="Copy it now. You will not see it again."
      >
        {warning}
      </Alert>
      {values.map(({ name, value }) => (
        <div key={name}>
          <Text size="sm" fw={600} mb={4}>
            {name}
          </Text>
          <Group wrap="nowrap" gap={4} className={styles.value}>
            <code className={styles.text} data-secret={name}>
              {value}
            </code>
            <CopyButton value={value} label={`Copy ${name}`} />
          </Group>
        </div>
      ))}
      {children}
      <Group justify="space-between" gap="sm">
        <Button
          variant="default"
          leftSection={<Icon name="download" size={16} />}
          onClick={() => download(filename, values)}
        >
          Download
        </Button>
        <Checkbox
          label="I have stored it safely"
          checked={stored}
          onChange={(event) => setStored(event.currentTarget.checked)}
        />
      </Group>
      <Button disabled={!stored} onClick={onStored}>
        {doneLabel}
      </Button>
    </Stack>
  );
}

function download(filename: string, values: readonly { name: string; value: string }[]): void {
  const text = JSON.stringify(Object.fromEntries(values.map(({ name, value }) => [name, value])), null, 2);
  downloadBlob(filename, new Blob([`${text}\n`], { type: 'application/json' }));
}
