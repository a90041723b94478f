// Go's net/http: APNs, for which the client takes HTTP/2 by itself, and FCM.
package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

func try[T any](value T, err error) T {
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	return value
}

func token(header string, claims map[string]any, text []byte) string {
	part := base64.RawURLEncoding.EncodeToString
	signed := part([]byte(header)) + "." + part(try(json.Marshal(claims)))
	block, _ := pem.Decode(text)
	digest := sha256.Sum256([]byte(signed))
	switch key := try(x509.ParsePKCS8PrivateKey(block.Bytes)).(type) {
	case *ecdsa.PrivateKey:
		r, s, err := ecdsa.Sign(rand.Reader, key, digest[:])
		signature := make([]byte, 64)
		try(r, err).FillBytes(signature[:32])
		s.FillBytes(signature[32:])
		return signed + "." + part(signature)
	case *rsa.PrivateKey:
		return signed + "." + part(try(rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, digest[:])))
	}
	panic("another key")
}

func post(address, body string, headers ...string) (*http.Response, string) {
	request := try(http.NewRequest("POST", address, strings.NewReader(body)))
	for index := 0; index < len(headers); index += 2 {
		request.Header.Set(headers[index], headers[index+1])
	}
	answer := try(http.DefaultClient.Do(request))
	defer answer.Body.Close()
	return answer, string(try(io.ReadAll(answer.Body)))
}

func main() {
	now := time.Now().Unix()
	bearer := token(`{"alg":"ES256","kid":"ABC123DEFG"}`, map[string]any{"iss": "DEF123GHIJ", "iat": now},
		try(os.ReadFile("AuthKey_ABC123DEFG.p8")))
	for _, device := range []string{strings.Repeat("ab", 32), strings.Repeat("0", 60) + "0410"} {
		answer, _ := post("https://api.push.apple.com/3/device/"+device, `{"aps":{"alert":{"title":"one"}}}`,
			"authorization", "bearer "+bearer, "apns-topic", "com.example.App", "apns-push-type", "alert")
		fmt.Println(answer.Proto, answer.StatusCode)
	}

	var account, granted map[string]any
	try(0, json.Unmarshal(try(os.ReadFile("service-account.json")), &account))
	const scope = "https://www.googleapis.com/auth/firebase.messaging"
	assertion := token(`{"alg":"RS256"}`, map[string]any{
		"iss": account["client_email"], "aud": account["token_uri"], "iat": now, "exp": now + 3600, "scope": scope,
	}, []byte(account["private_key"].(string)))
	_, text := post(account["token_uri"].(string), url.Values{
		"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}, "assertion": {assertion},
	}.Encode(), "content-type", "application/x-www-form-urlencoded")
	try(0, json.Unmarshal([]byte(text), &granted))
	answer, _ := post(fmt.Sprintf("https://fcm.googleapis.com/v1/projects/%s/messages:send", account["project_id"]),
		`{"message":{"token":"go-device:APA91bJJJ","notification":{"title":"two"}}}`,
		"authorization", "Bearer "+granted["access_token"].(string), "content-type", "application/json")
	fmt.Println(answer.Proto, answer.StatusCode)
}
