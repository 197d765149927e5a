import type { MouseEvent } from 'react';

/**
 * For a button that needs no valid form: without this the press blurs the field, whose error moves the button away from
 * the pointer, and the click is lost.
 */
export function keepFocus(event: MouseEvent): void {
  event.preventDefault();
}
