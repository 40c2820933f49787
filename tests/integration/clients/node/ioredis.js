// ioredis through the proxy: PORT [PASSWORD]
"use strict";

const assert = require("assert");
const Redis = require("ioredis");

const [port, password] = process.argv.slice(2);

function connect(options) {
    return new Redis({
        host: "127.0.0.1", port: Number(port), password,
        maxRetriesPerRequest: 0, retryStrategy: () => null, ...options,
    });
}

async function checkMany(client) {
    const pipe = client.pipeline();
    const expected = [];
    for (let i = 0; i < 500; i++) {
        pipe.set(`io:${i}`, i).get(`io:${i}`);
        expected.push([null, "OK"], [null, String(i)]);
    }
    assert.deepStrictEqual(await pipe.exec(), expected);

    const keys = Array.from({ length: 50 }, (_, i) => `io:m${i}`);
    const pairs = keys.flatMap((key, i) => [key, `v${i}`]);
    assert.strictEqual(await client.mset(pairs), "OK");
    assert.deepStrictEqual(await client.mget([...keys, "io:none"]),
        [...keys.map((_, i) => `v${i}`), null]);
    assert.strictEqual(await client.del([...keys, "io:none"]), 50);
    assert.strictEqual(await client.exists(keys), 0);
}

async function checkBytes(client) {
    const binary = Buffer.from(Array.from({ length: 256 }, (_, i) => i));
    assert.strictEqual(await client.set(binary, binary), "OK");
    assert.ok(binary.equals(await client.getBuffer(binary)));
    const large = Buffer.alloc(5 * 1024 * 1024, binary);
    assert.strictEqual(await client.set("io:large", large), "OK");
    assert.ok(large.equals(await client.getBuffer("io:large")));
}

async function checkError(client) {
    const id = await client.client("ID");
    await assert.rejects(client.call("NOSUCH", "a"),
        /^ReplyError: ERR unknown command 'NOSUCH'/);
    assert.strictEqual(await client.client("ID"), id);
}

async function check(client) {
    assert.strictEqual(await client.ping(), "PONG");
    assert.strictEqual(await client.set("io:a", "1"), "OK");
    assert.strictEqual(await client.get("io:a"), "1");
    assert.strictEqual(await client.get("io:none"), null);
    await checkMany(client);
    await checkBytes(client);
    await checkError(client);
    await client.hset("io:h", { f: 1, g: 2 });
    assert.deepStrictEqual(await client.hgetall("io:h"), { f: "1", g: "2" });
    assert.strictEqual(await client.quit(), "OK");
}

async function checkWrongPassword() {
    const client = connect({ password: "wrong" });
    const failure = new Promise(resolve => client.once("error", resolve));
    assert.match((await failure).message, /WRONGPASS/);
    client.disconnect();
}

async function main() {
    await check(connect({}));
    await check(connect({ enableAutoPipelining: true }));
    await check(connect({ connectionName: "io", db: 0 }));
    if (password)
        await checkWrongPassword();
    console.log("done");
}

main().catch(error => {
    console.error(error);
    process.exit(1);
});
