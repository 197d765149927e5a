import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { readVerificationSnippets } from '../scripts/guides/snippets.ts';

const PDFJS = dirname(createRequire(import.meta.url).resolve('pdfjs-dist/package.json'));
const { version } = JSON.parse(readFileSync(join(PDFJS, 'package.json'), 'utf8')) as { version: string };
const DECODERS = ['openjpeg_nowasm_fallback.js', 'jbig2_nowasm_fallback.js'];

/** The worker of PDF.js loads decoders of rare image formats by their names. */
function pdfDecoders(): Plugin {
  return {
    name: 'pdf-decoders',
    generateBundle() {
      for (const name of DECODERS)
        this.emitFile({
          type: 'asset',
          fileName: `assets/pdfjs-${version}/${name}`,
          source: readFileSync(join(PDFJS, 'wasm', name)),
        });
    },
  };
}

/** Nothing is inlined: the Content-Security-Policy allows only files of this origin. */
export default defineConfig({
  plugins: [react(), pdfDecoders()],
  define: {
    __PDFJS_VERSION__: JSON.stringify(version),
    __VERIFICATION_SNIPPETS__: JSON.stringify(readVerificationSnippets(join(import.meta.dirname, '..'))),
  },
  build: {
    target: 'es2024',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: ['index.html', 'guides.html'].map((page) => join(import.meta.dirname, page)),
      // Otherwise each component that pages share is a file of its own: 83 requests for a page instead of 30.
      output: { codeSplitting: { groups: [{ name: 'shared', minShareCount: 5 }] } },
    },
  },
});
