/// The filter that `rsync -F` reads in each folder: it lets nothing through but segments.
enum RsyncFilter {
    static let name = ".rsync-filter"
    static let content = """
        # Written by Ferry: `rsync -aF SPOOL/ ELSEWHERE/` copies published segments and nothing else.
        - /sent/
        - /rejected/
        - .*
        - *.retry.json

        """
}
