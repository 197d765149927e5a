/** The version of PDF.js, set by `vite.config.ts`. */
declare const __PDFJS_VERSION__: string;
