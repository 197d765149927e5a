/** Settings of a PostgreSQL whose databases are deleted at the end of a run: no durability, no maintenance. */
export const THROWAWAY_SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '1GB',
  checkpoint_timeout: '1h',
  file_copy_method: 'clone',
  autovacuum: 'off',
  // A login computes this many hashes on both sides, and each database has several connections.
  scram_iterations: '1',
};
