<?php
// Sends one text to one device, as provider scripts did until 2021: a frame of command 0, and hang up.
//
//   php send.php DEVICE_TOKEN TEXT
//
// CERTIFICATE names the .pem with certificate and private key, PASSPHRASE is the key's, GATEWAY the address.

$token = $argv[1];
$text = $argv[2];

$context = stream_context_create();
stream_context_set_option($context, 'ssl', 'local_cert', getenv('CERTIFICATE') ?: 'ck.pem');
stream_context_set_option($context, 'ssl', 'passphrase', getenv('PASSPHRASE') ?: '');

$gateway = getenv('GATEWAY') ?: 'ssl://gateway.sandbox.push.apple.com:2195';
$connection = stream_socket_client($gateway, $number, $words, 30, STREAM_CLIENT_CONNECT, $context);
if (!$connection) {
    fwrite(STDERR, "cannot connect to $gateway: $number $words\n");
    exit(1);
}

$payload = json_encode(['aps' => ['alert' => $text, 'sound' => 'default'], 'todo' => $text]);
$frame = chr(0) . pack('n', 32) . pack('H*', $token) . pack('n', strlen($payload)) . $payload;

if (fwrite($connection, $frame) === strlen($frame)) {
    echo "sent\n";
} else {
    echo "not sent\n";
}
fclose($connection);
