import { getDefaultZIndex, Modal } from '@mantine/core';
import { type MouseEvent, type ReactNode, type SyntheticEvent, useRef } from 'react';
import { notifyBlocked } from '../feedback/notify.ts';
import { useReturnFocus } from './use-return-focus.ts';

/** The overlay of the dialog below dims the page already. */
const ABOVE_OPACITY = 0.3;

/**
 * A `locked` dialog cannot be closed by Escape, an outside click or the close button. A changed form is discarded only
 * by a button.
 */
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
  useReturnFocus();
  const changedForm = useRef<HTMLFormElement>(null);
  const isButtonUsed = useRef(false);
  const markChanged = ({ currentTarget }: SyntheticEvent<HTMLElement>) => {
    changedForm.current = currentTarget.querySelector('form');
  };
  const close = () => {
    // The next step of a dialog has removed the form of the previous one.
    if (isButtonUsed.current || !changedForm.current?.isConnected) onClose();
    else notifyBlocked('Press Close to discard your input.');
  };
  return (
    <Modal
      opened
      zIndex={getDefaultZIndex('modal') + (above ? 1 : 0)}
      title={title}
      size={wide ? 'lg' : 'md'}
      centered={!wide}
      onClose={close}
      onInput={markChanged}
      // Options of a select are outside of its form and cause no input event.
      onClick={(event: MouseEvent<HTMLElement>) => {
        if ((event.target as Element).closest('[role=option]')) markChanged(event);
      }}
      closeButtonProps={{
        'aria-label': 'Close',
        onClickCapture: () => {
          isButtonUsed.current = true;
        },
      }}
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
