-- The files of customers. Their bytes are elsewhere, under the guid; the state follows from the moments below.
create table files (
  guid uuid primary key,
  organization_guid uuid not null references organizations,
  bank_guid uuid not null references banks,
  customer_guid uuid not null references customers,
  environment text not null check (environment in ('production', 'sandbox')),
  type text not null,
  filename text not null,
  content_type text not null,
  -- the most that the upload may have
  max_bytes bigint not null,
  size bigint,
  sha256 text,
  failure_code text check (
    failure_code in ('upload_expired', 'content_type_mismatch', 'infected', 'empty', 'too_large')),
  -- only of those whose content comes by a link
  upload_expires_at timestamptz,
  -- its content is there
  uploaded_at timestamptz,
  -- when the file is processed next; a worker moves it ahead first, so it is also the end of its lease
  next_look_at timestamptz,
  leased_by uuid,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  completed_at timestamptz,
  failed_at timestamptz
);
create index files_by_organization on files (organization_guid, guid);
create index files_by_environment on files (organization_guid, environment, guid);
create index files_by_type on files (organization_guid, type, guid);
create index files_by_bank on files (bank_guid, guid);
create index files_by_customer on files (customer_guid, guid);
-- Most are completed; looking for the others must not pass by all of them.
create index files_storing on files (organization_guid, guid) where completed_at is null and failed_at is null;
create index files_failed on files (organization_guid, guid) where failed_at is not null;
-- What the processing looks for.
create index files_to_look_at on files (next_look_at) where next_look_at is not null;

-- Content that must not stay: of files that failed, and what may have been stored without its file having come about.
create table file_removals (
  guid uuid primary key,
  due_at timestamptz not null
);
create index file_removals_due on file_removals (due_at);
