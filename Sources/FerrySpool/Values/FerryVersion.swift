/// The version of this build.
public enum FerryVersion {
    public static let current = "0.1.0"
}
