import { S3Client, S3ServiceException } from '@aws-sdk/client-s3';
import type { Secret } from '../../../infrastructure/runtime/secret.ts';

export type S3Settings = {
  endpoint: string;
  region: string;
  bucket: string;
  accessKeyId: string;
  secretAccessKey: Secret;
};

const CONNECT_TIMEOUT_MS = 5_000;
/** Without traffic on a connection; longer than a store takes to copy a large object. */
const IDLE_TIMEOUT_MS = 120_000;
/** Until the response begins, including the time to send the request. */
const RESPONSE_TIMEOUT_MS = 300_000;
const MAX_ATTEMPTS = 3;
const MAX_CONNECTIONS = 50;

/** Without a logger the client writes to the console. Its errors are logged where they are handled. */
const ignore = () => {};
const SILENT = { trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore };

export function createS3Client({ endpoint, region, accessKeyId, secretAccessKey }: S3Settings): S3Client {
  const agent = { keepAlive: true, maxSockets: MAX_CONNECTIONS };
  return new S3Client({
    endpoint,
    region,
    credentials: { accessKeyId, secretAccessKey: secretAccessKey.reveal() },
    // Every store supports the bucket in the path; in the host name it needs DNS and a certificate per bucket.
    forcePathStyle: true,
    // Stores other than Amazon S3 refuse the checksums that the SDK adds by default.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: MAX_ATTEMPTS,
    logger: SILENT,
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

function statusOf(error: unknown): number | undefined {
  return error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
}

/** 412, or 409 when a concurrent request changed the object. */
export function isConditionFailed(error: unknown): boolean {
  return statusOf(error) === 412 || statusOf(error) === 409;
}

export function isAbsent(error: unknown): boolean {
  return statusOf(error) === 404;
}

export function undefinedWhenAbsent(error: unknown): undefined {
  if (!isAbsent(error)) throw error;
}
