// Before the first paint, so that a dark page never flashes white. A file of its own: the policy refuses inline scripts.
const chosen = localStorage.getItem('portico.color-scheme');
const dark = chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
document.documentElement.dataset.mantineColorScheme = dark ? 'dark' : 'light';
