import { Button, Group, Menu, Text } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { useWorkspace } from '../../session/workspace.ts';
import { notifyFailure, notifySuccess } from '../feedback/notify.ts';
import { resolveTimes } from '../filters/time-range.ts';
import { downloadBlob } from '../secrets/download-blob.ts';
import { type Format, filenameOf, formatRows, readAll } from './export-list.ts';
import { ToolbarMenu } from './ToolbarMenu.tsx';
import type { ListSource } from './use-list.ts';

/** Saves all rows that match the filters, not only those of the page. */
export function ExportMenu({
  source,
  label,
  csvPath,
}: {
  source: ListSource;
  label: string;
  /** An API route with the CSV of the same list, which reads more rows. */
  csvPath?: string | undefined;
}) {
  const { api } = useWorkspace();
  const [rows, setRows] = useState<number>();
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);

  async function save(format: Format): Promise<void> {
    const controller = new AbortController();
    const { signal } = controller;
    running.current = controller;
    setRows(0);
    try {
      const filename = filenameOf(label, format, Date.now());
      if (format === 'csv' && csvPath) {
        const query = resolveTimes(source.query, Date.now());
        downloadBlob(filename, await (await api.open(csvPath, { query, signal })).blob());
        return;
      }
      const { rows: read, isComplete } = await readAll(api, source, { signal, onProgress: setRows });
      downloadBlob(filename, formatRows(read, format));
      const count = read.length.toLocaleString('en');
      notifySuccess(
        isComplete
          ? `Exported ${count} ${read.length === 1 ? 'row' : 'rows'}.`
          : `Exported the newest ${count} rows. Filter by time to export older ones.`,
      );
    } catch (error) {
      if (!signal.aborted) notifyFailure('Export failed')(error);
    } finally {
      setRows(undefined);
    }
  }

  if (rows !== undefined)
    return (
      <Group gap={4} wrap="nowrap">
        <Text size="xs" c="dimmed" role="status">
          {rows === 0 ? 'Exporting…' : `Exporting… ${rows.toLocaleString('en')} rows`}
        </Text>
        <Button variant="subtle" size="compact-xs" onClick={() => running.current?.abort()}>
          Cancel
        </Button>
      </Group>
    );
  return (
    <ToolbarMenu label="Export" icon="download">
      <Menu.Label>All rows that match the filters</Menu.Label>
      <Menu.Item onClick={() => void save('csv')}>CSV</Menu.Item>
      <Menu.Item onClick={() => void save('json')}>JSON</Menu.Item>
    </ToolbarMenu>
  );
}
