import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import PushServer
import Texts

/// A reader's language and time zone, which cookies keep.
enum PreferencesPage {
    static func add(to routes: ConsoleRoutes) {
        routes.get("preferences") { show($0) }
        routes.post("preferences") { try await save($0) }
    }

    private static func show(_ pageRequest: PageRequest, zone: String? = nil, fault: String? = nil) -> Response {
        var values: [String: Any] = [
            "zoneName": zone ?? pageRequest.zoneName, "zones": TimeZone.knownTimeZoneIdentifiers,
            "isInvalid": fault != nil,
        ]
        values["fault"] = fault
        return pageRequest.page(
            "preferences", title: pageRequest.texts.text("preferences.title"), section: "",
            status: fault == nil ? .ok : .badRequest, values)
    }

    private static func save(_ pageRequest: PageRequest) async throws -> Response {
        let form = try await pageRequest.request.form()
        let name = form.first("zone") ?? ""
        guard let language = form.first("language").flatMap(Language.init(rawValue:)) else {
            throw ControlError.invalid("language is not one of the console's; en and es are")
        }
        guard name == "UTC" || TimeZone.knownTimeZoneIdentifiers.contains(name) else {
            let fault = pageRequest.texts.text("preferences.zone.unknown", ["zone": String(name.prefix(60))])
            return show(pageRequest, zone: name, fault: fault)
        }
        var response = pageRequest.redirect(to: "/console/preferences")
        for (cookie, value) in [("language", language.rawValue), ("zone", name)] {
            response.headers.append(
                HTTPField(
                    name: .setCookie, value: "\(cookie)=\(value); Path=/console/; Max-Age=31536000; SameSite=Lax"))
        }
        return response
    }
}
