<?php
// Run: SIGNING_KEYS=key1,key2 php -S 127.0.0.1:4010 receiver.php (PHP 8.0 or newer), or behind PHP-FPM.
declare(strict_types=1);

const MAX_BODY_BYTES = 64 * 1024;
const SEEN_FOLDER = __DIR__ . '/seen-events';

// region verify
const TOLERANCE_SECONDS = 300;

/** `$body` is the bytes as they arrived. During a roll there are two signing keys. */
function is_genuine(string $body, array $headers, array $signingKeys): bool
{
    $id = $headers['HTTP_WEBHOOK_ID'] ?? '';
    $timestamp = $headers['HTTP_WEBHOOK_TIMESTAMP'] ?? '';
    if (!preg_match('/^\d{1,12}$/D', $timestamp) || abs(time() - (int) $timestamp) > TOLERANCE_SECONDS) {
        return false;
    }
    $given = explode(' ', $headers['HTTP_WEBHOOK_SIGNATURE'] ?? '');
    foreach ($signingKeys as $key) {
        $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $key, true));
        foreach ($given as $signature) {
            if (hash_equals($expected, $signature)) {
                return true;
            }
        }
    }
    return false;
}
// endregion

/** Your work. It runs after the answer. */
function handle(array $event): void
{
    say("received {$event['event_type']} {$event['guid']}");
}

function say(string $line): void
{
    file_put_contents('php://stderr', "$line\n");
}

/** Sends the response now; the script continues. */
function answer(int $status): void
{
    ignore_user_abort(true);
    http_response_code($status);
    if (function_exists('fastcgi_finish_request')) {
        fastcgi_finish_request();
    } else {
        flush();
    }
}

/**
 * Whether the event is new. PHP keeps nothing between requests, so each guid is a file, which is created atomically.
 * Servers that share no disk need a table with a unique guid instead.
 */
function remember(string $guid): bool
{
    if (!is_dir(SEEN_FOLDER)) {
        @mkdir(SEEN_FOLDER, 0700);
    }
    $path = SEEN_FOLDER . '/' . basename($guid);
    if (@fopen($path, 'x') !== false) {
        return true;
    }
    if (!is_file($path)) {
        throw new RuntimeException('cannot write to ' . SEEN_FOLDER);
    }
    return false;
}

/** One request in a hundred removes files older than 60 days: events can be redelivered for 30 days and a week more. */
function forget_old(): void
{
    if (random_int(1, 100) > 1) {
        return;
    }
    foreach (new FilesystemIterator(SEEN_FOLDER) as $file) {
        if ($file->getMTime() < time() - 60 * 86400) {
            @unlink($file->getPathname());
        }
    }
}

$signingKeys = preg_split('/[\s,]+/', getenv('SIGNING_KEYS') ?: '', -1, PREG_SPLIT_NO_EMPTY);
if ($signingKeys === []) {
    say('Set SIGNING_KEYS to one or more signing keys, separated by commas.');
    answer(500);
    return;
}
if ($_SERVER['REQUEST_METHOD'] !== 'POST') {
    header('Allow: POST');
    answer(405);
    return;
}
$body = file_get_contents('php://input', false, null, 0, MAX_BODY_BYTES + 1);
if (strlen($body) > MAX_BODY_BYTES) {
    answer(413);
    return;
}
if (!is_genuine($body, $_SERVER, $signingKeys)) {
    answer(401);
    return;
}
$event = json_decode($body, true, 16, JSON_THROW_ON_ERROR);
if (!remember($event['guid'])) {
    say("duplicate {$event['guid']}");
    answer(204);
    return;
}
answer(204);
handle($event);
forget_old();
