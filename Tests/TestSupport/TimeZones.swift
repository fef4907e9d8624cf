import Foundation

/// Whether the machine has time zones (Debian: tzdata).
package let hasTimeZones = FileManager.default.fileExists(atPath: "/usr/share/zoneinfo/Europe/Berlin")
