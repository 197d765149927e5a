import { Select, SimpleGrid, Stack } from '@mantine/core';
import { useState } from 'react';
import { FILE_TYPES } from '../../../server/files/file-types.ts';
import { CustomerSelect } from '../../shared/forms/CustomerSelect.tsx';
import { Panel } from '../../shared/page/Panel.tsx';
import { Dropzone } from './Dropzone.tsx';
import { typeLabel } from './labels.ts';
import { UploadRow } from './UploadRow.tsx';
import { useUploads } from './use-uploads.ts';

export function UploadPanel() {
  const [customer, setCustomer] = useState<string>();
  const [type, setType] = useState<string | null>(null);
  const { uploads, add, cancel, dismiss } = useUploads();
  return (
    <Panel title="Upload">
      <Stack>
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <CustomerSelect creatable value={customer} onChange={setCustomer} />
          <Select
            label="Type"
            placeholder="Select a type"
            searchable
            data={FILE_TYPES.map((value) => ({ value, label: typeLabel(value) }))}
            value={type}
            onChange={setType}
          />
        </SimpleGrid>
        <Dropzone
          disabled={customer === undefined || type === null}
          onFiles={(files) => {
            if (customer !== undefined && type !== null) add(files, { type, customer_guid: customer });
          }}
        />
        {uploads.map((upload) => (
          <UploadRow
            key={upload.key}
            upload={upload}
            onCancel={() => cancel(upload.key)}
            onDismiss={() => dismiss(upload.key)}
          />
        ))}
      </Stack>
    </Panel>
  );
}
