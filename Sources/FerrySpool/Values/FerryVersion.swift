import CZlib

#if Libdeflate
    import CLibdeflate
#endif

/// The version of this build.
public enum FerryVersion {
    /// The version of this build.
    public static let current = "0.1.0"

    /// With what compresses and inflates in it.
    package static var withCodecs: String {
        let zlib = zlibVersion().map { String(cString: $0) } ?? ""
        #if Libdeflate
            return "\(current) (libdeflate \(LIBDEFLATE_VERSION_STRING), zlib \(zlib))"
        #else
            return "\(current) (zlib \(zlib))"
        #endif
    }
}
