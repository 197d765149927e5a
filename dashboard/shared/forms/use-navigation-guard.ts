import { type ShouldBlockFn, useBlocker } from '@tanstack/react-router';
import { useFreeze } from '../../session/freeze.ts';
import { notifyBlocked } from '../feedback/notify.ts';

type Navigation = Parameters<ShouldBlockFn>[0];

/** While `active`, blocks navigation and shows `message` instead. */
export function useNavigationGuard(
  active: boolean,
  message: string,
  isBlocked: (navigation: Navigation) => boolean = () => true,
): void {
  useBlocker({
    shouldBlockFn: (navigation) => {
      if (!isBlocked(navigation)) return false;
      notifyBlocked(message);
      return true;
    },
    enableBeforeUnload: active,
    disabled: !active,
  });
  useFreeze(active);
}
