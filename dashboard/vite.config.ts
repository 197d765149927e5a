import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** Nothing is inlined: the Content-Security-Policy allows only files of this origin. */
export default defineConfig({
  plugins: [react()],
  build: { target: 'es2024', assetsInlineLimit: 0, modulePreload: { polyfill: false } },
});
