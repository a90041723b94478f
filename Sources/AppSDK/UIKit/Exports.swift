// Code written for UIKit relies on its bringing Foundation and the notification framework along.
@_exported import Foundation
@_exported import FoundationNetworking
@_exported import UserNotifications
