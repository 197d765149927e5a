/** What suits a server that one service on the same machine uses; the caller's settings come on top. */
const defaults: Readonly<Record<string, string>> = {
  max_connections: '100',
  shared_buffers: '128MB',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_checkpoints: 'off',
  // Without the details of an error, which quote the values of a row.
  log_error_verbosity: 'terse',
  // Requests are small; parallel plans would only need more of a container's scarce shared memory.
  max_parallel_workers_per_gather: '0',
};

/** Reachable from this machine only, whatever the caller's settings say. */
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
