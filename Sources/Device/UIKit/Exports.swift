// Code written for UIKit relies on its bringing Foundation along.
@_exported import Foundation
@_exported import FoundationNetworking
