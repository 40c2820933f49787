"""What test_same_as_direct.py says to servers: templates of commands.

A template is a line of words.  What a word may be:

    GET            itself; NX|XX: one of these
    <str>          a key that mostly holds a string, see KINDS
    <n:set>        a number and so many keys: 2 k1 k2
    <val> <int>    one of WORDS
    $name #name    a script of SCRIPTS, its digest
    [ ... ]        there or not
    ( ... )        one to four times
    !...           at the front: never spoilt, since a spoilt one might depend
                   on the clock or on chance

Nothing here depends on the clock, on chance or on the seed of a server's hash
tables: ids of streams are given, times are absolute and far away, and what
picks at random finds one element.  Keys with a time to live that is relative
(<fleet>) are never asked for it.
"""

FAR = "9999999999"
TAGS = [b"{a}", b"{b}", b"{c}", b""]
ODD_KEYS = [b"", b"\x00\xff\r\n$3", b"{}x", b"{a}{b}", b"{a", b"a b\"c'",
            bytes(range(256))]

# What a key mostly holds: commands for other kinds meet it now and then.
KINDS = {kind: [tag + kind.encode() + str(i).encode()
                for tag in TAGS for i in range(3)]
         for kind in ("str", "list", "set", "hash", "zset", "stream", "geo",
                      "hll", "bits")}
# These keep to themselves: no command with a key of another kind meets them.
# The scores of a lexset are equal, or ranges by member would be up to chance.
PURE_KINDS = {kind: [tag + kind.encode() for tag in TAGS]
              for kind in ("fleet", "oneset", "onehash", "onezset",
                           "lexset", "dumped", "lasting", "quiet", "missing",
                           "sortable", "big", "biglist")}

WORDS = {
    "val": ["", "a", "abc", "10", "-1", "3.5", "0", "9223372036854775807",
            b"\x00\x01\xff", b"\r\n$5\r\n", "v" * 70, "caf\u00e9", "1e3"],
    "int": ["0", "1", "-1", "5", "100", "-9223372036854775808",
            "9223372036854775807", "x", "1.5", "9223372036854775808", ""],
    "count": ["0", "1", "2", "10", "-1", "x"],
    "index": ["0", "1", "2", "-1", "-2", "-100", "100", "x"],
    "float": ["1", "0.1", "-2.5", "1e10", "inf", "-inf", "nan", "x", "3.0e-5"],
    "field": ["f", "g", "h", "", b"\x00\xff", "f" * 70],
    "member": ["a", "b", "c", "d", "1", "2.0", "", b"\xff\x00", "m" * 70],
    "score": ["0", "1", "-1", "2.5", "1e20", "inf", "-inf", "nan", "x"],
    "min": ["-inf", "0", "(0", "1", "-1", "x", "(x", "[a"],
    "max": ["+inf", "inf", "1", "(2.5", "100", "x", ""],
    "lexmin": ["-", "[a", "(a", "[", "a", "+"],
    "lexmax": ["+", "[c", "(c", "b", "-"],
    "offset": ["0", "7", "8", "100", "-1", "x", "5000", "4294967296"],
    "bit": ["0", "1", "2", "x"],
    "type": ["u8", "i8", "u1", "i64", "u63", "u64", "i16", "x"],
    "id": ["0", "1-1", "1-2", "2-1", "3", "5-0", "7-7", "0-0", "x", "1-x"],
    "fresh": ["1-1", "2-1", "2-*", "3-5", "4-*", "5", "9-9", "10-1", "0-0"],
    "idmin": ["-", "1-1", "(1-1", "2", "x"],
    "idmax": ["+", "9-9", "(3-5", "3", "x"],
    "group": ["g", "h", "nogroup"],
    "consumer": ["c", "d"],
    "lon": ["13.361389", "15.087269", "-0.1", "181", "x"],
    "lat": ["38.115556", "37.502669", "51.5", "86", "x"],
    "place": ["Palermo", "Catania", "x", "nowhere"],
    "radius": ["0", "100", "200", "10000", "-1", "x"],
    "unit": ["m", "km", "ft", "mi", "parsec"],
    "far": [FAR, "9999999998"],
    "farms": [FAR + "000", "9999999998000"],
    "soon": ["100", "1000", "0", "-1", "x", "9223372036854775807"],
    "pattern": ["*", "a*", "[a-c]", "f", "nothing"],
    "huge100k": ["x" * 100_000, bytes(range(256)) * 400],
    "huge2m": ["y" * 2_000_000],
    "sha": ["0" * 40, "xyz"],
    # What DUMP says of the string "v"; an old version loads everywhere.
    "payload": [b"\x00\x01v\n\x00\x91\x08\xce\xb2\x198\x8a\xce", "", "broken"],
}

