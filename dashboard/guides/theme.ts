/** The dashboard stores the choice of its own switch under the same name. */
const KEY = 'portico.color-scheme';

/** Switches between light and dark, and follows the system until one is chosen. */
export function enableTheme(): void {
  const system = matchMedia('(prefers-color-scheme: dark)');
  const button = document.querySelector<HTMLButtonElement>('button.theme');
  const isDark = () => {
    const chosen = localStorage.getItem(KEY);
    return chosen === 'dark' || (chosen !== 'light' && system.matches);
  };
  const apply = () => {
    document.documentElement.dataset.mantineColorScheme = isDark() ? 'dark' : 'light';
    const label = `Switch to ${isDark() ? 'light' : 'dark'} theme`;
    button?.setAttribute('aria-label', label);
    button?.setAttribute('title', label);
  };
  system.addEventListener('change', apply);
  button?.addEventListener('click', () => {
    localStorage.setItem(KEY, isDark() ? 'light' : 'dark');
    apply();
  });
  apply();
}
