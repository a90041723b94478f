<?php
// Apple's old binary interface, as scripts used it until 2021: a frame for a token, then six bytes if that was refused.
$context = stream_context_create(isset($argv[1]) ? ['ssl' => ['local_cert' => $argv[1]]] : []);
$gateway = stream_socket_client('ssl://gateway.push.apple.com:2195', $code, $text, 10, STREAM_CLIENT_CONNECT, $context);
if (!$gateway) {
    exit("no connection\n");
}
$payload = json_encode(['aps' => ['alert' => 'by the gateway', 'sound' => 'default']]);
foreach ([str_repeat('ab', 32), str_repeat('0', 60) . '0400'] as $number => $token) {
    fwrite($gateway, pack('CNNnH*n', 1, $number, time() + 3600, 32, $token, strlen($payload)) . $payload);
}
$answer = stream_get_contents($gateway);
echo strlen($answer) === 6 ? implode(' ', unpack('Ccommand/Cstatus/Nnumber', $answer)) : 'closed', "\n";
