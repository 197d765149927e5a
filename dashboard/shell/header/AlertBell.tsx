import { ActionIcon, Indicator, Popover } from '@mantine/core';
import { useLocation } from '@tanstack/react-router';
import { Suspense, useEffect, useState } from 'react';
import { useUnreadAlerts } from '../../shared/alerts/use-unread-alerts.ts';
import { lazyComponent } from '../../shared/loading/lazy-component.ts';
import { NotLoaded } from '../../shared/loading/NotLoaded.tsx';
import { Icon } from '../../shared/text/Icon.tsx';

/** Loaded when the bell is opened, to keep the first load small. */
const AlertList = lazyComponent(async () => (await import('./AlertList.tsx')).AlertList, NotLoaded);

const MOST_SHOWN = 99;

export function AlertBell() {
  const { unread } = useUnreadAlerts();
  const [isOpen, setOpen] = useState(false);
  const pathname = useLocation({ select: (location) => location.pathname });
  // biome-ignore lint/correctness/useExhaustiveDependencies: navigation closes the list
  useEffect(() => setOpen(false), [pathname]);
  const count = unread > MOST_SHOWN ? `${MOST_SHOWN}+` : String(unread);
  return (
    <Popover
      opened={isOpen}
      onChange={setOpen}
      position="bottom-end"
      width="min(24rem, calc(100vw - 2rem))"
      shadow="md"
      trapFocus
      returnFocus
    >
      <Indicator
        disabled={unread === 0}
        label={count}
        size={17}
        offset={6}
        color="red.8"
        styles={{ indicator: { fontSize: 10, fontWeight: 700, padding: '0 4px', pointerEvents: 'none' } }}
      >
        <Popover.Target>
          <ActionIcon
            variant="subtle"
            color="gray"
            size="lg"
            onClick={() => setOpen((open) => !open)}
            aria-label={unread === 0 ? 'Alerts' : `Alerts: ${count} unread`}
          >
            <Icon name="bell" size={20} />
          </ActionIcon>
        </Popover.Target>
      </Indicator>
      <Popover.Dropdown p={0} aria-label="Alerts">
        <Suspense>
          <AlertList />
        </Suspense>
      </Popover.Dropdown>
    </Popover>
  );
}
