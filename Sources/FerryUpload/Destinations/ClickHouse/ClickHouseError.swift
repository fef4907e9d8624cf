/// What the code of an exception of ClickHouse's says (`src/Common/ErrorCodes.cpp`): codes are never given anew.
enum ClickHouseError: Equatable {
    /// Who asks: the credentials, or what they may do.
    case access
    /// What only a person mends; with what to look at.
    case setup(String)
    /// A state that passes. Nothing was taken in.
    case busy
    /// A state that passes, which came up on the way: all of it may be in, or a part.
    case interrupted
    /// How much came at once.
    case size
    /// The rows.
    case content
    /// Nothing that is known here.
    case other

    init(code: Int, message: String) {
        self =
            switch code {
            // READONLY, UNKNOWN_USER, WRONG_PASSWORD, REQUIRED_PASSWORD, IP_ADDRESS_NOT_ALLOWED, DATABASE_ACCESS_DENIED, ACCESS_DENIED,
            // AUTHENTICATION_FAILED, USER_EXPIRED
            case 164, 192, 193, 194, 195, 291, 497, 516, 720: .access
            // UNKNOWN_TABLE, UNKNOWN_DATABASE, TABLE_IS_DROPPED
            case 60, 81, 218: .setup("create it, or mend its name in the URL")
            // THERE_IS_NO_COLUMN, NO_SUCH_COLUMN_IN_TABLE, ILLEGAL_COLUMN, UNKNOWN_IDENTIFIER
            case 8, 16, 44, 47: .setup(Self.columns)
            // INCORRECT_DATA, which stands for rows as well.
            case 117: message.hasPrefix("Unknown field") ? .setup(Self.columns) : .content
            // BAD_ARGUMENTS, LOGICAL_ERROR, which older servers say of a word that an enumeration lacks.
            case 36, 49: message.hasPrefix("Unknown element") ? .content : .other
            // SYNTAX_ERROR, UNKNOWN_FORMAT, UNKNOWN_SETTING, THERE_IS_NO_PROFILE, SETTING_CONSTRAINT_VIOLATION, INVALID_SETTING_VALUE,
            // READONLY_SETTING, UNKNOWN_ROLE, SET_NON_GRANTED_ROLE
            case 62, 73, 115, 180, 452, 471, 472, 511, 512: .setup("check the settings in the URL, and the user's")
            // UNSUPPORTED_METHOD, NOT_IMPLEMENTED, QUERY_IS_PROHIBITED, QUERY_NOT_ALLOWED
            case 1, 48, 392, 620: .setup("this table takes no INSERT")
            // TOO_MANY_PARTS, which stands for the days and keys of one insert as well.
            case 252: message.contains("partitions for single INSERT block") ? .size : .busy
            // QUOTA_EXCEEDED, TOO_MANY_SIMULTANEOUS_QUERIES, NO_FREE_CONNECTION, NO_ZOOKEEPER, TABLE_IS_READ_ONLY,
            // RECEIVED_ERROR_TOO_MANY_REQUESTS, CANNOT_SCHEDULE_TASK, DISTRIBUTED_TOO_MANY_PENDING_BYTES, TOO_MANY_MUTATIONS,
            // USER_SESSION_LIMIT_EXCEEDED, ASYNC_LOAD_WAIT_FAILED, TABLE_IS_BEING_RESTARTED
            case 201, 202, 203, 225, 242, 364, 439, 574, 692, 700, 722, 733: .busy
            // TIMEOUT_EXCEEDED, TOO_SLOW, CANNOT_ALLOCATE_MEMORY, DNS_ERROR, SOCKET_TIMEOUT, NETWORK_ERROR, ABORTED, MEMORY_LIMIT_EXCEEDED,
            // NOT_ENOUGH_SPACE, UNEXPECTED_ZOOKEEPER_ERROR, NO_ACTIVE_REPLICAS, NO_AVAILABLE_REPLICA, ALL_CONNECTION_TRIES_FAILED,
            // TOO_FEW_LIVE_REPLICAS, UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE, SHARD_HAS_NO_CONNECTIONS, UNKNOWN_STATUS_OF_INSERT,
            // QUERY_WAS_CANCELLED, NO_REMOTE_SHARD_AVAILABLE, RAFT_ERROR, QUERY_WAS_CANCELLED_BY_CLIENT, KEEPER_EXCEPTION
            case 159, 160, 173, 198, 209, 210, 236, 241, 243, 244, 254, 265, 279, 285, 286, 297, 319, 394, 519, 568, 735, 999:
                .interrupted
            // TOO_MANY_ROWS, TOO_MANY_BYTES, TOO_MANY_ROWS_OR_BYTES, TOO_MANY_PARTITIONS
            case 158, 307, 396, 565: .size
            // CANNOT_PARSE_TEXT, …_ESCAPE_SEQUENCE, …_QUOTED_STRING, …_INPUT_ASSERTION_FAILED, …_DATE, …_DATETIME, TYPE_MISMATCH,
            // ARGUMENT_OUT_OF_BOUND, CANNOT_CONVERT_TYPE, CANNOT_PARSE_NUMBER, CANNOT_INSERT_VALUE_OF_DIFFERENT_SIZE_INTO_TUPLE,
            // TOO_LARGE_ARRAY_SIZE, CANNOT_READ_ARRAY_FROM_TEXT, TOO_LARGE_STRING_SIZE, SIZES_OF_ARRAYS_DOESNT_MATCH,
            // VALUE_IS_OUT_OF_RANGE_OF_DATA_TYPE, CANNOT_INSERT_NULL_IN_ORDINARY_COLUMN, CANNOT_PARSE_UUID, DECIMAL_OVERFLOW,
            // CANNOT_PARSE_DOMAIN_VALUE_FROM_STRING, CANNOT_PARSE_BOOL, VIOLATED_CONSTRAINT, CANNOT_READ_MAP_FROM_TEXT,
            // CANNOT_SKIP_UNKNOWN_FIELD, UNEXPECTED_DATA_AFTER_PARSED_VALUE, NUMBER_OF_DIMENSIONS_MISMATCHED, CANNOT_PARSE_IPV4,
            // CANNOT_PARSE_IPV6, UNKNOWN_ELEMENT_OF_ENUM
            case 6, 25, 26, 27, 38, 41, 53, 69, 70, 72, 120, 128, 130, 131, 190, 321, 349, 376, 407, 441, 467, 469, 563, 626, 632,
                645, 675, 676, 691:
                .content
            default: .other
            }
    }

    private static let columns = "add the column, or ?input_format_skip_unknown_fields=1 to the URL, which leaves such fields out"
}
