<?php
// Prints the device tokens that are dead, one a line with the time since when, as the feedback service tells them, once.
//
//   php feedback.php
//
// CERTIFICATE names the .pem with certificate and private key, FEEDBACK the address.

$context = stream_context_create(['ssl' => ['local_cert' => getenv('CERTIFICATE') ?: 'ck.pem']]);
$service = getenv('FEEDBACK') ?: 'ssl://feedback.sandbox.push.apple.com:2196';
$connection = stream_socket_client($service, $number, $words, 30, STREAM_CLIENT_CONNECT, $context);
if (!$connection) {
    fwrite(STDERR, "cannot connect to $service: $number $words\n");
    exit(1);
}
$bytes = stream_get_contents($connection);
fclose($connection);
foreach (str_split($bytes, 38) as $tuple) {
    if (strlen($tuple) === 38) {
        $dead = unpack('Ntime/nlength/H64token', $tuple);
        echo "{$dead['token']} {$dead['time']}\n";
    }
}
