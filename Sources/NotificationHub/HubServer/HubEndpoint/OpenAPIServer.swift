import HubProtocol

/// Descriptions of the operations under `/v1` outside hubs: the server's own interface, and FCM's operations there.
enum OpenAPIServer {
    typealias Operation = OpenAPIDocument.Operation

    private static let team = "a provider token of the app's team"
    private static let account = "an access token of the project's service account"
    private static let enrolment = "the project's API key, where the server wants one"

    /// Every operation outside `/v1/hubs`, by its whole path.
    static let operations: [Operation] = own + OpenAPIRegister.operations + tests + google + OpenAPICondition.operations

    static let development = "nothing, on a development server's plain listener alone"

    private static let tests: [Operation] = [
        Operation(
            "get", "/v1/received", "listReceived", "What providers sent to a development server, the newest first.",
            team,
            query: [
                "interface", "token", "app", "team", "key", "topic", "condition", "title", "body", "state", "status",
                "namespace", "notification", "match", "since", "limit", "count", "timeout",
            ], answer: "Object"),
        Operation(
            "post", "/v1/notifications", "sendNotification",
            "Send to a device token, or to a device, with the checks of APNs.", development, body: "Push",
            answer: "PushTaken"),
        Operation(
            "post", "/v1/reset", "reset", "Forget what was received, and the faults.", development,
            query: ["namespace"], answer: "Object"),
        Operation(
            "post", "/v1/faults", "addFault", "Set a fault for requests that are still to come.", development,
            body: "Object", status: "201", answer: "Object"),
        Operation(
            "get", "/v1/faults", "listFaults", "The faults, with how often each was used.", development,
            answer: "Object"),
        Operation(
            "delete", "/v1/faults", "removeFaults", "Remove all faults.", development, query: ["namespace"],
            answer: "Object"),
        Operation("delete", "/v1/faults/{id}", "removeFault", "Remove a fault.", development, status: "204"),
        Operation("get", "/v1/clock", "getClock", "The server's clock.", development, answer: "Object"),
        Operation(
            "post", "/v1/clock", "advanceClock", "Advance the server's clock.", development, body: "Object",
            answer: "Object"),
    ]

