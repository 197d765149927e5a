import { Text } from '@mantine/core';
import { useWorkspace } from '../../session/workspace.ts';
import { Guid } from '../../shared/text/Guid.tsx';
import { NoValue } from '../../shared/text/NoValue.tsx';

/** Events of subscriptions have no bank. */
export function BankName({ guid }: { guid: string | undefined }) {
  const { banks } = useWorkspace();
  if (guid === undefined) return <NoValue />;
  const name = banks.find((bank) => bank.guid === guid)?.name;
  if (name === undefined) return <Guid value={guid} name="ID of the bank" />;
  return (
    <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
      {name}
    </Text>
  );
}
