import type { SandboxObject } from '../../api/types.ts';
import { EditButton, EditObject } from './EditObject.tsx';
import { ExternalBankAccountActions } from './ExternalBankAccountActions.tsx';
import type { Kind } from './object-kinds.ts';
import { TransferQuote, UseQuote } from './UseQuote.tsx';

/** The object of the open dialog. */
export type Opened = { kind: Kind; object: SandboxObject };
type Props = Opened & { state: string | undefined; onOpen: (opened: Opened) => void };

export function hasActions({ path, editable }: Kind): boolean {
  return path === 'external_bank_accounts' || path === 'quotes' || editable !== undefined;
}

/** What can be done with an object of this type. */
export function ObjectActions({ kind, object, state, onOpen }: Props) {
  const open = () => onOpen({ kind, object });
  if (kind.path === 'external_bank_accounts') return <ExternalBankAccountActions {...object} />;
  if (kind.path === 'quotes') return <UseQuote quote={object} isOpen={state === 'open'} onTransfer={open} />;
  return kind.editable ? <EditButton kind={kind} onClick={open} /> : null;
}

/** Rendered outside of the rows, so that a refresh that removes the row does not close it. */
export function ObjectDialog({ opened, onClose }: { opened: Opened; onClose: () => void }) {
  const { kind, object } = opened;
  if (kind.path === 'quotes') return <TransferQuote quote={object} onClose={onClose} />;
  return <EditObject kind={kind} object={object} onClose={onClose} />;
}
