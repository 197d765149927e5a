import { oneLine } from '../../infrastructure/runtime/one-line.ts';
import { escapeHtml } from './email.ts';

type Page = {
  nonce: string;
  state: 'ask' | 'done' | 'invalid';
  label: string;
  organizationName: string;
};

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; --text: #1a1b1e; --dimmed: #4d545b;
  --page: #f1f3f5; --card: #fff; --accent: #1862ab; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e9ecef; --dimmed: #adb5bd; --page: #141517; --card: #1f2023; --accent: #1971c2; } }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: var(--page); color: var(--text); }
main { box-sizing: border-box; width: min(100%, 30rem); padding: 2rem; background: var(--card); border-radius: 0.75rem; }
h1 { margin: 0 0 0.75rem; font-size: 1.35rem; }
p { margin: 0 0 1.25rem; color: var(--dimmed); }
p:last-child { margin: 0; }
button { font: inherit; font-weight: 600; color: #fff; background: var(--accent); border: 0; border-radius: 0.4rem;
  padding: 0.6rem 1.1rem; cursor: pointer; }
a { color: inherit; }
button:focus-visible, a:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; }`;

/** A page of its own, so that it works without a login, scripts and a built dashboard. */
export function unsubscribePage({ nonce, state, label, organizationName }: Page): string {
  const what = `<strong>${escapeHtml(label)}</strong>`;
  const organization = escapeHtml(oneLine(organizationName));
  const { title, content } = {
    ask: {
      title: 'Unsubscribe from these emails?',
      content: `<p>You will get no more emails about ${what} from ${organization}. The alerts remain in the dashboard.</p>
<form method="post"><button type="submit">Unsubscribe</button></form>`,
    },
    done: {
      title: 'You are unsubscribed',
      content: `<p>You get no more emails about ${what} from ${organization}. To change this, open <a href="/account">your account</a>.</p>`,
    },
    invalid: {
      title: 'This link is not valid',
      content: `<p>Copy the whole link from the email, or turn emails off in <a href="/account">your account</a>.</p>`,
    },
  }[state];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Portico</title>
<style nonce="${nonce}">${STYLE}</style>
</head>
<body><main><h1>${title}</h1>${content}</main></body>
</html>
`;
}
