/// What the admission of arrivals forces to the disk before it logs their keys.
package enum Forcing: Sendable {
    /// Each file.
    case files
    /// The whole file system, in one call, the folder with it.
    case fileSystem
    /// The folder alone: the files' writer has forced them.
    case nothing
}
