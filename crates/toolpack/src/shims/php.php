// Calls the function that a pack's script returns, for Powerstrip: once, or line by line for as long as stdin is open.
// What the script prints goes to stderr, so that it cannot pass for a reply.
[$how, $path] = array_slice($argv, 1);
$replies = fopen('php://stdout', 'wb');
ob_start(function ($text) { fwrite(STDERR, $text); return ''; }, 1);
$encode = fn ($value) => json_encode($value,
    JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_PRESERVE_ZERO_FRACTION | JSON_THROW_ON_ERROR);
$call = (static fn ($path) => require $path)($path);
if (!is_callable($call)) {
    fwrite(STDERR, "$path returns no function\n");
    exit(1);
}
while (($line = fgets(STDIN)) !== false) {
    $request = json_decode($line, true, 512, JSON_THROW_ON_ERROR);
    if ($how === 'once') {
        $result = $call($request['input'], $request['meta'] ?? []);
        try {
            fwrite($replies, $encode($result) . "\n");
        } catch (JsonException $error) {
            // The function has run; this is no JSON either.
            fwrite($replies, $error->getMessage() . "\n");
        }
        exit(0);
    }
    $field = 'failed';
    try {
        $result = $call($request['input'], $request['meta'] ?? []);
        // A result that cannot be written is that of a call that has run.
        $field = 'unreadable';
        $reply = $encode(['id' => $request['id'], 'data' => $result]);
    } catch (Throwable $error) {
        fwrite(STDERR, $error . "\n");
        $reply = $encode(['id' => $request['id'], $field => get_class($error) . ': ' . $error->getMessage()]);
    }
    fwrite($replies, $reply . "\n");
    fflush($replies);
}
