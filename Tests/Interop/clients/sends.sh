# curl alone: APNs by HTTP/2 with a provider token, and FCM with an access token for a service account.
set -eu
base64url() { openssl base64 -A | tr '+/' '-_' | tr -d '='; }
part() { printf %s "$1" | base64url; }
member() { sed -n "s/.*\"$1\": *\"\([^\"]*\)\".*/\1/p"; }
now=$(date +%s)

signed=$(part '{"alg":"ES256","kid":"ABC123DEFG"}').$(part "{\"iss\":\"DEF123GHIJ\",\"iat\":$now}")
# A JWT's signature is the two numbers of the DER form, 32 bytes each.
numbers=$(printf %s "$signed" | openssl dgst -sha256 -sign AuthKey_ABC123DEFG.p8 | openssl asn1parse -inform DER |
    sed -n 's/.*INTEGER *:\(.*\)/000000000000000000000000000000000000000000000000000000000000000\1/p' | grep -o '.\{64\}$' | tr -d '\n')
signature=$(printf %s "$numbers" | sed 's/../\\x&/g' | xargs -0 printf %b | base64url)
for host in api.push.apple.com api.sandbox.push.apple.com:2197; do
    curl -sS --http2 -w '%{http_version} %{http_code}\n' -H "authorization: bearer $signed.$signature" \
        -H 'apns-topic: com.example.App' -H 'apns-push-type: alert' -d '{"aps":{"alert":{"title":"one"}}}' \
        "https://$host/3/device/abababababababababababababababababababababababababababababababab"
done

account=$(cat service-account.json)
email=$(printf %s "$account" | member client_email)
claims="{\"iss\":\"$email\",\"scope\":\"https://www.googleapis.com/auth/firebase.messaging\",
\"aud\":\"https://oauth2.googleapis.com/token\",\"iat\":$now,\"exp\":$((now + 3600))}"
signed=$(part '{"alg":"RS256","typ":"JWT"}').$(part "$claims")
umask 077
printf %s "$account" | member private_key | sed 's/\\n/\n/g' > account.pem
assertion=$signed.$(printf %s "$signed" | openssl dgst -sha256 -sign account.pem | base64url)
access=$(curl -sS -d grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer -d "assertion=$assertion" \
    https://oauth2.googleapis.com/token | member access_token)
curl -sS -w '\n%{http_code}\n' -H "Authorization: Bearer $access" -H 'Content-Type: application/json' \
    -d '{"message":{"token":"curl-device:APA91bEEE","notification":{"title":"two"}}}' \
    https://fcm.googleapis.com/v1/projects/my-app-12345/messages:send
