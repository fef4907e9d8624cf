/// What an examination of a segment found.
package struct Examination: Equatable, Sendable {
    /// `nil` when their writer did not note them and the segment was not inflated.
    package var events: Int64?
    /// What is wrong with the gzip data; `nil` when no damage was found.
    package var damage: GzipError?
    /// A member's writer noted nothing, so that only inflating shows whether the file is whole.
    package var lacksNotes = false
}
