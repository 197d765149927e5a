/** Uses XMLHttpRequest, because `fetch` does not report upload progress. */
export function putFile(
  url: string,
  file: File,
  { onProgress, signal }: { onProgress: (progress: number) => void; signal: AbortSignal },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('PUT', url);
    request.setRequestHeader('content-type', file.type);
    request.upload.addEventListener('progress', ({ loaded, total }) =>
      onProgress(loaded / Math.max(1, total)),
    );
    request.addEventListener('load', () => {
      if (request.status >= 200 && request.status < 300) resolve();
      else reject(new Error(errorMessage(request)));
    });
    request.addEventListener('error', () =>
      reject(new Error('The connection was lost. Upload the file again.')),
    );
    request.addEventListener('abort', () => reject(new DOMException('Cancelled', 'AbortError')));
    signal.addEventListener('abort', () => request.abort());
    request.send(file);
  });
}

function errorMessage({ status, responseText }: XMLHttpRequest): string {
  try {
    return (JSON.parse(responseText) as { message: string }).message;
  } catch {
    return `The upload failed with status ${status}.`;
  }
}
