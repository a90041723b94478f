<?php
// Sends one text to many devices, by frames of command 1 or, with FRAMES=items, of command 2, and goes on after an error
// behind the token that it names.
//
//   php send-many.php TEXT DEVICE_TOKEN...
//
// CERTIFICATE names the .pem with certificate and private key, GATEWAY the address.

const WORDS = [
    1 => 'processing error', 2 => 'missing device token', 3 => 'missing topic', 4 => 'missing payload',
    5 => 'invalid token size', 6 => 'invalid topic size', 7 => 'invalid payload size', 8 => 'invalid token',
    10 => 'shutdown', 128 => 'protocol error', 255 => 'unknown',
];

function connect()
{
    $context = stream_context_create(['ssl' => ['local_cert' => getenv('CERTIFICATE') ?: 'ck.pem']]);
    $gateway = getenv('GATEWAY') ?: 'ssl://gateway.sandbox.push.apple.com:2195';
    $connection = stream_socket_client($gateway, $number, $words, 30, STREAM_CLIENT_CONNECT, $context);
    if (!$connection) {
        fwrite(STDERR, "cannot connect to $gateway: $number $words\n");
        exit(1);
    }
    stream_set_blocking($connection, false);
    return $connection;
}

function enhanced($identifier, $token, $payload)
{
    $expiry = time() + 24 * 60 * 60;
    return pack('CNNn', 1, $identifier, $expiry, 32) . pack('H*', $token) . pack('n', strlen($payload)) . $payload;
}

function items($identifier, $token, $payload)
{
    $expiry = time() + 24 * 60 * 60;
    $items = pack('Cn', 1, 32) . pack('H*', $token)
        . pack('Cn', 2, strlen($payload)) . $payload
        . pack('CnN', 3, 4, $identifier)
        . pack('CnN', 4, 4, $expiry)
        . pack('CnC', 5, 1, 10);
    return pack('CN', 2, strlen($items)) . $items;
}

// The error packet, if one comes within a while.
function answer($connection, $seconds)
{
    $read = [$connection];
    $nothing = null;
    if (stream_select($read, $nothing, $nothing, 0, (int) ($seconds * 1000000)) < 1) {
        return null;
    }
    $packet = fread($connection, 6);
    return strlen($packet) === 6 ? unpack('Ccommand/Cstatus/Nidentifier', $packet) : null;
}

$text = $argv[1];
$tokens = array_slice($argv, 2);
$frame = getenv('FRAMES') === 'items' ? 'items' : 'enhanced';
$payload = json_encode(['aps' => ['alert' => $text, 'badge' => 1], 'todo' => $text]);

for ($next = 0; $next < count($tokens);) {
    $connection = connect();
    for ($index = $next; $index < count($tokens); $index++) {
        fwrite($connection, $frame($index, $tokens[$index], $payload));
    }
    $next = count($tokens);
    $error = answer($connection, 1);
    if ($error) {
        echo "{$error['identifier']}: {$error['status']} " . WORDS[$error['status']] . "\n";
        // Apple's rule: what stands behind the one that is named was not taken.
        $next = $error['identifier'] + 1;
    }
    fclose($connection);
}
echo "done\n";