    private static let own: [Operation] = [
        Operation("get", "/v1/openapi.json", "describe", "This description.", "nothing", answer: "Object"),
        Operation(
            "get", "/v1/notifications", "listNotifications", "Notifications, the newest first, a page at a time.", team,
            query: ["app", "device", "state", "reason", "text", "from", "to", "limit", "after"],
            answer: "NotificationPage"),
        Operation(
            "get", "/v1/notifications/events", "followNotifications",
            "New and changed notifications, as server-sent events.", team,
            query: ["app", "device", "state", "reason", "text", "from", "to", "since"], headers: ["Last-Event-ID"],
            answer: "Text",
            type: "text/event-stream"),
        Operation(
            "post", "/v1/payloads/check", "checkPayload",
            "What a content becomes for each push service, or what is wrong with a payload.", team, body: "Object",
            answer: "Object"),
        Operation(
            "get", "/v1/notifications/{id}", "getNotification",
            "The notifications that an id or an apns-id names, with their timelines.", team, answer: "Notifications"),
        Operation(
            "delete", "/v1/notifications/{id}", "withdrawNotification", "Take back what an id or an apns-id names.",
            team, answer: "WithdrawnNotifications"),
        Operation(
            "get", "/v1/devices", "listDevices", "Devices, a page at a time.", team,
            query: ["app", "state", "limit", "after"], answer: "DevicePage"),
        Operation(
            "get", "/v1/apps", "listApps", "Apps, a page at a time.", team, query: ["name", "limit", "after"],
            answer: "AppPage"),
        Operation(
            "get", "/v1/audit", "listAudit", "The audit log: who changed what, the newest first, a page at a time.",
            development,
            query: ["action", "object", "team", "actor", "origin", "from", "to", "limit", "after"],
            answer: "AuditPage"),
        Operation(
            "get", "/v1/audit/export", "exportAudit", "The audit log as JSON Lines or CSV.", development,
            query: ["action", "object", "team", "actor", "origin", "from", "to", "format"], answer: "Text",
            type: "application/jsonl"),
        Operation(
            "get", "/v1/registrations/{token}/encryption-key", "getEncryptionKey",
            "The public key to which a sender encrypts for a device token.", team, answer: "EncryptionKey"),
        Operation(
            "get", "/v1/media", "listMedia", "The files of notifications, by their names.", team,
            query: ["limit", "after"], answer: "MediaFiles"),
        Operation(
            "post", "/v1/media", "putMedia", "Keep a file: 201 for a new one, 200 for one that is there.", team,
            body: "Binary", answer: "MediaFile", bodyType: "application/octet-stream"),
        Operation("delete", "/v1/media/{name}", "deleteMedia", "Delete a file.", team, answer: "MediaFile"),
        Operation(
            "post", "/v1/broadcasts", "broadcast", "Send one payload to the subscribers of a topic, or of a condition.",
            team, body: "Broadcast", status: "202", answer: "BroadcastTaken"),
        Operation(
            "get", "/v1/reports", "getReport", "How many came how far, by app, day and label.", team,
            query: ["app", "label", "lane", "from", "to"], answer: "DeliveryReport"),
        Operation(
            "get", "/v1/reports/messages/{id}", "getMessageReport", "How many of one send came how far.", team,
            answer: "MessageReport"),
        Operation(
            "get", "/v1/events", "exportEvents", "Every event, as JSON Lines or CSV.", team,
            query: ["app", "from", "to", "after", "format"], answer: "Text", type: "application/jsonl"),
        Operation(
            "get", "/v1/upstream", "followUpstream", "What apps send to their provider, as server-sent events.", team,
            query: ["topic"], headers: ["Last-Event-ID"], answer: "Text", type: "text/event-stream"),
        Operation(
            "post", "/v1/upstream/ack", "acknowledgeUpstream", "Everything up to an event has been handled.", team,
            query: ["topic"], body: "UpstreamAcknowledgement", answer: "UpstreamTaken"),
        Operation(
            "get", "/v1/upstream/messages/{id}", "getUpstreamMessage",
            "What became of a message to an app, by device.", team, query: ["topic"], answer: "UpstreamEnds"),
    ]

    private static let google: [Operation] = [
        Operation(
            "post", "/v1/projects/{project}/messages:send", "sendMessage", "FCM's HTTP v1: send a message.", account,
            body: "Object", answer: "Object"),
        Operation(
            "post", "/v1/projects/{project}/registrations/{token}/topicSubscriptions", "subscribe",
            "Subscribe a registration to a topic.", account, query: ["topic_name"], answer: "Object"),
        Operation(
            "get", "/v1/projects/{project}/registrations/{token}/topicSubscriptions", "listSubscriptions",
            "List the topics of a registration.", account, query: ["page_size", "page_token"], answer: "Object"),
        Operation(
            "get", "/v1/projects/{project}/registrations/{token}/topicSubscriptions/{topic}", "getSubscription",
            "A subscription to a topic.", account, answer: "Object"),
        Operation(
            "patch", "/v1/projects/{project}/registrations/{token}/topicSubscriptions/{topic}", "changeSubscription",
            "Subscribe a registration to a topic, unless it is subscribed.", account, query: ["allow_missing"],
            answer: "Object"),
        Operation(
            "delete", "/v1/projects/{project}/registrations/{token}/topicSubscriptions/{topic}", "unsubscribe",
            "End a subscription to a topic.", account, answer: "Object"),
        Operation(
            "post", "/v1/projects/{project}/installations", "createFirebaseInstallation",
            "Firebase: a new installation.", enrolment, body: "Object", answer: "Object"),
        Operation(
            "get", "/v1/projects/{project}/installations/{installation}", "getFirebaseInstallation",
            "Firebase: an installation.", enrolment, answer: "Object"),
        Operation(
            "delete", "/v1/projects/{project}/installations/{installation}", "deleteFirebaseInstallation",
            "Firebase: delete an installation.", enrolment, answer: "Object"),
        Operation(
            "post", "/v1/projects/{project}/installations/{installation}/authTokens:generate", "refreshFirebaseToken",
            "Firebase: a new token of an installation.", enrolment, body: "Object", answer: "Object"),
        Operation(
            "post", "/v1/projects/{project}/registrations", "register", "FCM: register a browser.", enrolment,
            body: "Object", answer: "Object"),
        Operation(
            "patch", "/v1/projects/{project}/registrations/{token}", "changeRegistration",
            "FCM: change a browser's registration.", enrolment, body: "Object", answer: "Object"),
        Operation(
            "delete", "/v1/projects/{project}/registrations/{token}", "unregister",
            "FCM: end a browser's registration.",
            enrolment, answer: "Object"),
    ]

