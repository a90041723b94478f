<?php
// PHP's curl: APNs by HTTP/2, and FCM.
function part(string $text): string { return rtrim(strtr(base64_encode($text), '+/', '-_'), '='); }

// The two numbers of a DER signature, 32 bytes each.
function numbers(string $der): string
{
    $first = ord($der[3]);
    $numbers = [substr($der, 4, $first), substr($der, 6 + $first)];
    return implode('', array_map(fn ($number) => str_pad(ltrim($number, "\0"), 32, "\0", STR_PAD_LEFT), $numbers));
}

function post(string $url, array $headers, string $body, int $version = CURL_HTTP_VERSION_1_1): array
{
    $request = curl_init($url);
    curl_setopt_array($request, [
        CURLOPT_POST => true, CURLOPT_POSTFIELDS => $body, CURLOPT_HTTPHEADER => $headers,
        CURLOPT_RETURNTRANSFER => true, CURLOPT_HTTP_VERSION => $version]);
    $answer = curl_exec($request);
    if ($answer === false) {
        exit(curl_error($request) . "\n");
    }
    return [curl_getinfo($request, CURLINFO_RESPONSE_CODE), $answer];
}

$signed = part('{"alg":"ES256","kid":"ABC123DEFG"}') . '.' . part(json_encode(['iss' => 'DEF123GHIJ', 'iat' => time()]));
openssl_sign($signed, $signature, file_get_contents('AuthKey_ABC123DEFG.p8'), OPENSSL_ALGO_SHA256);
$bearer = 'authorization: bearer ' . $signed . '.' . part(numbers($signature));
foreach ([str_repeat('ab', 32), str_repeat('0', 60) . '0410'] as $device) {
    [$status, $answer] = post(
        "https://api.push.apple.com/3/device/$device", [$bearer, 'apns-topic: com.example.App', 'apns-push-type: alert'],
        '{"aps":{"alert":{"title":"one"}}}', CURL_HTTP_VERSION_2_0);
    echo $status, ' ', json_decode($answer)->reason ?? '', "\n";
}

$account = json_decode(file_get_contents('service-account.json'));
$signed = part('{"alg":"RS256","typ":"JWT"}') . '.' . part(json_encode([
    'iss' => $account->client_email, 'aud' => $account->token_uri, 'iat' => time(), 'exp' => time() + 3600,
    'scope' => 'https://www.googleapis.com/auth/firebase.messaging']));
openssl_sign($signed, $signature, $account->private_key, OPENSSL_ALGO_SHA256);
[, $answer] = post($account->token_uri, [], http_build_query([
    'grant_type' => 'urn:ietf:params:oauth:grant-type:jwt-bearer', 'assertion' => $signed . '.' . part($signature)]));
[$status, $answer] = post(
    "https://fcm.googleapis.com/v1/projects/{$account->project_id}/messages:send",
    ['Authorization: Bearer ' . json_decode($answer)->access_token, 'Content-Type: application/json'],
    json_encode(['message' => ['token' => 'php-device:APA91bFFF', 'notification' => ['title' => 'two']]]));
echo $status, "\n";
