// Notification code on iOS imports UserNotifications alone and uses both.
@_exported import Foundation
@_exported import FoundationNetworking
