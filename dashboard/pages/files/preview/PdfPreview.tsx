import { Text } from '@mantine/core';
import type { PDFDocumentProxy } from 'pdfjs-dist';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { openPdf } from './open-pdf.ts';
import styles from './Preview.module.css';
import { pageScale } from './page-scale.ts';

const MAX_PAGES = 20;

/** Draws the pages as pictures. Nothing of the document becomes part of the page or runs in it. */
export function PdfPreview({ content, failed }: { content: Uint8Array<ArrayBuffer>; failed: ReactNode }) {
  const [document, setDocument] = useState<PDFDocumentProxy>();
  const [hasFailed, setFailed] = useState(false);
  useEffect(() => {
    const opening = openPdf(content);
    opening.document.then(setDocument, () => setFailed(true));
    return opening.close;
  }, [content]);
  if (hasFailed) return failed;
  const pages = document?.numPages ?? 0;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be focusable
    <section className={styles.pages} tabIndex={0} aria-label="Pages" aria-busy={!document}>
      {document
        ? Array.from({ length: Math.min(pages, MAX_PAGES) }, (_, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: pages have no other identity
            <Page key={index} document={document} number={index + 1} onFail={() => setFailed(true)} />
          ))
        : null}
      {pages > MAX_PAGES ? (
        <Text size="sm" ta="center">
          {MAX_PAGES} of {pages} pages. Download the file to view all of them.
        </Text>
      ) : null}
    </section>
  );
}

function Page({
  document,
  number,
  onFail,
}: {
  document: PDFDocumentProxy;
  number: number;
  onFail: () => void;
}) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [isDrawn, setDrawn] = useState(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a page is drawn once
  useEffect(() => {
    let cancel = () => {};
    const draw = async () => {
      const page = await document.getPage(number);
      const target = canvas.current;
      if (!target) return;
      const viewport = page.getViewport({ scale: pageScale(page.getViewport({ scale: 1 })) });
      target.width = viewport.width;
      target.height = viewport.height;
      const task = page.render({ canvas: target, viewport });
      cancel = () => task.cancel();
      await task.promise;
      setDrawn(true);
    };
    draw().catch((error: unknown) => {
      if ((error as Error).name !== 'RenderingCancelledException') onFail();
    });
    return () => cancel();
  }, [document, number]);
  const label = `Page ${number} of ${document.numPages}`;
  return (
    <canvas
      ref={canvas}
      className={styles.page}
      role="img"
      aria-label={label}
      data-drawn={isDrawn || undefined}
    />
  );
}
