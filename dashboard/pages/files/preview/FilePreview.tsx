import { Button, Center, Group, Loader, Modal, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Suspense } from 'react';
import type { StoredFile } from '../../../api/types.ts';
import { useWorkspace } from '../../../session/workspace.ts';
import { useReturnFocus } from '../../../shared/forms/use-return-focus.ts';
import { lazyComponent } from '../../../shared/loading/lazy-component.ts';
import { Icon } from '../../../shared/text/Icon.tsx';
import { formatBytes, typeLabel } from '../labels.ts';
import { useDownload } from '../use-download.ts';
import { ImagePreview } from './ImagePreview.tsx';
import { MAX_PREVIEW_BYTES } from './previewable.ts';

const PdfPreview = lazyComponent(
  async () => (await import('./PdfPreview.tsx')).PdfPreview,
  ({ failed }) => failed,
);

/** Shows the content of an image or PDF. The request of its URL is recorded like a download. */
export function FilePreview({ file, onClose }: { file: StoredFile; onClose: () => void }) {
  useReturnFocus();
  const download = useDownload();
  const { filename, type, size = 0 } = file;
  return (
    <Modal
      opened
      size="xl"
      title={filename}
      onClose={onClose}
      styles={{ title: { overflowWrap: 'anywhere' } }}
    >
      <Stack>
        <Group justify="space-between">
          <Text size="sm" c="dimmed">
            {typeLabel(type)} · {formatBytes(size)}
          </Text>
          <Button
            size="xs"
            variant="default"
            leftSection={<Icon name="download" size={15} />}
            onClick={() => void download(file)}
          >
            Download
          </Button>
        </Group>
        {size > MAX_PREVIEW_BYTES ? (
          <Notice>
            Files of more than {formatBytes(MAX_PREVIEW_BYTES)} have no preview. Download the file to view it.
          </Notice>
        ) : (
          <Content file={file} />
        )}
      </Stack>
    </Modal>
  );
}

function Content({ file }: { file: StoredFile }) {
  const { data, error } = useContent(file);
  if (error) return <Notice>The content could not be loaded. Download the file to view it.</Notice>;
  if (!data) return <Waiting />;
  return file.content_type === 'application/pdf' ? (
    <Suspense fallback={<Waiting />}>
      <PdfPreview
        content={data}
        failed={<Notice>This PDF cannot be shown. Download the file to view it.</Notice>}
      />
    </Suspense>
  ) : (
    <ImagePreview content={data} type={file.content_type} name={file.filename} />
  );
}

/** Requested once per preview, and forgotten with it: the file may be an identity document. */
function useContent({ guid }: StoredFile) {
  const { api } = useWorkspace();
  return useQuery({
    queryKey: [api.key, 'content', guid],
    queryFn: async ({ signal }) => {
      const query = { include_download_url: true };
      const { download_url: url } = await api.get<StoredFile>(`/files/${guid}`, { query, signal });
      if (url === undefined) throw new Error('The service returned no download URL.');
      const response = await fetch(url, { credentials: 'omit', signal });
      if (!response.ok) throw new Error(`The download failed with status ${response.status}.`);
      return new Uint8Array(await response.arrayBuffer());
    },
    ...{ gcTime: 0, staleTime: Number.POSITIVE_INFINITY, retry: false },
  });
}

function Notice({ children }: { children: React.ReactNode }) {
  return (
    <Center mih={200}>
      <Text size="sm" c="dimmed" ta="center">
        {children}
      </Text>
    </Center>
  );
}

function Waiting() {
  return (
    <Center mih={200}>
      <Loader aria-label="Loading the preview" />
    </Center>
  );
}
