export const PARTNER_INTRODUCTION = `API keys, access tokens, webhooks and files of a banking and trading platform.

**Authentication.** Exchange a key pair for an access token at \`POST /oauth/token\`, with the scopes you need, and send
it as \`Authorization: Bearer …\`. Reuse it until shortly before \`expires_in\` has passed. Each operation lists the
scopes and the token types that it accepts.

**Errors** have one JSON body: \`error\`, \`message_code\` (for your code) and \`message\` (for a person; it names the
field). Every response has an \`X-Request-Id\`. Include it when you contact support.

**Repeats.** Send an \`Idempotency-Key\` with every \`POST\` and repeat it after a broken connection: within 24 hours the
same key and body return the first answer, with \`Idempotency-Replayed: true\`, and nothing is created twice.

**Lists** are sorted newest first. Use \`page\` and \`per_page\`, or for lists of any length \`after\` with the \`next\` of
the previous page. Filters take one value or several, separated by commas or in repeated parameters. Times are ISO 8601
date-times, or dates for their midnight in UTC.

**Versions.** A single object has an \`ETag\`. Send it as \`If-None-Match\` to get 304 while the object is the same, and as
\`If-Match\` with a \`PATCH\` to get 412 instead of overwriting another change.

**Files** of up to 7 MB can be sent as base64 in the request. Send larger files as raw bytes to the \`upload_url\` of the
response. A file is \`storing\` until its content is checked, and can be used once it is \`completed\`.

**Webhooks.** A subscription receives every event of its Organization and environment as a POST. Respond with any 2xx
within two seconds, before any other work. After ten seconds, or after another status, the service retries for seven
days. An event can arrive twice and out of order: store the \`guid\`, and fetch the object for its current state.
Verify each request first: \`X-Service-Signature\` is the HMAC-SHA-256 of the raw body with the 64 characters of the
\`signing_key\`, as lowercase hexadecimal characters. Standard Webhooks libraries verify it too; their secret is the
base64 of these 64 characters.`;

export const OPERATOR_INTRODUCTION = `Operations for the operator of the service, with \`Authorization: Bearer
<PORTICO_OPERATOR_TOKEN>\`; \`npx portico operator --help\` lists the same operations. Health checks and metrics need no
token. With the operations under \`/dashboard\` the dashboard logs people in; they need its session cookie and
are not for programs.`;
