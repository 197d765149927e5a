import type { Application } from '../../api/types.ts';
import { DeleteKey } from './DeleteKey.tsx';
import { EditKey } from './EditKey.tsx';
import { GenerateKey } from './GenerateKey.tsx';
import { GiveUpRotation } from './GiveUpRotation.tsx';
import { RotateKey } from './RotateKey.tsx';
import type { KeyKind } from './scopes/read-scopes.ts';

export type KeyAction =
  | { type: 'generate' }
  | { type: 'edit' | 'rotate' | 'delete'; application: Application }
  | { type: 'continue' | 'give up'; application: Application; replacement: Application };

/** Rendered outside of the rows, so that a refresh that removes the row does not close the dialog and its secret. */
export function KeyDialog({
  kind,
  action,
  onClose,
}: {
  kind: KeyKind;
  action: KeyAction;
  onClose: () => void;
}) {
  if (action.type === 'generate') return <GenerateKey kind={kind} onClose={onClose} />;
  const props = { kind, application: action.application, onClose };
  if (action.type === 'edit') return <EditKey {...props} />;
  if (action.type === 'rotate') return <RotateKey {...props} />;
  if (action.type === 'continue') return <RotateKey {...props} replacement={action.replacement} />;
  if (action.type === 'give up') return <GiveUpRotation {...props} replacement={action.replacement} />;
  return <DeleteKey {...props} />;
}
