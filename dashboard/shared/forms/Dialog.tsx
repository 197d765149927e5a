import { getDefaultZIndex, Modal } from '@mantine/core';
import type { ReactNode } from 'react';

/** The overlay of the dialog below dims the page already. */
const ABOVE_OPACITY = 0.3;

/** A `locked` dialog cannot be closed by Escape, an outside click or the close button. */
export function Dialog({
  title,
  wide = false,
  locked = false,
  above = false,
  onClose,
  children,
}: {
  title: string;
  wide?: boolean;
  locked?: boolean;
  /** Opens above another dialog. */
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
      closeOnClickOutside={!locked}
      closeOnEscape={!locked}
      withCloseButton={!locked}
      styles={{ title: { lineHeight: 1.35, overflowWrap: 'anywhere' } }}
    >
      {children}
    </Modal>
  );
}
