import HubProtocol
import PushCore

/// Descriptions of the operations that change the register and hubs, on a development server's plain listener.
enum OpenAPIRegister {
    typealias Operation = OpenAPIDocument.Operation

    private static let right = OpenAPIServer.development

    static let operations = teams + keys + certificates + accounts + hubs

    private static let teams = [
        Operation("get", "/v1/teams", "listTeams", "Teams, with how much they own.", right, answer: "TeamList"),
        Operation(
            "post", "/v1/teams", "addTeam", "Add a team.", right, body: "NewTeam", status: "201", answer: "Team"),
        Operation("post", "/v1/apps", "addApp", "Add an app.", right, body: "NewApp", status: "201", answer: "App"),
        Operation(
            "patch", "/v1/apps/{topic}", "changeApp", "Change an app; other members stay as they are.", right,
            body: "AppChange", answer: "App"),
        Operation(
            "delete", "/v1/apps/{topic}", "removeApp", "Remove an app: its device tokens end.", right, status: "204"),
        Operation(
            "get", "/v1/apps/{topic}/webhook", "getAppWebhook", "Where an app's messages to its provider are sent.",
            right, answer: "Webhook"),
        Operation(
            "put", "/v1/apps/{topic}/webhook", "setAppWebhook",
            "Have an app's messages sent to an address; the answer has the secret, once.", right,
            body: "WebhookAddress", answer: "Webhook"),
        Operation(
            "delete", "/v1/apps/{topic}/webhook", "removeAppWebhook", "Queue an app's messages for a reader.", right,
            status: "204"),
        Operation(
            "get", "/v1/apps/{topic}/webhook/answers", "listAppWebhookAnswers", "The last answers of the webhook.",
            right, answer: "WebhookAnswers"),
    ]

    private static let keys = [
        Operation("get", "/v1/keys", "listKeys", "Provider keys that were not revoked.", right, answer: "KeyList"),
        Operation(
            "post", "/v1/keys", "addKey",
            "Make a provider key, whose private half is in this answer alone; or add one that was made elsewhere.",
            right,
            body: "NewKey", status: "201", answer: "ProviderKey"),
        Operation(
            "delete", "/v1/keys/{id}", "revokeKey", "Revoke a provider key: its tokens are refused from now on.", right,
            status: "204"),
    ]

    private static let certificates = [
        Operation(
            "get", "/v1/certificates", "listCertificates",
            "Provider certificates, teams' authorities, and the certificates of the server itself.", right,
            answer: "CertificateList"),
        Operation(
            "post", "/v1/certificates", "addCertificate",
            "Sign a certificate for a request; or add one that somebody else signed.", right, body: "NewCertificate",
            status: "201", answer: "Certificate"),
        Operation(
            "delete", "/v1/certificates/{id}", "revokeCertificate",
            "Revoke a certificate, by its id or its fingerprint.", right, status: "204"),
        Operation(
            "post", "/v1/certificates/{id}/renew", "renewCertificate",
            "Sign a certificate anew, for its own key or that of a request.", right, body: "CertificateRenewal",
            status: "201", answer: "Certificate"),
    ]

    private static let accounts = [
        Operation(
            "get", "/v1/service-accounts", "listServiceAccounts", "Service accounts, also those that were revoked.",
            right, answer: "ServiceAccountList"),
        Operation(
            "post", "/v1/service-accounts", "addServiceAccount",
            "Make a service account, whose file is in this answer alone.", right, body: "NewServiceAccount",
            status: "201", answer: "ServiceAccount"),
        Operation(
            "delete", "/v1/service-accounts/{id}", "revokeServiceAccount",
            "Revoke a service account, by its key's id or its e-mail.", right, status: "204"),
        Operation(
            "get", "/v1/enrolment-keys", "listEnrolmentKeys", "The keys by which devices enrol.", right,
            answer: "EnrolmentKeyList"),
        Operation(
            "post", "/v1/enrolment-keys", "addEnrolmentKey", "Make a key for enrolment; it is in this answer alone.",
            right, body: "NewEnrolmentKey", status: "201", answer: "EnrolmentKey"),
        Operation(
            "delete", "/v1/enrolment-keys/{id}", "revokeEnrolmentKey",
            "Revoke a key for enrolment. Devices that have enrolled by it stay.", right, status: "204"),
    ]

