import {
  type CSSVariablesResolver,
  createTheme,
  Drawer,
  type MantineColorsTuple,
  Menu,
  Modal,
  Tooltip,
} from '@mantine/core';

/** White text on shade 7 has a contrast of at least 4.5:1 in both themes. */
const iris: MantineColorsTuple = [
  '#eef0ff',
  '#dcdffb',
  '#b6bcf2',
  '#8f98ea',
  '#6d78e3',
  '#5663df',
  '#4a58de',
  '#3b49c6',
  '#333fae',
  '#2a3597',
];

const dark: MantineColorsTuple = [
  '#d3d7e0',
  '#b3b9c6',
  '#979fb0',
  '#707a8e',
  '#3a4252',
  '#2c3342',
  '#232935',
  '#191e28',
  '#13171f',
  '#0e1117',
];

const CLOSABLE = { closeButtonProps: { 'aria-label': 'Close' } };

export const theme = createTheme({
  colors: { iris, dark },
  primaryColor: 'iris',
  primaryShade: { light: 7, dark: 6 },
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  fontFamily: "Inter, -apple-system, 'Segoe UI', Roboto, 'Open Sans', system-ui, sans-serif",
  fontFamilyMonospace:
    "ui-monospace, 'SF Mono', 'Cascadia Mono', 'JetBrains Mono', Menlo, 'DejaVu Sans Mono', 'Liberation Mono', monospace",
  components: {
    Modal: Modal.extend({ defaultProps: CLOSABLE, styles: { title: { fontWeight: 620 } } }),
    Drawer: Drawer.extend({ defaultProps: CLOSABLE, styles: { title: { fontWeight: 620 } } }),
    // The placeholder is an element that ARIA does not allow in a menu; without it the first item gets the focus.
    Menu: Menu.extend({ defaultProps: { withInitialFocusPlaceholder: false } }),
    Tooltip: Tooltip.extend({ defaultProps: { withArrow: true, openDelay: 250 } }),
  },
  headings: {
    fontWeight: '620',
    sizes: {
      h1: { fontSize: '1.5rem', lineHeight: '1.25' },
      h2: { fontSize: '1.125rem', lineHeight: '1.35' },
      h3: { fontSize: '1rem', lineHeight: '1.4' },
    },
  },
});

/** Colours of badges, alerts and text: the contrast of Mantine's defaults is below 4.5:1 (WCAG 2.1, 1.4.3). */
const LIGHT_PAIRS: Record<string, readonly [surface: string, text: string]> = {
  teal: ['#e0f6ec', '#05603f'],
  blue: ['#e4f0fd', '#10508c'],
  yellow: ['#fff4cc', '#704300'],
  orange: ['#ffecd9', '#8a3206'],
  red: ['#ffebeb', '#a31d1d'],
  gray: ['#eceef2', '#434b5a'],
};

const DARK_PAIRS: Record<string, readonly [surface: string, text: string]> = {
  teal: ['#0f3a2e', '#7be3bd'],
  blue: ['#12345a', '#9bcbfb'],
  yellow: ['#42330b', '#f7d774'],
  orange: ['#37210f', '#fdb683'],
  red: ['#381a1e', '#ffb0b0'],
  gray: ['#2a303d', '#c4cad6'],
};

/** White text on the filled colour has a contrast of at least 4.5:1. */
const RED = {
  '--mantine-color-red-filled': '#c92a2a',
  '--mantine-color-red-filled-hover': '#b02525',
  '--mantine-color-error': 'var(--mantine-color-red-text)',
};

export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    ...pairs(LIGHT_PAIRS),
    ...RED,
    '--mantine-color-dimmed': '#5b6475',
  },
  dark: {
    ...pairs(DARK_PAIRS),
    ...RED,
    '--mantine-color-dimmed': '#a2abbd',
    '--mantine-color-anchor': '#a8b1f8',
    '--mantine-color-body': '#13171f',
  },
});

function pairs(colors: typeof LIGHT_PAIRS): Record<string, string> {
  return Object.fromEntries(
    Object.entries(colors).flatMap(([name, [surface, text]]) => [
      [`--mantine-color-${name}-light`, surface],
      [`--mantine-color-${name}-light-color`, text],
      [`--mantine-color-${name}-text`, text],
    ]),
  );
}
