# Ruby's net/http: FCM. It speaks no HTTP/2, and so no APNs.
require "json"
require "net/http"
require "openssl"

def part(text) = [text].pack("m0").tr("+/", "-_").delete("=")

account = JSON.parse(File.read("service-account.json"))
now = Time.now.to_i
signed = part('{"alg":"RS256"}') + "." + part(JSON.generate(
  iss: account["client_email"], aud: account["token_uri"], iat: now, exp: now + 3600,
  scope: "https://www.googleapis.com/auth/firebase.messaging"))
assertion = signed + "." + part(OpenSSL::PKey::RSA.new(account["private_key"]).sign("SHA256", signed))
granted = Net::HTTP.post_form(
  URI(account["token_uri"]), grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion: assertion)
access = JSON.parse(granted.body)["access_token"]

["ruby-device:APA91bLLL", "0" * 60 + "0410"].each do |token|
  answer = Net::HTTP.post(
    URI("https://fcm.googleapis.com/v1/projects/#{account["project_id"]}/messages:send"),
    JSON.generate(message: { token: token, notification: { title: "one" } }),
    "Authorization" => "Bearer #{access}", "Content-Type" => "application/json")
  puts "#{answer.code} #{JSON.parse(answer.body).dig("error", "status")}"
end
