/** Defaults for a server with one client on the same machine; the caller's settings override them. */
const defaults: Readonly<Record<string, string>> = {
  max_connections: '100',
  shared_buffers: '128MB',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_checkpoints: 'off',
  // Error details quote values of rows.
  log_error_verbosity: 'terse',
  // Requests are small, and parallel plans need shared memory, which is scarce in containers.
  max_parallel_workers_per_gather: '0',
};

/** Reachable from this machine only, whatever the caller's settings are. */
const listening: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  logging_collector: 'off',
  log_destination: 'stderr',
};

export function serverArguments(options: {
  clusterDir: string;
  port: number;
  settings: Readonly<Record<string, string>>;
}): string[] {
  const all = { ...defaults, ...options.settings, ...listening, port: String(options.port) };
  return [
    '-D',
    options.clusterDir,
    ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ];
}
