/** The version of PDF.js, set by `vite.config.ts`. */
declare const __PDFJS_VERSION__: string;

/** The verification code of `examples/receivers`, set by `vite.config.ts`. */
declare const __VERIFICATION_SNIPPETS__: readonly {
  language: string;
  path: string;
  imports?: string;
  code: string;
}[];
