import { Text } from '@mantine/core';
import { useWorkspace } from '../../session/workspace.ts';
import { Guid } from '../../shared/text/Guid.tsx';

/** Events of subscriptions belong to the Organization, and so to no bank. */
export function BankName({ guid }: { guid: string | undefined }) {
  const { banks } = useWorkspace();
  if (guid === undefined)
    return (
      <Text size="sm" c="dimmed">
        –
      </Text>
    );
  const name = banks.find((bank) => bank.guid === guid)?.name;
  return name === undefined ? <Guid value={guid} name="bank_guid" /> : <Text size="sm">{name}</Text>;
}