    private static let hubs = [
        Operation("get", "/v1/hubs", "listHubs", "The hubs.", right, answer: "HubList"),
        Operation(
            "post", "/v1/hubs", "addHub", "Make a hub with two keys, which are in this answer alone.", right,
            body: "NewHub", status: "201", answer: "ListedHub"),
        Operation(
            "get", "/v1/hubs/{hub}/keys", "listHubKeys", "A hub's keys, without their texts.", right,
            answer: "HubKeyList"),
        Operation(
            "post", "/v1/hubs/{hub}/keys", "addHubKey",
            "Make a key, in place of one of its name; it is in this answer alone.", right, body: "NewHubKey",
            status: "201", answer: "HubKey"),
        Operation(
            "delete", "/v1/hubs/{hub}/keys/{id}", "revokeHubKey", "Revoke the keys of a name.", right, status: "204"),
        Operation(
            "get", "/v1/hubs/{hub}/credentials", "listHubCredentials",
            "What a hub sends with to other push services, without secrets.", right, answer: "HubCredentialList"),
        Operation(
            "post", "/v1/hubs/{hub}/credentials", "addHubCredential",
            "Set a hub's credential for a push service and environment.", right, body: "NewHubCredential",
            status: "201", answer: "HubCredential"),
        Operation(
            "delete", "/v1/hubs/{hub}/credentials/{id}", "removeHubCredential", "Remove a credential.", right,
            status: "204"),
        Operation(
            "get", "/v1/hubs/{hub}/webhook/answers", "listHubWebhookAnswers", "The last answers of the webhook.", right,
            answer: "WebhookAnswers"),
    ]

