<?php
// PHP's streams: FCM by a stream context, and Apple's old binary interface by a stream socket with a certificate.
function part(string $text): string { return rtrim(strtr(base64_encode($text), '+/', '-_'), '='); }

function post(string $url, array $headers, string $body): object
{
    $options = ['method' => 'POST', 'header' => $headers, 'content' => $body, 'ignore_errors' => true];
    return json_decode(file_get_contents($url, false, stream_context_create(['http' => $options])));
}

$account = json_decode(file_get_contents('service-account.json'));
$signed = part('{"alg":"RS256","typ":"JWT"}') . '.' . part(json_encode([
    'iss' => $account->client_email, 'aud' => $account->token_uri, 'iat' => time(), 'exp' => time() + 3600,
    'scope' => 'https://www.googleapis.com/auth/firebase.messaging']));
openssl_sign($signed, $signature, $account->private_key, OPENSSL_ALGO_SHA256);
$access = post($account->token_uri, ['Content-Type: application/x-www-form-urlencoded'], http_build_query([
    'grant_type' => 'urn:ietf:params:oauth:grant-type:jwt-bearer', 'assertion' => $signed . '.' . part($signature)]));
foreach (['php-device:APA91bFFF', str_repeat('0', 60) . '0410'] as $token) {
    $answer = post(
        "https://fcm.googleapis.com/v1/projects/{$account->project_id}/messages:send",
        ["Authorization: Bearer $access->access_token", 'Content-Type: application/json'],
        json_encode(['message' => ['token' => $token, 'notification' => ['title' => 'one']]]));
    echo $answer->name ?? $answer->error->status, "\n";
}
