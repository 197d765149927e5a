import { getDefaultZIndex, Modal } from '@mantine/core';
import type { ReactNode } from 'react';

/** What is below it is dimmed already. */
const ABOVE_OPACITY = 0.3;

/** While it is `held` no stray key or click closes it: what it waits for, or shows, would be lost. */
export function Dialog({
  title,
  wide = false,
  held = false,
  above = false,
  onClose,
  children,
}: {
  title: string;
  wide?: boolean;
  held?: boolean;
  /** Over another dialog. */
  above?: boolean;
  onClose: () => void;
  children: ReactNode;
}) {
  return (
    <Modal
      opened
      zIndex={getDefaultZIndex('modal') + (above ? 1 : 0)}
      title={title}
      size={wide ? 'lg' : 'md'}
      centered={!wide}
      onClose={onClose}
      {...(above ? { overlayProps: { backgroundOpacity: ABOVE_OPACITY } } : {})}
      closeOnClickOutside={!held}
      closeOnEscape={!held}
      withCloseButton={!held}
      styles={{ title: { lineHeight: 1.35, overflowWrap: 'anywhere' } }}
    >
      {children}
    </Modal>
  );
}
