import type { SandboxObject } from '../../api/types.ts';
import { EditButton } from './EditObject.tsx';
import { ExternalBankAccountActions } from './ExternalBankAccountActions.tsx';
import type { Kind } from './object-kinds.ts';
import { UseQuote } from './UseQuote.tsx';

type Props = { kind: Kind; object: SandboxObject; state: string | undefined };

export function hasActions({ path, editable }: Kind): boolean {
  return path === 'external_bank_accounts' || path === 'quotes' || editable !== undefined;
}

/** What can be done with an object of this type. */
export function ObjectActions({ kind, object, state }: Props) {
  if (kind.path === 'external_bank_accounts') return <ExternalBankAccountActions {...object} />;
  if (kind.path === 'quotes') return <UseQuote quote={object} isOpen={state === 'open'} />;
  return kind.editable ? <EditButton kind={kind} object={object} /> : null;
}
