import type { Application } from '../../api/types.ts';
import { RowMenu } from '../../shared/table/RowMenu.tsx';
import type { KeyAction } from './KeyDialog.tsx';
import type { Rotation } from './use-rotations.ts';

export function KeyMenu({
  application,
  rotation,
  onAction,
}: {
  application: Application;
  rotation: Rotation | undefined;
  onAction: (action: KeyAction) => void;
}) {
  const act = (action: KeyAction) => () => onAction(action);
  const pair = rotation && { application: rotation.old, replacement: rotation.replacement };
  return (
    <RowMenu
      name={application.name}
      items={[
        { label: 'Edit', icon: 'edit', onClick: act({ type: 'edit', application }) },
        ...(pair
          ? ([
              { label: 'Continue rotation', icon: 'refresh', onClick: act({ type: 'continue', ...pair }) },
              { label: 'Give up rotation', icon: 'trash', onClick: act({ type: 'give up', ...pair }) },
            ] as const)
          : ([{ label: 'Rotate', icon: 'refresh', onClick: act({ type: 'rotate', application }) }] as const)),
      ]}
      danger={{ label: 'Delete', icon: 'trash', onClick: act({ type: 'delete', application }) }}
    />
  );
}
