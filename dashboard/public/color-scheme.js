// Runs before the first paint, so that a dark page does not flash white. The CSP forbids inline scripts.
const chosen = localStorage.getItem('portico.color-scheme');
const dark = chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
document.documentElement.dataset.mantineColorScheme = dark ? 'dark' : 'light';
