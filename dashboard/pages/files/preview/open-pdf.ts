import { getDocument, type PDFDocumentProxy, PDFWorker } from 'pdfjs-dist';
import workerUrl from 'pdfjs-dist/build/pdf.worker.min.mjs?url';

/** As `vite.config.ts` names the folder of the image decoders. */
const DECODERS = `/assets/pdfjs-${__PDFJS_VERSION__}/`;
/** Larger images are left out: a small file may contain a picture that fills the memory. */
const MAX_IMAGE_PIXELS = 50_000_000;

/**
 * Parses a document in a worker of its own. Scripts and forms of the document are ignored, and decoders run as JavaScript,
 * because the Content-Security-Policy permits neither `eval` nor WebAssembly.
 */
export function openPdf(content: Uint8Array<ArrayBuffer>): {
  document: Promise<PDFDocumentProxy>;
  close(): void;
} {
  const port = new Worker(workerUrl, { type: 'module' });
  const task = getDocument({
    // The worker takes the bytes over, and the preview may be opened again.
    data: content.slice(),
    worker: PDFWorker.create({ port }),
    wasmUrl: DECODERS,
    useWasm: false,
    enableXfa: false,
    maxImageSize: MAX_IMAGE_PIXELS,
  });
  return {
    document: task.promise,
    close() {
      void task.destroy().finally(() => port.terminate());
    },
  };
}
