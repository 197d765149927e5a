import { type ShouldBlockFn, useBlocker } from '@tanstack/react-router';
import { useFreeze } from '../../session/freeze.ts';
import { notifyBlocked } from '../feedback/notify.ts';
import type { Search } from '../filters/search.ts';

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

/** Whether the navigation unmounts the page: another bank or Organization does, filters do not. */
export function isLeaving({ current, next }: Navigation): boolean {
  return current.pathname !== next.pathname || selectionOf(current.search) !== selectionOf(next.search);
}

function selectionOf({ org, bank }: Search): string {
  return `${org} ${bank}`;
}
