/** The CPU time of this thread, which other processes do not add to. */
export function cpuMsOf(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  return process.threadCpuUsage(before).user / 1_000;
}
