import Foundation

/// Whether the machine has time zones (Debian: tzdata).
public let hasTimeZones = FileManager.default.fileExists(atPath: "/usr/share/zoneinfo/Europe/Berlin")
