import HTTPTypes
import PushServer
import Texts

/// A refusal by the console itself. Pages show it in the reader's language.
enum ConsoleRefusal: String, CaseIterable {
    /// The role of the person does not include the page.
    case role
    /// The person has no role.
    case noRole
    /// The person may not give that role.
    case givingRole
    /// The person may not change the role of that person.
    case changingRole
    /// The person has no role in the team.
    case team
    /// The role does not see the templates that the document contains.
    case templates
    /// The role does not see what the file contains.
    case file
    /// The role does not see what the search would look in.
    case search
    /// The session has ended.
    case session
    /// The form has no token, or that of another session.
    case formOfOther
    /// The form came from another site.
    case site
    /// The form is too large.
    case size
    /// The form is of another type.
    case type

    /// The prefix of the codes by which pages know their own refusals.
    private static let prefix = "console."

    /// The refusal as an error.
    var error: ControlError {
        let status: HTTPResponse.Status =
            switch self {
            case .session: .unauthorized
            case .size: .contentTooLarge
            case .type: .unsupportedMediaType
            default: .forbidden
            }
        return ControlError(
            status: status, code: Self.prefix + rawValue, message: Catalogue.of(.english).text("refused.\(rawValue)"))
    }

    /// The message of an error in a language; that of the API is English.
    static func message(of error: ControlError, _ texts: Catalogue) -> String {
        guard error.code.hasPrefix(prefix) else { return error.message }
        return texts.text("refused." + error.code.dropFirst(prefix.count))
    }
}
