import FerrySpool

/// What a look shows of files, and what is told of them.
extension FollowSession {
    /// Takes in what the look showed of known files.
    func keep(_ look: FollowLook) {
        unchanged = []
        // A file that is read to its end and has no name any more: it may have been compressed.
        var hasLostName = source != nil && !isEmptied && !look.match.isFound(0)
        for (index, found) in look.rotated.enumerated() {
            let content = found.rotated.status.content
            switch look.match.rotated[index] {
            case .known(let entry) where entry > 0:
                place.known[entry - 1].inode = found.rotated.status.inode
                let isWhole = found.isRaw || found.size <= place.known[entry - 1].offset
                // From now on it is known by its own bytes, without decompressing it.
                if isWhole, found.form != .plain, !found.isRaw, let raw = found.raw {
                    place.known[entry - 1] = FollowedFile(whole: raw)
                }
                if isWhole || found.file == nil { unchanged.insert(content) }
            case .start:
                if let raw = found.raw { place.known.append(FollowedFile(whole: raw)) }
                unchanged.insert(content)
            case nil where found.problem != nil: passOver(found, look, &hasLostName)
            default: break
            }
        }
    }

    /// Deals with a file whose lines cannot be read.
    private func passOver(_ found: FollowLook.Found, _ look: FollowLook, _ hasLostName: inout Bool) {
        guard let raw = found.raw else {
            // It is read when that becomes possible.
            if told.insert(found.rotated.status.identity).inserted, let problem = found.problem {
                messages.warn("\(problem): its lines are not stored until then")
            }
            return
        }
        unchanged.insert(found.rotated.status.content)
        // As a rule it is a known file that was compressed.
        let gone = place.known.indices.first { index in
            !look.match.isFound(index + 1) && !look.numbers.contains(place.known[index].inode) && place.known[index].offset > 0
        }
        if let gone {
            place.known[gone] = FollowedFile(whole: raw)
        } else {
            place.known.append(FollowedFile(whole: raw))
            if hasLostName {
                hasLostName = false
            } else if let problem = found.problem {
                messages.warn("\(problem): what it holds is not stored, where it came since")
            }
        }
    }

    /// Tells that files may have come and gone while nothing looked, as when the process was stopped.
    func tellGap(_ look: FollowLook, after pause: Duration) {
        guard pause > Self.usualPause, !look.match.rotated.contains(.start(of: 0)) else { return }
        messages.warn(
            "\(log.path) was not looked at for \(pause.forPeople), and the file that was read then is not beside it any more: what came between it and the files that are there now is not stored"
        )
    }

    /// Within it no file comes and goes unseen, but where a log is rotated by the second.
    private static let usualPause = Duration.seconds(10)

    func tellLost(_ look: FollowLook, _ current: FollowedFile) {
        guard current.offset > 0, !look.match.rotated.contains(.start(of: 0)) else { return }
        if isEmptied {
            messages.warn(
                "\(log.path) was emptied, and no copy of it was found beside it: if it had more than \(current.offset) bytes, the rest is not stored"
            )
        } else {
            messages.warn(
                "the file that \(log.path) was is not beside it any more: what it held behind byte \(current.offset) is not stored, nor what came between it and the files that are there now"
            )
        }
    }

    /// Tells when the order of files that came cannot be told, or what they are.
    func tellDoubt(_ look: FollowLook, _ current: FollowedFile, _ index: Int) {
        let found = look.rotated[index]
        let later = look.rotated.indices.dropFirst(index + 1)
        let isNumbered = found.rotated.name.age.isNumbered
        let isOlder = later.contains { other in
            guard look.rotated[other].rotated.name.age.isNumbered == isNumbered,
                case .known(let entry) = look.match.rotated[other]
            else { return false }
            // One that nothing was taken of is known by its number alone, which may be another file's by now.
            if entry == 0, current.offset == 0 { return false }
            return look.rotated[other].rotated.status.identity != source?.identity
        }
        let isMixed = later.contains {
            look.match.rotated[$0] == .new && look.rotated[$0].rotated.name.age.isNumbered != isNumbered
        }
        let isLikeKnown = look.match.doubtful.contains(index)
        guard isOlder || isMixed || isLikeKnown, told.insert(found.rotated.status.identity).inserted else { return }
        let path = found.file?.path ?? found.rotated.name.text
        if isLikeKnown {
            messages.warn(
                "\(path) has the lines of a file that is stored: they are stored once more, for nothing shows that it is a copy")
        } else if isMixed {
            messages.warn(
                "\(path) and others came with numbers and with dates in their names: both are stored, perhaps not in their order")
        } else {
            messages.warn("\(path) came beside files that are newer by their names: nothing shows that it was stored, so it is")
        }
    }
}
