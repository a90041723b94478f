/// Descriptions of the operations that tell of one device, of the server's condition and of the relay.
enum OpenAPICondition {
    private typealias Operation = OpenAPIDocument.Operation

    private static let development = "nothing, on a development server's plain listener alone"

    /// The operations by their whole paths.
    static let operations: [OpenAPIDocument.Operation] = [
        Operation(
            "get", "/v1/devices/{id}", "getDevice", "A device with its apps, its connection, and what waits for it.",
            "a provider token of the app's team", answer: "Device"),
        Operation(
            "post", "/v1/devices/{id}/block", "blockDevice", "End a device's session, and refuse it from now on.",
            development, answer: "DeviceChange"),
        Operation(
            "post", "/v1/devices/{id}/unblock", "unblockDevice", "Admit a blocked device again.", development,
            answer: "DeviceChange"),
        Operation(
            "post", "/v1/devices/{id}/revoke", "revokeDevice", "Revoke a device for good.", development,
            answer: "DeviceChange"),
        Operation(
            "get", "/v1/status", "getStatus", "How the server is: its store, certificates, disk and connections.",
            development, answer: "ServerStatus"),
        Operation(
            "get", "/v1/metrics/history", "getMetricsHistory",
            "What was accepted, delivered, shown and refused in the last hour or day.", development, query: ["span"],
            answer: "MetricsHistory"),
        Operation(
            "get", "/v1/relay/accounts", "listRelayAccounts",
            "The relay's accounts and their devices, without names and contents.", development, query: ["after"],
            answer: "RelayAccountPage"),
    ]

    /// The schemas of these operations by name.
    static let schemas = OpenAPISchemas.json(
        """
        {"Device":{"type":"object","required":["device","state","enrolledAt","apps"],"properties":{
            "device":{"type":"string"},"state":{"type":"string","enum":["active","blocked","revoked"]},
            "enrolledAt":{"type":"string"},"seenAt":{"type":"string"},"blockedAt":{"type":"string"},
            "revokedAt":{"type":"string"},
            "connection":{"type":"object","required":["since"],"properties":{"since":{"type":"string"},
                "network":{"type":"string"}}},
            "apps":{"type":"array","items":{"type":"object",
                "required":["topic","team","environment","token","registeredAt","waiting","missed","hasEncryptionKey"],
                "properties":{"topic":{"type":"string"},"team":{"type":"string"},"environment":{"type":"string"},
                "token":{"type":"string"},"registeredAt":{"type":"string"},"waiting":{"type":"integer"},
                "missed":{"type":"array","items":{"type":"object","required":["reason","lane","count","since"],
                    "properties":{"reason":{"type":"string","enum":["expired","cleared"]},
                    "lane":{"type":"string","enum":["apns","fcm"]},"count":{"type":"integer"},
                    "since":{"type":"string"}}}},
                "hasEncryptionKey":{"type":"boolean"},
                "fcm":{"type":"object","required":["sender","category","subtype"],"properties":{
                    "sender":{"type":"string"},"category":{"type":"string"},"subtype":{"type":"string"},
                    "installation":{"type":"string"}}}}}}}},
        "DeviceChange":{"type":"object","required":["device","state"],"properties":{
            "device":{"type":"string"},"state":{"type":"string","enum":["active","blocked","revoked"]}}},
        "ServerStatus":{"type":"object","required":["status","isReady","systems","waiting","oldestWaitingSeconds",
            "connected","storeFailures"],"properties":{
            "status":{"type":"string","enum":["ok","degraded","failing"]},"isReady":{"type":"boolean"},
            "version":{"type":"string"},"failure":{"type":"object","required":["since","reason"],"properties":{
                "since":{"type":"string"},"reason":{"type":"string"},"remedy":{"type":"string"}}},
            "systems":{"type":"array","items":{"type":"object","required":["system","file","reason","remedy"],
                "properties":{"system":{"type":"string"},"file":{"type":"string"},"reason":{"type":"string"},
                "remedy":{"type":"string"}}}},
            "certificates":{"type":"array","items":{"type":"object",
                "required":["kind","name","endsAt","daysLeft","isUsable"],"properties":{
                "kind":{"type":"string","enum":["server","provider","hub"]},"name":{"type":"string"},
                "endsAt":{"type":"string"},"daysLeft":{"type":"integer"},"isUsable":{"type":"boolean"}}}},
            "disk":{"type":"object","required":["state","free","total"],"properties":{
                "state":{"type":"string","enum":["ok","low","full","readOnly"]},"free":{"type":"integer"},
                "total":{"type":"integer"}}},
            "waiting":{"type":"integer"},"oldestWaitingSeconds":{"type":"integer"},"connected":{"type":"integer"},
            "storeFailures":{"type":"integer"}}},
        "MetricsHistory":{"type":"object","required":["span","step","samples"],"properties":{
            "span":{"type":"string","enum":["hour","day"]},"step":{"type":"integer"},
            "samples":{"type":"array","items":{"type":"object",
                "required":["at","accepted","delivered","shown","refused","waiting","connected","storeFailures"],
                "properties":{"at":{"type":"string"},"accepted":{"type":"integer"},"delivered":{"type":"integer"},
                "shown":{"type":"integer"},"refused":{"type":"object","additionalProperties":{"type":"integer"}},
                "waiting":{"type":"integer"},"connected":{"type":"integer"},"storeFailures":{"type":"integer"}}}}}},
        "RelayAccountPage":{"type":"object","required":["accounts"],"properties":{
            "accounts":{"type":"array","items":{"type":"object",
                "required":["account","devices","documents","documentBytes"],"properties":{
                "account":{"type":"string"},"documents":{"type":"integer"},"documentBytes":{"type":"integer"},
                "devices":{"type":"array","items":{"type":"object",
                    "required":["device","kind","platform","presence","seenAt","apps","messages"],"properties":{
                    "device":{"type":"string"},"kind":{"type":"string"},"platform":{"type":"string"},
                    "presence":{"type":"string","enum":["online","wakeable","offline"]},"seenAt":{"type":"string"},
                    "wakesBy":{"type":"string","enum":["apns","fcm"]},"apps":{"type":"integer"},
                    "messages":{"type":"integer"}}}}}}},
            "next":{"type":"string"}}}}
        """)
}
