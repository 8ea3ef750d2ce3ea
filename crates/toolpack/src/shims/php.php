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
        fwrite($replies, $encode($call($request['input'], $request['meta'] ?? [])) . "\n");
        exit(0);
    }
    try {
        $reply = $encode(['id' => $request['id'], 'data' => $call($request['input'], $request['meta'] ?? [])]);
    } catch (Throwable $error) {
        fwrite(STDERR, $error . "\n");
        $reply = $encode(['id' => $request['id'], 'failed' => get_class($error) . ': ' . $error->getMessage()]);
    }
    fwrite($replies, $reply . "\n");
    fflush($replies);
}
