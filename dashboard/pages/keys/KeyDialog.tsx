import type { Application } from '../../api/types.ts';
import { EditKey } from './EditKey.tsx';
import { GenerateKey } from './GenerateKey.tsx';
import { RemoveKey } from './RemoveKey.tsx';
import { RotateKey } from './RotateKey.tsx';
import type { KeyKind } from './use-key-api.ts';

export type KeyAction =
  | { what: 'generate' }
  | { what: 'edit' | 'rotate' | 'remove'; application: Application };

/** Stands above the rows: a row that a refresh takes off the page takes no dialog, and no secret, with it. */
export function KeyDialog({ kind, task, onClose }: { kind: KeyKind; task: KeyAction; onClose: () => void }) {
  if (task.what === 'generate') return <GenerateKey kind={kind} onClose={onClose} />;
  const props = { kind, application: task.application, onClose };
  if (task.what === 'edit') return <EditKey {...props} />;
  if (task.what === 'rotate') return <RotateKey {...props} />;
  return <RemoveKey {...props} />;
}