SCRIPTS = {
    "get": "return redis.call('GET', KEYS[1])",
    "set": "return redis.call('SET', KEYS[1], ARGV[1])",
    "args": "return {KEYS, ARGV}",
    "types": "return {1, 2.9, 'x', false, true, {1, {2, nil, 3}}, "
             "{ok='fine'}, {err='My error'}}",
    "resp3": "redis.setresp(3) return {{map={a=1}}, {set={a=true}}, "
             "{double=1.5}, true}",
    "moved": "return redis.error_reply('MOVED 1 127.0.0.1:1')",
    "pcall": "return redis.pcall('LPUSH', KEYS[1], 'x')",
    "bad": "return syntax error",
}

LIBRARY = """#!lua name=same
local function put(keys, args)
    return redis.call('SET', keys[1], args[1])
end
local function peek(keys, args)
    return {keys, args, redis.call('GET', keys[1])}
end
redis.register_function('put', put)
redis.register_function{
    function_name = 'peek', callback = peek, flags = {'no-writes'}}
"""

FAMILIES = {
    "strings": """
        SET <str> <val>
        SET <str> <val> NX|XX|GET
        SET <str> <val> NX|XX GET
        SET <str> <val> EXAT <far>
        SET <str> <val> KEEPTTL GET
        SET <str> <val> FOO|EX
        GET <str>
        GET <str>
        GETSET <str> <val>
        GETDEL <str>
        GETEX <str> [ PERSIST ]
        GETEX <str> PXAT <farms>
        SETNX <str> <val>
        APPEND <str> <val>
        STRLEN <str>
        SETRANGE <str> <offset> <val>
        GETRANGE <str> <index> <index>
        SUBSTR <str> <index> <index>
        INCR <str>
        DECR <str>
        INCRBY <str> <int>
        DECRBY <str> <int>
        INCRBYFLOAT <str> <float>
        LCS <str> <str> [ LEN ]
        LCS <str> <str> IDX [ MINMATCHLEN <count> ] [ WITHMATCHLEN ]
        MSETNX ( <str> <val> )
        MSETNX <str> <val> <str>
        """,
    "bits": """
        SETBIT <bits> <offset> <bit>
        SETBIT <bits> 7|15|100 1
        GETBIT <bits> <offset>
        BITCOUNT <bits>
        BITCOUNT <bits> <index> <index> [ BYTE|BIT|FOO ]
        BITPOS <bits> <bit>
        BITPOS <bits> <bit> <index> [ <index> [ BYTE|BIT ] ]
        BITOP AND|OR|XOR|NOT|FOO <bits> ( <bits> )
        BITFIELD <bits> ( GET <type> <offset> )
        BITFIELD <bits> ( OVERFLOW WRAP|SAT|FAIL INCRBY <type> 0|#1 <int> )
        BITFIELD <bits> SET u8 #0|8|x <int> GET u8 0
        BITFIELD_RO <bits> ( GET <type> <offset> )
        BITFIELD_RO <bits> SET u8 0 1
        """,
    "hashes": """
        HSET <hash> ( <field> <val> )
        HSET <hash> <field> <val> <field>
        HMSET <hash> ( <field> <val> )
        HSETNX <hash> <field> <val>
        HGET <hash> <field>
        HMGET <hash> ( <field> )
        HGETALL <hash>
        HKEYS <hash>
        HVALS <hash>
        HLEN <hash>
        HDEL <hash> ( <field> )
        HEXISTS <hash> <field>
        HSTRLEN <hash> <field>
        HINCRBY <hash> <field> <int>
        HINCRBYFLOAT <hash> <field> <float>
        HSCAN <hash> 0 COUNT 1000
        HSCAN <hash> 0 MATCH <pattern> COUNT 1000
        !HSET <onehash> f 1
        HRANDFIELD <onehash> [ <count> [ WITHVALUES ] ]
        HRANDFIELD <onehash> -3 WITHVALUES
        """,
    "lists": """
        LPUSH <list> ( <val> )
        RPUSH <list> ( <val> )
        RPUSH <list> a b c a
        LPUSHX <list> <val>
        RPUSHX <list> <val>
        LPOP <list> [ <count> ]
        RPOP <list> [ <count> ]
        LLEN <list>
        LRANGE <list> <index> <index>
        LRANGE <list> 0 -1
        LINDEX <list> <index>
        LSET <list> <index> <val>
        LINSERT <list> BEFORE|AFTER|UNDER a|b <val>
        LREM <list> <count> a|b
        LTRIM <list> 0|1 10|3|-2
        LPOS <list> a|b [ RANK 1|-1|0 ] [ COUNT <count> ] [ MAXLEN <count> ]
        RPOPLPUSH <list> <list>
        LMOVE <list> <list> LEFT|RIGHT LEFT|RIGHT|UP
        LMPOP <n:list> LEFT|RIGHT|UP [ COUNT <count> ]
        LMPOP x|0|100 <list> LEFT
        """,
    "sets": """
        SADD <set> ( <member> )
        SREM <set> ( <member> )
        SCARD <set>
        SISMEMBER <set> <member>
        SMISMEMBER <set> ( <member> )
        SMEMBERS <set>
        SMOVE <set> <set> <member>
        SINTER ( <set> )
        SUNION ( <set> )
        SDIFF ( <set> )
        SINTERSTORE <set> ( <set> )
        SUNIONSTORE <set> ( <set> )
        SDIFFSTORE <set> ( <set> )
        SINTERCARD <n:set> [ LIMIT <count> ]
        SSCAN <set> 0 COUNT 1000
        SSCAN <set> 0|x MATCH <pattern> COUNT 1000
        !SADD <oneset> only
        SPOP <oneset> [ <count> ]
        SRANDMEMBER <oneset> [ <count> ]
        SRANDMEMBER <oneset> -4
        """,
    "sorted sets": """
        ZADD <zset> ( <score> <member> )
        ZADD <zset> 1 a 2 b 3 c
        ZADD <zset> [ NX|XX ] [ GT|LT ] [ CH ] ( <score> <member> )
        ZADD <zset> INCR <score> <member>
        ZINCRBY <zset> <score> <member>
        ZREM <zset> ( <member> )
        ZCARD <zset>
        ZSCORE <zset> <member>
        ZMSCORE <zset> ( <member> )
        ZRANK <zset> <member>
        ZREVRANK <zset> <member>
        ZCOUNT <zset> <min> <max>
        !ZADD <lexset> ( 0 <member> )
        ZLEXCOUNT <lexset> <lexmin> <lexmax>
        ZRANGE <zset> <index> <index> [ REV ] [ WITHSCORES ]
        ZRANGE <zset> <min> <max> BYSCORE [ LIMIT 0|1 <count> ] [ WITHSCORES ]
        ZRANGE <lexset> <lexmin> <lexmax> BYLEX
        ZRANGESTORE <zset> <zset> 0 -1 [ REV ]
        ZRANGEBYSCORE <zset> <min> <max> [ WITHSCORES ] [ LIMIT 0 <count> ]
        ZREVRANGEBYSCORE <zset> <max> <min> [ WITHSCORES ]
        ZRANGEBYLEX <lexset> <lexmin> <lexmax> [ LIMIT 0 2 ]
        ZREVRANGEBYLEX <lexset> <lexmax> <lexmin>
        ZREVRANGE <zset> <index> <index> [ WITHSCORES ]
        ZREMRANGEBYRANK <zset> 2|x <index>
        ZREMRANGEBYSCORE <zset> 100|x <max>
        ZREMRANGEBYLEX <lexset> [d|x <lexmax>
        ZPOPMIN <zset> [ <count> ]
        ZPOPMAX <zset> [ <count> ]
        ZMPOP <n:zset> MIN|MAX|MID [ COUNT <count> ]
        ZUNION <n:zset> [ WEIGHTS 2 3|x ] [ AGGREGATE MIN ] [ WITHSCORES ]
        ZINTER <n:zset> [ AGGREGATE SUM|MAX|FOO ] [ WITHSCORES ]
        ZDIFF <n:zset> [ WITHSCORES ]
        ZUNIONSTORE <zset> <n:zset> [ WEIGHTS 2 ] [ AGGREGATE MIN|MAX ]
        ZINTERSTORE <zset> <n:zset> [ AGGREGATE MIN ]
        ZDIFFSTORE <zset> <n:zset>
        ZUNION <n:set> WITHSCORES
        ZINTERCARD <n:zset> [ LIMIT <count> ]
        ZSCAN <zset> 0 [ MATCH <pattern> ] COUNT 1000
        !ZADD <onezset> 1.5 only
        ZRANDMEMBER <onezset> [ <count> [ WITHSCORES ] ]
        ZRANDMEMBER <onezset> -2 WITHSCORES
        """,
    "streams": """
        XADD <stream> <fresh> ( <field> <val> )
        XADD <stream> [ NOMKSTREAM ] MAXLEN [ ~|= ] <count> <fresh> f v
        XADD <stream> MINID 2 <fresh> f v
        XLEN <stream>
        XRANGE <stream> <idmin> <idmax> [ COUNT <count> ]
        XREVRANGE <stream> <idmax> <idmin> [ COUNT <count> ]
        XDEL <stream> ( <id> )
        XTRIM <stream> MAXLEN [ ~ ] <count>
        XTRIM <stream> MINID <id> [ LIMIT 10 ]
        XREAD COUNT <count> STREAMS <stream> <id>
        XREAD STREAMS <stream> <stream> <id> <id>
        XREAD STREAMS <stream> <stream> <id>
        XSETID <stream> <id>
        XGROUP CREATE <stream> <group> <id> [ MKSTREAM ]
        XGROUP CREATE <stream> g 0 MKSTREAM
        XGROUP SETID <stream> <group> <id>
        XGROUP CREATECONSUMER <stream> <group> <consumer>
        XGROUP DELCONSUMER <stream> <group> <consumer>
        XGROUP DESTROY <stream> h
        XREADGROUP GROUP <group> <consumer> COUNT <count> STREAMS <stream> >
        XREADGROUP GROUP BLOCK STREAMS STREAMS <stream> >
        XREAD COUNT BLOCK STREAMS <stream> <id>
        XREADGROUP GROUP g <consumer> NOACK STREAMS <stream> <stream> > <id>
        XACK <stream> <group> ( <id> )
        XPENDING <stream> <group>
        !XPENDING <stream> <group> - + 10 nobody
        XCLAIM <stream> <group> <consumer> 0 ( <id> ) [ JUSTID ]
        XCLAIM <stream> <group> <consumer> 0 1-1 FORCE JUSTID
        XAUTOCLAIM <stream> <group> <consumer> 0 0 [ COUNT <count> ] JUSTID
        XINFO STREAM <stream>
        XINFO GROUPS <stream>
        !XGROUP CREATE <quiet> g 0 MKSTREAM
        !XINFO CONSUMERS <quiet> <group>
        XINFO STREAM <missing> [ FULL ]
        """,
    "geo": """
        GEOADD <geo> ( <lon> <lat> <place> )
        GEOADD <geo> 13.361389 38.115556 Palermo 15.087269 37.502669 Catania
        GEOADD <geo> NX|XX CH 13.5 38 Palermo
        GEOPOS <geo> ( <place> )
        GEODIST <geo> <place> <place> [ <unit> ]
        GEOHASH <geo> ( <place> )
        GEORADIUS <geo> 15 37 <radius> <unit> [ WITHDIST ] [ WITHCOORD ] ASC
        GEORADIUS <geo> 15 37 200 km [ COUNT 1 ASC ] STORE|STOREDIST <geo>
        GEORADIUS_RO <geo> 15 37 200 km WITHHASH DESC
        GEORADIUS_RO <geo> 15 37 200 km STORE <geo>
        GEORADIUSBYMEMBER <geo> <place> <radius> km [ COUNT <count> ] DESC
        GEORADIUSBYMEMBER <geo> Palermo 200 km STOREDIST <geo> STORE <geo>
        GEORADIUSBYMEMBER_RO <geo> <place> 200 <unit>
        GEOSEARCH <geo> FROMMEMBER <place> BYRADIUS <radius> <unit> ASC
        GEOSEARCH <geo> FROMLONLAT 15 37 BYBOX 400 400 km ASC WITHCOORD
        GEOSEARCHSTORE <geo> <geo> FROMLONLAT 15 37 BYRADIUS 200 km [ DESC ]
        GEOSEARCHSTORE <geo> <geo> FROMMEMBER <place> BYBOX 400 400 km STOREDIST
        """,
    "hyperloglog": """
        PFADD <hll> ( <member> )
        PFADD <hll>
        PFCOUNT ( <hll> )
        PFMERGE <hll> ( <hll> )
        """,
    "keys": """
        DEL <str>
        DEL ( <any> )
        UNLINK ( <any> )
        EXISTS ( <any> )
        TOUCH ( <any> )
        MGET ( <str> )
        MGET ( <any> )
        MGET ( <str> ) ( <any> ) <missing> <str> <str>
        MSET ( <str> <val> )
        MSET ( <str> <val> ) ( <str> <val> )
        MSET <str> <val> <str>
        DEL ( <str> ) ( <list> ) <missing>
        EXISTS ( <any> ) <lasting> <lasting>
        TYPE <any>
        OBJECT ENCODING <any>
        OBJECT REFCOUNT <str>
        OBJECT FREQ <any>
        OBJECT IDLETIME <missing>
        OBJECT NOSUCH <any>
        MEMORY USAGE <missing> [ SAMPLES <count> ]
        MEMORY USAGE <lasting>
        RENAME <str> <str>
        RENAMENX <str> <str>
        RENAME <any> <any>
        COPY <any> <any> [ DB 0 ] [ REPLACE ]
        COPY <str> <str> DB 99|x
        MOVE <str> 0|1|99|x
        SORT <list> [ ALPHA ] [ ASC|DESC ] [ LIMIT 0|1 2 ]
        SORT <set> ALPHA
        SORT <list> ALPHA STORE <list>
        SORT_RO <list> [ ALPHA ] [ DESC ]
        SORT_RO <list> STORE <list>
        !RPUSH <sortable> 3 1 2
        SORT <sortable> [ LIMIT 0 5 ] STORE <sortable>
        !SORT <sortable> BY w_*
        !SORT_RO <sortable> GET # GET v_*
        DUMP <dumped>
        !SET <dumped> <val>
        !RPUSH <dumped> a 1 b
        !ZADD <dumped> 1 a 2 b
        !DEL <dumped>
        RESTORE <str> 0 <payload> [ REPLACE ] [ ABSTTL ]
        PUBLISH channel <val>
        SPUBLISH channel <val>
        """,
    "expiry": """
        EXPIREAT <str> <far>
        EXPIREAT <str> 1|x
        PEXPIREAT <str> <farms>
        PEXPIREAT <list> <farms> [ NX|XX|GT|LT ]
        EXPIRETIME <str>
        PEXPIRETIME <str>
        EXPIRETIME <list>
        PERSIST <any>
        !SET <lasting> v
        !HSET <lasting> f v
        !DEL <lasting>
        TTL <lasting>
        PTTL <lasting>
        TTL <missing>
        PTTL <missing>
        !SET <fleet> <val> EX <soon>00
        !SET <fleet> <val> PX <soon>00000
        !SETEX <fleet> <soon>00 <val>
        !PSETEX <fleet> <soon>00000 <val>
        !GETEX <fleet> EX <soon>00
        !EXPIRE <fleet> <soon>00 [ NX|XX|FOO ]
        !PEXPIRE <fleet> <soon>00000 [ NX|XX ]
        !PERSIST <fleet>
        """,
    "scripts": """
        EVAL $get|$set|$pcall 1 <str> <val>
        EVAL $args <n:str> ( <val> )
        EVAL $types|$resp3|$bad 1 <str>
        EVAL $types 0
        EVAL $moved 1 <str>
        EVAL $args x|-1|9 <str>
        EVAL_RO $get|$set 1 <str> v
        EVALSHA #get|#set|#args 1 <str> <val>
        EVALSHA <sha> 1 <str>
        EVALSHA_RO #get|#set 1 <str> v
        FCALL put|peek|nosuch 1 <str> <val>
        FCALL_RO put|peek 1 <str> <val>
        FCALL peek x|9 <str>
        """,
    "slots": """
        CLUSTER COUNTKEYSINSLOT 5
        CLUSTER GETKEYSINSLOT 5 10
        """,
    "big values": """
        !SET <big> <huge100k>
        !SET <big> <huge100k>
        !SET <big> <huge2m>
        !GET <big>
        !GETSET <big> <huge100k>
        !APPEND <big> <huge100k>
        !STRLEN <big>
        !GETRANGE <big> 99000 -1
        !SETRANGE <big> 1900000 <huge100k>
        !MSET <big> <huge100k> <big> <huge100k> <lasting> v
        !MGET <big> <str> <big> <big>
        !RPUSH <biglist> <huge100k> x <huge100k>
        !LRANGE <biglist> 0 3
        !DEL <big> <biglist> <big>
        !EVAL $set 1 <big> <huge100k>
        !SET <huge100k> <val>
        !MGET <big> <huge100k>
        """,
}

# Seldom, since they cost much more than the others or say little.
RARE = {"slots": 0.1, "big values": 0.15}
