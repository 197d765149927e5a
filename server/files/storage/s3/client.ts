import { S3Client, S3ServiceException } from '@aws-sdk/client-s3';
import type { Secret } from '../../../infrastructure/runtime/secret.ts';
import { StorageError } from '../storage.ts';

export type S3Settings = {
  endpoint: string;
  region: string;
  bucket: string;
  accessKeyId: string;
  secretAccessKey: Secret;
};

const CONNECT_TIMEOUT_MS = 5_000;
/** Nothing goes over a connection; longer than a store is silent while it copies a large object. */
const IDLE_TIMEOUT_MS = 120_000;
/** Until an answer begins, with sending what it answers to. */
const RESPONSE_TIMEOUT_MS = 300_000;
const MAX_ATTEMPTS = 3;
const MAX_CONNECTIONS = 50;

export function createS3Client({ endpoint, region, accessKeyId, secretAccessKey }: S3Settings): S3Client {
  const agent = { keepAlive: true, maxSockets: MAX_CONNECTIONS };
  return new S3Client({
    endpoint,
    region,
    credentials: { accessKeyId, secretAccessKey: secretAccessKey.reveal() },
    // Every store knows the bucket in the path; in the host name it would need a name and a certificate for each.
    forcePathStyle: true,
    // Stores other than Amazon's refuse the checksums that the client would add by itself.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: MAX_ATTEMPTS,
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      socketTimeout: IDLE_TIMEOUT_MS,
      requestTimeout: RESPONSE_TIMEOUT_MS,
      throwOnRequestTimeout: true,
      httpAgent: agent,
      httpsAgent: agent,
    },
  });
}

export function statusOf(error: unknown): number | undefined {
  return error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
}

/** The condition of a request did not hold: 412, or 409 when it stopped holding while the store worked on it. */
export function isConditionFailed(error: unknown): boolean {
  return statusOf(error) === 412 || statusOf(error) === 409;
}

export function undefinedWhenAbsent(error: unknown): undefined {
  if (statusOf(error) !== 404) throw error;
}

export function failsTo(operation: string) {
  return (error: unknown): never => {
    throw new StorageError(operation, error);
  };
}