    /// The schemas of these operations by name.
    static let schemas = OpenAPISchemas.json(
        """
        {"Team":{"type":"object","required":["id","projectId","apps","keys","certificates","serviceAccounts"],
            "properties":{"id":{"type":"string"},"name":{"type":"string"},"projectId":{"type":"string"},
            "senderId":{"type":"string"},"apps":{"type":"integer"},"keys":{"type":"integer"},
            "certificates":{"type":"integer"},"serviceAccounts":{"type":"integer"}}},
        "TeamList":{"type":"object","required":["teams"],"properties":{
            "teams":{"type":"array","items":{"$ref":"#/components/schemas/Team"}}}},
        "NewTeam":{"type":"object","required":["name"],"additionalProperties":false,"properties":{
            "id":{"type":"string"},"name":{"type":"string"}}},
        "App":{"type":"object","required":["topic","team","limit","overflow","capabilities"],"properties":{
            "topic":{"type":"string"},"team":{"type":"string"},"name":{"type":"string"},"limit":{"type":"integer"},
            "overflow":{"type":"string"},"capabilities":{"type":"array","items":{"type":"string"}}}},
        "NewApp":{"type":"object","required":["topic","team"],"additionalProperties":false,"properties":{
            "topic":{"type":"string"},"team":{"type":"string"},"name":{"type":"string"},"push":{"type":"boolean"},
            "limit":{"type":"integer"},"overflow":{"type":"string","enum":["dropOldest","keepNewest","clear"]}}},
        "AppChange":{"type":"object","additionalProperties":false,"properties":{
            "name":{"type":"string"},"push":{"type":"boolean"},
            "limit":{"type":"integer"},"overflow":{"type":"string","enum":["dropOldest","keepNewest","clear"]}}},
        "WebhookAnswers":{"type":"object","required":["answers"],"properties":{"answers":{"type":"array","items":{
            "type":"object","required":["at"],"properties":{"at":{"type":"string"},"status":{"type":"integer"},
            "fault":{"type":"string"}}}}}},
        "ProviderKey":{"type":"object","required":["keyId","team","createdAt","publicKey"],"properties":{
            "keyId":{"type":"string"},"team":{"type":"string"},"createdAt":{"type":"string"},
            "publicKey":{"type":"string"},"privateKey":{"type":"string"}}},
        "KeyList":{"type":"object","required":["keys"],"properties":{
            "keys":{"type":"array","items":{"$ref":"#/components/schemas/ProviderKey"}}}},
        "NewKey":{"type":"object","required":["team"],"additionalProperties":false,"properties":{
            "team":{"type":"string"},"keyId":{"type":"string"},"key":{"type":"string"}}},
        "Certificate":{"type":"object","required":["id","team","app","environments","notAfter","daysLeft","state"],
            "properties":{"id":{"type":"string"},"team":{"type":"string"},"app":{"type":"string"},
            "commonName":{"type":"string"},"environments":{"type":"array","items":{"type":"string"}},
            "topics":{"type":"array","items":{"type":"string"}},"notBefore":{"type":"string"},
            "notAfter":{"type":"string"},"daysLeft":{"type":"integer"},"fingerprint":{"type":"string"},
            "state":{"type":"string","enum":["valid","ended","revoked"]},"revokedAt":{"type":"string"},
            "certificate":{"type":"string"}}},
        "CertificateList":{"type":"object","required":["certificates","authorities","server"],"properties":{
            "certificates":{"type":"array","items":{"$ref":"#/components/schemas/Certificate"}},
            "authorities":{"type":"array","items":{"type":"object"}},
            "server":{"type":"array","items":{"type":"object","required":["names","notAfter","daysLeft",
                "isRenewedByServer"]}}}},
        "NewCertificate":{"type":"object","additionalProperties":false,"properties":{
            "app":{"type":"string"},"request":{"type":"string"},
            "environments":{"type":"array","items":{"type":"string","enum":["sandbox","production"]}},
            "services":{"type":"array","items":{"type":"string","enum":["voip","complication"]}},
            "days":{"type":"integer"},"certificate":{"type":"string"}}},
        "CertificateRenewal":{"type":"object","additionalProperties":false,"properties":{
            "request":{"type":"string"},"days":{"type":"integer"}}},
        "ServiceAccount":{"type":"object","required":["keyId","email","team","projectId","createdAt"],"properties":{
            "keyId":{"type":"string"},"email":{"type":"string"},"team":{"type":"string"},"projectId":{"type":"string"},
            "senderId":{"type":"string"},"createdAt":{"type":"string"},"revokedAt":{"type":"string"},
            "file":{"type":"string"}}},
        "ServiceAccountList":{"type":"object","required":["serviceAccounts"],"properties":{
            "serviceAccounts":{"type":"array","items":{"$ref":"#/components/schemas/ServiceAccount"}}}},
        "NewServiceAccount":{"type":"object","required":["team"],"additionalProperties":false,"properties":{
            "team":{"type":"string"},"url":{"type":"string"}}},
        "EnrolmentKey":{"type":"object","required":["id","state","used","installations","createdAt"],"properties":{
            "id":{"type":"string"},"state":{"type":"string"},"used":{"type":"integer"},
            "installations":{"type":"integer"},"quota":{"type":"integer"},"expiresAt":{"type":"string"},
            "createdAt":{"type":"string"},"key":{"type":"string"}}},
        "EnrolmentKeyList":{"type":"object","required":["enrolmentKeys"],"properties":{
            "enrolmentKeys":{"type":"array","items":{"$ref":"#/components/schemas/EnrolmentKey"}}}},
        "NewEnrolmentKey":{"type":"object","required":["id"],"additionalProperties":false,"properties":{
            "id":{"type":"string"},"quota":{"type":"integer"},"hours":{"type":"integer"}}},
        "ListedHub":{"type":"object","required":["name","team","topic","createdAt","azureLimits"],"properties":{
            "name":{"type":"string"},"team":{"type":"string"},"topic":{"type":"string"},"createdAt":{"type":"string"},
            "azureLimits":{"type":"boolean"},"full":{"type":"string"},"listen":{"type":"string"}}},
        "HubList":{"type":"object","required":["hubs"],"properties":{
            "hubs":{"type":"array","items":{"$ref":"#/components/schemas/ListedHub"}}}},
        "NewHub":{"type":"object","required":["name","topic"],"additionalProperties":false,"properties":{
            "name":{"type":"string"},"topic":{"type":"string"},"azureLimits":{"type":"boolean"}}},
        "HubKey":{"type":"object","required":["name","kind"],"properties":{
            "name":{"type":"string"},"kind":{"type":"string","enum":["signature","api","backend"]},
            "rights":{"type":"string"},"createdAt":{"type":"string"},"expiresAt":{"type":"string"},
            "connectionString":{"type":"string"},"key":{"type":"string"}}},
        "HubKeyList":{"type":"object","required":["keys"],"properties":{
            "keys":{"type":"array","items":{"$ref":"#/components/schemas/HubKey"}}}},
        "NewHubKey":{"type":"object","required":["name"],"additionalProperties":false,"properties":{
            "name":{"type":"string"},"kind":{"type":"string","enum":["signature","api","backend"]},
            "rights":{"type":"string"},"days":{"type":"integer"}}},
        "HubCredential":{"type":"object","required":["number","kind","name","owner","address","createdAt"],
            "properties":{
            "number":{"type":"integer"},"kind":{"type":"string"},"name":{"type":"string"},"owner":{"type":"string"},
            "environment":{"type":"string"},"address":{"type":"string"},"expiresAt":{"type":"string"},
            "daysLeft":{"type":"integer"},"createdAt":{"type":"string"},"warning":{"type":"string"}}},
        "HubCredentialList":{"type":"object","required":["credentials"],"properties":{
            "credentials":{"type":"array","items":{"$ref":"#/components/schemas/HubCredential"}}}},
        "NewHubCredential":{"type":"object","required":["kind"],"additionalProperties":false,"properties":{
            "kind":{"type":"string","enum":["apns","apns-certificate","fcm","webpush"]},"key":{"type":"string"},
            "keyId":{"type":"string"},"team":{"type":"string"},"environment":{"type":"string"},
            "subject":{"type":"string"},"address":{"type":"string"},"authority":{"type":"string"},
            "replace":{"type":"boolean"}}}}
        """)
}
