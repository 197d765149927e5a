/** The first line of a failure without the guids, nodes and numbers of one seed: equal for the same kind of failure. */
export function kindOfFailure(failure: string): string {
  return (failure.split('\n')[0] ?? '')
    .replace(/[0-9a-f]{32}/g, '…')
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '…')
    .replace(/https:\/\/e\d+\.example\/hook/g, 'an endpoint')
    .replace(/\b[abc]\.\d+\b/g, 'a node')
    .replace(/\b\d+(\.\d+)? ms/g, '… ms')
    .replaceAll('|', ' ')
    .slice(0, 110);
}
