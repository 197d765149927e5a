import { Group } from '@mantine/core';
import { CopyButton } from './CopyButton.tsx';
import { Guid } from './Guid.tsx';
import { PageLink } from './PageLink.tsx';

/** Types with a page of their own. */
const PAGES: ReadonlySet<string> = new Set([
  ...['customer', 'account', 'quote', 'trade', 'transfer', 'identity_verification', 'plan', 'execution'],
  ...['external_bank_account', 'deposit_address', 'workflow'],
]);

/** Links to the page of an object, by its label or guid. Other types are shown by guid. */
export function ObjectLink({
  type,
  guid,
  label,
}: {
  type: string;
  guid: string;
  label?: string | undefined;
}) {
  if (!PAGES.has(type)) return <Guid value={guid} name={`ID of the ${type}`} />;
  const words = type.replaceAll('_', ' ');
  const kind = type === 'deposit_address' ? 'deposit_addresses' : `${type}s`;
  return (
    <Group gap={4} wrap="nowrap">
      <PageLink
        to="/sandbox/$kind/$guid"
        params={{ kind, guid }}
        size="sm"
        {...(label === undefined
          ? { ff: 'monospace', fz: 13, style: { whiteSpace: 'nowrap' } }
          : { style: { overflowWrap: 'anywhere' } })}
      >
        {label ?? `${guid.slice(0, 8)}…${guid.slice(-6)}`}
      </PageLink>
      {label === undefined ? <CopyButton value={guid} label={`Copy ID of the ${words}`} /> : null}
    </Group>
  );
}
