import { Badge, Button, SimpleGrid, Text } from '@mantine/core';
import { useState } from 'react';
import { useRefreshSession } from '../../session/session.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { notifySuccess } from '../../shared/feedback/notify.ts';
import { NameDialog } from '../../shared/forms/NameDialog.tsx';
import { LabeledValue } from '../../shared/page/LabeledValue.tsx';
import { Panel } from '../../shared/page/Panel.tsx';
import { Guid } from '../../shared/text/Guid.tsx';

export function DetailsPanel() {
  const { api, can, organization } = useWorkspace();
  const refreshSession = useRefreshSession();
  const [isRenaming, setRenaming] = useState(false);
  return (
    <Panel
      title="Details"
      actions={
        can('organizations:write') ? (
          <Button variant="default" size="xs" onClick={() => setRenaming(true)}>
            Rename
          </Button>
        ) : undefined
      }
    >
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 4 }}>
        <LabeledValue label="Name">
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {organization.name}
          </Text>
        </LabeledValue>
        <LabeledValue label="ID">
          <Guid value={organization.guid} name="Organization ID" />
        </LabeledValue>
        <LabeledValue label="Status">
          <Badge variant="light" radius="sm" tt="none" color={organization.live ? 'teal' : 'gray'}>
            {organization.live ? 'Live' : 'Not live yet'}
          </Badge>
        </LabeledValue>
        <LabeledValue label="Features">{organization.features.join(', ') || 'None'}</LabeledValue>
      </SimpleGrid>
      {isRenaming ? (
        <NameDialog
          title="Rename Organization"
          action="Rename"
          initial={organization.name}
          onClose={() => setRenaming(false)}
          onSave={async (name) => {
            await api.patch(`/organizations/${organization.guid}`, { name });
            await refreshSession();
            notifySuccess(`The Organization is now called ${name}.`);
          }}
        />
      ) : null}
    </Panel>
  );
}
