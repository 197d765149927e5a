import { Group, SimpleGrid, Stack, Text } from '@mantine/core';
import type { Environment } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { LabeledValue } from '../../shared/page/LabeledValue.tsx';
import { Panel } from '../../shared/page/Panel.tsx';
import { CopyButton } from '../../shared/text/CopyButton.tsx';
import { EnvironmentName } from '../../shared/text/EnvironmentName.tsx';

const DESCRIPTIONS: Record<Environment, string> = {
  sandbox: 'Simulated objects. No real money moves.',
  production: 'Real customers and real money.',
};

export function EnvironmentsPanel() {
  const { banks, session } = useWorkspace();
  return (
    <Panel
      title="Environments"
      hint="The token URL decides the environment: a token sees only the banks, events and files of its own."
    >
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xl">
        {session.environments.map((environment) => {
          const count = banks.filter((bank) => bank.environment === environment).length;
          return (
            <Stack key={environment} gap="sm" align="flex-start">
              <EnvironmentName environment={environment} />
              <Text size="sm">{DESCRIPTIONS[environment]}</Text>
              <LabeledValue label="Banks">{count}</LabeledValue>
              <LabeledValue label="Token URL">
                <Address url={session.token_urls[environment]} name={`${environment} token URL`} />
              </LabeledValue>
              <LabeledValue label="API">
                <Address url={`${location.origin}/api`} name={`${environment} API URL`} />
              </LabeledValue>
            </Stack>
          );
        })}
      </SimpleGrid>
    </Panel>
  );
}

function Address({ url, name }: { url: string; name: string }) {
  return (
    <Group gap={4} wrap="nowrap">
      <Text size="sm" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
        {url}
      </Text>
      <CopyButton value={url} label={`Copy ${name}`} />
    </Group>
  );
}
