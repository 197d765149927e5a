import { getDefaultZIndex, Modal } from '@mantine/core';
import { useBlocker } from '@tanstack/react-router';
import { type MouseEvent, type ReactNode, useRef } from 'react';
import { notifyBlocked } from '../feedback/notify.ts';
import { useChangedForm } from './use-changed-form.ts';
import { useReturnFocus } from './use-return-focus.ts';

/** The overlay of the dialog below dims the page already. */
const ABOVE_OPACITY = 0.3;

/**
 * A `locked` dialog cannot be closed by Escape, an outside click or the close button. A changed form is discarded only
 * by a button or link of the dialog; before the page is closed or reloaded, the browser asks.
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
  /** The user has pressed the close button or a link of the dialog. */
  const isLeaving = useRef(false);
  const { isChanged, handlers } = useChangedForm();
  const keepInput = () => {
    if (isChanged()) notifyBlocked('Press Close to discard your input.');
    return isChanged();
  };
  // The browser's Back, and the search, which opens above.
  useBlocker({ shouldBlockFn: () => !isLeaving.current && keepInput(), enableBeforeUnload: isChanged });
  const close = () => {
    if (isLeaving.current || !keepInput()) onClose();
  };
  return (
    <Modal
      opened
      zIndex={getDefaultZIndex('modal') + (above ? 1 : 0)}
      title={title}
      size={wide ? 'lg' : 'md'}
      centered={!wide}
      onClose={close}
      {...handlers}
      onClickCapture={({ currentTarget, target }: MouseEvent<HTMLElement>) => {
        const used = (target as Element).closest('[aria-label=Close], a:not([target])');
        // Not of a dialog above, whose events React passes on to this one.
        isLeaving.current = currentTarget.contains(used);
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
