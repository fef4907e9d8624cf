import CLinux
import Glibc

extension OpenFile {
    /// Gives the blocks at the start of the file back to the disk; its length stays: Linux's fallocate(2).
    func free(upTo length: Int64) throws(FileError) {
        guard length > 0 else { return }
        while fallocate(descriptor, FERRY_PUNCH_HOLE, 0, off_t(length)) != 0 {
            if errno != EINTR { throw FileError("free a part of", path) }
        }
    }
}