    /// The schemas of these operations by name. FCM's are Google's own, and are not described here.
    static let schemas = OpenAPISchemas.json(
        """
        {"Object":{"type":"object"},
        "Binary":{"type":"string","format":"binary"},
        "Push":{"type":"object","required":["payload"],"properties":{
            "token":{"type":"string"},"device":{"type":"string"},"team":{"type":"string"},
            "headers":{"type":"object","additionalProperties":{"type":"string"}},"payload":{"type":"object"}}},
        "PushTaken":{"type":"object","required":["id","apnsId"],"properties":{
            "id":{"type":"string"},"apnsId":{"type":"string"}}},
        "AuditPage":{"type":"object","required":["entries"],"properties":{
            "next":{"type":"string"},
            "entries":{"type":"array","items":{"type":"object",
                "required":["number","at","origin","actor","action","object","outcome"],"properties":{
                "number":{"type":"integer"},"at":{"type":"string"},
                "origin":{"type":"string","enum":["console","api","command"]},
                "actor":{"type":"object","required":["kind","name"],"properties":{
                    "kind":{"type":"string"},"name":{"type":"string"},"id":{"type":["string","null"]}}},
                "action":{"type":"string"},"object":{"type":"string"},"team":{"type":["string","null"]},
                "outcome":{"type":"string","enum":["done","refused","failed","unknown"]},
                "endedAt":{"type":["string","null"]},"before":{},"after":{}}}}}},
        "NotificationPage":{"type":"object","required":["notifications"],"properties":{
            "notifications":{"type":"array","items":{"type":"object",
                "required":["id","apnsId","team","topic","state","last","outcome"],"properties":{
                "id":{"type":"string"},"apnsId":{"type":"string"},"team":{"type":"string"},"topic":{"type":"string"},
                "device":{"type":"string"},"environment":{"type":"string"},"acceptedAt":{"type":"string"},
                "state":{"type":"string"},"last":{"type":"string"},"lastAt":{"type":"string"},"outcome":{"type":"string"},
                "title":{"type":"string"},"body":{"type":"string"},"pushType":{"type":"string"}}}},
            "next":{"type":"string"}}},
        "Notifications":{"type":"array","items":{"type":"object",
            "required":["id","apnsId","team","topic","recorded","timeline"],"properties":{
            "id":{"type":"string"},"apnsId":{"type":"string"},"team":{"type":"string"},"topic":{"type":"string"},
            "device":{"type":"string"},"environment":{"type":"string"},"recorded":{"type":"boolean"},
            "content":{"type":"object","required":["priority","lane"],"properties":{"pushType":{"type":"string"},
                "priority":{"type":"integer"},"collapseId":{"type":"string"},"expiresAt":{"type":"string"},
                "lane":{"type":"string","enum":["apns","fcm"]},"payload":{}}},
            "timeline":{"type":"array","items":{"type":"object","required":["state","at","source"],"properties":{
                "state":{"type":"string"},"at":{"type":"string"},"source":{"type":"string"},"note":{"type":"string"}}}},
            "broadcast":{"type":"object","required":["audience","expiresAt","targeted","states"],"properties":{
                "audience":{"type":"string"},"expiresAt":{"type":"string"},"targeted":{"type":"integer"},
                "states":{"type":"object","additionalProperties":{"type":"integer"}}}}}}},
        "WithdrawnNotifications":{"type":"array","items":{"type":"object","required":["id","apnsId","outcome"],
            "properties":{"id":{"type":"string"},"apnsId":{"type":"string"},"device":{"type":"string"},
            "outcome":{"type":"string","enum":["withdrawn","asked","ended"]}}}},
        "DevicePage":{"type":"object","required":["devices"],"properties":{
            "devices":{"type":"array","items":{"type":"object","required":["device","state","enrolledAt","apps"],
                "properties":{"device":{"type":"string"},"state":{"type":"string"},"enrolledAt":{"type":"string"},
                "seenAt":{"type":"string"},"apps":{"type":"array","items":{"type":"object",
                    "required":["topic","environment"]}}}}},
            "next":{"type":"string"}}},
        "AppPage":{"type":"object","required":["apps"],"properties":{
            "apps":{"type":"array","items":{"type":"object","required":["topic","team","limit","overflow","capabilities"],
                "properties":{"topic":{"type":"string"},"team":{"type":"string"},"name":{"type":"string"},
                "limit":{"type":"integer"},"overflow":{"type":"string"},
                "capabilities":{"type":"array","items":{"type":"string"}}}}},
            "next":{"type":"string"}}},
        "EncryptionKey":{"type":"object","required":["keyId","topic","keys"],"properties":{
            "keyId":{"type":"string"},"topic":{"type":"string"},"keys":{"type":"object","required":["p256dh","auth"],
            "properties":{"p256dh":{"type":"string"},"auth":{"type":"string"}}}}},
        "MediaFile":{"type":"object","required":["name","url","type","bytes","sha256","made","expires"],"properties":{
            "name":{"type":"string"},"url":{"type":"string"},"type":{"type":"string"},"bytes":{"type":"integer"},
            "sha256":{"type":"string"},"team":{"type":"string"},"made":{"type":"string"},"expires":{"type":"string"}}},
        "MediaFiles":{"type":"array","items":{"$ref":"#/components/schemas/MediaFile"}},
        "Broadcast":{"type":"object","required":["payload"],"properties":{
            "topic":{"type":"string"},"condition":{"type":"string"},"team":{"type":"string"},
            "expiration":{"type":"integer"},"collapseID":{"type":"string"},"payload":{"type":"object"}}},
        "BroadcastTaken":{"type":"object","required":["id"],"properties":{"id":{"type":"string"}}},
        "Counts":{"type":"object","required":["accepted","sent","received","presented","opened","dismissed",
            "suppressed","ends"],"properties":{"accepted":{"type":"integer"},"notifications":{"type":"integer"},
            "sent":{"type":"integer"},"received":{"type":"integer"},"presented":{"type":"integer"},
            "opened":{"type":"integer"},"dismissed":{"type":"integer"},"suppressed":{"type":"integer"},
            "ends":{"type":"object","additionalProperties":{"type":"integer"}}}},
        "DeliveryReport":{"type":"object","required":["from","to","rows","total"],"properties":{
            "from":{"type":"string"},"to":{"type":"string"},"rows":{"type":"array","items":{"type":"object",
                "required":["app","day","lane","counts"],"properties":{"app":{"type":"string"},"day":{"type":"string"},
                "lane":{"type":"string","enum":["apns","fcm"]},"label":{"type":"string"},
                "counts":{"$ref":"#/components/schemas/Counts"}}}},
            "total":{"$ref":"#/components/schemas/Counts"}}},
        "MessageReport":{"type":"object","required":["id","counts"],"properties":{
            "id":{"type":"string"},"counts":{"$ref":"#/components/schemas/Counts"}}},
        "UpstreamAcknowledgement":{"type":"object","required":["through"],"properties":{"through":{"type":"string"}}},
        "UpstreamTaken":{"type":"object","required":["taken"],"properties":{"taken":{"type":"integer"}}},
        "UpstreamEnds":{"type":"array","items":{"type":"object","required":["device","state"],"properties":{
            "device":{"type":"string"},"state":{"type":"string"}}}}}
        """)
}
