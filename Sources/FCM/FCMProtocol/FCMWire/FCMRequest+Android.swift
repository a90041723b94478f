extension FCMAndroid {
    /// The longest that a message may wait: 28 days, in seconds.
    static let longestTimeToLive = 2_419_200

    /// Reads the field `android`.
    init(_ fields: FieldReader) throws(FCMRejection) {
        var fields = fields
        try self.init(taking: &fields)
        isUrgent = try fields.word("priority", of: ["NORMAL", "HIGH"]).map { $0 == "HIGH" }
        if let notification = try fields.object("notification") {
            self.notification = try FCMAndroidNotification(notification, isSecond: false)
        }
        try fields.end()
    }

    /// Reads the field `android_v2`, in which a message is either a notification or a silent one.
    init(second fields: FieldReader) throws(FCMRejection) {
        var fields = fields
        try self.init(taking: &fields)
        let remote = try fields.object("remote_notification")
        let silent = try fields.object("background_sync")
        guard remote == nil || silent == nil else {
            throw .invalid(fields.path, "has either remote_notification or background_sync, not both")
        }
        if var remote {
            for name in ["mutable_content", "use_as_v1_data_message"] { _ = try remote.boolean(name) }
            if let notification = try remote.object("notification") {
                self.notification = try FCMAndroidNotification(notification, isSecond: true)
            }
            try remote.end()
        }
        if let silent {
            isUrgent = false
            try silent.end()
        }
        try fields.end()
    }

    /// Takes the fields that both have.
    private init(taking fields: inout FieldReader) throws(FCMRejection) {
        self.init()
        collapseKey = try fields.string("collapse_key").flatMap { $0.isEmpty ? nil : $0 }
        if let collapseKey, collapseKey.utf8.count > 64 {
            throw .invalid(fields.place("collapse_key"), "has \(collapseKey.utf8.count) bytes, at most 64 are allowed")
        }
        timeToLive = try fields.seconds("ttl")
        if let timeToLive, timeToLive > Self.longestTimeToLive {
            throw .invalid(fields.place("ttl"), "must be 0 to \(Self.longestTimeToLive) seconds, 28 days")
        }
        package = try fields.string("restricted_package_name").flatMap { $0.isEmpty ? nil : $0 }
        data = try FCMMessage.data(&fields)
        for name in ["direct_boot_ok", "bandwidth_constrained_ok", "restricted_satellite_ok"] {
            _ = try fields.boolean(name)
        }
        label = try FCMMessage.options(&fields).label
    }
}

extension FCMAndroidNotification {
    /// Reads what Android shows; the second form has an `id` and no `proxy`.
    init(_ fields: FieldReader, isSecond: Bool) throws(FCMRejection) {
        var fields = fields
        self.init()
        shown = try FCMNotification(taking: &fields)
        func present(_ text: String?) -> String? { text.flatMap { $0.isEmpty ? nil : $0 } }
        sound = present(try fields.string("sound"))
        clickAction = present(try fields.string("click_action"))
        titleKey = present(try fields.string("title_loc_key"))
        titleArguments = try fields.strings("title_loc_args")
        bodyKey = present(try fields.string("body_loc_key"))
        bodyArguments = try fields.strings("body_loc_args")
        count = try fields.integer("notification_count")
        tag = present(try fields.string("tag"))
        let priorities = ["UNSPECIFIED", "MIN", "LOW", "DEFAULT", "HIGH", "MAX"].map { "PRIORITY_" + $0 }
        switch try fields.word("notification_priority", of: priorities) {
        case "PRIORITY_MIN", "PRIORITY_LOW": interruptionLevel = "passive"
        case "PRIORITY_MAX": interruptionLevel = "time-sensitive"
        default: break
        }
        if try fields.boolean("default_sound") == true, sound == nil { sound = "default" }
        if isSecond {
            _ = try fields.integer("id")
        } else {
            _ = try fields.word("proxy", of: ["PROXY_UNSPECIFIED", "ALLOW", "DENY", "IF_PRIORITY_LOWERED"])
            _ = try fields.boolean("bypass_proxy_notification")
        }
        try Self.validateAndroidOnlyFields(&fields)
        try fields.end()
    }

    /// Checks the fields that only Android's own notifications use.
    private static func validateAndroidOnlyFields(_ fields: inout FieldReader) throws(FCMRejection) {
        for name in ["icon", "channel_id", "ticker"] { _ = try fields.string(name) }
        try fields.instant("event_time")
        for name in ["sticky", "local_only", "default_vibrate_timings", "default_light_settings"] {
            _ = try fields.boolean(name)
        }
        if let color = try fields.string("color"), !color.isEmpty {
            let digits = color.utf8.dropFirst()
            let isColor =
                color.hasPrefix("#") && digits.count == 6
                && digits.allSatisfy { Character(UnicodeScalar($0)).isHexDigit }
            guard isColor else { throw .invalid(fields.place("color"), "must be #rrggbb") }
        }
        _ = try fields.word("visibility", of: ["VISIBILITY_UNSPECIFIED", "PRIVATE", "PUBLIC", "SECRET"])
        try fields.durations("vibrate_timings")
        if let light = try fields.object("light_settings") { try validate(light: light) }
    }

    /// Checks the light of a notification, all of whose fields are required.
    private static func validate(light fields: FieldReader) throws(FCMRejection) {
        var fields = fields
        for name in ["light_on_duration", "light_off_duration"] where try fields.seconds(name) == nil {
            throw .invalid(fields.place(name), "is missing")
        }
        guard var color = try fields.object("color") else { throw .invalid(fields.place("color"), "is missing") }
        for name in ["red", "green", "blue", "alpha"] { try color.fraction(name) }
        try color.end()
        try fields.end()
    }
}
