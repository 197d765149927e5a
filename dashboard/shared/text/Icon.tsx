import type { CSSProperties } from 'react';

/** Stroke paths on a 24×24 grid. */
const PATHS = {
  overview: 'M4 13h6V4H4zM14 20h6v-9h-6zM4 20h6v-3H4zM14 7h6V4h-6z',
  key: 'M7.5 16.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9M12 12h9.5M19 12v4M15.5 12v3',
  webhook: 'M12 8.5a3.5 3.5 0 1 1 3-1.7L18 12a4 4 0 1 1-2.5 6.5H9M9.5 7.5 6 13.6a3.5 3.5 0 1 0 3 4.9',
  events: 'M4 6h16M4 12h10M4 18h13',
  requests: 'M4 8h14M14 4l4 4-4 4M20 16H6M10 12l-4 4 4 4',
  live: 'M3 12h4l3-8 4 16 3-8h4',
  file: 'M14 3H6v18h12V7zM14 3v4h4M9 13h6M9 17h4',
  sandbox: 'M12 3 4 7v10l8 4 8-4V7zM4 7l8 4 8-4M12 11v10',
  team: 'M9 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8M2.5 20.5c0-3.6 2.9-6 6.5-6s6.5 2.4 6.5 6M16 3.6a4 4 0 0 1 0 7.1M18.5 15.2c1.8.9 3 2.7 3 5.3',
  audit: 'M9 4H6v16h12V4h-3M9 3h6v3H9zM9 12h6M9 16h4',
  account: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8M4.5 20.5c.6-3.6 3.7-6 7.5-6s6.9 2.4 7.5 6',
  rocket: 'M5 14c-1.5 1.5-2 5-2 5s3.5-.5 5-2M9 15l-3-3c1-4.5 4.5-9 14-9 0 9.5-4.5 13-9 14zM14.5 9.5h.01',
  dots: 'M6 12.5a.5.5 0 1 0 0-1 .5.5 0 0 0 0 1M12 12.5a.5.5 0 1 0 0-1 .5.5 0 0 0 0 1M18 12.5a.5.5 0 1 0 0-1 .5.5 0 0 0 0 1',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  check: 'M5 12.5 10 17.5 19.5 7',
  plus: 'M12 5v14M5 12h14',
  download: 'M12 4v11M7.5 10.5 12 15l4.5-4.5M5 20h14',
  upload: 'M12 15V4M7.5 8.5 12 4l4.5 4.5M5 20h14',
  trash: 'M4.5 7h15M9.5 7V4h5v3M6.5 7l1 13h9l1-13M10.5 11v5M13.5 11v5',
  edit: 'M4 20h4L19 9l-4-4L4 16zM13 7l4 4',
  refresh: 'M20 11a8 8 0 1 0-2.3 6.2M20 5v6h-6',
  warning: 'M12 4 2.5 20h19zM12 10v4.5M12 17.5h.01',
  info: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18M12 11v5M12 8h.01',
  eye: 'M2.5 12s3.5-6.5 9.5-6.5 9.5 6.5 9.5 6.5-3.5 6.5-9.5 6.5S2.5 12 2.5 12M12 14.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5',
  search: 'M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14M20.5 20.5 16 16',
  chevron: 'M7 10l5 5 5-5',
  right: 'M9 6l6 6-6 6',
  left: 'M15 6l-6 6 6 6',
  sun: 'M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8M12 2.5v2M12 19.5v2M4.5 4.5l1.5 1.5M18 18l1.5 1.5M2.5 12h2M19.5 12h2M4.5 19.5 6 18M18 6l1.5-1.5',
  moon: 'M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5',
  logout: 'M10 4H5v16h5M15 8l4 4-4 4M19 12H9',
  shield: 'M12 3 5 6v6c0 4.5 3 7.5 7 9 4-1.5 7-4.5 7-9V6zM9 12l2 2 4-4',
  passkey:
    'M9.5 11.5a4 4 0 1 0 0-8 4 4 0 0 0 0 8M2.5 20.5c.3-3.5 3.2-6 7-6 1 0 1.9.2 2.7.5M18 10.5a2.5 2.5 0 0 1 1 4.8V17l-1 1 1 1-1.5 2-1-1v-4.7a2.5 2.5 0 0 1 1.5-4.8',
  pause: 'M8 5v14M16 5v14',
  play: 'M7 5v14l12-7z',
  send: 'M21 3 10 14M21 3l-7 18-4-7-7-4z',
  book: 'M5 4h6c1 0 1 1 1 1v15s0-1-1-1H5zM19 4h-6c-1 0-1 1-1 1v15s0-1 1-1h6z',
  settings: 'M4 7h9M17 7h3M15 5v4M4 17h3M11 17h9M9 15v4',
  filter: 'M4 6h16M7 12h10M10 18h4',
  inbox: 'M4 13 7 5h10l3 8v6H4zM4 13h5l1 2h4l1-2h5',
  bell: 'M6 16.5V11a6 6 0 0 1 12 0v5.5l1.5 1.5h-15zM10 20.5a2 2 0 0 0 4 0',
  bank: 'M4 10 12 4l8 6M5 20h14M7 10v7M12 10v7M17 10v7',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 18, style }: { name: IconName; size?: number; style?: CSSProperties }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth={1.75}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
      style={{ flexShrink: 0, ...style }}
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
