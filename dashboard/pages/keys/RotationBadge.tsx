import type { Application } from '../../api/types.ts';
import { ReplacementBadge } from '../../shared/secrets/ReplacementBadge.tsx';
import type { Rotation } from './use-rotations.ts';

export function RotationBadge({
  application,
  rotation,
}: {
  application: Application;
  rotation: Rotation | undefined;
}) {
  if (!rotation) return null;
  const { old, replacement } = rotation;
  const isNew = replacement.client_id === application.client_id;
  const owner = replacement.bank_guid === undefined ? 'organization' : 'bank';
  return (
    <ReplacementBadge
      label={isNew ? `replaces ${old.name}` : `being replaced by ${replacement.name}`}
      begun={{
        action: `${owner}_application.create`,
        objectId: replacement.client_id,
        at: replacement.created_at,
      }}
    />
  );
}
