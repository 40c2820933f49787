"""Cases for the commands that no key routes; those of the others are generated.

    LINE [= HOW]

A line is a request; "<" begins what is said on the same connection before, and
";" parts requests.  How the reply of the proxy compares with that of a server:

    same     the same bytes (this is the default)
    sorted   the same elements in whichever order
    kind     the same type and, of an aggregate, the same number of elements
    type     the same type
    code     an error with the same first word
    silent   neither of them answers
    scan     whole scans give the same elements
    hello    the same but for the number of the connection

Rows that are refused by all pools need nothing but a request that a server
would take; it is not sent to the server.
"""

SCRIPT = "e0e1f9fabfc9d4800c877a703b823ac0578ff8db"  # of "return 1"

LIBRARY = ("#!lua name=cover\n"
           "redis.register_function('cover', function() return 1 end)")

# {sha} and {library} stand for the words above, "_" for a space in a word.
CASES = """
ACL
ACL CAT = sorted
ACL CAT dangerous = sorted
ACL DELUSER nobody
ACL DRYRUN default GET
ACL GENPASS = kind
ACL GETUSER default
ACL HELP
ACL LIST
ACL LOAD
ACL LOG
ACL SAVE
ACL SETUSER nobody
ACL USERS
ACL WHOAMI
ASKING
AUTH secret
AUTH default secret
BGREWRITEAOF
BGSAVE
CLIENT
CLIENT TRACKING ON OPTIN < CLIENT CACHING YES
CLIENT GETNAME
CLIENT SETNAME me < CLIENT GETNAME
CLIENT GETREDIR
CLIENT HELP = same
CLIENT ID = type
CLIENT INFO = type
CLIENT KILL ID 12345678
CLIENT LIST = type
CLIENT NO-EVICT ON
CLIENT PAUSE 0
CLIENT REPLY ON
CLIENT REPLY OFF = silent
CLIENT SETNAME me
CLIENT TRACKING OFF
CLIENT TRACKING ON BCAST PREFIX a
CLIENT TRACKINGINFO
CLIENT TRACKING ON BCAST PREFIX b PREFIX a < CLIENT TRACKINGINFO
CLIENT UNBLOCK 12345678
CLIENT UNPAUSE
CLUSTER
CLUSTER ADDSLOTS 1
CLUSTER ADDSLOTSRANGE 1 2
CLUSTER BUMPEPOCH
CLUSTER COUNT-FAILURE-REPORTS x
CLUSTER COUNTKEYSINSLOT 1
CLUSTER DELSLOTS 1
CLUSTER DELSLOTSRANGE 1 2
CLUSTER FAILOVER
CLUSTER FLUSHSLOTS
CLUSTER FORGET x
CLUSTER GETKEYSINSLOT 1 1
CLUSTER HELP
CLUSTER INFO
CLUSTER KEYSLOT a
CLUSTER LINKS
CLUSTER MEET 127.0.0.1 1
CLUSTER MYID
CLUSTER NODES
CLUSTER REPLICAS x
CLUSTER REPLICATE x
CLUSTER RESET
CLUSTER SAVECONFIG
CLUSTER SET-CONFIG-EPOCH 1
CLUSTER SETSLOT 1 STABLE
CLUSTER SHARDS
CLUSTER SLAVES x
CLUSTER SLOTS
COMMAND = type
COMMAND COUNT = type
COMMAND DOCS get = type
COMMAND GETKEYS MSET a 1 b 2
COMMAND GETKEYSANDFLAGS MSET a 1 b 2
COMMAND HELP = kind
COMMAND INFO get nosuch = kind
COMMAND LIST FILTERBY PATTERN z*card = sorted
CONFIG
CONFIG GET maxmemory
CONFIG HELP
CONFIG RESETSTAT
CONFIG REWRITE
CONFIG SET maxmemory 0
FLUSHALL < DBSIZE
SET {a}k v ; SET {b}k v < DBSIZE
DEBUG JMAP
ECHO hello
FAILOVER ABORT
FLUSHALL
FLUSHALL ASYNC
FLUSHDB
FUNCTION
FUNCTION LOAD {library} < FUNCTION DELETE cover
FUNCTION DELETE nosuch
FUNCTION FLUSH < FUNCTION DUMP
FUNCTION FLUSH
FUNCTION HELP
FUNCTION KILL
FUNCTION LOAD REPLACE {library} < FUNCTION LIST
FUNCTION LOAD REPLACE {library}
FUNCTION RESTORE nosuch
FUNCTION STATS
HELLO = hello
INFO server = type
INFO nosuchsection
FLUSHALL < KEYS *
SET {a}k v ; SET {b}k v ; SET {c}k v < KEYS {?}k = sorted
LASTSAVE = type
LATENCY
LATENCY DOCTOR = type
LATENCY GRAPH command
LATENCY HELP
LATENCY HISTOGRAM get = type
LATENCY HISTORY command
LATENCY LATEST
LATENCY RESET
LOLWUT
MEMORY
MEMORY DOCTOR = type
MEMORY HELP
MEMORY MALLOC-STATS = type
MEMORY PURGE
MEMORY STATS = type
MIGRATE 127.0.0.1 1 {a}k 0 1
MODULE
MODULE HELP
MODULE LIST
MODULE LOAD nosuch
MODULE LOADEX nosuch
MODULE UNLOAD nosuch
MONITOR
OBJECT
OBJECT HELP
PFDEBUG GETREG {a}k
PFSELFTEST
PING
PING hello
PSUBSCRIBE c*
PSYNC ? -1
PUBLISH nobody hello
PUBSUB
PUBSUB CHANNELS nosuch*
PUBSUB HELP
PUBSUB NUMPAT
PUBSUB NUMSUB a b
PUBSUB SHARDCHANNELS nosuch*
PUBSUB SHARDNUMSUB a b
PUNSUBSCRIBE c*
QUIT
FLUSHALL < RANDOMKEY
FLUSHALL ; SET {a}k v < RANDOMKEY
READONLY
READWRITE
REPLCONF CAPA eof
REPLICAOF NO ONE
RESET
RESTORE-ASKING {a}k 0 x
ROLE
SAVE
FLUSHALL < SCAN 0 = scan
FLUSHALL ; SET {a}k v < SCAN 0 COUNT 1000 MATCH {a}* TYPE string = scan
SCRIPT
SCRIPT DEBUG NO
SCRIPT LOAD return_1 < SCRIPT EXISTS {sha} 0
SCRIPT FLUSH
SCRIPT HELP
SCRIPT KILL
SCRIPT LOAD return_1
SELECT 0
SELECT 16
SHUTDOWN NOSAVE
SLAVEOF NO ONE
SLOWLOG
SLOWLOG RESET < SLOWLOG GET
SLOWLOG HELP
SLOWLOG RESET < SLOWLOG LEN
SLOWLOG RESET
SPUBLISH nobody hello
SSUBSCRIBE c
SUBSCRIBE c
SUNSUBSCRIBE c
SWAPDB 0 1
SYNC
TIME = kind
UNSUBSCRIBE c
WAIT 0 1 = type
XGROUP
XGROUP HELP
XINFO
XINFO HELP
MULTI
MULTI < DISCARD
MULTI ; SET {a}k v ; GET {a}k < EXEC
MULTI < EXEC
EXEC
DISCARD
WATCH {a}k
WATCH {a}k ; SET {a}k w ; MULTI ; GET {a}k < EXEC
UNWATCH
BLMOVE {a}nobody {a}x LEFT RIGHT 0.01
DEL {a}l ; RPUSH {a}l 1 2 < BLMOVE {a}l {a}m LEFT RIGHT 0
BLMPOP 0.01 1 {a}nobody LEFT
DEL {a}l ; RPUSH {a}l 1 2 < BLMPOP 0 1 {a}l LEFT COUNT 5
BLPOP {a}nobody 0.01
DEL {a}l ; RPUSH {a}l 1 2 < BLPOP {a}l 0
DEL {a}l ; RPUSH {a}l 1 2 < BRPOP {a}l 0
DEL {a}l ; RPUSH {a}l 1 2 < BRPOPLPUSH {a}l {a}m 0
BZMPOP 0.01 1 {a}nobody MIN
DEL {a}z ; ZADD {a}z 1.5 m 2 n < BZMPOP 0 1 {a}z MIN
DEL {a}z ; ZADD {a}z 1.5 m 2 n < BZPOPMAX {a}z 0
DEL {a}z ; ZADD {a}z 1.5 m 2 n < BZPOPMIN {a}z 0
"""


class Case:
    """One request, what comes before it, and how the replies compare."""

    def __init__(self, words, before=(), how="same"):
        self.words = words
        self.before = list(before)
        self.how = how

    def __repr__(self):
        return " ".join(str(word)[:60] for word in self.words)


def parse_word(text):
    if text == "{library}":
        return LIBRARY
    return text.replace("{sha}", SCRIPT).replace("_", " ")


def parse_words(text):
    return [parse_word(word) for word in text.split()]


def parse(line):
    request, _, how = line.partition(" = ")
    before, _, request = request.rpartition(" < ")
    return Case(parse_words(request),
                [parse_words(part) for part in before.split(";")
                 if part.strip()], how.strip() or "same")


def written_cases():
    return [parse(line) for line in CASES.strip().splitlines()]
